"""FWD-05: queues that begin or end forwarding by an update, and what is open about it."""

import pytest
from observing import (
    DONE,
    GONE,
    INVALID,
    LOST,
    MISSING,
    OTHER,
    Observer,
    down,
    is_allowed,
    knows,
    knows_nothing_of,
    observing,
    received,
    update,
)

from busproof.vocabulary.commands import (
    BeginTransaction,
    CreateQueue,
    CreateSubscription,
    CreateTopic,
    Defer,
    DeleteQueue,
    Receive,
    Schedule,
    UpdateQueue,
)
from busproof.vocabulary.messages import Message
from busproof.vocabulary.outcomes import Empty, Scheduled
from busproof.vocabulary.values import ReceiveMode, Tier

HERE = Receive(queue="q", mode=ReceiveMode.RECEIVE_AND_DELETE)
THERE = Receive(queue="end", mode=ReceiveMode.RECEIVE_AND_DELETE)
BEGIN = update(forward_to="end")
END = update(forward_to="")


def two(observer: Observer, **settings: object) -> Observer:
    """A destination, and a queue that does not forward yet."""
    observer.has(CreateQueue(queue="end"))
    observer.queue(**settings)
    return observer


def source(observer: Observer) -> Observer:
    observer.has(CreateQueue(queue="end"))
    observer.queue(forward_to="end")
    return observer


def test_message_sent_after_the_update_is_forwarded(observer: Observer) -> None:
    two(observer).has(BEGIN)
    observer.send(partition=1)
    wrong = observer.saw(HERE, received("m1", 1))
    assert not wrong.possible
    assert "FWD-05" in wrong.rules
    assert "FWD-05" in observer.saw(THERE, received("m1", 2)).rules
    assert not observer.saw(THERE, received("m1", 2)).possible


def test_message_from_before_the_update_may_be_in_either_queue(observer: Observer) -> None:
    two(observer).send(partition=1)
    observer.has(BEGIN)
    assert is_allowed(observer, HERE, INVALID)
    assert is_allowed(observer, HERE, Empty())
    assert is_allowed(observer, HERE, received("m1", 1))
    assert is_allowed(observer, THERE, Empty())
    assert is_allowed(observer, THERE, received("m1", 2))
    observer.has(END)
    assert is_allowed(observer, HERE, Empty())
    observer.has(HERE, received("m1", 1))


def test_later_message_is_forwarded_past_an_older_one(observer: Observer) -> None:
    two(observer).send(partition=1)
    observer.has(BEGIN)
    observer.send(partition=1)
    assert not observer.saw(HERE, received("m2", 2)).possible
    observer.has(HERE, received("m1", 1))
    assert not observer.saw(HERE, received("m1", 1)).possible
    observer.has(THERE, received("m2", 2))


def test_message_sent_after_the_end_of_forwarding_stays(observer: Observer) -> None:
    source(observer).has(END)
    observer.send(partition=1)
    assert "FWD-05" in observer.saw(HERE, Empty()).rules
    assert not observer.saw(THERE, received("m1", 1)).possible
    shown = observer.saw(HERE, received("m1", 1))
    assert shown.possible
    assert "FWD-05" in shown.rules


def test_message_in_transit_at_the_end_may_be_in_either_queue(observer: Observer) -> None:
    source(observer).send(partition=1)
    observer.has(END)
    assert is_allowed(observer, HERE, Empty())
    assert is_allowed(observer, HERE, received("m1", 1))
    observer.has(THERE, received("m1", 2))


@pytest.mark.parametrize("same", [END, update(lock_duration=9)], ids=["none", "not named"])
def test_an_update_that_changes_nothing_of_it_leaves_it(
    observer: Observer, same: UpdateQueue
) -> None:
    two(observer).has(same)
    observer.send(partition=1)
    assert "FWD-05" not in observer.saw(HERE, Empty()).rules


def test_a_destination_has_to_be_there(observer: Observer) -> None:
    observer.queue()
    wrong = observer.saw(BEGIN, DONE)
    assert not wrong.possible
    assert "FWD-29" in wrong.rules
    assert "FWD-29" in observer.saw(BEGIN, OTHER).rules


def test_a_queue_with_sessions_does_not_begin_to_forward(observer: Observer) -> None:
    two(observer, requires_session=True)
    assert "FWD-25" in is_refused(observer).rules
    observer.has(BEGIN)
    observer.send(partition=1, session_id="s")
    assert "FWD-25" in observer.saw(THERE, received("m1", 1, session_id="s")).rules


def is_refused(observer: Observer):
    before = observer.possible
    found = observer.saw(BEGIN, INVALID)
    observer.possible = before
    return found


@pytest.mark.parametrize(
    "before",
    [
        (),
        (CreateTopic(topic="t"), CreateSubscription(topic="t", subscription="s")),
    ],
    ids=["a queue", "a subscription"],
)
def test_only_subscriptions_are_refused_as_destinations(observer: Observer, before: tuple) -> None:
    two(observer)
    for command in before:
        observer.has(command)
    wanted = update(forward_to="t/subscriptions/s" if before else "end")
    assert is_allowed(observer, wanted, INVALID) is bool(before)


