"""Queues: placing, duplicates, locks, dead letters, deferral, expiry, sizes and limits."""

from random import Random
from typing import Any

import attrs
import pytest
from model_driver import SECOND, Bus, changed, profile, state_of

from busproof import vocabulary as v
from busproof.broker.direct_actions import act
from busproof.model import RULES, HostileChoices, RandomChoices, RoundRobin, Scripted, ways
from busproof.model.life_cycle import Action
from busproof.model.state import Namespace

KB, GB = 1024, 2**30


@pytest.fixture
def bus() -> Bus:
    return Bus()


def test_messages_without_key_take_the_partitions_by_turns(bus: Bus) -> None:
    bus.create()
    assert [0, 1, 2, 0] == [bus.send(f"m{number}") for number in range(4)]


def test_strict_round_robin_passes_over_partitions_that_are_down() -> None:
    bus = Bus(profile(ROUND_ROBIN="strict"))
    bus.create()
    bus.down(1)
    assert [0, 2, 0] == [bus.send(f"m{number}") for number in range(3)]
    bus.down(0)
    bus.down(2)
    assert v.Error.UNAVAILABLE is bus.refused(v.Send(queue="q", message=v.Message(body="m")))


def test_short_timeout_may_fail_in_an_outage() -> None:
    command = v.Send(queue="q", message=v.Message(body="m"), timeout=SECOND)
    bus = Bus(profile(SHORT_TIMEOUT="must-fail"))
    bus.create()
    bus.down(1)
    assert v.Error.UNAVAILABLE is bus.refused(command)


@pytest.mark.parametrize(("reading", "partition"), [("set", True), ("unset", False)])
def test_empty_key_counts_as_its_reading_says(reading: str, *, partition: bool) -> None:
    bus = Bus(profile(EMPTY_KEY=reading))
    bus.create()
    places = {bus.send(f"m{number}", partition_key="", session_id="") for number in range(3)}
    assert partition is (len(places) == 1)
    conflict = v.Message(body="m", session_id="a", partition_key="")
    outcome = bus.ask(v.Send(queue="q", message=conflict)).outcome
    assert partition is isinstance(outcome, v.Refused)


def test_either_error_comes_where_keys_differ_and_everything_is_down(bus: Bus) -> None:
    bus.create()
    for number in range(3):
        bus.down(number)
    wrong = v.Message(body="m", session_id="a", partition_key="b")
    answers = [
        answer.outcome for _, answer in ways(bus.namespace, v.Send(queue="q", message=wrong), "c")
    ]
    errors = {outcome.error for outcome in answers if isinstance(outcome, v.Refused)}
    assert {v.Error.INVALID_OPERATION, v.Error.UNAVAILABLE} == errors


def test_regular_queue_in_an_outage_refuses_sends_and_gives_nothing(bus: Bus) -> None:
    bus.create(partitioned=False)
    bus.send("m")
    bus.down(0)
    assert v.Error.UNAVAILABLE is bus.refused(v.Send(queue="q", message=v.Message(body="n")))
    assert [] == bus.bodies()


def test_copy_within_the_window_is_dropped_and_behind_it_is_kept(bus: Bus) -> None:
    bus.create(duplicate_detection=True, duplicate_window=20 * SECOND)
    for body in ("m1", "m2"):
        bus.send(body, message_id="i")
    bus.wait(20)
    bus.send("m3", message_id="i")
    assert ["m1", "m3"] == sorted(bus.bodies())


def test_copy_prolongs_the_window_if_so_read() -> None:
    bus = Bus(profile(DUPLICATE_PROLONGS="last"))
    bus.create(duplicate_detection=True, duplicate_window=20 * SECOND)
    for body in ("m1", "m2", "m3"):
        bus.send(body, message_id="i")
        bus.wait(15)
    assert ["m1"] == bus.bodies()


@pytest.mark.parametrize("window", [SECOND, 8 * 86_400 * SECOND])
def test_duplicate_window_out_of_bounds_is_refused(bus: Bus, window: int) -> None:
    command = v.CreateQueue(queue="q", duplicate_detection=True, duplicate_window=window)
    assert v.Error.INVALID_OPERATION is bus.refused(command)


