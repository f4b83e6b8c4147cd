"""FWD-19 to FWD-32, MGMT-26: messages that cannot be forwarded."""

import pytest
from observing import (
    INVALID,
    LOST,
    Observer,
    described_as,
    down,
    is_allowed,
    knows,
    knows_nothing_of,
    observing,
    passes,
    received,
    shows,
    up,
    update,
)

from busproof import vocabulary as v

END = v.Receive(queue="end", mode=v.ReceiveMode.RECEIVE_AND_DELETE)

LETTERS = v.Receive(queue="q/$deadletterqueue", mode=v.ReceiveMode.RECEIVE_AND_DELETE)

STUCK = v.Receive(queue="q" + v.TRANSFERS, mode=v.ReceiveMode.RECEIVE_AND_DELETE)


def status_of(queue: str, status: v.EntityStatus) -> v.UpdateQueue:
    return v.UpdateQueue(queue=queue, status=status)


SHUT = status_of("end", v.EntityStatus.SEND_DISABLED)

OPEN = status_of("end", v.EntityStatus.ACTIVE)

GATE = v.DeleteQueue(queue="end")


def source(observer: Observer, **settings: object) -> Observer:
    observer.has(v.CreateQueue(queue="end", **settings))
    observer.queue(forward_to="end")
    return observer


def test_the_paths_of_dead_letters_lead_to_their_entity() -> None:
    assert v.dead_letter_queues_of("q") == ("q/$deadletterqueue", "q/$transfer/$deadletterqueue")
    assert {v.owner_of(each) for each in (*v.dead_letter_queues_of("q"), "q")} == {"q"}


@pytest.mark.parametrize("grave", [LETTERS, STUCK])
def test_message_for_a_disabled_destination_is_dead_lettered(
    observer: Observer, grave: v.Receive
) -> None:
    source(observer).has(SHUT)
    observer.send()
    wrong = observer.saw(END, received("m1", 1))
    assert not wrong.possible
    assert "FWD-19" in wrong.rules
    shows(observer, END, v.Empty(), "FWD-19")
    shows(observer, grave, received("m1", 1), "FWD-19")
    assert not observer.saw(grave, received("m1", 1)).possible


@pytest.mark.parametrize(
    ("reading", "one", "other"),
    [
        ("transfer", STUCK, LETTERS),
        ("dead-letter", LETTERS, STUCK),
    ],
)
def test_reading_selects_the_dead_letter_queue(
    reading: str, one: v.Receive, other: v.Receive
) -> None:
    observer = source(observing(readings={"FORWARD-FAILED": reading}))
    observer.has(SHUT)
    observer.send()
    assert not is_allowed(observer, other, received("m1", 1))
    observer.has(one, received("m1", 1))


def test_message_in_transit_may_be_in_either_place(observer: Observer) -> None:
    source(observer).send()
    observer.has(SHUT)
    assert is_allowed(observer, END, received("m1", 1))
    assert is_allowed(observer, STUCK, received("m1", 1))


def test_once_it_is_enabled_again_it_may_come_and_what_is_new_does(observer: Observer) -> None:
    source(observer).has(SHUT)
    observer.send()
    observer.has(OPEN)
    observer.send()
    assert is_allowed(observer, END, v.Empty())
    assert is_allowed(observer, STUCK, received("m1", 1))
    assert is_allowed(observer, STUCK, received("m2", 1))
    observer.has(END, received("m1", 1))
    shows(observer, END, received("m2", 2), "FWD-04")
    assert not observer.saw(END, received("m1", 3)).possible


def test_disabled_forwarding_destination_is_not_judged(observer: Observer) -> None:
    observer.has(v.CreateQueue(queue="last"))
    observer.has(v.CreateQueue(queue="end", forward_to="last"))
    observer.queue(forward_to="end")
    observer.has(SHUT)
    knows_nothing_of(observer, "end")


def test_a_status_that_is_reported_again_changes_nothing(observer: Observer) -> None:
    source(observer).has(OPEN)
    observer.has(SHUT)
    observer.has(SHUT)
    knows(observer, "end")


def test_receivers_that_are_kept_away_keep_nothing_from_it(observer: Observer) -> None:
    source(observer).has(status_of("end", v.EntityStatus.RECEIVE_DISABLED))
    observer.send()
    observer.has(OPEN)
    observer.has(END, received("m1", 1))


def test_message_for_a_deleted_destination_is_dead_lettered(observer: Observer) -> None:
    source(observer).has(GATE)
    observer.send()
    knows(observer, "q")
    shows(observer, STUCK, received("m1", 1), "FWD-20")
    observer.send()
    shows(observer, LETTERS, received("m2", 1), "FWD-20")


def test_a_destination_that_is_made_again_may_get_what_was_kept(observer: Observer) -> None:
    source(observer).send()
    observer.has(GATE)
    observer.send()
    observer.has(v.CreateQueue(queue="end"))
    for body in ("m1", "m2"):
        assert is_allowed(observer, END, received(body, 1))
    observer.has(STUCK, received("m2", 1))
    observer.send()
    shows(observer, END, received("m3", 1), "FWD-04")
    knows(observer, "end")


@pytest.mark.parametrize(
    "again",
    [
        v.CreateTopic(topic="end"),
        v.CreateQueue(queue="end", forward_to="beyond"),
        v.CreateQueue(queue="end", forward_dead_letters_to="beyond"),
    ],
)
def test_destination_recreated_differently_is_not_judged(
    observer: Observer, again: v.Command
) -> None:
    observer.has(v.CreateQueue(queue="beyond"))
    source(observer).has(GATE)
    observer.has(again)
    knows_nothing_of(observer, "end")


