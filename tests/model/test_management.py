"""Refused requests, descriptions, quotas, Premium and Basic."""

from random import Random

import pytest
from model_driver import DEFAULT_PROFILE, Bus, profile
from random_commands import Commands

from busproof import vocabulary as v
from busproof.model import new_namespace, step, ways
from busproof.model.choices import RoundRobin
from busproof.model.life_cycle import LIFE_CYCLE
from busproof.model.rules import HANDLERS


def test_every_command_has_a_handler() -> None:
    kinds = set(v.Command.__args__) - {v.AdvanceClock}
    assert kinds == set(HANDLERS)


def test_life_cycle_names_each_transition_once() -> None:
    assert 19 == len(LIFE_CYCLE)


@pytest.mark.parametrize(
    ("readings", "subscription", "queue"),
    [({}, True, False), ({"QUOTA_SUBSCRIPTIONS": "counted"}, False, False)],
)
def test_ten_thousand_entities_are_the_most(readings, *, subscription, queue) -> None:
    bus = Bus(profile(**readings))
    bus.done(v.CreateTopic(topic="t"))
    bus.namespace.counts.regular = 9_999
    made = bus.ask(v.CreateSubscription(topic="t", subscription="a")).outcome
    assert subscription is (made == v.Done())
    assert queue is (bus.ask(v.CreateQueue(queue="q", partitioned=False)).outcome == v.Done())


def test_each_partition_counts_if_so_read() -> None:
    bus = Bus(profile(QUOTA_WEIGHT="per-partition"))
    bus.namespace.counts.stores = 9_998
    assert v.Error.QUOTA_EXCEEDED is bus.refused(v.CreateQueue(queue="q"))


@pytest.mark.parametrize(
    ("reading", "refusals"), [("ten-thousand", {False}), ("either", {False, True})]
)
def test_a_namespace_may_take_1000_entities_and_no_more_if_so_read(reading, refusals) -> None:
    """QUOTA-ENTITIES: the page on quotas gives both numbers; each answer is reachable."""
    bus = Bus(profile(QUOTA_ENTITIES=reading))
    bus.namespace.counts.regular = 1_000
    asked = v.CreateQueue(queue="q", partitioned=False)
    answers = [answer.outcome for _, answer in ways(bus.namespace, asked, "c1")]
    assert refusals == {isinstance(outcome, v.Refused) for outcome in answers}


def test_a_hundred_partitioned_queues_fit_however_entities_are_counted() -> None:
    """QUOTA-01 and QUOTA-06: the 1,000 of QUOTA-ENTITIES cannot be partitions."""
    bus = Bus(profile(QUOTA_ENTITIES="either", QUOTA_WEIGHT="per-partition"))
    bus.namespace.readings["QUOTA-ENTITIES"] = "thousand"
    for number in range(100):
        bus.create(f"queue-{number}")
    bus.create("regular", partitioned=False)


def test_subscriptions_take_room_as_they_are_read_to_count() -> None:
    """QUOTA-10: the refusal names it where queues and topics alone would fit."""
    bus = Bus(profile(QUOTA_WEIGHT="per-partition", QUOTA_SUBSCRIPTIONS="counted"))
    bus.namespace.counts.stores = 9_000
    bus.namespace.counts.subscriptions = 1_000
    answer = bus.ask(v.CreateQueue(queue="q", partitioned=False))
    assert ("QUOTA-10",) == answer.rules


@pytest.mark.parametrize(("regular", "may_be_refused"), [(999, False), (1_000, True)])
def test_premium_may_take_1000_entities_for_each_unit_and_no_more(regular, *, may_be_refused):
    """QUOTA-11: unless a reading names the number, either answer is right."""
    bus = Bus(profile(tier="premium"))
    bus.namespace.counts.regular = regular
    asked = v.CreateQueue(queue="q", partitioned=False)
    answers = [answer.outcome for _, answer in ways(bus.namespace, asked, "c1")]
    refused = any(isinstance(outcome, v.Refused) for outcome in answers)
    assert (may_be_refused, v.Done()) == (refused, answers[0])


def test_premium_counts_regular_entities_if_so_read() -> None:
    bus = Bus(profile(tier="premium", QUOTA_PREMIUM="counting"))
    bus.namespace.counts.regular = 10_000
    command = v.CreateQueue(queue="q", partitioned=False)
    assert v.Error.QUOTA_EXCEEDED is bus.refused(command)


def test_restored_queue_is_partitioned_in_premium() -> None:
    bus = Bus(profile(tier="premium"))
    bus.done(v.RestoreQueue(queue="q"))
    bus.create("r")
    assert [3, 1] == [len(bus.namespace.entities[path].partitions) for path in "qr"]


def test_partitions_count_the_messages_of_their_entity() -> None:
    random = Random(3)
    namespace = new_namespace(DEFAULT_PROFILE)
    commands = Commands(random, namespace)
    for command in commands.setup():
        step(namespace, command, "c1", RoundRobin())
    for _ in range(3_000):
        command, connection = commands.any()
        step(namespace, command, connection, RoundRobin())
    for entity in namespace.entities.values():
        assert len(entity.messages) == sum(each.messages for each in entity.partitions)