def test_lock_of_more_than_five_minutes_is_refused(bus: Bus) -> None:
    command = v.CreateQueue(queue="q", lock_duration=301 * SECOND)
    assert v.Error.INVALID_OPERATION is bus.refused(command)


def test_renewed_lock_lasts_for_a_whole_duration(bus: Bus) -> None:
    bus.create(lock_duration=10 * SECOND)
    bus.send("m")
    given = bus.receive()
    bus.wait(9)
    bus.done(v.RenewLock(queue="q", lock_token=given.lock_token or ""))
    bus.wait(9)
    assert [] == bus.bodies()
    bus.wait(1)
    assert ["m"] == bus.bodies()


def test_lock_of_a_session_message_is_renewed_with_its_session_only(bus: Bus) -> None:
    bus.create(requires_session=True)
    bus.send("m", session_id="a")
    bus.done(v.AcceptSession(queue="q", session_id="a"))
    given = bus.receive(session_id="a")
    renewal = v.RenewLock(queue="q", lock_token=given.lock_token or "")
    assert v.Error.INVALID_OPERATION is bus.refused(renewal)


def test_renewal_in_an_outage_may_be_refused_and_may_not(bus: Bus) -> None:
    bus.create()
    partition = bus.send("m") or 0
    renewal = v.RenewLock(queue="q", lock_token=bus.receive().lock_token or "")
    bus.down(partition)
    kinds = {type(answer.outcome) for _, answer in ways(bus.namespace, renewal, "c1")}
    assert {v.Renewed, v.Refused} == kinds


@pytest.mark.parametrize(("reading", "renewed"), [("accepted", True), ("refused", False)])
def test_lock_of_an_expired_message_is_renewed_as_read(reading: str, *, renewed: bool) -> None:
    bus = Bus(profile(RENEW_EXPIRED=reading))
    bus.create(time_to_live=5 * SECOND)
    bus.send("m")
    given = bus.receive()
    bus.wait(6)
    outcome = bus.ask(v.RenewLock(queue="q", lock_token=given.lock_token or "")).outcome
    assert renewed is isinstance(outcome, v.Renewed)


def locked_together(bus: Bus, keys: str) -> v.SettleBatch:
    """Lock a message of each key; the request that completes all of them."""
    bus.create()
    for number, key in enumerate(keys):
        bus.send(f"m{number}", partition_key=key)
    tokens = tuple(bus.receive().lock_token or "" for _ in keys)
    return v.SettleBatch(queue="q", lock_tokens=tokens, disposition=v.Disposition.COMPLETE)


def test_locks_of_one_partition_are_settled_together(bus: Bus) -> None:
    both = locked_together(bus, "aa")
    assert v.Done() == bus.done(both)
    assert v.Error.LOCK_LOST is bus.refused(both)


@pytest.mark.parametrize(("reading", "settled"), [("refused", False), ("accepted", True)])
def test_locks_of_several_partitions_are_settled_as_read(reading: str, *, settled: bool) -> None:
    bus = Bus(profile(SETTLE_PARTITIONS=reading))
    command = locked_together(bus, "abcd")
    assert settled is isinstance(bus.ask(command).outcome, v.Done)
    for token in command.lock_tokens:
        left = bus.ask(v.Complete(queue="q", lock_token=token)).outcome
        assert settled is isinstance(left, v.Refused)


@pytest.mark.parametrize(("reading", "settled"), [("nothing", False), ("others", True)])
def test_one_lost_lock_refuses_a_request_as_read(reading: str, *, settled: bool) -> None:
    bus = Bus(profile(SETTLE_LOST=reading))
    both = locked_together(bus, "aa")
    first, second = (v.Complete(queue="q", lock_token=each) for each in both.lock_tokens)
    bus.done(first)
    assert v.Error.LOCK_LOST is bus.refused(both)
    assert settled is isinstance(bus.ask(second).outcome, v.Refused)


