"""Steps that check outcomes against the documents."""

from typing import Final

import pytest
from pytest_bdd import parsers, step, then

from busproof.judging.scenario_outcome import NotApplicable
from busproof.steps.bus import BusUnderTest
from busproof.steps.sentences import Answer, sentence
from busproof.steps.wording import Properties, properties
from busproof.vocabulary.commands import CommitTransaction, Receive, ReceiveBatch
from busproof.vocabulary.messages import MessageView
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


@step(sentence("it {was:Tense} refused{errors:Refusal?}"))
def is_refused(outcome: Outcome, was: bool, errors: frozenset[Error] | None) -> None:
    """Check that the request was refused, with the error that the step names.

    In the past tense, the scenario is about a refusal that the documents do not demand.

    Raises:
        NotApplicable: such a request was accepted.
    """
    if was and not isinstance(outcome, Refused):
        raise NotApplicable("answer: the request was accepted, as it may be")
    _check_refusal(outcome, errors)


def _check_refusal(outcome: Outcome, errors: frozenset[Error] | None) -> None:
    assert isinstance(outcome, Refused), outcome
    assert errors is None or outcome.error in errors, outcome


@then(
    sentence(
        "it is refused{errors:Refusal?}, or the transaction's commit is refused{same:SameReason?}"
    )
)
def is_refused_or_commit(
    bus: BusUnderTest,
    transaction: str,
    outcome: Outcome,
    errors: frozenset[Error] | None,
    same: str | None,
) -> None:
    """Check that the request or, if refusals wait for it (TXN-REFUSAL), the commit was refused."""
    if isinstance(outcome, Done):
        committed = bus.do(CommitTransaction(transaction=transaction))
        _check_refusal(committed, errors if same else None)
    else:
        _check_refusal(outcome, errors)


@then(sentence("{bound:Bound} {number:d} of the requests {is:Tense} refused{same:SameOnes?}"))
def so_many_refused(
    outcomes: list[Outcome], past: list[object], bound: str, number: int, same: str | None
) -> None:
    """Check the number of refused requests, and whether they are the same as in the last round.

    All others must have been accepted.
    """
    assert all(isinstance(outcome, Done | Refused) for outcome in outcomes), outcomes
    _is_bounded(sum(isinstance(outcome, Refused) for outcome in outcomes), bound, number, outcomes)
    assert not same or past[-1] == past[-2], past


def _is_bounded(count: int, bound: str, number: int, about: object) -> None:
    if bound == "at most":
        assert count <= number, about
    else:
        assert count == number, about


@then(
    sentence(
        "{bound:Bound} {number:d} {what:Copies} {is:Tense} {where:Found}{repeated:ByThen?}"
        "{otherwise:OrIfRefused?}"
    )
)
def count_messages(
    request: pytest.FixtureRequest,
    bound: str,
    number: int,
    what: str,
    where: str,
    repeated: str | None,
    otherwise: int | None,
) -> None:
    """Check the number of messages received, shown or kept, or of copies of the latest message.

    Another number may hold after a refusal. By then, some may have come again after their locks
    expired. Otherwise each must be there once, unless at most so many were received.
    """
    bodies = [view.body for view in request.getfixturevalue(where)]
    if repeated:
        bodies = sorted(set(bodies))
    if otherwise is not None and isinstance(request.getfixturevalue("outcome"), Refused):
        number = otherwise
    _is_bounded(len(bodies), bound, number, bodies)
    if not what.startswith("message"):
        assert set(bodies) <= {request.getfixturevalue("bus").sent[-1].body}, bodies
    elif bound == "exactly" or where != "views":
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
    finds: Answer,
) -> None:
    """Check that a receive finds nothing, finds something, is refused or is not refused."""
    is_kept = finds.kinds in ((Empty,), (Refused,))
    mode = bus.mode if is_kept else ReceiveMode.RECEIVE_AND_DELETE
    path = queue + (below or "")
    command: Receive | ReceiveBatch = Receive(queue=path, mode=mode)
    if batch:
        command = ReceiveBatch(queue=path, count=5)
    outcome = bus.do(command, connection or "c1")
    assert finds.fits(outcome), outcome


@then(
    parsers.re(
        "all that were sent are in "
        "(?P<where>one partition|partitions that are up|partitions of the namespace)"
    )
)
def check_partitions(
    request: pytest.FixtureRequest, bus: BusUnderTest, queue: str, where: str
) -> None:
    """Check which partitions stored the messages."""
    bodies = [message.body for message in bus.sent]
    partitions = {*bus.located(queue, bodies, bus.sent[0].session_id)}
    match where:
        case "one partition":
            assert len(partitions) == 1, partitions
        case "partitions that are up":
            _, down = request.getfixturevalue("down")
            assert not down & partitions, partitions
        case _:
            assert partitions <= {*range(bus.profile.partitions)}, partitions


@then("every partition took some of them")
def everywhere(bus: BusUnderTest, queue: str) -> None:
    """Check that every partition stored a message."""
    partitions = bus.located(queue, [message.body for message in bus.sent], None)
    assert set(partitions) == set(range(bus.profile.partitions))


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
    if which.endswith("message shown"):
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
        case ["none", *_]:
            assert not any(fitting), views
        case _:
            assert any(fitting), views
