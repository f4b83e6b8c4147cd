"""Locks, settlement, sessions, peeks, caches and answers that never came."""

import pytest
from observing import DONE, GONE, LOST, Observer, locked, observing, received

from busproof.oracle.heap import pop, push, smallest
from busproof.oracle.state import Namespace
from busproof.vocabulary.commands import (
    Abandon,
    AdvanceClock,
    BringPartitionUp,
    Complete,
    CreateQueue,
    Peek,
    Receive,
    Send,
    TakePartitionDown,
)
from busproof.vocabulary.messages import Message
from busproof.vocabulary.outcomes import Empty, Received, Refused
from busproof.vocabulary.values import Clock, Error, ReceiveMode

LOCK_LOST = Refused(error=Error.LOCK_LOST)
RECEIVE = Receive(queue="q")
DELETE = Receive(queue="q", mode=ReceiveMode.RECEIVE_AND_DELETE)
SESSION = Receive(queue="q", session_id="a")
MINUTE = 60_000_000


def test_a_message_that_was_never_sent_cannot_be_received(observer: Observer) -> None:
    observer.queue()
    assert observer.saw(RECEIVE, received("nobody")).rules[0] == "LIFE-01"


def test_a_message_must_come_back_unchanged(observer: Observer) -> None:
    observer.queue()
    observer.send(partition=1, message_id="x")
    assert observer.saw(RECEIVE, received("m1", 1, message_id="y")).rules[0] == "LIFE-01"
    assert observer.saw(RECEIVE, received("m1", 2, message_id="x")).rules[0] == "KEY-01"
    assert observer.saw(RECEIVE, received("m1", 1, message_id="x")).possible


def test_a_message_that_is_gone_does_not_come_again(observer: Observer) -> None:
    observer.queue()
    observer.send()
    observer.has(DELETE, received("m1"))
    assert not observer.saw(DELETE, received("m1")).possible


def test_the_session_may_come_back_as_the_partition_key(observer: Observer) -> None:
    observer.queue()
    observer.send(partition=1, session_id="a")
    assert observer.saw(RECEIVE, received("m1", 1, session_id="a", partition_key="a")).possible


def test_a_sequence_number_does_not_change(observer: Observer) -> None:
    locked(observer)
    observer.has(Abandon(queue="q", lock_token="l"))
    assert observer.saw(RECEIVE, received("m1", 1, 2)).rules[0] == "SEQ-04"
    assert "LIFE-12" in observer.saw(RECEIVE, received("m1", 1, 2)).rules
    assert observer.saw(RECEIVE, received("m1", 1, 1, lock_token="n")).rules[0] == "LIFE-04"


def test_a_locked_message_is_not_given_again_until_its_lock_ends(observer: Observer) -> None:
    locked(observer)
    again = received("m1", 1, lock_token="n")
    assert observer.saw(RECEIVE, again).rules[0] == "LIFE-02"
    assert "LIFE-02" in observer.saw(RECEIVE, Empty()).rules
    observer.has(AdvanceClock(duration=MINUTE + 1))
    assert observer.saw(RECEIVE, Empty()).rules[0] == "LIFE-05"
    assert observer.saw(RECEIVE, again).rules[0] == "LIFE-05"


def test_a_lock_may_end_anywhere_within_the_slack() -> None:
    observer = locked(observing(slack=1000))
    observer.has(AdvanceClock(duration=MINUTE - 500))
    assert observer.saw(RECEIVE, Empty()).possible
    assert observer.saw(Complete(queue="q", lock_token="l"), LOCK_LOST).possible
    again = received("m1", 1, lock_token="n", locked_until=2 * MINUTE)
    assert observer.saw(RECEIVE, again).rules[0] == "LIFE-05"


def test_a_lock_without_end_may_have_run_in_a_cache_unless_a_reading_says_not() -> None:
    for reading, early in (("from-caching", True), ("from-handing-out", False)):
        observer = observing({"CACHE-LOCK": reading})
        observer.queue()
        observer.send(partition=1)
        observer.send(partition=2)
        for body, partition in (("m1", 1), ("m2", 2)):
            observer.has(RECEIVE, received(body, partition, lock_token=body))
        complete = Complete(queue="q", lock_token="m1")
        assert observer.saw(complete, LOCK_LOST).possible == ()
        late = Complete(queue="q", lock_token="m2")
        assert bool(observer.saw(late, LOCK_LOST).possible) is early