def test_locks_of_one_partition_are_renewed_together(bus: Bus) -> None:
    both = v.RenewLocks(queue="q", lock_tokens=locked_together(bus, "aa").lock_tokens)
    bus.wait(40)
    assert v.RenewedSeveral(locked_until=(100 * SECOND, 100 * SECOND)) == bus.done(both)
    bus.done(v.Complete(queue="q", lock_token=both.lock_tokens[0]))
    assert v.Error.LOCK_LOST is bus.refused(both)


@pytest.mark.parametrize(("reading", "left"), [("nothing", v.Refused), ("others", v.Done)])
def test_one_lost_lock_refuses_a_renewal_as_read(reading: str, left: type) -> None:
    bus = Bus(profile(SETTLE_LOST=reading))
    tokens = locked_together(bus, "aa").lock_tokens
    bus.done(v.Complete(queue="q", lock_token=tokens[0]))
    bus.wait(40)
    assert v.Error.LOCK_LOST is bus.refused(v.RenewLocks(queue="q", lock_tokens=tokens))
    bus.wait(40)
    assert isinstance(bus.ask(v.Complete(queue="q", lock_token=tokens[1])).outcome, left)


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


@pytest.mark.parametrize("properties", [{"message_id": "i" * 129}, {"session_id": "i" * 129}])
def test_key_that_is_too_long_is_refused(bus: Bus, properties: dict[str, Any]) -> None:
    bus.create()
    message = v.Message(body="m", **properties)
    assert v.Error.INVALID_OPERATION is bus.refused(v.Send(queue="q", message=message))


@pytest.mark.parametrize(
    ("tier", "size", "fits"),
    [("standard", 256 * KB, True), ("standard", 257 * KB, False), ("premium", 257 * KB, True)],
)
def test_body_is_as_large_as_its_tier_takes(tier: str, size: int, *, fits: bool) -> None:
    bus = Bus(profile(tier=tier))
    bus.create(partitioned=False)
    outcome = bus.ask(v.Send(queue="q", message=v.Message(body="m", size=size))).outcome
    assert fits is (outcome == v.Done())


def test_properties_are_limited_one_by_one_and_together(bus: Bus) -> None:
    bus.create()
    small, large = "x" * 30 * KB, "x" * 33 * KB
    for properties in ({"a": large}, {"a": small, "b": small, "c": small}):
        message = v.Message(body="m", properties=properties)
        assert v.Error.INVALID_OPERATION is bus.refused(v.Send(queue="q", message=message))
    bus.send("m", properties={"a": small, "b": 1})


def test_batch_is_limited_as_a_whole(bus: Bus) -> None:
    bus.create(partitioned=False)
    messages = tuple(v.Message(body=f"m{number}", size=200 * KB) for number in range(2))
    assert v.Error.MESSAGE_TOO_LARGE is bus.refused(v.SendBatch(queue="q", messages=messages))
    assert v.Error.INVALID_OPERATION is bus.refused(v.SendBatch(queue="q", messages=()))
    premium = Bus(profile(tier="premium"))
    premium.create(partitioned=False)
    premium.done(v.SendBatch(queue="q", messages=messages))


def test_transaction_takes_a_hundred_messages(bus: Bus) -> None:
    bus.create()
    bus.done(v.BeginTransaction(transaction="x"))
    for number in range(100):
        message = v.Message(body=f"m{number}", partition_key="k")
        bus.done(v.Send(queue="q", message=message, transaction="x"))
    one_more = v.Send(queue="q", message=v.Message(body="n", partition_key="k"), transaction="x")
    assert v.Error.INVALID_OPERATION is bus.refused(one_more)
    bus.done(v.CommitTransaction(transaction="x"))
    assert 100 == len(bus.bodies())


def full(bus: Bus, partition_key: str, size: int = GB) -> None:
    """Fill the partition of a key."""
    bus.send("full", partition_key=partition_key, size=size, stands_in=True)


