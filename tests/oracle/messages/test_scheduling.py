"""Messages that come later: when, where, in which order, and taking them back."""

import attrs
import pytest
from later import CANCEL, NUMBER, later, may_be_given, scheduled
from observing import (
    DONE,
    GONE,
    INVALID,
    LOST,
    OTHER,
    SECOND,
    Observer,
    observing,
    passes,
    received,
    view,
)

from busproof.vocabulary.commands import (
    Abandon,
    BeginTransaction,
    BringPartitionUp,
    CancelScheduled,
    Peek,
    Receive,
    Schedule,
    Send,
    TakePartitionDown,
)
from busproof.vocabulary.messages import Message, MessageState
from busproof.vocabulary.outcomes import Empty, Peeked, Refused, Scheduled
from busproof.vocabulary.values import Error

RECEIVE = Receive(queue="q")
PEEK = Peek(queue="q", count=4)
NOT_FOUND = Refused(error=Error.MESSAGE_NOT_FOUND)
DOWN = TakePartitionDown(queue="q", partition=1)
UP = BringPartitionUp(queue="q", partition=1)


@pytest.fixture
def queue(observer: Observer) -> Observer:
    observer.queue()
    return observer


def test_nothing_is_given_before_its_time(queue: Observer) -> None:
    scheduled(queue)
    passes(queue, 4)
    assert queue.saw(RECEIVE, received("m1", 1)).rules[0] == "SCHED-01"
    assert "SCHED-01" in queue.saw(RECEIVE, Empty()).rules
    passes(queue, 1)
    assert may_be_given(queue)
    passes(queue, 1)
    found = queue.saw(RECEIVE, received("m1", 1, lock_token="l"))
    assert {"SCHED-02", "SCHED-06"} <= set(found.rules)


def test_the_slack_counts_on_both_sides() -> None:
    observer = observing(slack=SECOND)
    observer.queue()
    scheduled(observer)
    passes(observer, 3.5)
    assert not may_be_given(observer)
    passes(observer, 1)
    assert may_be_given(observer)


def test_scheduled_message_may_be_late_unless_the_reading_forbids_it() -> None:
    for reading, late in (("unbounded", True), ("at-once", False)):
        observer = observing(readings={"SCHEDULE-DELAY": reading})
        observer.queue()
        scheduled(observer)
        passes(observer, 6)
        assert bool(observer.saw(RECEIVE, Empty()).possible) is late


def test_a_time_that_has_passed_is_now(queue: Observer) -> None:
    scheduled(queue, delay=-60)
    found = queue.saw(RECEIVE, received("m1", 1))
    assert {"SCHED-14", "SCHED-02"} <= set(found.rules)
    assert queue.saw(later("m2", -1), INVALID).rules[:2] == ("SCHED-03", "SCHED-14")


def test_its_number_is_a_new_one(queue: Observer) -> None:
    number = (1 << 48) + 9
    scheduled(queue, number)
    passes(queue, 6)
    assert queue.saw(RECEIVE, received("m1", 1, sequence_number=number)).rules[0] == "SCHED-06"
    assert may_be_given(queue, sequence_number=None)


def test_scheduled_message_can_be_cancelled_until_it_is_due(queue: Observer) -> None:
    scheduled(queue)
    assert queue.saw(CANCEL, NOT_FOUND).rules[0] == "SCHED-03"
    assert queue.saw(CANCEL).rules[0] == "SCHED-03"
    assert queue.saw(CANCEL).rules[0] == "SCHED-05"
    assert queue.saw(CANCEL, NOT_FOUND).rules[0] == "SCHED-05"
    passes(queue, 6)
    assert queue.saw(RECEIVE, received("m1", 1)).rules[0] == "SCHED-04"
    assert "SCHED-04" in queue.saw(RECEIVE, Empty()).rules
    assert queue.saw(PEEK, Peeked(messages=(view("m1", 1),))).rules[0] == "SCHED-04"


def test_in_an_outage_cancelling_may_be_refused(queue: Observer) -> None:
    scheduled(queue)
    queue.has(DOWN)
    queue.has(CANCEL, OTHER)
    queue.has(CANCEL)


def test_message_that_is_just_due_may_be_cancelled_or_not(queue: Observer) -> None:
    scheduled(queue)
    passes(queue, 5)
    queue.has(CANCEL, NOT_FOUND)
    queue.has(CANCEL)
    assert may_be_given(queue)
    assert queue.saw(RECEIVE, Empty()).possible


def test_an_active_message_is_not_cancelled(queue: Observer) -> None:
    scheduled(queue)
    passes(queue, 6)
    queue.has(RECEIVE, received("m1", 1, lock_token="l"))
    queue.has(Abandon(queue="q", lock_token="l"))
    assert queue.saw(CANCEL).rules[0] == "SCHED-05"
    found = queue.saw(RECEIVE, Empty())
    assert not found.possible
    assert "SCHED-05" in found.rules


