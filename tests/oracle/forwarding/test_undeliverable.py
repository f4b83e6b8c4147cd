"""FWD-19 to FWD-32, MGMT-26 to MGMT-28: what cannot go on, and queues that are disabled."""

import pytest
from telling import (
    DONE,
    GONE,
    INVALID,
    LOST,
    OTHER,
    Told,
    down,
    is_allowed,
    knows,
    knows_nothing_of,
    passes,
    received,
    shows,
    telling,
    told_of,
    up,
    update,
)

from busproof.vocabulary.commands import (
    AcceptSession,
    BeginTransaction,
    Command,
    CommitTransaction,
    Complete,
    CreateQueue,
    CreateTopic,
    DeadLetter,
    DeleteQueue,
    GetQueue,
    Peek,
    Receive,
    Schedule,
    Send,
    UpdateQueue,
)
from busproof.vocabulary.entity_settings import EntityStatus
from busproof.vocabulary.messages import Message
from busproof.vocabulary.outcomes import Empty, Outcome, Peeked, Refused, Scheduled
from busproof.vocabulary.paths import TRANSFERS, dead_letter_queues_of, owner_of
from busproof.vocabulary.values import Error, ReceiveMode

DISABLED = Refused(error=Error.ENTITY_DISABLED)
END = Receive(queue="end", mode=ReceiveMode.RECEIVE_AND_DELETE)
HERE = Receive(queue="q", mode=ReceiveMode.RECEIVE_AND_DELETE)
LETTERS = Receive(queue="q/$deadletterqueue", mode=ReceiveMode.RECEIVE_AND_DELETE)
STUCK = Receive(queue="q" + TRANSFERS, mode=ReceiveMode.RECEIVE_AND_DELETE)


def status_of(queue: str, status: EntityStatus) -> UpdateQueue:
    return UpdateQueue(queue=queue, status=status)


SHUT = status_of("end", EntityStatus.SEND_DISABLED)
OPEN = status_of("end", EntityStatus.ACTIVE)
GATE = DeleteQueue(queue="end")


def source(told: Told, **settings: object) -> Told:
    told.has(CreateQueue(queue="end", **settings))
    told.queue(forward_to="end")
    return told


def test_the_paths_of_dead_letters_lead_to_their_entity() -> None:
    assert dead_letter_queues_of("q") == ("q/$deadletterqueue", "q/$transfer/$deadletterqueue")
    assert {owner_of(each) for each in (*dead_letter_queues_of("q"), "q")} == {"q"}


@pytest.mark.parametrize("grave", [LETTERS, STUCK])
def test_message_for_a_disabled_destination_is_dead_lettered(told: Told, grave: Receive) -> None:
    source(told).has(SHUT)
    told.send()
    wrong = told.saw(END, received("m1", 1))
    assert not wrong.possible
    assert "FWD-19" in wrong.rules
    shows(told, END, Empty(), "FWD-19")
    shows(told, grave, received("m1", 1), "FWD-19")
    assert not told.saw(grave, received("m1", 1)).possible


@pytest.mark.parametrize(
    ("reading", "one", "other"),
    [
        ("transfer", STUCK, LETTERS),
        ("dead-letter", LETTERS, STUCK),
    ],
)
def test_reading_selects_the_dead_letter_queue(reading: str, one: Receive, other: Receive) -> None:
    told = source(telling(readings={"FORWARD-FAILED": reading}))
    told.has(SHUT)
    told.send()
    assert not is_allowed(told, other, received("m1", 1))
    told.has(one, received("m1", 1))


def test_message_in_transit_may_be_in_either_place(told: Told) -> None:
    source(told).send()
    told.has(SHUT)
    assert is_allowed(told, END, received("m1", 1))
    assert is_allowed(told, STUCK, received("m1", 1))


def test_once_it_is_enabled_again_it_may_come_and_what_is_new_does(told: Told) -> None:
    source(told).has(SHUT)
    told.send()
    told.has(OPEN)
    told.send()
    assert is_allowed(told, END, Empty())
    assert is_allowed(told, STUCK, received("m1", 1))
    assert is_allowed(told, STUCK, received("m2", 1))
    told.has(END, received("m1", 1))
    shows(told, END, received("m2", 2), "FWD-04")
    assert not told.saw(END, received("m1", 3)).possible


