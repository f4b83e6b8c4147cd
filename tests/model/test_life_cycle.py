"""Locks, settlement, sessions, peeks, caches and answers that never came."""

import pytest
from telling import DONE, GONE, INVALID, LOST, OTHER, Told, received, telling, view

from busproof.model.commands import (
    Abandon,
    AcceptSession,
    AdvanceClock,
    BringPartitionUp,
    CloseSession,
    Complete,
    CreateQueue,
    Peek,
    Receive,
    Send,
    TakePartitionDown,
)
from busproof.model.heap import pop, push, smallest
from busproof.model.outcomes import (
    Empty,
    Peeked,
    Received,
    Refused,
    Unsupported,
)
from busproof.model.state import Namespace
from busproof.model.values import Clock, Error, Message, MessageView, ReceiveMode

LOCK_LOST = Refused(error=Error.LOCK_LOST)
RECEIVE = Receive(queue="q")
DELETE = Receive(queue="q", mode=ReceiveMode.RECEIVE_AND_DELETE)
SESSION = Receive(queue="q", session_id="a")
ACCEPT = AcceptSession(queue="q", session_id="a")
CLOSE = CloseSession(queue="q", session_id="a")
MINUTE = 60_000_000


def after(told: Told, duration: int) -> None:
    told.has(AdvanceClock(duration=duration))


def locked(told: Told, token: str = "l", until: int | None = MINUTE, **settings: object) -> Told:
    """A queue with one message, which is locked."""
    told.queue(**settings)
    told.send(partition=1)
    told.has(RECEIVE, received("m1", 1, lock_token=token, locked_until=until))
    return told


def test_a_message_that_was_never_sent_cannot_be_received(told: Told) -> None:
    told.queue()
    assert told.saw(RECEIVE, received("nobody")).rules[0] == "LIFE-01"


def test_a_message_must_come_back_unchanged(told: Told) -> None:
    told.queue()
    told.send(partition=1, message_id="x")
    assert told.saw(RECEIVE, received("m1", 1, message_id="y")).rules[0] == "LIFE-01"
    assert told.saw(RECEIVE, received("m1", 2, message_id="x")).rules[0] == "KEY-01"
    assert told.saw(RECEIVE, received("m1", 1, message_id="x")).possible


def test_the_session_may_come_back_as_the_partition_key(told: Told) -> None:
    told.queue()
    told.send(partition=1, session_id="a")
    assert told.saw(RECEIVE, received("m1", 1, session_id="a", partition_key="a")).possible


def test_a_sequence_number_does_not_change(told: Told) -> None:
    locked(told)
    told.has(Abandon(queue="q", lock_token="l"))
    assert told.saw(RECEIVE, received("m1", 1, 2)).rules[0] == "LIFE-01"
    assert "LIFE-12" in told.saw(RECEIVE, received("m1", 1, 2)).rules
    assert told.saw(RECEIVE, received("m1", 1, 1, lock_token="n")).rules[0] == "LIFE-04"


def test_a_locked_message_is_not_given_again_until_its_lock_ends(told: Told) -> None:
    locked(told)
    again = received("m1", 1, lock_token="n")
    assert told.saw(RECEIVE, again).rules[0] == "LIFE-02"
    assert "LIFE-02" in told.saw(RECEIVE, Empty()).rules
    after(told, MINUTE + 1)
    assert told.saw(RECEIVE, Empty()).rules[0] == "LIFE-05"
    assert told.saw(RECEIVE, again).rules[0] == "LIFE-05"


def test_a_lock_may_end_anywhere_within_the_slack() -> None:
    told = locked(telling(slack=1000))
    after(told, MINUTE - 500)
    assert told.saw(RECEIVE, Empty()).possible
    assert told.saw(Complete(queue="q", lock_token="l"), LOCK_LOST).possible
    again = received("m1", 1, lock_token="n", locked_until=2 * MINUTE)
    assert told.saw(RECEIVE, again).rules[0] == "LIFE-05"