def test_an_answer_that_never_came_leaves_both_open(queue: Observer) -> None:
    queue.has(later(), LOST)
    passes(queue, 1)
    assert not may_be_given(queue)
    passes(queue, 6)
    assert may_be_given(queue)
    assert queue.saw(RECEIVE, Empty()).possible


def test_a_lost_cancellation_leaves_both_open(queue: Observer) -> None:
    queue.has(CANCEL, LOST)
    scheduled(queue)
    queue.has(CANCEL, LOST)
    queue.has(CANCEL, NOT_FOUND)
    passes(queue, 6)
    assert may_be_given(queue)


def test_a_number_of_a_lost_answer_is_cancelled_or_not(queue: Observer) -> None:
    queue.has(CANCEL)
    queue.has(CANCEL, NOT_FOUND)


def test_a_peek_shows_it_as_scheduled(queue: Observer) -> None:
    scheduled(queue, session_id="a")
    for state, number, allowed in (
        (MessageState.SCHEDULED, NUMBER, True),
        (None, None, True),
        (MessageState.ACTIVE, NUMBER, False),
        (MessageState.DEFERRED, NUMBER, False),
    ):
        shown = view("m1", 1, session_id="a", state=state, sequence_number=number)
        found = queue.saw(PEEK, Peeked(messages=(shown,)))
        assert bool(found.possible) is allowed
        assert found.rules[0] == "SCHED-08"
        assert not queue.saw(PEEK, Peeked(messages=(shown, shown))).possible
    elsewhere = Peek(queue="q", session_id="b")
    assert not queue.saw(elsewhere, Peeked(messages=(shown,))).possible


def test_due_message_may_still_be_shown_as_scheduled(queue: Observer) -> None:
    scheduled(queue)
    passes(queue, 6)
    shown = view("m1", 1, state=MessageState.SCHEDULED, sequence_number=NUMBER)
    queue.has(PEEK, Peeked(messages=(shown,)))
    queue.has(PEEK, Peeked(messages=(attrs.evolve(shown, state=None),)))
    queue.has(RECEIVE, received("m1", 1, lock_token="l"))
    assert not queue.saw(PEEK, Peeked(messages=(shown,))).possible


def test_scheduled_message_follows_what_was_sent_before_its_time(queue: Observer) -> None:
    scheduled(queue, partition_key="k")
    queue.send(body="m2", partition=1, partition_key="k")
    passes(queue, 6)
    first = received("m1", 1, 2, partition_key="k")
    assert queue.saw(RECEIVE, first).rules[0] == "SCHED-07"
    queue.has(RECEIVE, received("m2", 1, partition_key="k"))
    assert "SCHED-07" in queue.saw(RECEIVE, first).rules


def test_message_sent_at_the_due_time_may_come_before_or_after(queue: Observer) -> None:
    scheduled(queue, partition_key="k")
    passes(queue, 5)
    queue.send(body="m2", partition=1, partition_key="k")
    passes(queue, 1)
    for body in ("m1", "m2"):
        before = queue.possible
        assert queue.saw(RECEIVE, received(body, 1, partition_key="k")).possible
        queue.possible = before


def test_place_of_a_message_that_comes_at_once_is_known() -> None:
    observer = observing(readings={"SCHEDULE-DELAY": "at-once"})
    observer.queue()
    observer.send(body="m0", partition=1, partition_key="k")
    scheduled(observer, partition_key="k")
    passes(observer, 6)
    observer.send(body="m2", partition=1, partition_key="k")
    observer.has(RECEIVE, received("m0", 1, partition_key="k"))
    assert "KEY-17" in observer.saw(RECEIVE, received("m2", 1, 3, partition_key="k")).rules
    observer.has(RECEIVE, received("m1", 1, 2, partition_key="k"))


def test_a_tie_leaves_the_order_open_where_it_comes_at_once() -> None:
    observer = observing(readings={"SCHEDULE-DELAY": "at-once"})
    observer.queue()
    scheduled(observer, partition_key="k")
    passes(observer, 5)
    observer.send(body="m2", partition=1, partition_key="k")
    passes(observer, 1)
    observer.has(RECEIVE, received("m1", 1, 2, partition_key="k"))


def test_its_key_selects_its_partition(queue: Observer) -> None:
    queue.send(body="m0", partition=1, partition_key="k")
    queue.has(RECEIVE, received("m0", 1, partition_key="k"))
    scheduled(queue, partition_key="k")
    passes(queue, 6)
    assert queue.saw(RECEIVE, received("m1", 2, partition_key="k")).rules[0] == "SCHED-09"
    found = queue.saw(RECEIVE, received("m1", 1, 2, partition_key="k"))
    assert "SCHED-09" in found.rules


