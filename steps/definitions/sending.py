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
    sentence("{number:d} messages {carried} {is:Tense} sent{within:Within?}{alone:Alone?}"),
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
    alone: str | None,
) -> list[v.Outcome]:
    """Send several messages, perhaps each in a transaction of its own; each must be accepted."""
    if alone:
        return [_send_alone(bus, queue, carried, f"many-{place}") for place in range(number)]
    return send_all(bus, queue, number, carried, transaction_of(request, within))


def _send_alone(bus: BusUnderTest, queue: str, carried: Properties, transaction: str) -> v.Outcome:
    """Send a message in a new transaction, and commit that."""
    bus.expect(bus.do(v.BeginTransaction(transaction=transaction)), v.Done)
    (outcome,) = send_all(bus, queue, 1, carried, transaction)
    bus.expect(bus.do(v.CommitTransaction(transaction=transaction)), v.Done)
    return outcome


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
