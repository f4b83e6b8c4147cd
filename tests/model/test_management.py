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
    ("command", "error"),
    [
        (v.CreateQueue(queue="q"), v.Error.ALREADY_EXISTS),
        (v.CreateQueue(queue="x" * 261), v.Error.INVALID_OPERATION),
        (v.CreateQueue(queue="x" + v.DEAD_LETTERS), v.Error.INVALID_OPERATION),
        (v.RestoreQueue(queue="q"), v.Error.ALREADY_EXISTS),
        (v.GetQueue(queue="q" + v.DEAD_LETTERS), v.Error.INVALID_OPERATION),
        (v.GetQueue(queue="t"), v.Error.INVALID_OPERATION),
        (v.GetTopic(topic="q"), v.Error.INVALID_OPERATION),
        (v.UpdateQueue(queue="q", partitioned=False), v.Error.INVALID_OPERATION),
        (v.UpdateTopic(topic="t", duplicate_detection=True), v.Error.INVALID_OPERATION),
        (
            v.UpdateTopic(topic="t", status=v.EntityStatus.RECEIVE_DISABLED),
            v.Error.INVALID_OPERATION,
        ),
        (
            v.UpdateQueue(queue="t/subscriptions/a", status=v.EntityStatus.SEND_DISABLED),
            v.Error.INVALID_OPERATION,
        ),
        (v.CreateSubscription(topic="q", subscription="a"), v.Error.NOT_FOUND),
        (v.CreateSubscription(topic="t", subscription="A"), v.Error.ALREADY_EXISTS),
        (v.CreateSubscription(topic="t", subscription="a" * 51), v.Error.INVALID_OPERATION),
        (v.Peek(queue="t/$deadletterqueue"), v.Error.INVALID_OPERATION),
        (v.TakePartitionDown(queue="t/subscriptions/a", partition=0), v.Error.INVALID_OPERATION),
        (v.TakePartitionDown(queue="q", partition=3), v.Error.NOT_FOUND),
        (v.BeginTransaction(transaction="x"), v.Error.ALREADY_EXISTS),
        (v.RollBackTransaction(transaction="y"), v.Error.NOT_FOUND),
        (v.AcceptSession(queue="q", session_id="a"), v.Error.INVALID_OPERATION),
        (v.Receive(queue="q", session_id="a"), v.Error.INVALID_OPERATION),
    ],
)
def test_command_is_refused_with_its_error(bus: Bus, command: v.Command, error: v.Error) -> None:
    bus.create()
    bus.topic()
    bus.done(v.BeginTransaction(transaction="x"))
    assert error is bus.refused(command)


@pytest.mark.parametrize(("reading", "count"), [("left-out", 2), ("counted", 3), ("refused", None)])
def test_counts_in_an_outage_are_as_read(reading: str, count: int | None) -> None:
    named = {} if reading == "counted" else {"COUNTS_IN_OUTAGE": reading}
    bus = Bus(profile(**named))
    bus.create()
    for number in range(3):
        bus.send(f"m{number}")
    bus.down(0)
    outcomes = [answer.outcome for _, answer in ways(bus.namespace, v.GetQueue(queue="q"), "c1")]
    counts = {
        each.description.message_count if isinstance(each, v.Described) else None
        for each in outcomes
    }
    assert count in counts


@pytest.mark.parametrize(("reading", "count"), [("left-out", 1), ("counted", 2)])
def test_scheduled_messages_count_as_read(reading: str, count: int) -> None:
    bus = Bus(profile(SCHEDULED_COUNT=reading))
    bus.create()
    bus.send("m1")
    bus.done(v.Schedule(queue="q", message=v.Message(body="m2"), delay=60_000_000))
    described = bus.done(v.GetQueue(queue="q"))
    assert isinstance(described, v.Described)
    assert count == described.description.message_count


def test_hundred_partitioned_entities_are_the_most(bus: Bus) -> None:
    for number in range(100):
        bus.create(f"q{number}")
    assert v.Error.QUOTA_EXCEEDED is bus.refused(v.CreateQueue(queue="one more"))
    bus.create("regular", partitioned=False)
    topics = [answer.outcome for _, answer in ways(bus.namespace, v.CreateTopic(topic="t"), "c1")]
    assert {v.Done, v.Refused} == {type(outcome) for outcome in topics}