def test_an_outage_may_refuse_it_and_delays_it_at_most(queue: Observer) -> None:
    queue.send(body="m0", partition=1, partition_key="k")
    queue.has(RECEIVE, received("m0", 1, partition_key="k"))
    queue.has(DOWN)
    assert queue.saw(later("m9", partition_key="k"), GONE).rules[0] == "SCHED-10"
    assert queue.saw(later("m8"), GONE).rules[0] == "SCHED-10"
    found = queue.saw(later(partition_key="k"), Scheduled(sequence_number=NUMBER))
    assert found.rules[0] == "SCHED-10"
    passes(queue, 6)
    queue.has(UP)
    assert "SCHED-11" in queue.saw(RECEIVE, received("m1", 1, 2, partition_key="k")).rules
    assert queue.saw(RECEIVE, received("m9", 1, 3, partition_key="k")).rules[0] == "SCHED-10"


def test_reading_decides_when_the_partition_is_chosen() -> None:
    for reading, taken, refused in (("when-scheduled", False, True), ("when-due", True, False)):
        observer = observing(readings={"SCHEDULE-PLACE": reading})
        observer.queue()
        observer.send(body="m0", partition=1, partition_key="k")
        observer.has(DOWN)
        assert bool(observer.saw(later("m9", partition_key="k"), GONE).possible) is refused
        kept = observer.saw(later(partition_key="k"), Scheduled(sequence_number=NUMBER))
        assert bool(kept.possible) is taken


def test_keys_that_contradict_each_other_are_refused(queue: Observer) -> None:
    odd = later(session_id="a", partition_key="b")
    assert queue.saw(odd, Scheduled(sequence_number=1)).rules[0] == "SCHED-12"
    assert queue.saw(odd, INVALID).rules[0] == "SCHED-12"
    passes(queue, 6)
    late = received("m1", 1, session_id="a", partition_key="b")
    assert queue.saw(RECEIVE, late).rules[0] == "SCHED-12"


def test_a_regular_queue_may_take_them(observer: Observer) -> None:
    observer.queue(partitioned=False)
    odd = later(session_id="a", partition_key="b")
    observer.has(odd, Scheduled(sequence_number=1))
    observer.has(later("m2", session_id="a", partition_key="b"), INVALID)
    observer.has(BeginTransaction(transaction="t"))
    within = later("m3", transaction="t", session_id="a", partition_key="b")
    observer.has(within, Scheduled(sequence_number=2))


def test_nothing_is_scheduled_for_dead_letters(queue: Observer) -> None:
    message = Message(body="m1")
    dead = Schedule(queue="q/$deadletterqueue", message=message, delay=1)
    assert queue.saw(dead, Scheduled(sequence_number=1)).rules[0] == "DLQ-11"
    assert queue.saw(dead, INVALID).rules == ("DLQ-11",)


def test_a_copy_may_be_dropped_and_makes_others_copies(observer: Observer) -> None:
    observer.queue(duplicate_detection=True)
    scheduled(observer, message_id="x")
    observer.has(later("m5"), INVALID)
    observer.has(Send(queue="q", message=Message(body="m2", message_id="x")), DONE, partition=1)
    passes(observer, 6)
    for body in ("m1", "m2"):
        assert may_be_given(observer, body, message_id="x")
    assert observer.saw(RECEIVE, Empty()).possible


def test_one_body_may_be_sent_now_and_later(queue: Observer) -> None:
    queue.send(partition=1)
    scheduled(queue)
    queue.has(RECEIVE, received("m1", 1, lock_token="l"))
    other = CancelScheduled(queue="q", sequence_number=NUMBER + 1)
    queue.has(later(), Scheduled(sequence_number=NUMBER + 1))
    assert queue.saw(other).rules[0] == "SCHED-03"
    passes(queue, 5)
    queue.has(RECEIVE, received("m1", 1, 2))


def test_each_of_one_body_is_shown_once(queue: Observer) -> None:
    scheduled(queue, session_id="a")
    queue.has(later(session_id="b"), Scheduled(sequence_number=NUMBER + 1))
    shown = [
        view("m1", 1, session_id=session, state=MessageState.SCHEDULED) for session in ("b", "a")
    ]
    queue.has(PEEK, Peeked(messages=tuple(shown)))
    assert not queue.saw(PEEK, Peeked(messages=(*shown, shown[0]))).possible


def test_an_empty_key_is_read_either_way(queue: Observer) -> None:
    queue.has(later(partition_key=""), Scheduled(sequence_number=NUMBER))
    passes(queue, 6)
    assert may_be_given(queue)
