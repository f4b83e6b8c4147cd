"""What no answer of the model shows, or no one answer: records, places and settings within it.

What answers show has test_cases.py.
"""

from typing import Any, Final

import attrs
import pytest
from model_driver import SECOND, Bus, catalogue, profile

from busproof import vocabulary as v
from busproof.model import ways
from busproof.model.life_cycle import Action

ALIKE: Final = v.SendBatch(
    queue="q", messages=tuple(v.Message(body=f"m{number}") for number in range(3))
)
EITHER: Final = {None, True, False}
SIZES: Final = {"standard": {1, 2, 3, 4, 5}, "premium": {1, 2, 3, 4, 5, 10, 20, 40, 80}}


def premium(partitions: int = 2, units: int | None = None, **readings: str) -> v.Profile:
    """The profile of a Premium namespace that is partitioned as a whole."""
    named = {name.replace("_", "-"): reading for name, reading in readings.items()}
    return v.profile_for(
        catalogue(),
        edition="en-2026-02",
        tier="premium",
        readings=named,
        namespace_partitions=partitions,
        messaging_units=units,
    )


def created(held_to: v.Profile, setting: str, command: v.CreateQueue | v.CreateTopic) -> set[Any]:
    """The settings with which an entity may be created; `None` where it may be refused."""
    bus = Bus(held_to)
    found = set()
    for _, answer in ways(bus.namespace, command, "c1"):
        entity = bus.namespace.entities.get(v.created_path(command))
        assert (entity is None) is isinstance(answer.outcome, v.Refused)
        found.add(None if entity is None else getattr(entity.settings, setting))
    return found


@pytest.mark.parametrize(
    ("held_to", "asked", "partitioned"),
    [
        (profile(PARTITIONING_DEFAULT="partitioned"), {"partitioned": None}, {True}),
        (profile(tier="basic", BASIC_REGULAR="never"), {"partitioned": False}, {True}),
        (profile(tier="premium", PREMIUM_CHECKBOX="no-effect"), {"partitioned": True}, {False}),
        (profile(tier="premium", PREMIUM_CHECKBOX="always-on"), {"partitioned": False}, {True}),
        (
            profile(tier="premium", edition="fr-2016-09", PREMIUM_OLDEST="supported"),
            {"partitioned": True},
            {True},
        ),
        (profile(), {"api_version": "2012-01"}, EITHER),
        *((profile(), {"api_version": old}, EITHER) for old in ("2013-9", "2014-13", "abc")),
        *((profile(), {"api_version": odd}, EITHER) for odd in ("v2014-01", "2014-01 ")),
        (premium(PREMIUM_UNASKED="partitioned"), {"partitioned": None}, {True}),
        (premium(PREMIUM_UNASKED="refused"), {"partitioned": None}, {None}),
        (premium(PREMIUM_UNASKED="either"), {"partitioned": None}, {True, None}),
        (premium(), {"api_version": "2012-01"}, {True, None}),
        (premium(), {"partitioned": False}, {None}),
    ],
)
def test_queue_is_partitioned_as_its_tier_and_its_api_version_say(held_to, asked, partitioned):
    """An api-version that does not know the option may be refused, ignored or heeded."""
    assert partitioned == created(held_to, "partitioned", v.CreateQueue(queue="q", **asked))


@pytest.mark.parametrize("version", ["2013-10", "2013-11", "2021-05"])
def test_later_api_version_knows_the_option(bus: Bus, version: str) -> None:
    bus.create(api_version=version)
    assert bus.namespace.entities["q"].settings.partitioned


@pytest.mark.parametrize(
    ("held_to", "asked", "partitioned"),
    [
        (profile(), {"api_version": "2012-01"}, EITHER),
        (premium(), {"partitioned": False}, {None}),
    ],
)
def test_topic_is_partitioned_as_a_queue_is(held_to, asked, partitioned) -> None:
    assert partitioned == created(held_to, "partitioned", v.CreateTopic(topic="t", **asked))


