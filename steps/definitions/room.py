"""Steps that fill a queue without keys or by scheduled messages, and that check for room.

They use one large size, because filling a partitioned queue takes too many small messages.
"""

from collections.abc import Iterator, Sequence
from typing import Final

import attrs
import pytest
from pytest_bdd import given, parsers, step, then, when

from busproof import vocabulary as v
from busproof.judging.scenario_outcome import NotApplicable
from busproof.steps.bus import BusUnderTest
from busproof.steps.definitions.sending import READ
from busproof.steps.definitions.storage_quota import (
    DAY,
    FILLERS,
    GB,
    not_too_large,
)
from busproof.steps.sentences import transaction_of
from busproof.steps.wording import Properties

SIZE: Final = FILLERS[0]
FITTING: Final = GB // SIZE
"""Number of messages that fit into a GB, whether it has 10^9 bytes or 2^30."""


def _large(bus: BusUnderTest, number: int) -> Iterator[v.Message]:
    bus.need(v.Capability.DISPOSABLE_NAMESPACE)
    return (attrs.evolve(bus.message(), size=SIZE, stands_in=True) for _ in range(number))


def _sent(bus: BusUnderTest, queue: str, number: int) -> list[v.Outcome]:
    """Try to send this many messages without a key; return the answers."""
    sends = (v.Send(queue=queue, message=message) for message in _large(bus, number))
    return [not_too_large(bus.send(command)) for command in sends]


@when(
    parsers.parse(
        "messages without key are sent that fill {parts:d} partitions, and {more:d} more"
    ),
    target_fixture="outcomes",
)
def fills_parts(bus: BusUnderTest, queue: str, parts: int, more: int) -> list[v.Outcome]:
    """Try to send as many messages as fit into this many partitions, plus `more`."""
    if parts > bus.profile.partitions:
        raise NotApplicable(f"partitions: there are {bus.profile.partitions}, and not {parts}")
    return _sent(bus, queue, parts * FITTING + more)


def _in_some_way(
    bus: BusUnderTest, queue: str, messages: Sequence[v.Message], way: str, transaction: str | None
) -> list[v.Outcome]:
    """Try to send or schedule messages one by one, or to send them at once."""
    if way == "at once":
        batch = v.SendBatch(queue=queue, messages=tuple(messages), transaction=transaction)
        return [bus.send_batch(batch)]
    if way == "as scheduled":
        delayed = (v.Schedule(queue=queue, message=message, delay=DAY) for message in messages)
        return [bus.do(command) for command in delayed]
    return [
        bus.send(v.Send(queue=queue, message=message, transaction=transaction))
        for message in messages
    ]


@step(
    parsers.re(
        r"(?P<number>an?|\d+) (?P<large>large )?messages? (?P<carried>.+?) "
        r"(?:is|are|was|were) refused"
        r"(?: (?P<way>at once|as scheduled|by its dead-letter queue))?"
        r"(?P<within> in the transaction)?"
    ),
    converters=READ,
)
def sends_in_vain(
    request: pytest.FixtureRequest,
    bus: BusUnderTest,
    number: str,
    large: str | None,
    carried: Properties,
    way: str | None,
    within: str | None,
) -> None:
    """Try to send messages in one of several ways; each must be refused."""
    if large:
        bus.need(v.Capability.DISPOSABLE_NAMESPACE)
    if within and bus.profile.readings.get("TXN-REFUSAL") in ("at-commit", "either"):
        raise NotApplicable("reading: a transaction may refuse its messages at the commit")
    messages = [carried.message(bus) for _ in range(int(number) if number.isdecimal() else 1)]
    if large:
        messages = [attrs.evolve(message, size=SIZE, stands_in=True) for message in messages]
    queue = str(request.getfixturevalue("queue"))
    path = queue + v.DEAD_LETTERS if way == "by its dead-letter queue" else queue
    transaction = transaction_of(request, within)
    for outcome in _in_some_way(bus, path, messages, way or "", transaction):
        bus.expect(not_too_large(outcome) if large else outcome, v.Refused)


@given(parsers.parse("{number:d} large messages were scheduled for tomorrow"))
def has_scheduled_large(
    bus: BusUnderTest, queue: str, scheduled: list[v.Outcome], number: int
) -> None:
    """Schedule messages that fill a queue; those that do not fit may be refused."""
    outcomes = [
        not_too_large(bus.do(v.Schedule(queue=queue, message=message, delay=DAY)))
        for message in _large(bus, number)
    ]
    scheduled.extend(outcome for outcome in outcomes if isinstance(outcome, v.Scheduled))


@then(parsers.re("as many messages were received as were (?P<answered>accepted|refused)"))
def match_answers(outcomes: list[v.Outcome], views: list[v.MessageView], answered: str) -> None:
    """Check that as many messages were received, each once, as requests were answered so."""
    kind = v.Done if answered == "accepted" else v.Refused
    number = sum(isinstance(outcome, kind) for outcome in outcomes)
    assert len({view.body for view in views}) == len(views) == number, (number, views)
