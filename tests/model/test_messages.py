"""Deletions, dead letters, deferred messages and peeks."""

import attrs
import pytest
from model_driver import SECOND, Bus, profile

from busproof import vocabulary as v
from busproof.model import ways


@pytest.mark.parametrize("locked", [0, 1])
def test_messages_are_deleted_up_to_a_number_but_for_locked_ones(bus: Bus, locked: int) -> None:
    bus.create(partitioned=False)
    bus.send("a")
    bus.send("b")
    for _ in range(locked):
        bus.receive()
    assert v.Deleted(count=1) == bus.done(v.DeleteBatch(queue="q", count=1))
    assert v.Deleted(count=1 - locked) == bus.done(v.DeleteBatch(queue="q", count=9))


def test_newer_messages_are_not_deleted(bus: Bus) -> None:
    bus.create(partitioned=False)
    bus.send("a")
    bus.wait(30)
    bus.send("b")
    old = v.DeleteBatch(queue="q", count=9, age=30 * SECOND)
    assert [v.Deleted(count=1), v.Deleted(count=0)] == [bus.done(old), bus.done(old)]


def test_any_of_the_messages_may_be_deleted_and_fewer_than_there_are(bus: Bus) -> None:
    bus.create(partitioned=False)
    bus.send("a")
    bus.send("b")
    found = [way.outcome for _, way in ways(bus.namespace, v.DeleteBatch(queue="q", count=1), "c1")]
    assert {v.Deleted(count=0), v.Deleted(count=1)} == set(found)
    assert 2 == found.count(v.Deleted(count=1))


@pytest.mark.parametrize("tier", [v.Tier.STANDARD, v.Tier.PREMIUM])
def test_too_many_messages_may_be_refused_by_tier(tier: v.Tier) -> None:
    bus = Bus(attrs.evolve(profile(), tier=tier))
    bus.create(partitioned=False)
    most = 4000 if tier is v.Tier.PREMIUM else 500
    assert v.Deleted(count=0) == bus.done(v.DeleteBatch(queue="q", count=most))
    more = v.DeleteBatch(queue="q", count=most + 1)
    assert v.Error.INVALID_OPERATION is bus.refused(more)
    kinds = {type(answer.outcome) for _, answer in ways(bus.namespace, more, "c1")}
    assert {v.Deleted, v.Refused} == kinds


@pytest.mark.parametrize(("reading", "deleted"), [("refused", False), ("deleted", True)])
def test_messages_of_a_partitioned_queue_are_deleted_as_read(
    reading: str, *, deleted: bool
) -> None:
    bus = Bus(profile(DELETE_PARTITIONED=reading))
    bus.create()
    bus.send("a")
    outcome = bus.ask(v.DeleteBatch(queue="q", count=1)).outcome
    assert deleted is isinstance(outcome, v.Deleted)


def test_no_messages_are_deleted_in_sessions_nor_in_an_outage(bus: Bus) -> None:
    bus.create(partitioned=False)
    bus.down(0)
    assert v.Error.UNAVAILABLE is bus.refused(v.DeleteBatch(queue="q", count=1))
    bus.done(v.CreateQueue(queue="s", partitioned=False, requires_session=True))
    assert v.Error.INVALID_OPERATION is bus.refused(v.DeleteBatch(queue="s", count=1))


def test_message_that_fails_too_often_is_dead_lettered_with_the_reason(bus: Bus) -> None:
    bus.create(max_delivery_count=1)
    bus.send("m")
    bus.done(v.Abandon(queue="q", lock_token=bus.receive().lock_token or ""))
    assert [] == bus.bodies()
    assert "MaxDeliveryCountExceeded" == bus.receive("q" + v.DEAD_LETTERS).dead_letter_reason


@pytest.mark.parametrize(("reading", "counts"), [("anew", [1, 2]), ("kept", [2, 3])])
def test_dead_letter_counts_deliveries_as_its_reading_says(reading: str, counts: list[int]) -> None:
    bus = Bus(profile(DEAD_LETTER_COUNT=reading))
    bus.create(max_delivery_count=1)
    bus.send("m")
    bus.done(v.Abandon(queue="q", lock_token=bus.receive().lock_token or ""))
    dead = "q" + v.DEAD_LETTERS
    for count in counts:
        letter = bus.receive(dead)
        assert count == letter.delivery_count
        bus.done(v.Abandon(queue=dead, lock_token=letter.lock_token or ""))