@pytest.mark.parametrize(
    "before",
    [
        ("kept", Receive(queue="q"), received("m1", 1, lock_token="l")),
        (
            "planned",
            Schedule(queue="q", message=Message(body="later"), delay=9),
            Scheduled(sequence_number=77),
        ),
    ],
    ids=["locked", "scheduled"],
)
def test_with_more_at_hand_nothing_is_judged_any_more(observer: Observer, before: tuple) -> None:
    two(observer).send(partition=1)
    _, command, outcome = before
    observer.has(command, outcome)
    observer.has(BEGIN)
    knows_nothing_of(observer, "q")
    knows_nothing_of(observer, "end")


def test_update_with_a_deferred_message_stops_the_judging(observer: Observer) -> None:
    two(observer).send(partition=1)
    observer.has(Receive(queue="q"), received("m1", 1, lock_token="l"))
    observer.has(Defer(queue="q", lock_token="l"))
    observer.has(BEGIN)
    knows_nothing_of(observer, "q")


def test_update_with_an_open_transaction_stops_the_judging(observer: Observer) -> None:
    two(observer).has(BeginTransaction(transaction="t"))
    observer.send(partition=1, partition_key="a", transaction="t")
    observer.has(BEGIN)
    knows_nothing_of(observer, "q")


def test_a_transaction_elsewhere_is_no_matter(observer: Observer) -> None:
    two(observer).has(BeginTransaction(transaction="t"))
    observer.has(BEGIN)
    knows(observer, "q")


def test_source_that_is_redirected_after_a_message_is_not_judged(observer: Observer) -> None:
    observer.has(CreateQueue(queue="other"))
    source(observer).send(partition=1)
    observer.has(update(forward_to="other"))
    for name in ("q", "end", "other"):
        knows_nothing_of(observer, name)


def test_source_is_redirected_before_anything_was_sent(observer: Observer) -> None:
    source(observer).has(CreateQueue(queue="other"))
    observer.has(update(forward_to="other"))
    observer.send(partition=1)
    wrong = observer.saw(THERE, received("m1", 2))
    assert not wrong.possible
    other = Receive(queue="other", mode=ReceiveMode.RECEIVE_AND_DELETE)
    assert "FWD-05" in observer.saw(other, received("m1", 2)).rules


def test_queue_that_forwards_to_itself_is_not_judged(observer: Observer) -> None:
    two(observer).has(update(forward_to="q"))
    knows_nothing_of(observer, "q")
    knows(observer, "end")


def test_unanswered_update_stops_the_judging(observer: Observer) -> None:
    two(observer).has(BEGIN, LOST)
    knows_nothing_of(observer, "q")
    knows_nothing_of(observer, "end")


def test_unanswered_end_of_forwarding_stops_the_judging(observer: Observer) -> None:
    source(observer).has(END, LOST)
    knows_nothing_of(observer, "q")
    knows_nothing_of(observer, "end")


def test_an_update_that_says_nothing_of_it_leaves_it_without_answer(observer: Observer) -> None:
    source(observer).has(update(max_delivery_count=3), LOST)
    knows(observer, "end")
    observer.has(END)
    knows_nothing_of(observer, "q")


def test_update_refused_in_an_outage_stops_the_judging(observer: Observer) -> None:
    two(observer).has(down(1))
    observer.has(BEGIN, GONE)
    knows_nothing_of(observer, "q")


def test_update_refused_in_an_outage_changes_nothing_under_whole() -> None:
    observer = two(observing({"MANAGEMENT-IN-OUTAGE": "whole"}))
    observer.has(down(1))
    observer.has(BEGIN, GONE)
    knows(observer, "end")


def test_an_update_that_names_what_is_not_judged_is_about_it_too(observer: Observer) -> None:
    observer.has(CreateQueue(queue="end"), LOST)
    observer.has(DeleteQueue(queue="end"), LOST)
    observer.queue()
    observer.has(BEGIN, OTHER)
    knows_nothing_of(observer, "q")


def test_a_topic_that_is_updated_as_a_queue_takes_its_destination_along(observer: Observer) -> None:
    observer.has(CreateTopic(topic="q"))
    observer.has(CreateQueue(queue="end"))
    observer.has(BEGIN)
    assert observer.saw(THERE, received("never sent")).possible


def test_a_queue_that_is_there_in_part_takes_its_destination_along(observer: Observer) -> None:
    two(observer).has(down(1))
    observer.has(DeleteQueue(queue="q"), GONE)
    observer.has(BEGIN, OTHER)
    knows_nothing_of(observer, "end")


def test_basic_may_refuse_it() -> None:
    observer = two(observing(tier=Tier.BASIC))
    assert is_allowed(observer, BEGIN, INVALID)
    assert is_allowed(observer, BEGIN, DONE)


def test_deleted_source_is_not_found(observer: Observer) -> None:
    source(observer).has(END)
    observer.has(DeleteQueue(queue="q"))
    observer.has(HERE, MISSING)
