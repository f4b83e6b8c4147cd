"""Steps that fill a queue or one of its partitions, up to the storage quota.

A message declares the size of its body, and adapters that send real bytes pad it. Filling a GB
takes several thousand messages of a size that every tier accepts, but only about ten of the largest
size that any tier accepts. So the largest size is tried first, then smaller ones. Each message
stands in for several, so that a bus may accept it in spite of the limits on single messages
(LIMIT).
"""

from collections.abc import Callable, Iterator
from typing import Final

import attrs
from pytest_bdd import given, parsers, then, when

from busproof import vocabulary as v
from busproof.judging.scenario_outcome import Inconclusive, NotApplicable, NotConforming
from busproof.steps.bus import Bus
from busproof.steps.definitions.dead_letters import dead_letter_it
from busproof.steps.definitions.sending import READ, send_all
from busproof.steps.wording import Properties, seconds

FILLERS: Final = (100_000_000, 900_000, 240_000)
"""Sizes of filling messages, in bytes: for some Premium, for all Premium, and for all tiers."""
GB: Final = 2**30
"""The largest meaning of a GB, in bytes."""
PAUSES: Final = (*(seconds(2**power) for power in range(6)), seconds(60), seconds(60))
"""Pauses between attempts while the bus frees space, in microseconds: as long as the judge waits
for what few attempts ask for."""
KEYS_TRIED: Final = 400
DAY: Final = seconds(86_400)
SIZES: Final = {
    v.Tier.STANDARD: (1, 2, 3, 4, 5),
    v.Tier.PREMIUM: (1, 2, 3, 4, 5, 10, 20, 40, 80),
}
"""Sizes that a queue can have, in GB, by tier."""

Sending = Callable[[v.Message], v.Outcome]


@attrs.define
class Filled:
    """The messages that filled a queue, and the size of each."""

    taken: list[str] = attrs.field(factory=list)
    size: int = FILLERS[0]


@given(
    parsers.parse("messages {carried} have filled the partition of their key"),
    converters=READ,
    target_fixture="filled",
)
def has_filled_partition(bus: Bus, queue: str, carried: Properties) -> Filled:
    """Send messages with one key until one is refused; return those that were accepted."""
    return fills_partition(bus, queue, carried)[1]


@when(
    parsers.parse("messages {carried} are sent until there is no room for their key"),
    converters=READ,
    target_fixture="outcome",
)
def sends_until_partition_is_full(bus: Bus, queue: str, carried: Properties) -> v.Outcome:
    """Send messages with one key until one is refused; return that answer."""
    return fills_partition(bus, queue, carried)[0]


def fills_partition(bus: Bus, queue: str, carried: Properties) -> tuple[v.Outcome, Filled]:
    """Send messages with one key until one is refused; return the last answer and the messages.

    Raises:
        NotApplicable: a single partition need not become full.
    """
    if bus.profile.readings.get("FULL-PARTITION", "per-partition") != "per-partition":
        raise NotApplicable("reading: a partition need not be full before its entity")
    if "SIZE-07" in bus.profile.silent:
        raise NotApplicable("edition: it does not say how large a partition is")
    return _filled(
        bus, queue, lambda message: bus.send(v.Send(queue=queue, message=message)), carried
    )


@given("messages without key have filled the queue", target_fixture="filled")
def has_filled_queue(bus: Bus, queue: str) -> Filled:
    """Send messages to a queue without partitions until one is refused; return the messages."""
    return _sent_until_full(bus, queue)[1]


@when("messages are sent until there is no room", target_fixture="outcome")
def sends_until_full(bus: Bus, queue: str) -> v.Outcome:
    """Send messages to a queue without partitions until one is refused; return that answer."""
    return _sent_until_full(bus, queue)[0]


def _sent_until_full(bus: Bus, queue: str) -> tuple[v.Outcome, Filled]:
    def send(message: v.Message) -> v.Outcome:
        return bus.send(v.Send(queue=queue, message=message))

    return _filled(bus, queue, send, Properties({}))