def test_disabled_forwarding_destination_is_not_judged(told: Told) -> None:
    told.has(CreateQueue(queue="last"))
    told.has(CreateQueue(queue="end", forward_to="last"))
    told.queue(forward_to="end")
    told.has(SHUT)
    knows_nothing_of(told, "end")


def test_a_status_that_is_told_again_changes_nothing(told: Told) -> None:
    source(told).has(OPEN)
    told.has(SHUT)
    told.has(SHUT)
    knows(told, "end")


def test_receivers_that_are_kept_away_keep_nothing_from_it(told: Told) -> None:
    source(told).has(status_of("end", EntityStatus.RECEIVE_DISABLED))
    told.send()
    told.has(OPEN)
    told.has(END, received("m1", 1))


def test_message_for_a_deleted_destination_is_dead_lettered(told: Told) -> None:
    source(told).has(GATE)
    told.send()
    knows(told, "q")
    shows(told, STUCK, received("m1", 1), "FWD-20")
    told.send()
    shows(told, LETTERS, received("m2", 1), "FWD-20")


def test_a_destination_that_is_made_again_may_get_what_was_kept(told: Told) -> None:
    source(told).send()
    told.has(GATE)
    told.send()
    told.has(CreateQueue(queue="end"))
    for body in ("m1", "m2"):
        assert is_allowed(told, END, received(body, 1))
    told.has(STUCK, received("m2", 1))
    told.send()
    shows(told, END, received("m3", 1), "FWD-04")
    knows(told, "end")


@pytest.mark.parametrize(
    "again",
    [
        CreateTopic(topic="end"),
        CreateQueue(queue="end", forward_to="beyond"),
        CreateQueue(queue="end", forward_dead_letters_to="beyond"),
    ],
)
def test_destination_recreated_differently_is_not_judged(told: Told, again: Command) -> None:
    told.has(CreateQueue(queue="beyond"))
    source(told).has(GATE)
    told.has(again)
    knows_nothing_of(told, "end")


def test_deleted_forwarding_destination_is_not_judged(told: Told) -> None:
    told.has(CreateQueue(queue="beyond"))
    source(told, forward_to="beyond").has(GATE)
    knows_nothing_of(told, "end")


def test_deleted_destination_of_dead_letters_is_not_judged(told: Told) -> None:
    told.has(CreateQueue(queue="end"))
    told.queue(forward_dead_letters_to="end")
    told.has(GATE)
    knows_nothing_of(told, "q")


def test_open_transaction_or_unanswered_creation_stops_the_judging(told: Told) -> None:
    source(told).has(BeginTransaction(transaction="t"))
    told.send(transaction="t", partition_key="a")
    told.has(GATE)
    knows_nothing_of(told, "end")
    late = source(telling())
    late.has(CreateQueue(queue="other"))
    late.has(CreateQueue(queue="one", forward_to="other"), LOST)
    late.has(GATE)
    knows_nothing_of(late, "end")


def test_message_for_a_full_destination_is_dead_lettered(told: Told) -> None:
    told.has(CreateQueue(queue="end", partitioned=False, max_size=1))
    told.queue(partitioned=False, forward_to="end")
    size = 2**30
    told.has(Send(queue="end", message=Message(body="big", size=size)))
    full = Refused(error=Error.QUOTA_EXCEEDED)
    told.has(Send(queue="end", message=Message(body="more", size=size)), full)
    told.has(Send(queue="q", message=Message(body="m", size=5)))
    shows(told, STUCK, received("m", size=5), "FWD-21")


def test_message_due_in_an_outage_of_the_source_comes_after_it(told: Told) -> None:
    source(told)
    due = Schedule(queue="q", message=Message(body="m", partition_key="a"), delay=5_000_000)
    told.has(due, Scheduled(sequence_number=1))
    told.has(down(0))
    told.has(down(1))
    passes(told, 6)
    told.has(up(0))
    told.has(up(1))
    shows(told, END, received("m", 1, partition_key="a"), "FWD-23")


def test_message_due_outside_the_outage_shows_no_outage_rule(told: Told) -> None:
    source(told)
    for body, delay in (("m", 5_000_000), ("n", 60_000_000)):
        due = Schedule(queue="q", message=Message(body=body, partition_key="a"), delay=delay)
        told.has(due, Scheduled(sequence_number=None))
    passes(told, 10)
    told.has(down(0))
    told.has(up(0))
    passes(told, 60)
    for body in ("m", "n"):
        assert "FWD-23" not in told.saw(END, received(body, 1, partition_key="a")).rules