def test_a_lock_without_end_may_have_run_in_a_cache_unless_a_reading_says_not() -> None:
    for reading, early in (("from-caching", True), ("from-handing-out", False)):
        told = telling({"CACHE-LOCK": reading})
        told.queue()
        told.send(partition=1)
        told.send(partition=2)
        for body, partition in (("m1", 1), ("m2", 2)):
            told.has(RECEIVE, received(body, partition, lock_token=body))
        complete = Complete(queue="q", lock_token="m1")
        assert told.saw(complete, LOCK_LOST).possible == ()
        late = Complete(queue="q", lock_token="m2")
        assert bool(told.saw(late, LOCK_LOST).possible) is early


def test_a_message_is_settled_once_and_while_its_lock_lasts(told: Told) -> None:
    locked(told)
    complete = Complete(queue="q", lock_token="l")
    assert told.saw(complete, LOCK_LOST).rules[0] == "LIFE-06"
    assert told.saw(complete).rules == ("LIFE-03",)
    assert told.saw(complete).rules[0] == "LIFE-06"
    assert told.saw(complete, LOCK_LOST).rules == ("LIFE-06",)
    assert told.saw(RECEIVE, received("m1", 1)).rules[0] == "LIFE-03"
    assert "LIFE-03" in told.saw(RECEIVE, Empty()).rules


def test_an_older_lock_of_the_same_message_is_lost(told: Told) -> None:
    locked(told)
    after(told, MINUTE + 1)
    told.has(RECEIVE, received("m1", 1, lock_token="n"))
    assert told.saw(Complete(queue="q", lock_token="l")).possible == ()
    assert told.saw(Abandon(queue="q", lock_token="n")).rules == ("LIFE-04",)


def test_settling_may_fail_while_the_partition_is_down(told: Told) -> None:
    locked(told)
    told.has(TakePartitionDown(queue="q", partition=1))
    assert told.saw(Complete(queue="q", lock_token="l"), GONE).rules == ("LIFE-11",)
    assert told.saw(Complete(queue="q", lock_token="l")).possible


def test_readings_decide_whether_a_receive_is_served_in_an_outage() -> None:
    for reading, refused in (("either", True), ("served", False)):
        told = telling({"RECEIVE-IN-OUTAGE": reading})
        told.queue()
        told.has(TakePartitionDown(queue="q", partition=1))
        assert bool(told.saw(RECEIVE, GONE).possible) is refused


def test_readings_decide_whether_a_receive_may_miss_what_another_partition_holds() -> None:
    """Found by comparing the TLA+ spec's graph with the model in every state."""
    for reading, empty in (("either", True), ("served", False)):
        told = telling({"RECEIVE-IN-OUTAGE": reading})
        told.queue()
        told.send(partition=2)
        assert not told.saw(RECEIVE, Empty()).possible
        told.has(TakePartitionDown(queue="q", partition=1))
        assert bool(told.saw(RECEIVE, Empty()).possible) is empty


def test_what_lies_in_a_partition_that_is_down_need_not_come(told: Told) -> None:
    told.queue()
    told.send(partition=1)
    told.has(TakePartitionDown(queue="q", partition=1))
    assert told.saw(RECEIVE, Empty()).rules == ("LIFE-11",)
    told.has(BringPartitionUp(queue="q", partition=1))
    assert told.saw(RECEIVE, Empty()).rules[0] == "LIFE-09"


def test_a_receive_finds_nothing_only_while_another_cache_may_hold_everything(told: Told) -> None:
    told.queue()
    told.send(partition=1)
    told.send(partition=2)
    first = received("m1", 1, lock_token="l", locked_until=MINUTE)
    told.has(RECEIVE, first, connection="c2")
    assert told.saw(RECEIVE, Empty(), connection="c1").rules[:2] == ("LIFE-02", "LIFE-08")
    told.send(partition=3)
    assert told.saw(RECEIVE, Empty(), connection="c1").rules[0] == "LIFE-09"
    after(told, MINUTE + 1)
    assert told.saw(RECEIVE, Empty(), connection="c1").rules[0] == "LIFE-08"