def test_full_partition_refuses_its_key_and_is_gone_round_without_one(bus: Bus) -> None:
    bus.create()
    full(bus, "k")
    keyed = v.Send(queue="q", message=v.Message(body="m", partition_key="k", size=1))
    assert v.Error.QUOTA_EXCEEDED is bus.refused(keyed)
    for number in range(3):
        bus.send(f"m{number}", size=1)
    for number in range(4):
        bus.ask(
            v.Send(queue="q", message=v.Message(body=f"f{number}", size=GB - 3, stands_in=True))
        )
    nowhere = v.Send(queue="q", message=v.Message(body="n", size=KB))
    assert v.Error.QUOTA_EXCEEDED is bus.refused(nowhere)
    bus.bodies()
    assert v.Done() == bus.done(keyed)


def test_full_partition_refuses_everything_if_so_read() -> None:
    bus = Bus(profile(FULL_UNKEYED="refused"))
    bus.create(partitioned=False)
    full(bus, "k")
    assert v.Error.QUOTA_EXCEEDED is bus.refused(v.Send(queue="q", message=v.Message(body="m")))


def test_pooled_partitions_are_full_together() -> None:
    bus = Bus(profile(FULL_PARTITION="pooled"))
    bus.create()
    for number in range(3):
        full(bus, "k", GB)
        assert number < 2 or v.Error.QUOTA_EXCEEDED is bus.refused(
            v.Send(queue="q", message=v.Message(body="m", partition_key="k"))
        )


def test_a_pooled_partition_with_room_is_full_with_the_others() -> None:
    """The first holds more than its own size, so that nothing is left for the second."""
    for reading in ("pooled", "either"):
        bus = Bus(profile(FULL_PARTITION=reading, partitions=2), HostileChoices(Always()))
        bus.create()
        full(bus, "k", GB)
        full(bus, "k", GB)
        for key in ("k", "other"):
            message = v.Message(body="m", partition_key=key, size=1)
            assert v.Error.QUOTA_EXCEEDED is bus.refused(v.Send(queue="q", message=message))


def test_gigabytes_make_partitions_if_so_read() -> None:
    bus = Bus(profile(GB_PARTITIONS="per-gb"))
    bus.create(max_size=2)
    assert 6 == len(bus.namespace.entities["q"].partitions)
    assert v.Error.INVALID_OPERATION is bus.refused(v.CreateQueue(queue="r", max_size=7))
    premium = Bus(profile(tier="premium"))
    premium.create(partitioned=False, max_size=80)
    assert v.Error.INVALID_OPERATION is premium.refused(
        v.CreateQueue(queue="r", partitioned=False, max_size=7)
    )


def test_cached_messages_are_handed_out_to_their_connection_first() -> None:
    for mode in v.ReceiveMode:
        bus = Bus(profile(partitions=1), HostileChoices(Always()))
        bus.create()
        for number in range(3):
            bus.send(f"m{number}")
        bus.receive()
        assert v.Empty() == bus.done(v.Receive(queue="q"), "c2")
        found = bus.done(v.Receive(queue="q", mode=mode))
        assert isinstance(found, v.Received)
        bus.wait(60)
        assert 2 + (mode is v.ReceiveMode.PEEK_LOCK) == len(bus.bodies())


@pytest.mark.parametrize(
    ("reading", "kind"), [("handed-out", v.Received), ("not-handed-out", v.Empty)]
)
def test_cached_message_that_has_expired_is_handed_out_as_read(reading: str, kind: type) -> None:
    bus = Bus(profile(partitions=1, CACHE_EXPIRY=reading), HostileChoices(Always()))
    bus.create(time_to_live=10 * SECOND)
    for number in range(3):
        bus.send(f"m{number}")
    bus.receive()
    bus.wait(11)
    assert isinstance(bus.done(v.Receive(queue="q")), kind)


