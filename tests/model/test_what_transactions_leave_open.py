"""What becomes of a commit whose queue is gone or down, and of settlements of several keys."""

import pytest
from model_driver import Always, Bus, profile

from busproof import vocabulary as v
from busproof.model import HostileChoices

HOSTILE = HostileChoices(Always())
COMMIT = v.CommitTransaction(transaction="x")


def begun(bus: Bus) -> Bus:
    bus.done(v.BeginTransaction(transaction="x"))
    return bus


def settled(bus: Bus, *keys: str) -> list[v.Complete]:
    """Receive a message of each key; the requests that complete them in the transaction."""
    found = []
    for key in keys:
        bus.send(key, partition_key=key)
        token = bus.receive().lock_token or ""
        found.append(v.Complete(queue="q", lock_token=token, transaction="x"))
    return begun(bus) and found


def test_settlements_of_two_keys_may_be_refused() -> None:
    bus = Bus(profile(TXN_OTHER_OPERATIONS="all"))
    bus.create()
    first, second = settled(bus, "a", "b")
    bus.done(first)
    bus.choices = HOSTILE
    assert v.Error.INVALID_OPERATION is bus.refused(second)


def test_settlements_of_two_keys_may_be_accepted() -> None:
    bus = Bus(profile(TXN_OTHER_OPERATIONS="all"))
    bus.create()
    for each in settled(bus, "a", "b"):
        bus.done(each)
    bus.done(COMMIT)


@pytest.mark.parametrize(("reading", "is_done"), [("accepted", True), ("either", False)])
def test_settlement_in_a_second_queue_may_be_refused(reading: str, is_done: bool) -> None:
    bus = Bus(profile(TXN_ENTITIES=reading, TXN_OTHER_OPERATIONS="all"))
    bus.create()
    bus.done(v.CreateQueue(queue="other", partitioned=True))
    bus.done(v.Send(queue="other", message=v.Message(body="m", partition_key="a")))
    (complete,) = settled(bus, "a")
    locked = bus.ask(v.Receive(queue="other")).outcome
    assert isinstance(locked, v.Received)
    bus.done(complete)
    bus.choices = HOSTILE
    token = locked.message.lock_token or ""
    second = bus.ask(v.Complete(queue="other", lock_token=token, transaction="x")).outcome
    assert is_done is isinstance(second, v.Done)


def test_send_to_a_queue_that_was_deleted_is_dropped_or_ends_the_commit() -> None:
    for choices, is_done in ((None, False), (HOSTILE, True)):
        bus = begun(Bus())
        bus.create()
        message = v.Message(body="m", partition_key="k")
        bus.done(v.Send(queue="q", message=message, transaction="x"))
        bus.done(v.DeleteQueue(queue="q"))
        bus.choices = choices or bus.choices
        assert is_done is isinstance(bus.ask(COMMIT).outcome, v.Done)


def test_settlement_in_a_queue_that_was_deleted_is_nothing_or_ends_the_commit() -> None:
    for choices, is_done in ((None, True), (HOSTILE, False)):
        bus = Bus()
        bus.create()
        (complete,) = settled(bus, "a")
        bus.done(complete)
        bus.done(v.DeleteQueue(queue="q"))
        bus.choices = choices or bus.choices
        assert is_done is isinstance(bus.ask(COMMIT).outcome, v.Done)


@pytest.mark.parametrize(
    ("reading", "choices", "is_done"),
    [("either", None, False), ("either", HOSTILE, True), ("refused", HOSTILE, False)],
)
def test_outage_may_refuse_the_commit_of_a_send(
    reading: str, choices: HostileChoices | None, is_done: bool
) -> None:
    bus = begun(Bus(profile(TXN_OUTAGE=reading)))
    bus.create()
    message = v.Message(body="m", partition_key="k")
    partition = bus.ask(v.Send(queue="q", message=message, transaction="x")).partition
    bus.down(partition or 0)
    bus.choices = choices or bus.choices
    assert is_done is isinstance(bus.ask(COMMIT).outcome, v.Done)


def test_rules_of_a_disabled_subscription_may_be_refused() -> None:
    bus = Bus()
    path = bus.topic()
    bus.done(v.UpdateQueue(queue=path, status=v.EntityStatus.DISABLED))
    bus.choices = HOSTILE
    listed = v.ListRules(topic="t", subscription="a")
    assert v.Error.ENTITY_DISABLED is bus.refused(listed)


def test_no_subscription_is_named_like_a_dead_letter_queue() -> None:
    bus = Bus()
    bus.topic()
    name = f"a{v.DEAD_LETTERS}"
    create = v.CreateSubscription(topic="t", subscription=name)
    assert v.Error.INVALID_OPERATION is bus.refused(create)


def test_queue_that_is_disabled_for_receivers_gives_nothing() -> None:
    bus = Bus()
    bus.create()
    bus.send("m")
    bus.done(v.UpdateQueue(queue="q", status=v.EntityStatus.RECEIVE_DISABLED))
    assert v.Error.ENTITY_DISABLED is bus.refused(v.Receive(queue="q"))