def test_the_messages_of_a_key_come_in_order(told: Told) -> None:
    told.queue()
    told.send(partition=1, partition_key="a")
    told.send(partition=1, partition_key="a")
    second = received("m2", 1, 2, partition_key="a", lock_token="l", locked_until=MINUTE)
    assert told.saw(RECEIVE, second).rules[0] == "KEY-17"
    first = received("m1", 1, 1, partition_key="a", lock_token="k", locked_until=MINUTE)
    assert told.saw(RECEIVE, first).rules[0] == "KEY-17"


@pytest.mark.parametrize(
    "settled",
    [
        {"readings": {"KEY-ORDER": "sessions-only"}},
        {"silent": frozenset({"KEY-17"})},
    ],
)
def test_a_key_gives_no_order_where_reading_or_edition_say_so(settled: dict[str, object]) -> None:
    told = telling(**settled)
    told.queue()
    told.send(partition=1, partition_key="a")
    told.send(partition=1, partition_key="a")
    assert told.saw(RECEIVE, received("m2", 1, 2, partition_key="a")).possible


def test_order_is_not_asked_of_what_was_given_back_cached_or_out_of_reach(told: Told) -> None:
    told.queue()
    for _ in range(3):
        told.send(partition=1, partition_key="a")
    first = received("m1", 1, 1, partition_key="a", lock_token="k", locked_until=MINUTE)
    told.has(RECEIVE, first)
    told.has(Abandon(queue="q", lock_token="k"))
    second = received("m2", 1, 2, partition_key="a", lock_token="l", locked_until=MINUTE)
    told.has(RECEIVE, second)
    told.has(TakePartitionDown(queue="q", partition=1))
    assert told.saw(RECEIVE, received("m3", 1, 3, partition_key="a")).possible


def test_order_is_not_asked_of_what_may_have_expired_in_a_cache(told: Told) -> None:
    told.queue()
    for body in "ab":
        told.send(partition=1, partition_key=body)
        told.send(partition=1, partition_key=body)
    told.has(RECEIVE, received("m1", 1, 1, partition_key="a", lock_token="k"))
    after(told, MINUTE + 1)
    assert told.saw(RECEIVE, received("m4", 1, 4, partition_key="b")).possible


def test_messages_without_key_come_in_any_order(told: Told) -> None:
    told.queue()
    told.send(partition=1)
    told.send(partition=1)
    assert told.saw(RECEIVE, received("m2", 1, 2)).rules[0] == "KEY-16"


def test_two_sends_of_one_body_can_be_received_twice(told: Told) -> None:
    told.queue()
    for _ in range(2):
        told.has(Send(queue="q", message=Message(body="same")), partition=1)
    told.has(DELETE, received("same", 1, 1))
    told.has(DELETE, received("same", 1, 2))
    assert told.saw(DELETE, received("same", 1, 3)).possible == ()


# Sessions


def test_a_session_is_held_by_one_connection_until_its_lock_ends(told: Told) -> None:
    told.queue(requires_session=True)
    told.send(partition=1, session_id="a")
    told.has(ACCEPT)
    assert told.saw(ACCEPT, connection="c2").rules[0] == "LIFE-10"
    busy = Refused(error=Error.SESSION_CANNOT_BE_LOCKED)
    assert told.saw(ACCEPT, busy, connection="c2").rules == ("LIFE-10",)
    assert told.saw(SESSION, received("m1", 1, session_id="a"), connection="c2").possible == ()
    assert told.saw(SESSION, OTHER, connection="c2").possible
    after(told, MINUTE + 1)
    assert told.saw(SESSION, Empty()).possible == ()
    assert told.saw(ACCEPT, connection="c2").rules == ("SESS-11", "LIFE-10")


def test_a_session_comes_in_order_and_whole(told: Told) -> None:
    told.queue(requires_session=True)
    for session in "aab":
        told.send(partition=1, session_id=session)
    told.has(ACCEPT)
    second = received("m2", 1, 2, session_id="a")
    assert told.saw(SESSION, second).rules[0] == "KEY-06"
    assert told.saw(SESSION, received("m3", 1, 3, session_id="b")).rules[:2] == (
        "SESS-04",
        "KEY-06",
    )
    assert told.saw(SESSION, Empty()).rules[0] == "LIFE-09"
    first = received("m1", 1, 1, session_id="a", lock_token="k")
    assert told.saw(SESSION, first).rules[0] == "KEY-06"
    told.has(CLOSE)
    told.has(ACCEPT, connection="c2")
    assert told.saw(SESSION, first, connection="c2").possible