@pytest.mark.parametrize(("reading", "count"), [("stays", 1), ("counts", 2)])
def test_cached_message_counts_as_delivered_as_read(reading: str, count: int) -> None:
    bus = Bus(profile(partitions=1, CACHE_DELIVERY_COUNT=reading), HostileChoices(Always()))
    bus.create()
    for number in range(2):
        bus.send(f"m{number}")
    bus.receive()
    bus.wait(60)
    found = bus.done(v.ReceiveBatch(queue="q", count=2), "c2")
    bus.choices = RoundRobin()
    rest = bus.done(v.ReceiveBatch(queue="q", count=2), "c2")
    assert isinstance(found, v.ReceivedSeveral)
    assert isinstance(rest, v.ReceivedSeveral)
    counts = {each.body: each.delivery_count for each in (*found.messages, *rest.messages)}
    assert {"m0": 2, "m1": count} == counts


def test_cached_lock_begins_when_handed_out_if_so_read() -> None:
    held_to = profile(partitions=1, CACHE_LOCK="from-handing-out")
    bus = Bus(held_to, HostileChoices(Always()))
    bus.create()
    for number in range(2):
        bus.send(f"m{number}")
    bus.receive()
    bus.wait(5)
    assert 65 * SECOND == bus.receive().locked_until


class Always(Random):
    """Chance by which a hostile policy takes the last candidate each time."""

    def random(self) -> float:
        return 0.0


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


def test_act_does_by_rules_what_no_command_asks_for(bus: Bus) -> None:
    bus.create()
    bus.send("m0")
    token = bus.receive().lock_token
    (queued,) = bus.namespace.entities["q"].messages.values()

    def release(namespace: Namespace) -> None:
        namespace.rules.locks.release(namespace, queued, Action.ABANDON)

    changes = act(bus.namespace, bus.choices, release)
    assert [(queued, None)] == changed(changes)
    assert v.Error.LOCK_LOST is bus.refused(v.Complete(queue="q", lock_token=token or ""))
    assert "m0" == bus.receive().body


def test_timers_are_due_when_their_moment_has_come(bus: Bus) -> None:
    bus.create()
    assert not bus.namespace.timers.is_due(10**12)
    bus.done(v.Schedule(queue="q", message=v.Message(body="m"), delay=SECOND))
    assert not bus.namespace.timers.is_due(SECOND - 1)
    assert bus.namespace.timers.is_due(SECOND)


def test_answer_names_its_refusal(bus: Bus) -> None:
    refused = v.Refused(error=v.Error.NOT_FOUND)
    assert refused == bus.ask(v.Receive(queue="none")).refused
    assert bus.ask(v.CreateQueue(queue="q")).refused is None


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


def test_policies_choose_among_the_candidates() -> None:
    for policy in (RoundRobin(), RandomChoices(Random(1)), HostileChoices(Random(1)), Scripted()):
        assert policy.pick("KEY-16", iter("ab")) in "ab"
        assert 1 == policy.partition("KEY-14", "q", 3, lambda number: number == 1)
        assert policy.partition("KEY-14", "q", 3, lambda _: False) is None


def test_changes_leave_out_the_timers_that_ran(bus: Bus) -> None:
    bus.create(lock_duration=SECOND)
    bus.send("m")
    bus.receive()
    answer = bus.ask(v.AdvanceClock(duration=SECOND))
    queue = bus.namespace.entities["q"]
    found = changed(answer.changes)
    assert [(bus.namespace, None), (queue.messages[1], None)] == found


def test_hostile_policy_offers_a_message_of_each_key() -> None:
    bus = Bus(profile(partitions=2))
    bus.create()
    alike = [f"k{number}" for number in range(9) if bus.send("m", partition_key=f"k{number}")]
    bus.bodies()
    for number, key in enumerate((alike[0], alike[0], alike[1], alike[1])):
        bus.send(f"m{number}", partition_key=key)
    locked = bus.receive()
    found = [answer.outcome for _, answer in ways(bus.namespace, v.Receive(queue="q"), "c2")]
    bodies = {each.message.body for each in found if isinstance(each, v.Received)}
    assert ("m0", {"m1", "m2"}) == (locked.body, bodies)


