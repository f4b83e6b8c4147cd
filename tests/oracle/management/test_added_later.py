"""FEAT-05 to FEAT-17: what requests on partitioned entities show, and what their refusal breaks."""

import pytest
from managed_queues import RECEIVE
from observing import DONE, INVALID, LOST, MISSING, SECOND, Observer, is_allowed, received, view

from busproof.vocabulary.commands import (
    AcceptSession,
    CancelScheduled,
    Command,
    Defer,
    GetSessionState,
    ListSessions,
    Peek,
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

NUMBER = (1 << SEQUENCE_BITS) + 1
TIME = 60 * SECOND


def sent(observer: Observer, **settings: object) -> Observer:
    """A queue with a message in its second partition."""
    observer.queue(**settings)
    observer.send(partition=1)
    return observer


def held(observer: Observer, **settings: object) -> Observer:
    """A session with a message, which somebody holds."""
    observer.queue(requires_session=True, **settings)
    observer.send(partition=1, session_id="s")
    observer.has(AcceptSession(queue="q", session_id="s"))
    return observer


def given(observer: Observer, **settings: object) -> Observer:
    """A message that a receiver has locked."""
    sent(observer, **settings).has(RECEIVE, received("m1", 1, 1, lock_token="l"))
    return observer


def aside(observer: Observer, **settings: object) -> Observer:
    """A message that was set aside."""
    given(observer, **settings).has(Defer(queue="q", lock_token="l"))
    return observer


def scheduled(observer: Observer, **settings: object) -> Observer:
    """A message that is to come."""
    observer.queue(**settings)
    plan = Schedule(queue="q", message=Message(body="m1"), delay=TIME)
    observer.has(plan, Scheduled(sequence_number=NUMBER))
    return observer


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
def test_a_request_that_works_on_a_partitioned_queue_shows_its_rule(
    observer: Observer, rule: str
) -> None:
    prepare, command, outcome = CASES[rule]
    found = prepare(observer).saw(command, outcome)
    assert found.possible
    assert rule in found.rules


@each_rule
def test_on_a_regular_queue_it_shows_nothing_of_the_kind(observer: Observer, rule: str) -> None:
    observer.queue(partitioned=False, requires_session=rule >= "FEAT-13")
    _, command, _ = CASES[rule]
    assert rule not in observer.saw(command, LOST).rules
    assert rule not in observer.saw(command, MISSING).rules


@each_rule
def test_needless_refusal_breaks_the_rule(observer: Observer, rule: str) -> None:
    prepare, command, _ = CASES[rule]
    found = prepare(observer).saw(command, INVALID)
    assert not found.possible
    assert rule in found.rules


@pytest.mark.parametrize(
    ("command", "outcome"),
    [(RECEIVE, Empty()), (Peek(queue="q"), Peeked())],
    ids=["received", "peeked"],
)
def test_an_empty_answer_shows_nothing(
    observer: Observer, command: Command, outcome: Outcome
) -> None:
    observer.queue()
    assert is_allowed(observer, command, outcome)
    assert not {"FEAT-05", "FEAT-09"} & set(observer.saw(command, outcome).rules)


def test_empty_list_of_sessions_does_not_show_the_feature(observer: Observer) -> None:
    observer.queue(requires_session=True)
    found = observer.saw(ListSessions(queue="q"), SessionsListed(session_ids=()))
    assert found.possible
    assert "FEAT-16" not in found.rules


def test_that_a_message_was_taken_does_not_show_yet_that_it_can_be_had(observer: Observer) -> None:
    observer.queue()
    assert "FEAT-05" not in observer.send(partition=1).rules