def test_a_session_in_a_partition_that_is_down_may_be_refused(told: Told) -> None:
    told.queue(requires_session=True)
    told.send(partition=1, session_id="a")
    told.has(TakePartitionDown(queue="q", partition=1))
    assert told.saw(ACCEPT, GONE).rules == ("SESS-25", "LIFE-11")
    told.has(ACCEPT)
    assert told.saw(SESSION, Empty()).possible


def test_who_accepts_a_session_again_may_keep_or_lose_its_locks(told: Told) -> None:
    told.queue(requires_session=True)
    told.send(partition=1, session_id="a")
    told.has(ACCEPT)
    told.has(DELETE.__class__(queue="q", session_id="b"), OTHER)
    first = received("m1", 1, 1, session_id="a", lock_token="k")
    told.has(SESSION, first)
    told.has(ACCEPT)
    assert told.saw(Complete(queue="q", lock_token="k"), LOCK_LOST).possible
    assert told.saw(Complete(queue="q", lock_token="k")).possible
    told.has(ACCEPT)


def test_a_receiver_must_fit_its_queue(told: Told) -> None:
    told.queue()
    assert told.saw(SESSION, INVALID).possible
    assert told.saw(SESSION, Empty()).possible
    assert told.saw(SESSION, received("x")).possible == ()
    assert told.saw(ACCEPT, INVALID).possible
    assert told.saw(ACCEPT).possible == ()


def test_a_session_that_is_not_held_cannot_be_closed_with_effect(told: Told) -> None:
    told.queue(requires_session=True)
    assert told.saw(CLOSE, OTHER).possible
    assert told.saw(CLOSE).possible


def test_a_message_without_session_may_be_refused_where_sessions_are_required(told: Told) -> None:
    told.queue(requires_session=True)
    assert told.send(OTHER).possible
    assert told.send(partition=1).possible


# Peeks


def test_a_peek_shows_what_is_there_in_order_and_changes_nothing(told: Told) -> None:
    told.queue()
    told.send(partition=1)
    told.send(partition=1)
    both = Peek(queue="q", count=2)
    assert (
        told.saw(both, Peeked(messages=(view("m2", 1, 2), view("m1", 1, 1)))).rules[0] == "LIFE-07"
    )
    assert told.saw(both, Peeked(messages=(view("m1", 1), view("m1", 1, 2)))).possible == ()
    assert told.saw(both, Peeked(messages=(view("nobody", 1),))).rules[0] == "LIFE-01"
    assert told.saw(Peek(queue="q"), Peeked(messages=(view("m1"), view("m2")))).possible == ()
    shown = told.saw(both, Peeked(messages=(view("m1", 1, 1), view("m2", 1, 2))))
    assert "LIFE-07" in shown.rules
    unnumbered = (view("m1", 1).__class__(body="m1"), view("m2", 1).__class__(body="m2"))
    assert told.saw(both, Peeked(messages=unnumbered)).possible
    assert told.saw(both, Peeked()).possible
    assert "LIFE-07" in told.saw(RECEIVE, Empty()).rules
    told.has(TakePartitionDown(queue="q", partition=1))
    assert told.saw(both, GONE).rules == ("LIFE-11",)


def test_a_peek_of_one_message_twice_is_one_too_many(told: Told) -> None:
    told.queue()
    told.send(partition=1)
    twice = Peeked(messages=(view("m1").__class__(body="m1"), view("m1").__class__(body="m1")))
    assert told.saw(Peek(queue="q", count=2), twice).rules[0] == "LIFE-07"


def test_a_peek_tells_where_a_message_lies(told: Told) -> None:
    told.queue()
    told.send()
    told.has(Peek(queue="q"), Peeked(messages=(view("m1", 2),)))
    assert told.saw(RECEIVE, received("m1", 1)).possible == ()
    assert told.saw(RECEIVE, received("m1", 2)).possible