def test_a_message_is_settled_once_and_while_its_lock_lasts(observer: Observer) -> None:
    locked(observer)
    complete = Complete(queue="q", lock_token="l")
    assert observer.saw(complete, LOCK_LOST).rules[0] == "LIFE-06"
    assert observer.saw(complete).rules == ("LIFE-03",)
    assert observer.saw(complete).rules[0] == "LIFE-06"
    assert observer.saw(complete, LOCK_LOST).rules == ("LIFE-06",)
    assert observer.saw(RECEIVE, received("m1", 1)).rules[0] == "LIFE-03"
    assert "LIFE-03" in observer.saw(RECEIVE, Empty()).rules


def test_an_older_lock_of_the_same_message_is_lost(observer: Observer) -> None:
    locked(observer)
    observer.has(AdvanceClock(duration=MINUTE + 1))
    observer.has(RECEIVE, received("m1", 1, lock_token="n"))
    assert observer.saw(Complete(queue="q", lock_token="l")).possible == ()
    assert observer.saw(Abandon(queue="q", lock_token="n")).rules == ("LIFE-04",)


def test_settling_may_fail_while_the_partition_is_down(observer: Observer) -> None:
    locked(observer)
    observer.has(TakePartitionDown(queue="q", partition=1))
    assert observer.saw(Complete(queue="q", lock_token="l"), GONE).rules == ("LIFE-11",)
    assert observer.saw(Complete(queue="q", lock_token="l")).possible


def test_readings_decide_whether_a_receive_is_served_in_an_outage() -> None:
    for reading, refused in (("either", True), ("served", False)):
        observer = observing({"RECEIVE-IN-OUTAGE": reading})
        observer.queue()
        observer.has(TakePartitionDown(queue="q", partition=1))
        assert bool(observer.saw(RECEIVE, GONE).possible) is refused


def test_readings_decide_whether_a_receive_may_miss_what_another_partition_holds() -> None:
    """Found by comparing the TLA+ spec's graph with the model in every state."""
    for reading, empty in (("either", True), ("served", False)):
        observer = observing({"RECEIVE-IN-OUTAGE": reading})
        observer.queue()
        observer.send(partition=2)
        assert not observer.saw(RECEIVE, Empty()).possible
        observer.has(TakePartitionDown(queue="q", partition=1))
        assert bool(observer.saw(RECEIVE, Empty()).possible) is empty


def test_message_in_a_partition_that_is_down_need_not_come(observer: Observer) -> None:
    observer.queue()
    observer.send(partition=1)
    observer.has(TakePartitionDown(queue="q", partition=1))
    assert observer.saw(RECEIVE, Empty()).rules == ("LIFE-11",)
    observer.has(BringPartitionUp(queue="q", partition=1))
    assert observer.saw(RECEIVE, Empty()).rules[0] == "LIFE-09"


def test_a_receive_finds_nothing_only_while_another_cache_may_hold_everything(
    observer: Observer,
) -> None:
    observer.queue()
    observer.send(partition=1)
    observer.send(partition=2)
    first = received("m1", 1, lock_token="l", locked_until=MINUTE)
    observer.has(RECEIVE, first, connection="c2")
    assert observer.saw(RECEIVE, Empty(), connection="c1").rules[:2] == ("LIFE-02", "LIFE-08")
    observer.send(partition=3)
    assert observer.saw(RECEIVE, Empty(), connection="c1").rules[0] == "LIFE-09"
    observer.has(AdvanceClock(duration=MINUTE + 1))
    assert observer.saw(RECEIVE, Empty(), connection="c1").rules[0] == "LIFE-13"
    given = observer.saw(RECEIVE, received("m2", 2, lock_token="k", locked_until=3 * MINUTE))
    assert "LIFE-13" in given.rules


def test_the_messages_of_a_key_come_in_order(observer: Observer) -> None:
    observer.queue()
    observer.send(partition=1, partition_key="a")
    observer.send(partition=1, partition_key="a")
    second = received("m2", 1, 2, partition_key="a", lock_token="l", locked_until=MINUTE)
    assert observer.saw(RECEIVE, second).rules[0] == "KEY-17"
    first = received("m1", 1, 1, partition_key="a", lock_token="k", locked_until=MINUTE)
    assert observer.saw(RECEIVE, first).rules[0] == "KEY-17"


@pytest.mark.parametrize(
    "settled",
    [
        {"readings": {"KEY-ORDER": "sessions-only"}},
        {"silent": frozenset({"KEY-17"})},
    ],
)
def test_a_key_gives_no_order_where_reading_or_edition_say_so(settled: dict[str, object]) -> None:
    observer = observing(**settled)
    observer.queue()
    observer.send(partition=1, partition_key="a")
    observer.send(partition=1, partition_key="a")
    assert observer.saw(RECEIVE, received("m2", 1, 2, partition_key="a")).possible


