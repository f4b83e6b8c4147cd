"""Steps that send."""

from collections.abc import Callable, Sequence

from pytest_bdd import given, parsers, when

from busproof import vocabulary as v
from busproof.steps.bus import Bus
from busproof.steps.waiting import waiting
from busproof.steps.wording import Properties, properties, seconds

__all__ = ["send"]

READ: dict[str, Callable[[str], object]] = {"carried": properties}
KEYS_TRIED = 400
"""Maximum number of keys to try until two share a partition; 17 suffice for 16 partitions."""


def send(
    bus: Bus,
    queue: str,
    carried: Properties,
    timeout: int = v.DEFAULT_TIMEOUT,
    transaction: str | None = None,
) -> v.Outcome:
    """Try to send the next message of a kind."""
    message = carried.message(bus)
    return bus.send(v.Send(queue=queue, message=message, timeout=timeout, transaction=transaction))


def send_all(
    bus: Bus, queue: str, number: int, carried: Properties, transaction: str | None = None
) -> list[v.Outcome]:
    """Send several messages of a kind; each must be accepted."""
    outcomes = [send(bus, queue, carried, transaction=transaction) for _ in range(number)]
    for outcome in outcomes:
        bus.expect(outcome, v.Done)
    return outcomes


@when(parsers.parse("a message {carried} is sent"), converters=READ, target_fixture="outcome")
def sends(bus: Bus, queue: str, carried: Properties) -> v.Outcome:
    """Try to send one message."""
    return send(bus, queue, carried)


@given(
    parsers.parse("a message {carried} was sent"), converters=READ, target_fixture="sent_outcome"
)
def has_sent(bus: Bus, queue: str, carried: Properties) -> v.Outcome:
    """Send one message; it must be accepted."""
    return send_all(bus, queue, 1, carried)[0]


@given(parsers.parse("a message {carried} was refused"), converters=READ)
def was_refused(bus: Bus, queue: str, carried: Properties) -> None:
    """Send one message, which must be refused; the judge checks that."""
    send(bus, queue, carried)


@given(parsers.parse("{number:d} messages {carried} were refused"), converters=READ)
def were_refused(bus: Bus, queue: str, number: int, carried: Properties) -> None:
    """Send several messages, which must all be refused; the judge checks that."""
    for _ in range(number):
        send(bus, queue, carried)


@when(
    parsers.parse("{number:d} messages {carried} are sent"),
    converters=READ,
    target_fixture="outcomes",
)
@given(
    parsers.parse("{number:d} messages {carried} were sent"),
    converters=READ,
    target_fixture="outcomes",
)
def sends_several(bus: Bus, queue: str, number: int, carried: Properties) -> list[v.Outcome]:
    """Send several messages; each must be accepted."""
    return send_all(bus, queue, number, carried)


@when(
    parsers.parse("{number:d} messages {carried} are sent, {gap:d} seconds apart"),
    converters=READ,
    target_fixture="outcomes",
)
@waiting
def sends_slowly(
    bus: Bus, queue: str, number: int, carried: Properties, gap: int
) -> list[v.Outcome]:
    """Send several messages with pauses between them."""
    outcomes = []
    for _ in range(number):
        outcomes += send_all(bus, queue, 1, carried)
        bus.pass_time(seconds(gap))
    return outcomes


@given(parsers.parse('messages with {name} "a", "b" and "c" were sent in turn, {number:d} of each'))
def sends_in_turn(bus: Bus, queue: str, name: str, number: int) -> None:
    """Send messages of three keys in turn."""
    _in_turn(bus, queue, name, ("a", "b", "c"), number)


@given(parsers.parse("messages with {keys:d} {name}s were sent in turn, {number:d} of each"))
def sends_many_in_turn(bus: Bus, queue: str, keys: int, name: str, number: int) -> None:
    """Send this number of messages with each of several keys, the keys in turn."""
    _in_turn(bus, queue, name, [f"k{key}" for key in range(keys)], number)