def test_deferred_message_is_received_by_its_number_and_nowhere_else(bus: Bus) -> None:
    bus.create()
    bus.send("m")
    given = bus.receive()
    bus.done(v.Defer(queue="q", lock_token=given.lock_token or ""))
    assert [] == bus.bodies()
    wanted = v.ReceiveDeferred(queue="q", sequence_numbers=(given.sequence_number or 0,))
    again = bus.done(wanted)
    assert isinstance(again, v.ReceivedSeveral)
    bus.done(v.Abandon(queue="q", lock_token=again.messages[0].lock_token or ""))
    mode = v.ReceiveMode.RECEIVE_AND_DELETE
    gone = v.ReceiveDeferred(queue="q", sequence_numbers=wanted.sequence_numbers, mode=mode)
    assert isinstance(bus.done(gone), v.ReceivedSeveral)
    assert v.Error.MESSAGE_NOT_FOUND is bus.refused(gone)


def test_deferred_messages_of_two_partitions_may_be_refused_together(bus: Bus) -> None:
    bus.create()
    numbers = []
    for body in ("m1", "m2"):
        bus.send(body)
        given = bus.receive()
        bus.done(v.Defer(queue="q", lock_token=given.lock_token or ""))
        numbers.append(given.sequence_number or 0)
    both = v.ReceiveDeferred(queue="q", sequence_numbers=tuple(numbers))
    outcomes = [type(answer.outcome) for _, answer in ways(bus.namespace, both, "c")]
    assert {v.Refused, v.ReceivedSeveral} == set(outcomes)
    twice = v.ReceiveDeferred(queue="q", sequence_numbers=(numbers[0], numbers[0]))
    assert v.Error.MESSAGE_NOT_FOUND is bus.refused(twice)
    bus.down(0)
    assert v.Error.UNAVAILABLE is bus.refused(
        v.ReceiveDeferred(queue="q", sequence_numbers=(numbers[0],))
    )


@pytest.mark.parametrize("sent", [False, True], ids=["alone", "beside an active one"])
def test_peek_may_find_a_partition_empty_while_another_has_a_scheduled_message(
    bus: Bus, *, sent: bool
) -> None:
    """PART-21, SCHED-08."""
    bus.create()
    if sent:
        bus.send("m")
    bus.done(v.Schedule(queue="q", message=v.Message(body="later"), delay=SECOND))
    peeks = [answer.outcome for _, answer in ways(bus.namespace, v.Peek(queue="q", count=2), "c")]
    assert v.Peeked() in peeks
    assert 1 + sent in {len(peek.messages) for peek in peeks if isinstance(peek, v.Peeked)}


def test_peek_goes_on_by_the_numbers_scheduled_messages_among_others(bus: Bus) -> None:
    bus.create()
    for number in range(6):
        bus.send(f"m{number}")
    for body in ("later", "last"):
        later = v.Message(body=body, partition_key="a")
        bus.done(v.Schedule(queue="q", message=later, delay=SECOND))
        bus.send(f"after {body}", partition_key="a")
    seen: list[v.MessageView] = []
    start = 1
    for _ in range(10):
        found = bus.done(v.Peek(queue="q", from_sequence_number=start))
        assert isinstance(found, v.Peeked)
        seen += found.messages
        start = (seen[-1].sequence_number or 0) + 1
    assert v.Peeked() == bus.done(v.Peek(queue="q", from_sequence_number=start))
    assert 10 == len({view.body for view in seen})
    keyed = [view.body for view in seen if not view.body.startswith("m")]
    assert ["later", "after later", "last", "after last"] == keyed


def test_peek_begins_with_the_oldest_of_all_if_so_read() -> None:
    bus = Bus(profile(LIKE_REGULAR="identical"))
    bus.create()
    bus.down(0)
    bus.down(1)
    bus.send("oldest")
    bus.up(0)
    bus.send("younger")
    found = bus.done(v.Peek(queue="q"))
    assert isinstance(found, v.Peeked)
    assert ["oldest"] == [view.body for view in found.messages]


def test_settlement_of_a_message_whose_partition_is_down_may_be_refused_or_done(bus: Bus) -> None:
    bus.create()
    partition = bus.send("m") or 0
    token = bus.receive().lock_token or ""
    bus.down(partition)
    command = v.Complete(queue="q", lock_token=token)
    found = {type(answer.outcome) for _, answer in ways(bus.namespace, command, "c1")}
    assert {v.Refused, v.Done} == found
