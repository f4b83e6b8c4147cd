"""Sizes of messages, and room in queues and partitions."""

from collections.abc import Iterable
from typing import TypeVar

from model_driver import Bus, profile

from busproof import vocabulary as v
from busproof.model import RoundRobin

T = TypeVar("T")
KB, GB = 1024, 2**30


def test_properties_are_limited_one_by_one_and_together(bus: Bus) -> None:
    bus.create()
    small, large = "x" * 30 * KB, "x" * 33 * KB
    for properties in ({"a": large}, {"a": small, "b": small, "c": small}):
        message = v.Message(body="m", properties=properties)
        assert v.Error.INVALID_OPERATION is bus.refused(v.Send(queue="q", message=message))
    bus.send("m", properties={"a": small, "b": 1})


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


def update(size: int, queue: str = "q") -> v.UpdateQueue:
    return v.UpdateQueue(queue=queue, max_size=size)


def test_size_changes_by_an_update(bus: Bus) -> None:
    """With room for more, in its dead-letter queues as well; a smaller one may be refused."""
    bus.create(partitioned=False)
    bus.send("m", size=2**30, stands_in=True)
    assert v.Error.QUOTA_EXCEEDED is bus.refused(v.Send(queue="q", message=v.Message(body="n")))
    bus.done(update(2))
    bus.send("n")
    assert 2 == bus.namespace.entities["q" + v.DEAD_LETTERS].settings.max_size
    bus.done(update(2))
    bus.done(update(1))
    assert v.Error.INVALID_OPERATION is bus.refused(update(7))


def test_size_of_a_topic_is_that_of_its_subscriptions(bus: Bus) -> None:
    """Which have none of their own."""
    name = bus.topic()
    bus.done(v.UpdateTopic(topic="t", max_size=3))
    assert 3 == bus.namespace.entities[name].settings.max_size
    bus.done(update(3, name))


def test_size_stays_where_it_is_read_so() -> None:
    """Or where the number of partitions would depend on it."""
    fixed = Bus(profile(SIZE_UPDATE="refused"))
    fixed.create()
    assert v.Error.INVALID_OPERATION is fixed.refused(update(2))
    per_gb = Bus(profile(GB_PARTITIONS="per-gb"))
    per_gb.create()
    assert v.Error.INVALID_OPERATION is per_gb.refused(update(2))
    unwilling = Bus(choices=Unwilling())
    unwilling.create(max_size=2)
    assert v.Error.INVALID_OPERATION is unwilling.refused(update(1))


class Unwilling(RoundRobin):
    """A policy that makes no entity smaller."""

    def pick(self, name: str, candidates: Iterable[T]) -> T:
        return list(candidates)[-1] if name == "SIZE-16" else super().pick(name, candidates)