@pytest.mark.parametrize(
    ("held_to", "asked", "sizes"),
    [
        (profile(), None, {1}),
        (profile(edition="de-2021-04"), None, SIZES["standard"]),
        (profile(edition="de-2021-04", GB_PARTITIONS="per-gb"), None, {1}),
        (profile(tier="basic"), None, SIZES["standard"]),
        (profile(tier="basic", BASIC_SIZES="like-standard"), None, {1}),
        (profile(tier="premium"), None, SIZES["premium"]),
        (profile(tier="premium", edition="cs-2020-12"), None, {1}),
        (profile(), 7, {None, 5, 4, 3, 2, 1}),
    ],
)
def test_size_of_an_entity_that_is_created_without_one_or_with_one_that_its_tier_lacks(
    held_to: v.Profile, asked: int | None, sizes: set[int | None]
) -> None:
    """SIZE-03, PREM-09, BASIC-SIZES: 1 GB where the documents say so."""
    command = v.CreateQueue(queue="q", partitioned=False, max_size=asked)
    assert sizes == created(held_to, "max_size", command)


@pytest.mark.parametrize("partitions", [2, 4])
def test_every_entity_has_the_partitions_of_its_namespace(partitions: int) -> None:
    """Whatever its size; its subscriptions and dead-letter queues too."""
    bus = Bus(premium(partitions, GB_PARTITIONS="per-gb"))
    bus.create(max_size=5)
    bus.done(v.CreateTopic(topic="t"))
    bus.done(v.CreateSubscription(topic="t", subscription="s"))
    counts = {path: len(entity.partitions) for path, entity in bus.namespace.entities.items()}
    assert {partitions} == set(counts.values())
    assert {"q", "t", "t/subscriptions/s", "q/$deadletterqueue"} <= counts.keys()
    assert {*range(partitions)} == {bus.send(f"m{number}") for number in range(8)}


@pytest.mark.parametrize(
    ("reading", "refused"),
    [("per-unit", True), ("either", False), ("quota", False), ("counting", False)],
)
def test_messaging_units_limit_the_entities_if_so_read(reading: str, refused: bool) -> None:
    """Subscriptions are not among the 1,000; more than 100 partitioned ones are."""
    bus = Bus(premium(units=4, QUOTA_PREMIUM=reading))
    bus.done(v.CreateTopic(topic="t"))
    bus.namespace.counts.partitioned_queues = 3_998
    bus.create("last")
    one_more = bus.ask(v.CreateQueue(queue="q"))
    assert refused is ("QUOTA-15" in one_more.rules)
    assert refused is isinstance(one_more.outcome, v.Refused)
    bus.done(v.CreateSubscription(topic="t", subscription="s"))


@pytest.mark.parametrize(("reading", "kept"), [("when-scheduled", "late"), ("when-due", "soon")])
def test_copy_that_is_scheduled_is_dropped_as_read(reading: str, kept: str) -> None:
    """DUP-04, SCHEDULED-COPIES: the second one that is scheduled, or the second one that is due."""
    # A profile of the catalogue cannot name it, because observers do not tell the readings apart.
    bus = Bus(attrs.evolve(profile(), readings={"SCHEDULED-COPIES": reading}))
    bus.create(duplicate_detection=True)
    for body, delay in (("late", 2), ("soon", 1)):
        message = v.Message(body=body, message_id="i")
        bus.done(v.Schedule(queue="q", message=message, delay=delay * SECOND))
    bus.wait(3)
    assert [kept] == bus.bodies()


def test_receive_finds_nothing_because_another_front_end_has_it() -> None:
    """LIFE-08."""
    bus = Bus(profile())
    bus.create("q", partitioned=True)
    bus.send("m1", partition_key="k")
    bus.send("m2", partition_key="k")
    entity = bus.namespace.entities["q"]
    first, second = entity.messages.values()
    bus.namespace.rules.locks.lock(first, Action.RECEIVE)
    bus.namespace.rules.partitions.cache(second, "c2", v.ReceiveMode.PEEK_LOCK)
    answer = bus.ask(v.Receive(queue="q"))
    assert (v.Empty(), ("LIFE-08",)) == (answer.outcome, answer.rules)


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