@pytest.mark.parametrize(
    ("readings", "subscription", "queue"),
    [({}, True, False), ({"QUOTA_SUBSCRIPTIONS": "counted"}, False, False)],
)
def test_ten_thousand_entities_are_the_most(
    readings: dict[str, str], *, subscription: bool, queue: bool
) -> None:
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
def test_a_namespace_may_take_1000_entities_and_no_more_if_so_read(
    reading: str, refusals: set[bool]
) -> None:
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
def test_premium_may_take_1000_entities_for_each_unit_and_no_more(
    regular: int, *, may_be_refused: bool
) -> None:
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


@pytest.mark.parametrize(
    ("held_to", "asked", "partitioned"),
    [
        ({"PARTITIONING_DEFAULT": "partitioned"}, None, True),
        ({"tier": "basic", "BASIC_REGULAR": "never"}, False, True),
        ({"tier": "premium", "PREMIUM_CHECKBOX": "no-effect"}, True, False),
        ({"tier": "premium", "PREMIUM_CHECKBOX": "always-on"}, False, True),
        ({"tier": "premium", "edition": "fr-2016-09", "PREMIUM_OLDEST": "supported"}, True, True),
    ],
)
def test_entity_is_partitioned_as_its_tier_says(
    held_to: dict[str, str], asked: bool | None, partitioned: bool
) -> None:
    bus = Bus(profile(**held_to))
    bus.create(partitioned=asked)
    assert partitioned is bus.namespace.entities["q"].settings.partitioned


def test_old_api_version_may_refuse_ignore_or_know_the_option(bus: Bus) -> None:
    command = v.CreateQueue(queue="q", api_version="2012-01")
    found = set()
    for _, answer in ways(bus.namespace, command, "c1"):
        queue = bus.namespace.entities.get("q")
        found.add((type(answer.outcome), queue and queue.settings.partitioned))
    assert {(v.Refused, None), (v.Done, False), (v.Done, True)} == found


@pytest.mark.parametrize("version", ["2013-9", "2014-13", "abc", "v2014-01", "2014-01 "])
def test_malformed_api_version_may_be_refused_ignored_or_heeded(bus: Bus, version: str) -> None:
    command = v.CreateQueue(queue="q", api_version=version)
    found = set()
    for _, answer in ways(bus.namespace, command, "c1"):
        queue = bus.namespace.entities.get("q")
        found.add((type(answer.outcome), queue and queue.settings.partitioned))
    assert {(v.Refused, None), (v.Done, False), (v.Done, True)} == found


@pytest.mark.parametrize("tier", ["standard", "premium"])
@pytest.mark.parametrize("partitioned", [True, False, None])
def test_malformed_api_version_is_refused_where_it_is_read_so(
    tier: str, partitioned: bool | None
) -> None:
    bus = Bus(profile(tier=tier, API_VERSION_FORM="refused"))
    command = v.CreateQueue(queue="q", api_version="2014-1", partitioned=partitioned)
    assert v.Error.INVALID_OPERATION is bus.refused(command)


@pytest.mark.parametrize("version", ["2013-10", "2013-11", "2021-05"])
def test_later_api_version_knows_the_option(bus: Bus, version: str) -> None:
    bus.create(api_version=version)
    assert bus.namespace.entities["q"].settings.partitioned


def test_restored_queue_is_partitioned_in_premium() -> None:
    bus = Bus(profile(tier="premium"))
    bus.done(v.RestoreQueue(queue="q"))
    bus.create("r")
    assert [3, 1] == [len(bus.namespace.entities[path].partitions) for path in "qr"]


def test_basic_refuses_features_if_so_read() -> None:
    bus = Bus(profile(tier="basic", BASIC_FEATURES="refused"))
    assert v.Error.INVALID_OPERATION is bus.refused(v.CreateTopic(topic="t"))


def test_management_fails_in_an_outage_if_so_read() -> None:
    bus = Bus(profile(MANAGEMENT_IN_OUTAGE="fails"))
    bus.down(1)
    assert v.Error.UNAVAILABLE is bus.refused(v.CreateQueue(queue="q"))
    bus.up(1)
    bus.create()


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
