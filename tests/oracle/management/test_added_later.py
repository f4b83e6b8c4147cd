"""FEAT-05 to FEAT-17: what requests on partitioned entities show, and what their refusal breaks."""

import pytest
from managed_queues import RECEIVE
from observing import DONE, INVALID, LOST, MISSING, SECOND, Observer, is_allowed, received, view

from busproof import vocabulary as v

NUMBER = (1 << v.SEQUENCE_BITS) + 1
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
    observer.has(v.AcceptSession(queue="q", session_id="s"))
    return observer


def given(observer: Observer, **settings: object) -> Observer:
    """A message that a receiver has locked."""
    sent(observer, **settings).has(RECEIVE, received("m1", 1, 1, lock_token="l"))
    return observer


def aside(observer: Observer, **settings: object) -> Observer:
    """A message that was set aside."""
    given(observer, **settings).has(v.Defer(queue="q", lock_token="l"))
    return observer


def scheduled(observer: Observer, **settings: object) -> Observer:
    """A message that is to come."""
    observer.queue(**settings)
    plan = v.Schedule(queue="q", message=v.Message(body="m1"), delay=TIME)
    observer.has(plan, v.Scheduled(sequence_number=NUMBER))
    return observer


PLAN = v.Schedule(queue="q", message=v.Message(body="m9"), delay=TIME)
SESSION = {"queue": "q", "session_id": "s"}
CASES = {
    "FEAT-05": (sent, RECEIVE, received("m1", 1, 1)),
    "FEAT-08": (
        aside,
        v.ReceiveDeferred(queue="q", sequence_numbers=(NUMBER,)),
        v.ReceivedSeveral(messages=(view("m1", 1, 1, lock_token="n"),)),
    ),
    "FEAT-09": (sent, v.Peek(queue="q"), v.Peeked(messages=(view("m1", 1, 1),))),
    "FEAT-10": (given, v.RenewLock(queue="q", lock_token="l"), v.Renewed(locked_until=TIME)),
    "FEAT-11": (sent, PLAN, v.Scheduled(sequence_number=NUMBER + 5)),
    "FEAT-12": (scheduled, v.CancelScheduled(queue="q", sequence_number=NUMBER), DONE),
    "FEAT-13": (held, v.RenewSessionLock(**SESSION), v.Renewed(locked_until=TIME)),
    "FEAT-14": (held, v.SetSessionState(**SESSION, state="one"), DONE),
    "FEAT-15": (held, v.GetSessionState(**SESSION), v.SessionState(state=None)),
    "FEAT-16": (held, v.ListSessions(queue="q"), v.SessionsListed(session_ids=("s",))),
    "FEAT-17": (held, v.Peek(**SESSION), v.Peeked(messages=(view("m1", 1, 1, session_id="s"),))),
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
    [(RECEIVE, v.Empty()), (v.Peek(queue="q"), v.Peeked())],
    ids=["received", "peeked"],
)
def test_an_empty_answer_shows_nothing(
    observer: Observer, command: v.Command, outcome: v.Outcome
) -> None:
    observer.queue()
    assert is_allowed(observer, command, outcome)
    assert not {"FEAT-05", "FEAT-09"} & set(observer.saw(command, outcome).rules)


def test_empty_list_of_sessions_does_not_show_the_feature(observer: Observer) -> None:
    observer.queue(requires_session=True)
    found = observer.saw(v.ListSessions(queue="q"), v.SessionsListed(session_ids=()))
    assert found.possible
    assert "FEAT-16" not in found.rules


def test_entity_that_requires_no_sessions_lists_none(observer: Observer) -> None:
    """FEAT-16: nothing is said of it, so that it may refuse, too, and may not invent any."""
    observer.queue()
    observer.send(session_id="s", partition=1)
    listing = v.ListSessions(queue="q")
    assert is_allowed(observer, listing, v.SessionsListed(session_ids=()))
    assert is_allowed(observer, listing, v.Refused(error=v.Error.OTHER))
    assert not is_allowed(observer, listing, v.SessionsListed(session_ids=("s",)))


def test_that_a_message_was_taken_does_not_show_yet_that_it_can_be_had(observer: Observer) -> None:
    observer.queue()
    assert "FEAT-05" not in observer.send(partition=1).rules
