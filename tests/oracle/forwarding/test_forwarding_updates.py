"""FWD-05: queues that begin or end forwarding by an update, and what is open about it."""

import pytest
from telling import (
    DONE,
    GONE,
    INVALID,
    LOST,
    MISSING,
    OTHER,
    Told,
    down,
    is_allowed,
    knows,
    knows_nothing_of,
    received,
    telling,
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


def two(told: Told, **settings: object) -> Told:
    """A destination, and a queue that does not forward yet."""
    told.has(CreateQueue(queue="end"))
    told.queue(**settings)
    return told


def source(told: Told) -> Told:
    told.has(CreateQueue(queue="end"))
    told.queue(forward_to="end")
    return told


def test_message_sent_after_the_update_is_forwarded(told: Told) -> None:
    two(told).has(BEGIN)
    told.send(partition=1)
    wrong = told.saw(HERE, received("m1", 1))
    assert not wrong.possible
    assert "FWD-05" in wrong.rules
    assert "FWD-05" in told.saw(THERE, received("m1", 2)).rules
    assert not told.saw(THERE, received("m1", 2)).possible


def test_message_from_before_the_update_may_be_in_either_queue(told: Told) -> None:
    two(told).send(partition=1)
    told.has(BEGIN)
    assert is_allowed(told, HERE, INVALID)
    assert is_allowed(told, HERE, Empty())
    assert is_allowed(told, HERE, received("m1", 1))
    assert is_allowed(told, THERE, Empty())
    assert is_allowed(told, THERE, received("m1", 2))
    told.has(END)
    assert is_allowed(told, HERE, Empty())
    told.has(HERE, received("m1", 1))


def test_later_message_is_forwarded_past_an_older_one(told: Told) -> None:
    two(told).send(partition=1)
    told.has(BEGIN)
    told.send(partition=1)
    assert not told.saw(HERE, received("m2", 2)).possible
    told.has(HERE, received("m1", 1))
    assert not told.saw(HERE, received("m1", 1)).possible
    told.has(THERE, received("m2", 2))


def test_message_sent_after_the_end_of_forwarding_stays(told: Told) -> None:
    source(told).has(END)
    told.send(partition=1)
    assert "FWD-05" in told.saw(HERE, Empty()).rules
    assert not told.saw(THERE, received("m1", 1)).possible
    shown = told.saw(HERE, received("m1", 1))
    assert shown.possible
    assert "FWD-05" in shown.rules


def test_message_in_transit_at_the_end_may_be_in_either_queue(told: Told) -> None:
    source(told).send(partition=1)
    told.has(END)
    assert is_allowed(told, HERE, Empty())
    assert is_allowed(told, HERE, received("m1", 1))
    told.has(THERE, received("m1", 2))


@pytest.mark.parametrize("same", [END, update(lock_duration=9)], ids=["none", "not named"])
def test_an_update_that_changes_nothing_of_it_leaves_it(told: Told, same: UpdateQueue) -> None:
    two(told).has(same)
    told.send(partition=1)
    assert "FWD-05" not in told.saw(HERE, Empty()).rules


def test_a_destination_has_to_be_there(told: Told) -> None:
    told.queue()
    wrong = told.saw(BEGIN, DONE)
    assert not wrong.possible
    assert "FWD-29" in wrong.rules
    assert "FWD-29" in told.saw(BEGIN, OTHER).rules


def test_a_queue_with_sessions_does_not_begin_to_forward(told: Told) -> None:
    two(told, requires_session=True)
    assert "FWD-25" in is_refused(told).rules
    told.has(BEGIN)
    told.send(partition=1, session_id="s")
    assert "FWD-25" in told.saw(THERE, received("m1", 1, session_id="s")).rules


def is_refused(told: Told):
    before = told.possible
    found = told.saw(BEGIN, INVALID)
    told.possible = before
    return found


@pytest.mark.parametrize(
    "before",
    [
        (),
        (CreateTopic(topic="t"), CreateSubscription(topic="t", subscription="s")),
    ],
    ids=["a queue", "a subscription"],
)
def test_only_subscriptions_are_refused_as_destinations(told: Told, before: tuple) -> None:
    two(told)
    for command in before:
        told.has(command)
    wanted = update(forward_to="t/subscriptions/s" if before else "end")
    assert is_allowed(told, wanted, INVALID) is bool(before)


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
def test_with_more_at_hand_nothing_is_told_any_more(told: Told, before: tuple) -> None:
    two(told).send(partition=1)
    _, command, outcome = before
    told.has(command, outcome)
    told.has(BEGIN)
    knows_nothing_of(told, "q")
    knows_nothing_of(told, "end")


def test_update_with_a_deferred_message_stops_the_judging(told: Told) -> None:
    two(told).send(partition=1)
    told.has(Receive(queue="q"), received("m1", 1, lock_token="l"))
    told.has(Defer(queue="q", lock_token="l"))
    told.has(BEGIN)
    knows_nothing_of(told, "q")


def test_update_with_an_open_transaction_stops_the_judging(told: Told) -> None:
    two(told).has(BeginTransaction(transaction="t"))
    told.send(partition=1, partition_key="a", transaction="t")
    told.has(BEGIN)
    knows_nothing_of(told, "q")


def test_a_transaction_elsewhere_is_no_matter(told: Told) -> None:
    two(told).has(BeginTransaction(transaction="t"))
    told.has(BEGIN)
    knows(told, "q")


def test_redirected_source_is_not_judged(told: Told) -> None:
    told.has(CreateQueue(queue="other"))
    source(told).has(update(forward_to="other"))
    for name in ("q", "end", "other"):
        knows_nothing_of(told, name)


def test_queue_that_forwards_to_itself_is_not_judged(told: Told) -> None:
    two(told).has(update(forward_to="q"))
    knows_nothing_of(told, "q")
    knows(told, "end")


def test_unanswered_update_stops_the_judging(told: Told) -> None:
    two(told).has(BEGIN, LOST)
    knows_nothing_of(told, "q")
    knows_nothing_of(told, "end")


def test_unanswered_end_of_forwarding_stops_the_judging(told: Told) -> None:
    source(told).has(END, LOST)
    knows_nothing_of(told, "q")
    knows_nothing_of(told, "end")


def test_an_update_that_says_nothing_of_it_leaves_it_without_answer(told: Told) -> None:
    source(told).has(update(max_delivery_count=3), LOST)
    knows(told, "end")
    told.has(END)
    knows_nothing_of(told, "q")


def test_update_refused_in_an_outage_stops_the_judging(told: Told) -> None:
    two(told).has(down(1))
    told.has(BEGIN, GONE)
    knows_nothing_of(told, "q")


def test_update_refused_in_an_outage_changes_nothing_under_whole() -> None:
    told = two(telling({"MANAGEMENT-IN-OUTAGE": "whole"}))
    told.has(down(1))
    told.has(BEGIN, GONE)
    knows(told, "end")


def test_an_update_that_names_what_nothing_is_told_of_is_about_it_too(told: Told) -> None:
    told.has(CreateQueue(queue="end"), LOST)
    told.has(DeleteQueue(queue="end"), LOST)
    told.queue()
    told.has(BEGIN, OTHER)
    knows_nothing_of(told, "q")


def test_a_topic_that_is_updated_as_a_queue_takes_its_destination_along(told: Told) -> None:
    told.has(CreateTopic(topic="q"))
    told.has(CreateQueue(queue="end"))
    told.has(BEGIN)
    assert told.saw(THERE, received("never sent")).possible


def test_a_queue_that_is_there_in_part_takes_its_destination_along(told: Told) -> None:
    two(told).has(down(1))
    told.has(DeleteQueue(queue="q"), GONE)
    told.has(BEGIN, OTHER)
    knows_nothing_of(told, "end")


def test_basic_may_refuse_it() -> None:
    told = two(telling(tier=Tier.BASIC))
    assert is_allowed(told, BEGIN, INVALID)
    assert is_allowed(told, BEGIN, DONE)


def test_deleted_source_is_not_found(told: Told) -> None:
    source(told).has(END)
    told.has(DeleteQueue(queue="q"))
    told.has(HERE, MISSING)
