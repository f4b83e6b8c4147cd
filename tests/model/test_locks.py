"""Locks of one message and of several, and messages in a front end's cache."""

from typing import Any

import pytest
from model_driver import SECOND, Always, Bus, profile

from busproof import vocabulary as v
from busproof.model import HostileChoices, RoundRobin, ways


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
    given = bus.receive().body
    bus.wait(60)
    found = bus.done(v.ReceiveBatch(queue="q", count=2), "c2")
    bus.choices = RoundRobin()
    rest = bus.done(v.ReceiveBatch(queue="q", count=2), "c2")
    assert isinstance(found, v.ReceivedSeveral)
    assert isinstance(rest, v.ReceivedSeveral)
    counts = {each.body: each.delivery_count for each in (*found.messages, *rest.messages)}
    (cached,) = {"m0", "m1"} - {given}
    assert {given: 2, cached: count} == counts


def test_cached_lock_begins_when_handed_out_if_so_read() -> None:
    held_to = profile(partitions=1, CACHE_LOCK="from-handing-out")
    bus = Bus(held_to, HostileChoices(Always()))
    bus.create()
    for number in range(2):
        bus.send(f"m{number}")
    bus.receive()
    bus.wait(5)
    assert 65 * SECOND == bus.receive().locked_until


@pytest.mark.parametrize(
    ("request_with", "rule"),
    [
        (v.Complete, "LIFE-06"),
        (v.Abandon, "LIFE-06"),
        (v.DeadLetter, "LOCK-06"),
        (v.Defer, "LOCK-06"),
        (v.RenewLock, "LOCK-05"),
    ],
)
def test_lost_lock_is_refused_by_the_rule_of_its_request(request_with: Any, rule: str) -> None:
    bus = Bus()
    bus.create()
    bus.send("m")
    token = bus.receive().lock_token
    bus.wait(61)
    answer = bus.ask(request_with(queue="q", lock_token=token))
    assert (v.Refused(error=v.Error.LOCK_LOST), (rule,)) == (answer.outcome, answer.rules)