@when(
    parsers.re(
        r"messages are (?P<fate>locked|abandoned|deferred|dead-lettered) until there is no room"
    ),
    target_fixture="outcome",
)
def takes_apart_until_full(bus: Bus, queue: str, fate: str) -> v.Outcome:
    """Send messages until one is refused; lock, abandon, defer or dead-letter one at once."""
    needed = {"dead-lettered": v.Capability.DEAD_LETTER, "deferred": v.Capability.DEFERRAL}
    bus.need(needed.get(fate, v.Capability.PEEK_LOCK))

    def send(message: v.Message) -> v.Outcome:
        outcome = bus.send(v.Send(queue=queue, message=message))
        if isinstance(outcome, v.Done):
            _deal_with(bus, queue, bus.kept(queue), fate)
        return outcome

    return _filled(bus, queue, send, Properties({}))[0]


def _deal_with(bus: Bus, queue: str, view: v.MessageView, fate: str) -> None:
    if fate == "abandoned":
        bus.expect(bus.do(v.Abandon(queue=queue, lock_token=view.lock_token or "")), v.Done)
    elif fate == "deferred":
        bus.expect(bus.do(v.Defer(queue=queue, lock_token=view.lock_token or "")), v.Done)
    elif fate == "dead-lettered":
        bus.expect(dead_letter_it(bus, queue, view, "unreadable"), v.Done)


@when("messages are scheduled until there is no room", target_fixture="outcome")
def schedules_until_full(bus: Bus, queue: str) -> v.Outcome:
    """Schedule messages for tomorrow until one is refused; if none is, try to send one."""

    def schedule(message: v.Message) -> v.Outcome:
        outcome = bus.do(v.Schedule(queue=queue, message=message, delay=DAY))
        return v.Done() if isinstance(outcome, v.Scheduled) else outcome

    outcome, filled = _filled(bus, queue, schedule, Properties({}))
    if isinstance(outcome, v.Refused):
        return outcome
    message = attrs.evolve(bus.message(), size=filled.size, stands_in=True)
    return bus.send(v.Send(queue=queue, message=message))


def _filled(bus: Bus, queue: str, send: Sending, carried: Properties) -> tuple[v.Outcome, Filled]:
    """Send until a refusal or until surely full; return the last answer and the messages.

    A bus may notice one message late that it is full (SIZE-10).
    """
    bus.need(v.Capability.DISPOSABLE_NAMESPACE)
    filled = Filled()
    outcome: v.Outcome = v.Done()
    room = GB * (bus.settings[queue].max_size or _default_size(bus))
    while (len(filled.taken) - 1) * filled.size <= room and isinstance(outcome, v.Done):
        outcome, message = _sized(bus, send, carried, filled.size)
        filled.size = message.size or 0
        if isinstance(outcome, v.Done):
            filled.taken.append(message.body)
    return outcome, filled


def _default_size(bus: Bus) -> int:
    """SIZE-03, PREM-09: return the greatest size in GB that an entity may have if none was asked.

    Where no document says which one it is, it may be any.
    """
    profile = bus.profile
    rule = "PREM-09" if profile.tier is v.Tier.PREMIUM else "SIZE-03"
    is_stated = rule not in profile.silent and not profile.is_partitioned
    return 1 if is_stated else SIZES[v.Tier.PREMIUM][-1]


def _sized(bus: Bus, send: Sending, carried: Properties, size: int) -> tuple[v.Outcome, v.Message]:
    """Send a message of at most this size; return the answer, and the message if not too large."""
    for smaller in _sizes(size):
        message = attrs.evolve(carried.message(bus), size=smaller, stands_in=True)
        outcome = send(message)
        if not (isinstance(outcome, v.Refused) and outcome.error is v.Error.MESSAGE_TOO_LARGE):
            return outcome, message
    raise NotConforming(f"a message of {FILLERS[-1]} bytes is too large, and every tier takes it")


def _sizes(size: int) -> Iterator[int]:
    return (filler for filler in FILLERS if filler <= size)


@given(parsers.parse('a key in another partition than "{key}"'), target_fixture="distant_key")
def key_elsewhere(bus: Bus, queue: str, key: str) -> str:
    """Find a key that maps to another partition than this one."""
    bus.need(v.Capability.WITNESS)
    first = _partition_of(bus, queue, key)
    for number in range(KEYS_TRIED):
        if _partition_of(bus, queue, f"key-{number}") != first:
            return f"key-{number}"
    raise NotApplicable("partitions: all keys are in one")


