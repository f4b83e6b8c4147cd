"""Descriptions of topics: settings, number of subscriptions and availability."""

from collections.abc import Iterator

from busproof import vocabulary as v
from busproof.oracle.management.counts import may_lag
from busproof.oracle.management.lists import subscriptions_of
from busproof.oracle.management.queue_description import (
    availability_is_allowed,
    get_may_fail,
    is_within,
    of_partitioning,
    rightly_sized,
    shown_by_availability,
    wrongly_sized,
)
from busproof.oracle.management.updates_and_deletions import FIXED
from busproof.oracle.sizes.entity_size import told_size
from busproof.oracle.state import NEVER, Namespace, Queue, Topic
from busproof.oracle.transition import Observation, Transition


def get_topic(namespace: Namespace, command: v.GetTopic, seen: Observation) -> Iterator[Transition]:
    """MGMT-11, MGMT-21, MGMT-22, TOPIC-24: describe the topic."""
    topic = namespace.queues[command.topic]
    must_fail, refusals = get_may_fail(namespace, topic)
    if not must_fail:
        yield from _described(namespace, topic, seen)
    yield from refusals


def _described(namespace: Namespace, topic: Queue, seen: Observation) -> Iterator[Transition]:
    told = _told(namespace, topic)
    if isinstance(seen.outcome, v.TopicDescribed):
        told = seen.outcome.description
        if wrongly_told_of_topic(namespace, topic, told):
            return
    if isinstance(seen.outcome, v.TopicDescribed | None):
        rules = _shown(namespace, topic, told)
        yield Transition(
            outcome=v.TopicDescribed(description=told), next=namespace, rules=tuple(rules)
        )


def _told(namespace: Namespace, topic: Queue) -> v.TopicDescription:
    """Return a description of the topic, where none was observed."""
    settings = topic.settings
    return v.TopicDescription(
        topic=settings.queue,
        partitioned=bool(settings.partitioned),
        duplicate_detection=settings.duplicate_detection,
        duplicate_window=settings.duplicate_window,
        time_to_live=settings.time_to_live,
        max_size=told_size(namespace, settings),
        subscription_count=len(subscriptions_of(namespace, settings.queue)[0]),
        availability=v.Availability.LIMITED if topic.outages.any else v.Availability.AVAILABLE,
    )


def wrongly_told_of_topic(
    namespace: Namespace, topic: Queue, told: v.TopicDescription
) -> tuple[v.RuleId, ...]:
    """Return the rules that a description breaks."""
    found = [*_wrong_settings(namespace, topic, told)]
    if not _count_is_allowed(namespace, topic, told.subscription_count):
        found.append("TOPIC-24")
    if not availability_is_allowed(namespace, topic, told.availability):
        limited = told.availability is v.Availability.LIMITED
        found.append("MGMT-22" if limited else "MGMT-21")
    return tuple(dict.fromkeys(found))


def _wrong_settings(
    namespace: Namespace, topic: Queue, told: v.TopicDescription
) -> Iterator[v.RuleId]:
    settings, managed = topic.settings, topic.managed
    if told.topic != settings.queue:
        yield "MGMT-11"
    for name in ("partitioned", "duplicate_detection"):
        if getattr(told, name) not in (None, getattr(settings, name)):
            if name in managed.tried:
                yield FIXED[name]
            if name == "partitioned":
                yield from of_partitioning(namespace, topic)
            yield "MGMT-11"
    if told.duplicate_window not in (None, settings.duplicate_window):
        yield "MGMT-11"
    yield from wrongly_sized(namespace, topic, told.max_size)
    if managed.lifetimes.latest < NEVER and not is_within(told.time_to_live, managed.lifetimes):
        yield from ("MGMT-12", "MGMT-11") if managed.updated else ("MGMT-11",)


def _count_is_allowed(namespace: Namespace, topic: Queue, told: int | None) -> bool:
    """TOPIC-24: check the number of subscriptions; it may be out of date where that may lag."""
    if told is None or not isinstance(topic.role, Topic):
        return True
    sure, there = subscriptions_of(namespace, topic.settings.queue)
    if may_lag(namespace):
        return 0 <= told <= max(topic.role.revision, len(there))
    return len(sure) <= told <= len(there)


def _shown(namespace: Namespace, topic: Queue, told: v.TopicDescription) -> Iterator[v.RuleId]:
    """Return the rules that a description exercises."""
    managed = topic.managed
    for name in ("partitioned", "duplicate_detection"):
        if getattr(told, name) is not None and name in managed.tried:
            yield FIXED[name]
    if managed.updated and told.time_to_live is not None:
        yield "MGMT-12"
    if told.partitioned is not None:
        yield from of_partitioning(namespace, topic)
    if told.duplicate_detection is not None:
        yield "MGMT-11"
    yield from rightly_sized(namespace, topic, told.max_size)
    sure, there = subscriptions_of(namespace, topic.settings.queue)
    if told.subscription_count == len(sure) == len(there):
        yield "TOPIC-24"
    yield from shown_by_availability(topic, told.availability)