def test_order_is_not_asked_of_what_was_given_back_cached_or_out_of_reach(
    observer: Observer,
) -> None:
    observer.queue()
    for _ in range(3):
        observer.send(partition=1, partition_key="a")
    first = received("m1", 1, 1, partition_key="a", lock_token="k", locked_until=MINUTE)
    observer.has(RECEIVE, first)
    observer.has(Abandon(queue="q", lock_token="k"))
    second = received("m2", 1, 2, partition_key="a", lock_token="l", locked_until=MINUTE)
    observer.has(RECEIVE, second)
    observer.has(TakePartitionDown(queue="q", partition=1))
    assert observer.saw(RECEIVE, received("m3", 1, 3, partition_key="a")).possible


def test_order_is_not_asked_of_what_may_have_expired_in_a_cache(observer: Observer) -> None:
    observer.queue()
    for body in "ab":
        observer.send(partition=1, partition_key=body)
        observer.send(partition=1, partition_key=body)
    observer.has(RECEIVE, received("m1", 1, 1, partition_key="a", lock_token="k"))
    observer.has(AdvanceClock(duration=MINUTE + 1))
    assert observer.saw(RECEIVE, received("m4", 1, 4, partition_key="b")).possible


def test_messages_without_key_come_in_any_order(observer: Observer) -> None:
    observer.queue()
    observer.send(partition=1)
    observer.send(partition=1)
    assert observer.saw(RECEIVE, received("m2", 1, 2)).rules[0] == "KEY-16"


def test_two_sends_of_one_body_can_be_received_twice(observer: Observer) -> None:
    observer.queue()
    for _ in range(2):
        observer.has(Send(queue="q", message=Message(body="same")), partition=1)
    observer.has(DELETE, received("same", 1, 1))
    observer.has(DELETE, received("same", 1, 2))
    assert observer.saw(DELETE, received("same", 1, 3)).possible == ()


def test_on_a_real_clock_a_lock_may_end_between_call_and_return() -> None:
    observer = observing(clock=Clock.REAL)
    observer.has(CreateQueue(queue="q", lock_duration=1000), at=(0, 10))
    observer.has(Send(queue="q", message=Message(body="m1")), partition=1, at=(20, 30))
    observer.has(RECEIVE, received("m1", 1, lock_token="l"), at=(40, 50))
    complete = Complete(queue="q", lock_token="l")
    assert observer.saw(complete, LOCK_LOST, at=(900, 950)).possible == ()
    assert observer.saw(complete, LOCK_LOST, at=(1000, 1045)).possible
    assert observer.saw(complete, DONE, at=(1046, None)).possible
    assert observer.saw(RECEIVE, Empty(), at=(1060, 1070)).possible


def test_every_command_has_an_answer_and_a_refusal_stores_nothing(observer: Observer) -> None:
    locked(observer)
    for command in (
        RECEIVE,
        DELETE,
        Peek(queue="q", count=3),
        Complete(queue="q", lock_token="l"),
        Send(queue="q", message=Message(body="x", session_id="a", partition_key="b")),
    ):
        for transition in observer.step(command):
            if isinstance(transition.outcome, Refused):
                assert stored(transition.next) == stored(observer.possible[0])
    assert observer.step(Peek(queue="nowhere"))[0].outcome == Refused(error=Error.NOT_FOUND)


def test_the_models_own_bus_gives_nothing_from_a_partition_that_is_down(observer: Observer) -> None:
    observer.queue()
    for partition in (1, 2):
        observer.send(partition=partition)
    observer.has(TakePartitionDown(queue="q", partition=1))
    given = [
        found.outcome for found in observer.step(RECEIVE) if isinstance(found.outcome, Received)
    ]
    assert ["m2"] == [outcome.message.body for outcome in given]


def test_a_message_with_no_key_but_an_id_is_missed(observer: Observer) -> None:
    observer.queue()
    observer.send(partition=1, message_id="x")
    assert "KEY-12" in observer.saw(RECEIVE, Empty()).rules


def stored(namespace: Namespace) -> object:
    return namespace.queues["q"].messages


def test_an_empty_heap_gives_nothing() -> None:
    heap = push(push(None, 2), 1)
    assert smallest(heap) == 1
    assert smallest(pop(heap)) == 2
    with pytest.raises(AssertionError, match="empty heap"):
        pop(pop(pop(heap)))


def test_a_message_of_a_session_nobody_holds_breaks_a_session_rule(observer: Observer) -> None:
    """Even one that may not have been sent, which stands in no line."""
    observer.queue(requires_session=True)
    lost = Send(queue="q", message=Message(body="m", session_id="a"))
    observer.has(lost, LOST, partition=1)
    given = received("m", 1, session_id="a", lock_token="l", locked_until=MINUTE)
    found = observer.saw(SESSION, given)
    assert found.possible == ()
    assert found.rules[:2] == ("SESS-02", "LIFE-10")