def _partition_of(bus: Bus, queue: str, key: str) -> int:
    send_all(bus, queue, 1, Properties({"PartitionKey": key}))
    return bus.located(queue, [bus.sent[-1].body], None)[0]


@when("the other partition is sent a message", target_fixture="outcome")
def sends_elsewhere(bus: Bus, queue: str, filled: Filled, distant_key: str) -> v.Outcome:
    """Try to send a message of the filling size to another partition."""
    message = attrs.evolve(bus.message(partition_key=distant_key), size=filled.size, stands_in=True)
    return bus.send(v.Send(queue=queue, message=message))


@when(parsers.parse("a large message {carried} is sent"), converters=READ, target_fixture="outcome")
def sends_large(bus: Bus, queue: str, filled: Filled, carried: Properties) -> v.Outcome:
    """Try to send a message as large as those that filled the partition."""
    message = attrs.evolve(carried.message(bus), size=filled.size, stands_in=True)
    return bus.send(v.Send(queue=queue, message=message))


@when(
    parsers.parse("a large message {carried} is sent in the transaction"),
    converters=READ,
    target_fixture="outcome",
)
def sends_large_in_transaction(
    bus: Bus, queue: str, filled: Filled, carried: Properties, transaction: str
) -> v.Outcome:
    """Try to send a message as large as those that filled the partition, in the transaction."""
    message = attrs.evolve(carried.message(bus), size=filled.size, stands_in=True)
    return bus.send(v.Send(queue=queue, message=message, transaction=transaction))


@when(
    parsers.parse("more messages {carried} than there is room for are sent in the transaction"),
    converters=READ,
    target_fixture="outcome",
)
def overfills_in_transaction(
    bus: Bus, queue: str, carried: Properties, transaction: str
) -> v.Outcome:
    """Try to send more messages with one key than a partition can hold; return the last answer."""
    if bus.profile.readings.get("FULL-PARTITION", "per-partition") != "per-partition":
        raise NotApplicable("reading: a partition need not be full before its entity")

    def send(message: v.Message) -> v.Outcome:
        return bus.send(v.Send(queue=queue, message=message, transaction=transaction))

    outcome, filled = _filled(bus, queue, send, carried)
    if filled.size < FILLERS[0]:
        raise NotApplicable("sizes: no transaction takes so many messages of this size")
    return outcome


@when(
    parsers.parse("{number:d} large messages {carried} are sent"),
    converters=READ,
    target_fixture="outcomes",
)
def sends_several_large(
    bus: Bus, queue: str, filled: Filled, number: int, carried: Properties
) -> list[v.Outcome]:
    """Try to send several messages as large as those that filled the partition."""
    return [sends_large(bus, queue, filled, carried) for _ in range(number)]


@then("nothing that was sent in the transaction was received")
def nothing_of_transaction(filled: Filled, views: list[v.MessageView]) -> None:
    """Check that only messages from before the transaction were received."""
    assert {view.body for view in views} <= set(filled.taken), views


@then(parsers.parse("in the end a large message {carried} is accepted"), converters=READ)
def is_taken_in_the_end(bus: Bus, queue: str, filled: Filled, carried: Properties) -> None:
    """Check that there is space again, perhaps after a delay (ROOM-DELAY).

    Raises:
        Inconclusive: there is none yet, but the reading permits any delay.
    """
    outcome = sends_large(bus, queue, filled, carried)
    for pause in PAUSES:
        if isinstance(outcome, v.Done):
            return
        bus.wait(pause)
        outcome = sends_large(bus, queue, filled, carried)
    if bus.profile.readings.get("ROOM-DELAY") == "unbounded":
        raise Inconclusive("there is no room yet, and by ROOM-DELAY=unbounded it is never too late")
    assert isinstance(outcome, v.Done), outcome


@then("every message that was taken was received")
def all_received(filled: Filled, views: list[v.MessageView]) -> None:
    """Check that a full queue delivers all its messages."""
    assert {view.body for view in views} == set(filled.taken), views