def test_deleted_forwarding_destination_is_not_judged(observer: Observer) -> None:
    observer.has(v.CreateQueue(queue="beyond"))
    source(observer, forward_to="beyond").has(GATE)
    knows_nothing_of(observer, "end")


def test_deleted_destination_of_dead_letters_is_not_judged(observer: Observer) -> None:
    observer.has(v.CreateQueue(queue="end"))
    observer.queue(forward_dead_letters_to="end")
    observer.has(GATE)
    knows_nothing_of(observer, "q")


def test_open_transaction_or_unanswered_creation_stops_the_judging(observer: Observer) -> None:
    source(observer).has(v.BeginTransaction(transaction="t"))
    observer.send(transaction="t", partition_key="a")
    observer.has(GATE)
    knows_nothing_of(observer, "end")
    late = source(observing())
    late.has(v.CreateQueue(queue="other"))
    late.has(v.CreateQueue(queue="one", forward_to="other"), LOST)
    late.has(GATE)
    knows_nothing_of(late, "end")


def test_message_for_a_full_destination_is_dead_lettered(observer: Observer) -> None:
    observer.has(v.CreateQueue(queue="end", partitioned=False, max_size=1))
    observer.queue(partitioned=False, forward_to="end")
    size = 2**30
    observer.has(v.Send(queue="end", message=v.Message(body="big", size=size)))
    full = v.Refused(error=v.Error.QUOTA_EXCEEDED)
    observer.has(v.Send(queue="end", message=v.Message(body="more", size=size)), full)
    observer.has(v.Send(queue="q", message=v.Message(body="m", size=5)))
    shows(observer, STUCK, received("m", size=5), "FWD-21")


def test_message_due_in_an_outage_of_the_source_comes_after_it(observer: Observer) -> None:
    source(observer)
    due = v.Schedule(queue="q", message=v.Message(body="m", partition_key="a"), delay=5_000_000)
    observer.has(due, v.Scheduled(sequence_number=1))
    observer.has(down(0))
    observer.has(down(1))
    passes(observer, 6)
    observer.has(up(0))
    observer.has(up(1))
    shows(observer, END, received("m", 1, partition_key="a"), "FWD-23")


def test_message_due_outside_the_outage_shows_no_outage_rule(observer: Observer) -> None:
    source(observer)
    for body, delay in (("m", 5_000_000), ("n", 60_000_000)):
        due = v.Schedule(queue="q", message=v.Message(body=body, partition_key="a"), delay=delay)
        observer.has(due, v.Scheduled(sequence_number=None))
    passes(observer, 10)
    observer.has(down(0))
    observer.has(up(0))
    passes(observer, 60)
    for body in ("m", "n"):
        assert "FWD-23" not in observer.saw(END, received(body, 1, partition_key="a")).rules


def test_transfers_give_nothing_that_was_not_forwarded(observer: Observer) -> None:
    observer.queue()
    observer.send()
    observer.has(v.Receive(queue="q"), received("m1", 1, lock_token="l"))
    observer.has(v.DeadLetter(queue="q", lock_token="l", reason="no"))
    shows(observer, STUCK, v.Empty(), "FWD-32")
    wrong = observer.saw(STUCK, received("m1", 1, dead_letter_reason="no"))
    assert not wrong.possible
    assert wrong.rules[0] == "FWD-32"
    observer.has(v.Peek(queue=STUCK.queue), v.Peeked())
    observer.has(LETTERS, received("m1", 1, dead_letter_reason="no"))


def test_no_more_of_them_are_counted_than_there_may_be(observer: Observer) -> None:
    source(observer)
    get = v.GetQueue(queue="q")
    wrong = observer.saw(get, described_as(transfer_dead_letters=1))
    assert not wrong.possible
    assert "FWD-32" in wrong.rules
    observer.has(SHUT)
    observer.send()
    for number in (None, 0, 1):
        assert is_allowed(observer, get, described_as(transfer_dead_letters=number))
    observer.has(v.Receive(queue=STUCK.queue), received("m1", 1, lock_token="l"))
    observer.has(get, described_as(transfer_dead_letters=1))
    assert not observer.saw(get, described_as(transfer_dead_letters=2)).possible


def test_dead_lettering_a_dead_letter_stops_the_judging(observer: Observer) -> None:
    source(observer).has(SHUT)
    observer.send()
    observer.has(v.Receive(queue=STUCK.queue), received("m1", 1, lock_token="l"))
    bury = v.DeadLetter(queue=STUCK.queue, lock_token="l")
    assert is_allowed(observer, bury, INVALID)
    observer.has(bury)
    knows_nothing_of(observer, "q")


def test_outages_of_an_entity_are_those_of_both_its_graves(observer: Observer) -> None:
    source(observer).has(SHUT)
    observer.send()
    observer.has(down(0))
    observer.has(STUCK, v.Empty())
    observer.has(up(0))
    observer.has(update(lock_duration=20_000_000))
    observer.has(STUCK, received("m1", 1))


@pytest.mark.parametrize(
    "asked",
    [
        v.DeadLetter(queue="q" + v.TRANSFERS, lock_token="none"),
        v.SettleBatch(
            queue="q" + v.TRANSFERS,
            lock_tokens=("none", "none"),
            disposition=v.Disposition.DEAD_LETTER,
        ),
    ],
)
def test_transfer_dead_letter_is_not_dead_lettered_under_a_lost_lock(
    observer: Observer, asked: v.Command
) -> None:
    """DLQ-10: nothing is said of it, but that a lost lock is refused (LOCK-06)."""
    source(observer)
    assert not is_allowed(observer, asked, v.Done())
    assert is_allowed(observer, asked, LOST)
