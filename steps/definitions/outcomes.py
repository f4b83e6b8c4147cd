"""Steps that check outcomes against the documents."""

from typing import Final

import pytest
from pytest_bdd import then, when

from busproof.judging.scenario_outcome import NotApplicable
from busproof.steps.bus import BusUnderTest
from busproof.steps.sentences import sentence
from busproof.steps.wording import Properties, properties
from busproof.vocabulary.commands import CommitTransaction, Receive, ReceiveBatch
from busproof.vocabulary.messages import SEQUENCE_BITS, MessageView
from busproof.vocabulary.outcomes import (
    Done,
    Empty,
    Outcome,
    ReceivedSeveral,
    Refused,
    Renewed,
    RenewedSeveral,
    Scheduled,
)
from busproof.vocabulary.values import Error, ReceiveMode

ACCEPTED: Final = (Done, Scheduled, Renewed, RenewedSeveral, ReceivedSeveral)
"""Answers to requests that took effect; each kind of request has one of its own."""


@then(sentence("it is accepted{errors:OrRefusal?}"))
def is_accepted(outcome: Outcome, errors: frozenset[Error] | None) -> None:
    """Check that the request took effect, or was refused with an error that the step permits."""
    _is_accepted(outcome, errors)


def _is_accepted(outcome: Outcome, errors: frozenset[Error] | None) -> None:
    assert isinstance(outcome, ACCEPTED) or (
        isinstance(outcome, Refused) and outcome.error in (errors or ())
    ), outcome


@then(sentence("all of them {is:Tense} accepted{errors:OrRefusal?}"))
def are_accepted(outcomes: list[Outcome], errors: frozenset[Error] | None) -> None:
    """Check that every request took effect, or was refused with an error that the step permits."""
    for outcome in outcomes:
        _is_accepted(outcome, errors)


@then(sentence("it is refused{errors:Refusal?}"))
def is_refused(outcome: Outcome, errors: frozenset[Error] | None) -> None:
    """Check that the request was refused, with the error that the step names."""
    assert isinstance(outcome, Refused), outcome
    assert errors is None or outcome.error in errors, outcome


@when("it was refused")
def was_refused(outcome: Outcome) -> None:
    """End a scenario about a refused request if the documents allow that it is accepted."""
    if not isinstance(outcome, Refused):
        raise NotApplicable("answer: the request was accepted, as it may be")


@then(sentence("it, or the transaction's commit, is refused{errors:Refusal?}"))
def is_refused_in_the_end(
    bus: BusUnderTest, transaction: str, outcome: Outcome, errors: frozenset[Error] | None
) -> None:
    """Check that the request or, if refusals wait for it (TXN-REFUSAL), the commit was refused."""
    if isinstance(outcome, Done):
        outcome = bus.do(CommitTransaction(transaction=transaction))
    is_refused(outcome, errors)


@then(sentence("it is refused{errors:Refusal}, or the transaction's commit is refused"))
def is_refused_or_commit(
    bus: BusUnderTest, transaction: str, outcome: Outcome, errors: frozenset[Error]
) -> None:
    """Check that the request was refused with this error, or the commit with any."""
    if isinstance(outcome, Done):
        is_refused(bus.do(CommitTransaction(transaction=transaction)), None)
    else:
        is_refused(outcome, errors)


@then(sentence("{bound:Bound} {number:d} of the requests {is:Tense} refused"))
def so_many_refused(outcomes: list[Outcome], bound: str, number: int) -> None:
    """Check the number of refused requests; the others must have been accepted."""
    assert all(isinstance(outcome, Done | Refused) for outcome in outcomes), outcomes
    _is_bounded(sum(isinstance(outcome, Refused) for outcome in outcomes), bound, number, outcomes)


def _is_bounded(count: int, bound: str, number: int, about: object) -> None:
    if bound == "at most":
        assert count <= number, about
    else:
        assert count == number, about


@then("the same requests are refused as before")
def same_refused(past: list[object]) -> None:
    """Check that the outage of each partition had the same effect both times."""
    assert past[-1] == past[-2]


@then(
    sentence(
        "{bound:Bound} {number:d} {messages:Messages} {is:Tense} received{repeated:ByThen?}"
        "{otherwise:OrIfRefused?}"
    )
)
def so_many_received(
    request: pytest.FixtureRequest,
    views: list[MessageView],
    bound: str,
    number: int,
    repeated: str | None,
    otherwise: int | None,
) -> None:
    """Check the number of messages received, each once; another one may hold after a refusal.

    By then, some may have come again after their locks expired.
    """
    bodies = [view.body for view in views]
    if repeated:
        bodies = sorted(set(bodies))
    if otherwise is not None and isinstance(request.getfixturevalue("outcome"), Refused):
        number = otherwise
    _is_bounded(len(bodies), bound, number, bodies)
    if bound == "exactly":
        assert len(set(bodies)) == len(bodies), bodies