def test_changes_of_a_send_are_its_message_and_the_counters_of_its_partition(bus: Bus) -> None:
    bus.create()
    answer = bus.ask(v.Send(queue="q", message=v.Message(body="m")))
    queue = bus.namespace.entities["q"]
    found = changed(answer.changes)
    assert [(queue.partitions[0], None), (queue.messages, 1)] == found


def test_a_refused_command_changes_nothing() -> None:
    bus = Bus(profile(BATCH_KEYS="refused"))
    bus.create()
    bus.send("m", message_id="i")
    before = state_of(bus.namespace)
    bus.refused(v.CreateQueue(queue="q"))
    bus.refused(v.Complete(queue="q", lock_token="1/1"))
    bus.refused(
        v.SendBatch(
            queue="q",
            messages=(v.Message(body="a"), v.Message(body="b", session_id="s", partition_key="k")),
        )
    )
    assert before == state_of(bus.namespace)


def test_a_rule_can_be_replaced() -> None:
    keys = attrs.evolve(RULES.keys, home=lambda *_: 2)
    faulty = Bus(rules=attrs.evolve(RULES, keys=keys))
    faulty.create()
    assert {2} == {faulty.send(f"m{number}", partition_key=f"k{number}") for number in range(5)}


def test_stale_timers_and_lines_are_tidied_up(bus: Bus) -> None:
    bus.create(time_to_live=900 * SECOND)
    bus.create("s", requires_session=True)
    bus.create("d", duplicate_detection=True)
    for number in range(200):
        bus.send(f"m{number}")
        bus.send(f"d{number}", queue="d", message_id=f"i{number}")
        bus.done(v.Complete(queue="q", lock_token=bus.receive().lock_token or ""))
        bus.done(v.AcceptSession(queue="s", session_id="a"))
        planned = bus.done(v.Schedule(queue="q", message=v.Message(body="p"), delay=SECOND))
        assert isinstance(planned, v.Scheduled)
        bus.done(v.CancelScheduled(queue="q", sequence_number=planned.sequence_number or 0))
    bus.create("gone", time_to_live=900 * SECOND)
    for number in range(600):
        bus.send(f"g{number}", queue="gone")
    bus.done(v.DeleteQueue(queue="gone"))
    bus.wait(2)
    assert 900 > len(bus.namespace.timers.heap)
    assert 300 > sum(len(each.line.order) for each in bus.namespace.entities["q"].partitions)


def test_sessions_that_are_gone_are_in_no_index(bus: Bus) -> None:
    """Whether they had messages or not, although no receiver asks for the next session."""
    bus.create("s", requires_session=True)
    for number in range(20):
        name = f"x{number}"
        bus.done(v.AcceptSession(queue="s", session_id=name))
        if number % 2:
            bus.send("m", queue="s", session_id=name)
            token = bus.receive("s", session_id=name).lock_token or ""
            bus.done(v.Complete(queue="s", lock_token=token))
        bus.done(v.CloseSession(queue="s", session_id=name))
    entity = bus.namespace.entities["s"]
    assert not entity.sessions
    assert not entity.free_sessions


def test_a_session_whose_last_message_dies_as_it_is_given_back_is_gone(bus: Bus) -> None:
    bus.create(requires_session=True)
    bus.send("m", session_id="a", time_to_live=SECOND)
    bus.done(v.AcceptSession(queue="q", session_id="a"))
    bus.receive(session_id="a")
    bus.done(v.AdvanceClock(duration=2 * SECOND))
    bus.done(v.CloseSession(queue="q", session_id="a"))
    assert v.SessionsListed(session_ids=()) == bus.done(v.ListSessions(queue="q"))


def test_settlement_of_a_message_whose_partition_is_down_may_be_refused_or_done(bus: Bus) -> None:
    bus.create()
    partition = bus.send("m") or 0
    token = bus.receive().lock_token or ""
    bus.down(partition)
    command = v.Complete(queue="q", lock_token=token)
    found = {type(answer.outcome) for _, answer in ways(bus.namespace, command, "c1")}
    assert {v.Refused, v.Done} == found