def _in_turn(bus: Bus, queue: str, name: str, values: Sequence[str], number: int) -> None:
    for _ in range(number):
        for value in values:
            send_all(bus, queue, 1, Properties({name: value}))


@when(
    parsers.parse("a message {carried} is sent with a timeout of {number:d} seconds"),
    converters=READ,
    target_fixture="outcome",
)
@when(
    parsers.parse("a message {carried} is sent with a timeout of {number:d} second"),
    converters=READ,
    target_fixture="outcome",
)
def sends_in_a_hurry(bus: Bus, queue: str, carried: Properties, number: int) -> v.Outcome:
    """Try to send one message with a timeout set by the sender."""
    return send(bus, queue, carried, timeout=seconds(number))


@when(
    parsers.parse("a message {carried} is sent while each partition in turn is down"),
    converters=READ,
    target_fixture="outcomes",
)
def sends_through_outages(
    bus: Bus, queue: str, carried: Properties, past: list[object]
) -> list[v.Outcome]:
    """Try to send one message for each partition while that partition is down."""
    outcomes = bus.with_each_partition_down(queue, lambda: send(bus, queue, carried))
    past.append([type(outcome) for outcome in outcomes])
    return outcomes


@when(
    parsers.parse("a message {carried} is sent in the transaction"),
    converters=READ,
    target_fixture="outcome",
)
def sends_in_transaction(bus: Bus, queue: str, carried: Properties, transaction: str) -> v.Outcome:
    """Try to send one message in the transaction."""
    return send(bus, queue, carried, transaction=transaction)


@given(parsers.parse("a message {carried} was sent in the transaction"), converters=READ)
def has_sent_in_transaction(bus: Bus, queue: str, carried: Properties, transaction: str) -> None:
    """Send one message in the transaction; it must be accepted."""
    send_all(bus, queue, 1, carried, transaction)


@when(
    parsers.parse("{number:d} messages {carried} are sent in the transaction"),
    converters=READ,
    target_fixture="outcomes",
)
@given(
    parsers.parse("{number:d} messages {carried} were sent in the transaction"),
    converters=READ,
    target_fixture="outcomes",
)
def sends_several_in_transaction(
    bus: Bus, queue: str, number: int, carried: Properties, transaction: str
) -> list[v.Outcome]:
    """Send several messages in the transaction; each must be accepted."""
    return send_all(bus, queue, number, carried, transaction)


@given("two keys that share a partition", target_fixture="shared_keys")
def keys_of_one_partition(bus: Bus, queue: str) -> tuple[str, str]:
    """Find two keys of one partition by sending messages with new keys until two share one."""
    bus.need(v.Capability.WITNESS)
    by_partition: dict[int, str] = {}
    for number in range(KEYS_TRIED):
        key = f"key-{number}"
        send_all(bus, queue, 1, Properties({"PartitionKey": key}))
        partition = bus.located(queue, [bus.sent[-1].body], None)[0]
        if partition in by_partition:
            return by_partition[partition], key
        by_partition[partition] = key
    raise AssertionError(
        f"{KEYS_TRIED} keys in {len(by_partition)} partitions, and no two share one"
    )


@given("the first of them was used in the transaction")
def has_sent_first_key(
    bus: Bus, queue: str, transaction: str, shared_keys: tuple[str, str]
) -> None:
    """Send a message with the first of two keys."""
    send_all(bus, queue, 1, Properties({"PartitionKey": shared_keys[0]}), transaction)


@when("the second of them is used in the transaction", target_fixture="outcome")
def sends_second_key(
    bus: Bus, queue: str, transaction: str, shared_keys: tuple[str, str]
) -> v.Outcome:
    """Try to send a message with the second of two keys."""
    second = Properties({"PartitionKey": shared_keys[1]})
    return send(bus, queue, second, transaction=transaction)