@then(
    sentence("a receive{batch:Several?}{below:DeadLetters?}{connection:Elsewhere?} {finds:Finds}")
)
def receive_finds(
    bus: BusUnderTest,
    queue: str,
    batch: str | None,
    below: str | None,
    connection: str | None,
    finds: tuple[type[Outcome], ...],
) -> None:
    """Check that a receive finds nothing, that it finds something, or that it is not refused."""
    mode = bus.mode if finds == (Empty,) else ReceiveMode.RECEIVE_AND_DELETE
    path = queue + (below or "")
    command: Receive | ReceiveBatch = Receive(queue=path, mode=mode)
    if batch:
        command = ReceiveBatch(queue=path, count=5)
    outcome = bus.do(command, connection or "c1")
    assert isinstance(outcome, finds), outcome


@then(sentence("{bound:Bound} {number:d} {messages:Messages} {is:Tense} shown"))
def shows_so_many(peeked: tuple[MessageView, ...], bound: str, number: int) -> None:
    """Check the number of messages shown, none of them twice; a peek may show fewer."""
    bodies = [view.body for view in peeked]
    _is_bounded(len(bodies), bound, number, bodies)
    assert len(set(bodies)) == len(bodies), bodies


@then("all that were sent are in one partition")
def in_one_partition(bus: BusUnderTest, queue: str) -> None:
    """Check that one partition stored all messages."""
    partitions = bus.located(queue, [message.body for message in bus.sent], bus.sent[0].session_id)
    assert len(set(partitions)) == 1, partitions


@then("every partition took some of them")
def everywhere(bus: BusUnderTest, queue: str) -> None:
    """Check that every partition stored a message."""
    partitions = bus.located(queue, [message.body for message in bus.sent], None)
    assert set(partitions) == set(range(bus.profile.partitions))


@then("none of them is in a partition that is down")
def elsewhere(bus: BusUnderTest, queue: str, down: tuple[str, set[int]]) -> None:
    """Check that only partitions that were up stored messages."""
    partitions = bus.located(queue, [message.body for message in bus.sent], None)
    assert not down[1] & set(partitions), partitions


@then("the messages came in the order in which they were sent")
def in_order(bus: BusUnderTest, views: list[MessageView]) -> None:
    """Check that the messages of each key arrived in the order of sending."""
    order = {message.body: number for number, message in enumerate(bus.sent)}
    for key in {(view.session_id, view.partition_key) for view in views}:
        numbers = [order[v.body] for v in views if (v.session_id, v.partition_key) == key]
        assert numbers == sorted(numbers)


@then(sentence("{which:Which} has {carried}"), converters={"carried": properties})
def has_properties(request: pytest.FixtureRequest, which: str, carried: Properties) -> None:
    """Check the properties of the message received, of one of several, or of each of them."""
    if which == "the message shown":
        views = list(request.getfixturevalue("peeked"))
    else:
        views = request.getfixturevalue("views")
    assert views, "no message came"
    fitting = [carried.fit(view) for view in views]
    match which.split():
        case ["it"] | ["the", "message", "shown"]:
            assert fitting[0], views[0]
        case ["number", place, *_]:
            assert fitting[int(place) - 1], views
        case ["each", *_]:
            assert all(fitting), views
        case ["exactly", *_]:
            assert sum(fitting) == 1, views
        case _:
            assert any(fitting), views


@then("every message received has a MessageId")
def all_have_ids(views: list[MessageView]) -> None:
    """Check that every message has a MessageId."""
    assert views
    assert all(view.message_id for view in views), views


@then("no two of them have one sequence number")
def numbers_differ(views: list[MessageView]) -> None:
    """Check that sequence numbers are unique, where they are reported."""
    numbers = [view.sequence_number for view in views if view.sequence_number is not None]
    assert len(set(numbers)) == len(numbers), numbers


@then("every sequence number names the partition that took the message")
def numbers_name_partitions(bus: BusUnderTest, views: list[MessageView]) -> None:
    """Check that the upper bits of each sequence number are the witnessed partition."""
    named = {view.body: (view.sequence_number or 0) >> SEQUENCE_BITS for view in views}
    assert named == {body: bus.partition_of[body] for body in named}
