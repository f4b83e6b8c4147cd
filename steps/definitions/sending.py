"""Steps that send."""

from collections.abc import Callable

import attrs
import pytest
from pytest_bdd import given, parsers, step, when

from busproof import vocabulary as v
from busproof.steps.bus import BusUnderTest
from busproof.steps.sentences import Terms, name_in, sentence, transaction_of
from busproof.steps.waiting import waiting
from busproof.steps.wording import Properties, properties, seconds

__all__ = ["send"]

READ: dict[str, Callable[[str], object]] = {"carried": properties}
KEYS_TRIED = 400
"""Maximum number of keys to try until two share a partition; 17 suffice for 16 partitions."""


def send(
    bus: BusUnderTest,
    queue: str,
    carried: Properties,
    transaction: str | None = None,
) -> v.Outcome:
    """Try to send the next message of a kind."""
    return bus.send(v.Send(queue=queue, message=carried.message(bus), transaction=transaction))


def send_all(
    bus: BusUnderTest, queue: str, number: int, carried: Properties, transaction: str | None = None
) -> list[v.Outcome]:
    """Send several messages of a kind; each must be accepted."""
    outcomes = [send(bus, queue, carried, transaction=transaction) for _ in range(number)]
    for outcome in outcomes:
        bus.expect(outcome, v.Done)
    return outcomes


@step(
    sentence("a message {carried} {must:Tense} sent{place:To?}{within:Within?}{terms:Terms?}"),
    converters=READ,
    target_fixture="outcome",
)
def sends(
    request: pytest.FixtureRequest,
    bus: BusUnderTest,
    carried: Properties,
    must: bool,
    place: str | None,
    within: str | None,
    terms: Terms | None,
) -> v.Outcome:
    """Send one message; a message that was sent must have been accepted."""
    terms = terms or Terms()
    command = v.Send(
        queue=_path(request, place),
        message=attrs.evolve(carried.message(bus), time_to_live=terms.life),
        timeout=terms.timeout,
        transaction=transaction_of(request, within),
    )
    outcome = bus.send(command)
    if must:
        bus.expect(outcome, v.Done)
    return outcome


def _path(request: pytest.FixtureRequest, place: str | None) -> str:
    """Return the path of the entity that a step sends to; by default that of the one in use."""
    if place == "the other one":
        return str(request.getfixturevalue("other_queue"))
    if place is None or place == "its dead letters":
        queue = str(request.getfixturevalue("queue"))
        return queue + v.DEAD_LETTERS if place else queue
    return name_in(place)


@step(
    sentence("{number:Number} {messages:Messages} {carried} {is:Tense} refused"),
    converters=READ,
)
def were_refused(bus: BusUnderTest, queue: str, number: int, carried: Properties) -> None:
    """Send messages that must all be refused; the judge checks that."""
    for _ in range(number):
        send(bus, queue, carried)


@step(
    sentence("{number:d} messages {carried} {is:Tense} sent{within:Within?}"),
    converters=READ,
    target_fixture="outcomes",
)
def sends_several(
    request: pytest.FixtureRequest,
    bus: BusUnderTest,
    queue: str,
    number: int,
    carried: Properties,
    within: str | None,
) -> list[v.Outcome]:
    """Send several messages; each must be accepted."""
    return send_all(bus, queue, number, carried, transaction_of(request, within))


@when(
    parsers.parse("{number:d} messages {carried} are sent, {gap:d} seconds apart"),
    converters=READ,
    target_fixture="outcomes",
)
@waiting
def sends_slowly(
    bus: BusUnderTest, queue: str, number: int, carried: Properties, gap: int
) -> list[v.Outcome]:
    """Send several messages with pauses between them."""
    outcomes = []
    for _ in range(number):
        outcomes += send_all(bus, queue, 1, carried)
        bus.pass_time(seconds(gap))
    return outcomes


@given(sentence("messages with {keys:Keys} were sent in turn, {number:d} of each"))
def sends_in_turn(bus: BusUnderTest, queue: str, keys: list[Properties], number: int) -> None:
    """Send this number of messages with each of several keys, the keys in turn."""
    for _ in range(number):
        for carried in keys:
            send_all(bus, queue, 1, carried)


@given("two keys that share a partition", target_fixture="shared_keys")
def keys_of_one_partition(bus: BusUnderTest, queue: str) -> tuple[str, str]:
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


@step(
    sentence("the {place:Place} of them {must:Tense} used in the transaction"),
    target_fixture="outcome",
)
def sends_with_shared_key(
    bus: BusUnderTest,
    queue: str,
    transaction: str,
    shared_keys: tuple[str, str],
    place: int,
    must: bool,
) -> v.Outcome:
    """Send a message with the first or second of two keys in the transaction."""
    carried = Properties({"PartitionKey": shared_keys[place]})
    outcome = send(bus, queue, carried, transaction=transaction)
    if must:
        bus.expect(outcome, v.Done)
    return outcome
