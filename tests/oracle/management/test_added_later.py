"""FEAT-05 to FEAT-17: what requests on partitioned entities show, and what their refusal breaks."""

import pytest
from telling import DONE, INVALID, LOST, MISSING, SECOND, Told, is_allowed, received, view

from busproof.vocabulary.commands import (
    AcceptSession,
    CancelScheduled,
    Command,
    Defer,
    GetSessionState,
    ListSessions,
    Peek,
    Receive,
    ReceiveDeferred,
    RenewLock,
    RenewSessionLock,
    Schedule,
    SetSessionState,
)
from busproof.vocabulary.messages import SEQUENCE_BITS, Message
from busproof.vocabulary.outcomes import (
    Empty,
    Outcome,
    Peeked,
    ReceivedSeveral,
    Renewed,
    Scheduled,
    SessionsListed,
    SessionState,
)

RECEIVE = Receive(queue="q")
NUMBER = (1 << SEQUENCE_BITS) + 1
TIME = 60 * SECOND


def sent(told: Told, **settings: object) -> Told:
    """A queue with a message in its second partition."""
    told.queue(**settings)
    told.send(partition=1)
    return told


def held(told: Told, **settings: object) -> Told:
    """A session with a message, which somebody holds."""
    told.queue(requires_session=True, **settings)
    told.send(partition=1, session_id="s")
    told.has(AcceptSession(queue="q", session_id="s"))
    return told


def given(told: Told, **settings: object) -> Told:
    """A message that a receiver has locked."""
    sent(told, **settings).has(RECEIVE, received("m1", 1, 1, lock_token="l"))
    return told


def aside(told: Told, **settings: object) -> Told:
    """A message that was set aside."""
    given(told, **settings).has(Defer(queue="q", lock_token="l"))
    return told


def scheduled(told: Told, **settings: object) -> Told:
    """A message that is to come."""
    told.queue(**settings)
    plan = Schedule(queue="q", message=Message(body="m1"), delay=TIME)
    told.has(plan, Scheduled(sequence_number=NUMBER))
    return told


PLAN = Schedule(queue="q", message=Message(body="m9"), delay=TIME)
SESSION = {"queue": "q", "session_id": "s"}
CASES = {
    "FEAT-05": (sent, RECEIVE, received("m1", 1, 1)),
    "FEAT-08": (
        aside,
        ReceiveDeferred(queue="q", sequence_numbers=(NUMBER,)),
        ReceivedSeveral(messages=(view("m1", 1, 1, lock_token="n"),)),
    ),
    "FEAT-09": (sent, Peek(queue="q"), Peeked(messages=(view("m1", 1, 1),))),
    "FEAT-10": (given, RenewLock(queue="q", lock_token="l"), Renewed(locked_until=TIME)),
    "FEAT-11": (sent, PLAN, Scheduled(sequence_number=NUMBER + 5)),
    "FEAT-12": (scheduled, CancelScheduled(queue="q", sequence_number=NUMBER), DONE),
    "FEAT-13": (held, RenewSessionLock(**SESSION), Renewed(locked_until=TIME)),
    "FEAT-14": (held, SetSessionState(**SESSION, state="one"), DONE),
    "FEAT-15": (held, GetSessionState(**SESSION), SessionState(state=None)),
    "FEAT-16": (held, ListSessions(queue="q"), SessionsListed(session_ids=("s",))),
    "FEAT-17": (held, Peek(**SESSION), Peeked(messages=(view("m1", 1, 1, session_id="s"),))),
}
each_rule = pytest.mark.parametrize("rule", CASES)


@each_rule
def test_a_request_that_works_on_a_partitioned_queue_shows_its_rule(told: Told, rule: str) -> None:
    prepare, command, outcome = CASES[rule]
    found = prepare(told).saw(command, outcome)
    assert found.possible
    assert rule in found.rules


@each_rule
def test_on_a_regular_queue_it_shows_nothing_of_the_kind(told: Told, rule: str) -> None:
    told.queue(partitioned=False, requires_session=rule >= "FEAT-13")
    _, command, _ = CASES[rule]
    assert rule not in told.saw(command, LOST).rules
    assert rule not in told.saw(command, MISSING).rules


@each_rule
def test_needless_refusal_breaks_the_rule(told: Told, rule: str) -> None:
    prepare, command, _ = CASES[rule]
    found = prepare(told).saw(command, INVALID)
    assert not found.possible
    assert rule in found.rules


@pytest.mark.parametrize(
    ("command", "outcome"),
    [(RECEIVE, Empty()), (Peek(queue="q"), Peeked())],
    ids=["received", "peeked"],
)
def test_an_empty_answer_shows_nothing(told: Told, command: Command, outcome: Outcome) -> None:
    told.queue()
    assert is_allowed(told, command, outcome)
    assert not {"FEAT-05", "FEAT-09"} & set(told.saw(command, outcome).rules)


def test_empty_list_of_sessions_does_not_show_the_feature(told: Told) -> None:
    told.queue(requires_session=True)
    found = told.saw(ListSessions(queue="q"), SessionsListed(session_ids=()))
    assert found.possible
    assert "FEAT-16" not in found.rules


def test_that_a_message_was_taken_does_not_show_yet_that_it_can_be_had(told: Told) -> None:
    told.queue()
    assert "FEAT-05" not in told.send(partition=1).rules