def test_transfers_give_nothing_that_was_not_forwarded(told: Told) -> None:
    told.queue()
    told.send()
    told.has(Receive(queue="q"), received("m1", 1, lock_token="l"))
    told.has(DeadLetter(queue="q", lock_token="l", reason="no"))
    shows(told, STUCK, Empty(), "FWD-32")
    wrong = told.saw(STUCK, received("m1", 1, dead_letter_reason="no"))
    assert not wrong.possible
    assert wrong.rules[0] == "FWD-32"
    told.has(Peek(queue=STUCK.queue), Peeked())
    told.has(LETTERS, received("m1", 1, dead_letter_reason="no"))


def test_no_more_of_them_are_counted_than_there_may_be(told: Told) -> None:
    source(told)
    get = GetQueue(queue="q")
    wrong = told.saw(get, told_of(transfer_dead_letters=1))
    assert not wrong.possible
    assert "FWD-32" in wrong.rules
    told.has(SHUT)
    told.send()
    for number in (None, 0, 1):
        assert is_allowed(told, get, told_of(transfer_dead_letters=number))
    told.has(Receive(queue=STUCK.queue), received("m1", 1, lock_token="l"))
    told.has(get, told_of(transfer_dead_letters=1))
    assert not told.saw(get, told_of(transfer_dead_letters=2)).possible


def test_dead_lettering_a_dead_letter_stops_the_judging(told: Told) -> None:
    source(told).has(SHUT)
    told.send()
    told.has(Receive(queue=STUCK.queue), received("m1", 1, lock_token="l"))
    bury = DeadLetter(queue=STUCK.queue, lock_token="l")
    assert is_allowed(told, bury, INVALID)
    told.has(bury)
    knows_nothing_of(told, "q")


def test_outages_of_an_entity_are_those_of_both_its_graves(told: Told) -> None:
    source(told).has(SHUT)
    told.send()
    told.has(down(0))
    told.has(STUCK, Empty())
    told.has(up(0))
    told.has(update(lock_duration=20_000_000))
    told.has(STUCK, received("m1", 1))


# -- Queues that are disabled ---------------------------------------------------------------------


@pytest.mark.parametrize("status", [EntityStatus.DISABLED, EntityStatus.SEND_DISABLED])
def test_disabled_entity_takes_nothing(told: Told, status: EntityStatus) -> None:
    told.queue()
    told.has(update(status=status))
    wrong = told.saw(Send(queue="q", message=Message(body="x")))
    assert not wrong.possible
    assert "MGMT-26" in wrong.rules
    found = told.send(DISABLED)
    assert "MGMT-26" in found.rules
    assert not told.send(GONE).possible
    later = Schedule(queue="q", message=Message(body="y"), delay=5_000_000)
    assert not told.saw(later, Scheduled(sequence_number=1)).possible
    told.has(later, DISABLED)
    told.has(update(status=EntityStatus.ACTIVE))
    late = told.saw(HERE, received("m1", 1))
    assert not late.possible
    assert "MGMT-26" in late.rules


def test_another_reason_for_the_refusal_may_be_named(told: Told) -> None:
    told.queue()
    told.has(update(status=EntityStatus.DISABLED))
    assert told.send(INVALID, session_id="a", partition_key="b").possible


@pytest.mark.parametrize("status", [EntityStatus.DISABLED, EntityStatus.RECEIVE_DISABLED])
def test_disabled_entity_gives_nothing_and_keeps_its_messages(
    told: Told, status: EntityStatus
) -> None:
    told.queue()
    told.send()
    told.has(update(status=status))
    for wrong in (Empty(), received("m1", 1), OTHER):
        assert not told.saw(HERE, wrong).possible
    shows(told, HERE, DISABLED, "MGMT-27")
    told.has(update(status=EntityStatus.ACTIVE))
    lost = told.saw(HERE, Empty())
    assert not lost.possible
    assert "MGMT-27" in lost.rules
    told.has(HERE, received("m1", 1))