def test_state_of_a_session_outlives_its_holder_and_is_limited(bus: Bus) -> None:
    bus.create("s", requires_session=True)
    mine = {"queue": "s", "session_id": "a"}
    bus.done(v.AcceptSession(**mine))
    bus.done(v.SetSessionState(**mine, state="kept"))
    large = v.SetSessionState(**mine, state="x" * 257 * 1024)
    assert v.Error.MESSAGE_TOO_LARGE is bus.refused(large)
    bus.done(v.SetSessionState(**mine, state="x" * 100 * 1024))
    bus.done(v.SetSessionState(**mine, state="kept"))
    bus.done(v.CloseSession(**mine))
    assert v.SessionsListed(session_ids=("a",)) == bus.done(v.ListSessions(queue="s"))
    bus.done(v.AcceptSession(**mine), "c2")
    assert v.SessionState(state="kept") == bus.done(v.GetSessionState(**mine), "c2")
    assert v.Error.SESSION_CANNOT_BE_LOCKED is bus.refused(v.AcceptSession(**mine))
    assert isinstance(bus.done(v.RenewSessionLock(**mine), "c2"), v.Renewed)


def test_settled_and_undone_messages_of_a_session_do_not_come_back(bus: Bus) -> None:
    bus.create("s", requires_session=True)
    bus.send("m", queue="s", session_id="a")
    bus.done(v.AcceptSession(queue="s", session_id="a"))
    namespace, session = bus.namespace, bus.namespace.entities["s"].sessions["a"]
    receive = v.Receive(queue="s", session_id="a")
    for _ in ways(namespace, receive, "c1"):
        pass
    assert 1 == len(session.locked)
    bus.done(v.CloseSession(queue="s", session_id="a"))
    assert [1] == [each.failed + 1 for each in namespace.entities["s"].messages.values()]


def test_batch_goes_to_any_one_partition_as_a_whole(bus: Bus) -> None:
    bus.create()
    places = {answer.partition for _, answer in ways(bus.namespace, ALIKE, "c1")}
    assert {0, 1, 2} <= places
    bus.done(ALIKE)
    assert ["m0", "m1", "m2"] == bus.bodies()


def test_receive_of_several_is_given_as_many_as_there_are_or_fewer(bus: Bus) -> None:
    bus.create(partitioned=False)
    bus.done(ALIKE)
    for count, given in ((5, {1, 2, 3}), (2, {1, 2})):
        outcomes = [
            answer.outcome
            for _, answer in ways(bus.namespace, v.ReceiveBatch(queue="q", count=count), "c1")
        ]
        numbers = {len(each.messages) for each in outcomes if isinstance(each, v.ReceivedSeveral)}
        assert given == numbers
    bus.bodies()
    assert v.Empty() == bus.done(v.ReceiveBatch(queue="q", count=5))


def test_nothing_is_left_of_messages_that_are_gone(bus: Bus) -> None:
    bus.create()
    queue = bus.namespace.entities["q"]
    for number in range(20):
        bus.send(f"m{number}", message_id=f"{number}", partition_key="k")
    tokens = [bus.receive().lock_token or "" for _ in range(10)]
    bus.done(v.Abandon(queue="q", lock_token=tokens[0]))
    for token in reversed(tokens[2:]):
        bus.done(v.Complete(queue="q", lock_token=token))
    bus.done(v.DeadLetter(queue="q", lock_token=tokens[1], reason="r"))
    assert 11 == len(queue.messages) == len(bus.bodies())
    assert not queue.messages
    assert 0 == sum(each.messages for each in queue.partitions)