def test_a_peek_tells_of_a_locked_message_and_of_an_uncertain_one(told: Told) -> None:
    told.queue()
    told.send()
    told.has(RECEIVE, Received(message=MessageView(body="m1", lock_token="l")))
    told.send(LOST)
    seen = Peeked(messages=(view("m1", 2, 1), view("m2", 3, 1)))
    assert told.saw(Peek(queue="q", count=2), seen).possible
    assert told.saw(Peek(queue="q"), Peeked(messages=(view("m2", 1, 1),))).possible == ()


def test_a_session_accepted_again_outlasts_its_first_lock(told: Told) -> None:
    told.queue(requires_session=True)
    told.send(partition=1, session_id="a")
    told.has(ACCEPT)
    told.has(SESSION, received("m1", 1, 1, session_id="a", lock_token="k"))
    after(told, MINUTE // 2)
    told.has(ACCEPT)
    after(told, MINUTE // 2 + 1)
    assert told.saw(SESSION, Empty()).possible
    after(told, MINUTE)
    assert told.saw(SESSION, OTHER).possible == ()
    assert told.saw(SESSION, Refused(error=Error.SESSION_LOCK_LOST)).rules[0] == "SESS-12"


# Answers that never came


def test_every_end_of_a_lost_send_stays_possible(told: Told) -> None:
    told.queue()
    told.send(LOST, partition_key="a")
    assert told.saw(RECEIVE, Empty()).possible
    assert told.saw(RECEIVE, received("m1", 2, partition_key="a", lock_token="l")).possible
    assert told.send(partition=1, partition_key="a").possible == ()


def test_every_end_of_a_lost_receive_stays_possible(told: Told) -> None:
    told.queue()
    told.send(partition=1)
    told.send(partition=1)
    told.has(RECEIVE, LOST)
    assert told.saw(RECEIVE, received("m2", 1, 2, lock_token="l")).possible
    assert told.saw(RECEIVE, Empty()).possible
    assert told.saw(RECEIVE, received("m1", 1, 1)).possible


def test_a_receive_that_was_lost_elsewhere_may_have_cached_everything(told: Told) -> None:
    told.queue()
    told.send(partition=1)
    told.send(partition=1)
    told.has(RECEIVE, LOST, connection="c2")
    assert told.saw(RECEIVE, Empty(), connection="c1").possible


def test_every_end_of_a_lost_completion_stays_possible(told: Told) -> None:
    locked(told)
    told.has(Complete(queue="q", lock_token="l"), LOST)
    told.has(Complete(queue="q", lock_token="none"), LOST)
    assert told.saw(Complete(queue="q", lock_token="l"), LOCK_LOST).possible
    after(told, MINUTE + 1)
    assert told.saw(RECEIVE, Empty()).possible
    assert told.saw(RECEIVE, received("m1", 1, lock_token="n")).possible


def test_every_end_of_a_lost_abandonment_stays_possible(told: Told) -> None:
    locked(told)
    told.has(Abandon(queue="q", lock_token="l"), LOST)
    told.has(Abandon(queue="q", lock_token="none"), LOST)
    assert told.saw(RECEIVE, Empty()).possible
    assert told.saw(RECEIVE, received("m1", 1, lock_token="n", locked_until=MINUTE)).possible


def test_every_end_of_a_lost_session_request_stays_possible(told: Told) -> None:
    told.queue(requires_session=True)
    told.send(partition=1, session_id="a")
    told.has(CLOSE, LOST)
    told.has(ACCEPT, LOST)
    assert told.saw(SESSION, OTHER).possible
    assert told.saw(SESSION, OTHER, connection="c2").possible
    assert told.saw(ACCEPT, OTHER, connection="c2").possible
    told.has(ACCEPT, connection="c2")
    told.has(CLOSE, LOST, connection="c2")
    assert told.saw(ACCEPT).possible


def test_every_end_of_a_lost_creation_stays_possible(told: Told) -> None:
    create = CreateQueue(queue="q")
    told.has(create, LOST)
    told.has(create, LOST)
    assert told.saw(create, Refused(error=Error.ALREADY_EXISTS)).possible
    assert told.send(Refused(error=Error.NOT_FOUND)).possible
    assert told.send(partition=1).possible
    assert told.send(Refused(error=Error.NOT_FOUND)).possible == ()


def test_every_end_of_a_lost_outage_stays_possible(told: Told) -> None:
    told.queue()
    told.has(TakePartitionDown(queue="q", partition=1), LOST)
    assert told.send(GONE, partition_key="a").possible
    assert told.send(partition=1, partition_key="a").possible


def test_every_end_of_a_lost_advance_stays_possible(told: Told) -> None:
    locked(told)
    told.has(AdvanceClock(duration=2 * MINUTE), LOST)
    told.has(Peek(queue="q"), LOST)
    assert told.saw(RECEIVE, Empty()).possible
    assert told.saw(Complete(queue="q", lock_token="l"), LOCK_LOST).possible
    assert told.saw(Complete(queue="q", lock_token="l")).possible


def test_what_was_not_tried_changes_nothing(told: Told) -> None:
    told.queue()
    before = told.possible
    assert told.saw(RECEIVE, Unsupported()).possible == before


# Time and states


def test_on_a_real_clock_a_lock_may_end_between_call_and_return() -> None:
    told = telling(clock=Clock.REAL)
    told.has(CreateQueue(queue="q", lock_duration=1000), at=(0, 10))
    told.has(Send(queue="q", message=Message(body="m1")), partition=1, at=(20, 30))
    told.has(RECEIVE, received("m1", 1, lock_token="l"), at=(40, 50))
    complete = Complete(queue="q", lock_token="l")
    assert told.saw(complete, LOCK_LOST, at=(900, 950)).possible == ()
    assert told.saw(complete, LOCK_LOST, at=(1000, 1045)).possible
    assert told.saw(complete, DONE, at=(1046, None)).possible
    assert told.saw(RECEIVE, Empty(), at=(1060, 1070)).possible


def test_every_command_has_an_answer_and_a_refusal_stores_nothing(told: Told) -> None:
    locked(told)
    for command in (
        RECEIVE,
        DELETE,
        Peek(queue="q", count=3),
        Complete(queue="q", lock_token="l"),
        Send(queue="q", message=Message(body="x", session_id="a", partition_key="b")),
    ):
        for transition in told.step(command):
            if isinstance(transition.outcome, Refused):
                assert stored(transition.next) == stored(told.possible[0])
    assert told.step(Peek(queue="nowhere"))[0].outcome == Refused(error=Error.NOT_FOUND)


def test_the_models_own_bus_gives_nothing_from_a_partition_that_is_down(told: Told) -> None:
    told.queue()
    for partition in (1, 2):
        told.send(partition=partition)
    told.has(TakePartitionDown(queue="q", partition=1))
    given = [found.outcome for found in told.step(RECEIVE) if isinstance(found.outcome, Received)]
    assert ["m2"] == [outcome.message.body for outcome in given]


def test_a_message_with_no_key_but_an_id_is_missed(told: Told) -> None:
    told.queue()
    told.send(partition=1, message_id="x")
    assert "KEY-12" in told.saw(RECEIVE, Empty()).rules


def stored(namespace: Namespace) -> object:
    return namespace.queues["q"].messages


def test_an_empty_heap_gives_nothing() -> None:
    heap = push(push(None, 2), 1)
    assert smallest(heap) == 1
    assert smallest(pop(heap)) == 2
    with pytest.raises(AssertionError, match="empty heap"):
        pop(pop(pop(heap)))


def test_a_message_of_a_session_nobody_holds_breaks_a_session_rule(told: Told) -> None:
    """Even one that may not have been sent, which stands in no line."""
    told.queue(requires_session=True)
    lost = Send(queue="q", message=Message(body="m", session_id="a"))
    told.has(lost, LOST, partition=1)
    given = received("m", 1, session_id="a", lock_token="l", locked_until=MINUTE)
    found = told.saw(SESSION, given)
    assert found.possible == ()
    assert "LIFE-10" == found.rules[0]