def test_send_disabled_entity_receives_and_vice_versa(told: Told) -> None:
    told.queue()
    told.send()
    told.has(update(status=EntityStatus.SEND_DISABLED))
    assert not told.saw(HERE, DISABLED).possible
    shows(told, HERE, received("m1", 1), "MGMT-28")
    told.send(DISABLED)
    told.has(update(status=EntityStatus.RECEIVE_DISABLED))
    assert not told.send(DISABLED).possible
    found = told.send()
    assert "MGMT-28" in found.rules


@pytest.mark.parametrize(
    ("command", "works"),
    [
        (Peek(queue="q"), Peeked(messages=())),
        (Complete(queue="q", lock_token="l"), DONE),
        (LETTERS, Empty()),
    ],
)
def test_other_requests_on_a_disabled_entity_are_open(
    told: Told, command: Command, works: Outcome
) -> None:
    told.queue()
    told.send()
    told.has(Receive(queue="q"), received("m1", 1, lock_token="l"))
    told.has(update(status=EntityStatus.DISABLED))
    assert is_allowed(told, command, DISABLED)
    assert is_allowed(told, command, OTHER)
    if not isinstance(works, Peeked):
        told.has(command, works)


def test_receiver_of_a_send_disabled_queue_can_settle(told: Told) -> None:
    told.queue()
    told.send()
    told.has(update(status=EntityStatus.SEND_DISABLED))
    told.has(Receive(queue="q"), received("m1", 1, lock_token="l"))
    done = Complete(queue="q", lock_token="l")
    assert not told.saw(done, DISABLED).possible
    told.has(done)


def test_commit_of_a_settlement_on_a_disabled_queue_is_open(told: Told) -> None:
    told.queue()
    told.send()
    told.has(Receive(queue="q"), received("m1", 1, lock_token="l"))
    told.has(update(status=EntityStatus.RECEIVE_DISABLED))
    told.has(BeginTransaction(transaction="t"))
    settle = Complete(queue="q", lock_token="l", transaction="t")
    assert is_allowed(told, settle, DISABLED)
    told.has(settle)
    for answer in (DONE, INVALID, DISABLED):
        assert is_allowed(told, CommitTransaction(transaction="t"), answer)


def test_a_transaction_on_dead_letters_waits_on_their_queue(told: Told) -> None:
    told.queue()
    told.send()
    told.has(Receive(queue="q"), received("m1", 1, lock_token="l"))
    told.has(DeadLetter(queue="q", lock_token="l", reason="no"))
    letters = Receive(queue=LETTERS.queue)
    told.has(letters, received("m1", 1, lock_token="d", dead_letter_reason="no"))
    told.has(BeginTransaction(transaction="t"))
    told.has(Complete(queue=LETTERS.queue, lock_token="d", transaction="t"))
    told.has(update(status=EntityStatus.DISABLED))
    knows_nothing_of(told, "q")


def test_a_session_can_be_refused_too(told: Told) -> None:
    told.queue(requires_session=True)
    told.has(update(status=EntityStatus.RECEIVE_DISABLED))
    assert is_allowed(told, AcceptSession(queue="q", session_id="a"), DONE)
    told.has(AcceptSession(queue="q", session_id="a"), DISABLED)


@pytest.mark.parametrize("lost", [LOST, GONE])
def test_an_update_that_may_come_later_leaves_nothing_told(told: Told, lost: Outcome) -> None:
    told.queue()
    told.has(down(0))
    told.has(update(status=EntityStatus.DISABLED), lost)
    knows_nothing_of(told, "q")


def test_after_an_update_that_was_lost_nothing_is_told(told: Told) -> None:
    told.queue()
    told.has(update(lock_duration=20_000_000), LOST)
    told.has(update(status=EntityStatus.DISABLED))
    knows_nothing_of(told, "q")


def test_scheduled_or_buffered_messages_of_a_disabled_queue_are_not_judged(told: Told) -> None:
    told.queue()
    due = Schedule(queue="q", message=Message(body="m"), delay=5_000_000)
    told.has(due, Scheduled(sequence_number=1))
    told.has(update(status=EntityStatus.DISABLED))
    knows_nothing_of(told, "q")
    waiting = telling()
    waiting.queue()
    waiting.has(BeginTransaction(transaction="t"))
    waiting.send(transaction="t", partition_key="a")
    waiting.has(update(status=EntityStatus.DISABLED))
    knows_nothing_of(waiting, "q")
