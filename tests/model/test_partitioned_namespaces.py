"""A Premium namespace that is partitioned as a whole, and one that is not."""

import pytest
from model_driver import Bus, catalogue

from busproof import vocabulary as v
from busproof.model import ways

EDITION = "en-2026-02"


def premium(partitions: int = 2, units: int | None = None, **readings: str) -> Bus:
    named = {name.replace("_", "-"): reading for name, reading in readings.items()}
    return Bus(
        v.profile_for(
            catalogue(),
            edition=EDITION,
            tier="premium",
            readings=named,
            namespace_partitions=partitions,
            messaging_units=units,
        )
    )


def batch(*messages: v.Message, queue: str = "q") -> v.SendBatch:
    return v.SendBatch(queue=queue, messages=messages)


@pytest.mark.parametrize("partitions", [2, 4])
def test_every_entity_has_the_partitions_of_its_namespace(partitions: int) -> None:
    """Whatever its size; its subscriptions and dead-letter queues too."""
    bus = premium(partitions, GB_PARTITIONS="per-gb")
    bus.create(max_size=5)
    bus.done(v.CreateTopic(topic="t"))
    bus.done(v.CreateSubscription(topic="t", subscription="s"))
    counts = {path: len(entity.partitions) for path, entity in bus.namespace.entities.items()}
    assert {partitions} == set(counts.values())
    assert {"q", "t", "t/subscriptions/s", "q/$deadletterqueue"} <= counts.keys()
    assert {*range(partitions)} == {bus.send(f"m{number}") for number in range(8)}


@pytest.mark.parametrize(
    "command",
    [v.CreateQueue(queue="q", partitioned=False), v.CreateTopic(topic="q", partitioned=False)],
)
def test_a_regular_entity_is_refused_and_not_there(command: v.Command) -> None:
    bus = premium()
    assert ("PREM-15",) == bus.ask(command).rules
    assert {} == bus.namespace.entities


@pytest.mark.parametrize(
    ("reading", "outcomes"),
    [("partitioned", {True}), ("refused", {None}), ("either", {True, None})],
)
def test_what_a_request_without_the_option_gets(reading: str, outcomes: set[bool | None]) -> None:
    bus = premium(PREMIUM_UNASKED=reading)
    found = set()
    for _ in ways(bus.namespace, v.CreateQueue(queue="q", partitioned=None), "c1"):
        queue = bus.namespace.entities.get("q")
        found.add(None if queue is None else queue.settings.partitioned)
    assert outcomes == found


def test_an_old_api_version_gives_no_regular_entity() -> None:
    """It may be refused; an option that it does not know changes nothing here."""
    bus = premium()
    found = set()
    for _ in ways(bus.namespace, v.CreateQueue(queue="q", api_version="2012-01"), "c1"):
        queue = bus.namespace.entities.get("q")
        found.add(None if queue is None else queue.settings.partitioned)
    assert {None, True} == found


@pytest.mark.parametrize("reading", ["split", "refused", "either"])
@pytest.mark.parametrize("name", ["session_id", "partition_key"])
def test_a_batch_of_distinct_keys_is_refused(name: str, reading: str) -> None:
    """Whatever is read of batches for partitioned entities elsewhere; also for a topic."""
    bus = premium(BATCH_KEYS=reading)
    bus.create()
    bus.done(v.CreateTopic(topic="t"))
    messages = [v.Message(body=key, **{name: key}) for key in ("a", "b")]
    for path in ("q", "t"):
        assert ("PREM-17",) == bus.ask(batch(*messages, queue=path)).rules
    assert [] == bus.bodies()
    assert v.Done() == bus.done(batch(messages[0], messages[0]))


def test_batch_of_distinct_keys_is_refused_at_once_in_a_transaction() -> None:
    """TXN-REFUSAL leaves open when the keys of a transaction are refused, not those of a batch."""
    bus = premium(TXN_REFUSAL="at-commit")
    bus.create("q")
    bus.done(v.BeginTransaction(transaction="x"))
    messages = (v.Message(body="a", partition_key="k"), v.Message(body="b", partition_key="l"))
    answer = bus.ask(v.SendBatch(queue="q", messages=messages, transaction="x"))
    assert (("PREM-17",), v.Refused) == (answer.rules, type(answer.outcome))


def test_a_batch_of_a_key_and_none_is_read_as_elsewhere() -> None:
    bus = premium(BATCH_KEYS="split")
    bus.create()
    bus.done(batch(v.Message(body="m1"), v.Message(body="m2", partition_key="a")))
    assert ["m1", "m2"] == sorted(bus.bodies())


def test_a_namespace_without_partitions_takes_batches_of_any_keys() -> None:
    bus = premium(partitions=1)
    bus.create(partitioned=False)
    bus.done(
        batch(v.Message(body="m1", partition_key="b"), v.Message(body="m2", partition_key="a"))
    )


def test_a_namespace_without_partitions_creates_no_partitioned_entity() -> None:
    bus = premium(partitions=1, PREMIUM_CHECKBOX="refused")
    assert ("PREM-01",) == bus.ask(v.CreateQueue(queue="q")).rules


@pytest.mark.parametrize(
    ("reading", "refused"),
    [("per-unit", True), ("either", False), ("quota", False), ("counting", False)],
)
def test_messaging_units_limit_the_entities_if_so_read(reading: str, refused: bool) -> None:
    """Subscriptions are not among the 1,000; more than 100 partitioned ones are."""
    bus = premium(units=4, QUOTA_PREMIUM=reading)
    bus.done(v.CreateTopic(topic="t"))
    bus.namespace.counts.partitioned_queues = 3_998
    bus.create("last")
    one_more = bus.ask(v.CreateQueue(queue="q"))
    assert refused is ("QUOTA-15" in one_more.rules)
    assert refused is isinstance(one_more.outcome, v.Refused)
    bus.done(v.CreateSubscription(topic="t", subscription="s"))
