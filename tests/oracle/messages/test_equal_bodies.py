"""Messages with the same body, and what tells them apart."""

import pytest
from observing import DONE, LOST, observing, passes, received, view

from busproof.vocabulary.commands import (
    Abandon,
    AcceptSession,
    Peek,
    Receive,
    RenewSessionLock,
    Send,
)
from busproof.vocabulary.messages import Message, MessageView
from busproof.vocabulary.outcomes import Empty, Peeked, Received, Renewed

RECEIVE = Receive(queue="q")
MINUTE = 60_000_000


@pytest.mark.parametrize("count", [1, 2])
def test_either_of_two_equal_messages_may_come_after_one_was_abandoned(count: int) -> None:
    """The one that was given before counts two deliveries, the other one."""
    observer = observing()
    observer.queue(partitioned=False)
    for _ in "ab":
        observer.has(Send(queue="q", message=Message(body="m")), DONE)
    first = MessageView(body="m", lock_token="l", delivery_count=1)
    observer.has(RECEIVE, Received(message=first))
    observer.has(Abandon(queue="q", lock_token="l"))
    again = MessageView(body="m", lock_token="n", delivery_count=count)
    observer.has(RECEIVE, Received(message=again))


def test_number_of_a_message_with_an_id_of_its_client_does_not_change() -> None:
    observer = observing(assigns_message_ids=True)
    observer.queue(partitioned=False)
    observer.send()

    def given(token: str, number: int) -> Received:
        view = {"body": "m1", "message_id": "assigned", "sequence_number": number}
        return Received(message=MessageView(lock_token=token, **view))

    observer.has(RECEIVE, given("l", 5))
    observer.has(Abandon(queue="q", lock_token="l"))
    assert observer.saw(RECEIVE, given("n", 9)).rules[0] == "SEQ-04"
    observer.has(RECEIVE, given("n", 5))


@pytest.mark.parametrize("until", [1, 2 * MINUTE, 10**15])
def test_session_is_renewed_for_a_whole_lock_duration(until: int) -> None:
    observer = observing()
    observer.queue(requires_session=True)
    observer.send(session_id="a", partition=0)
    observer.has(AcceptSession(queue="q", session_id="a"))
    renew = RenewSessionLock(queue="q", session_id="a")
    assert observer.saw(renew, Renewed(locked_until=until)).rules[0] == "SESS-13"
    observer.has(renew, Renewed(locked_until=MINUTE))


def test_a_number_that_a_receive_showed_belongs_to_one_of_equal_messages() -> None:
    """Otherwise each redelivery would multiply the states, up to the limit of the judge."""
    observer = observing()
    observer.queue(partitioned=False)
    send = Send(queue="q", message=Message(body="m"))
    for outcome in (DONE, LOST, LOST, LOST):
        observer.has(send, outcome)
    observer.has(RECEIVE, received("m", lock_token="l0"))
    states = len(observer.possible)
    for turn in range(1, 5):
        passes(observer, 61)
        observer.has(RECEIVE, received("m", lock_token=f"l{turn}"))
    assert len(observer.possible) == states


def test_a_number_that_a_peek_showed_may_be_of_any_of_equal_messages() -> None:
    """The peek is taken to show the first one, which may never have arrived."""
    observer = observing()
    observer.queue(partitioned=False)
    send = Send(queue="q", message=Message(body="m"))
    for outcome in (LOST, DONE):
        observer.has(send, outcome)
    observer.has(Peek(queue="q"), Peeked(messages=(view("m"),)))
    observer.has(RECEIVE, received("m", lock_token="l"))
    observer.has(RECEIVE, Empty())
