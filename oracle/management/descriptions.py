"""Descriptions of queues, topics and subscriptions: settings, counts and availability."""

from collections.abc import Iterator
from typing import Any, Final

import attrs

from busproof import vocabulary as v
from busproof.oracle.management.counts import (
    count_is_allowed,
    counts,
    may_lag,
    rules_of_scheduled,
)
from busproof.oracle.management.lists import listed_names
from busproof.oracle.management.topics import shared_fields
from busproof.oracle.management.updates_and_deletions import FIXED
from busproof.oracle.messages.dead_letters import dead_letters
from busproof.oracle.registry import Managed
from busproof.oracle.rule_lists import rules_if
from busproof.oracle.sizes.entity_size import (
    dead_letter_storage,
    no_other_size,
    of_size,
    told_size,
    wrong_size,
)
from busproof.oracle.state import NEVER, Namespace, Queue, Subscription, Topic
from busproof.oracle.transition import Observation, Transition, refusal

_OF_TOPICS: Final = ("partitioned", "duplicate_detection", "duplicate_window", "max_size", "size")
"""Settings that a subscription shares with its topic, or lacks."""


def get_entity(namespace: Namespace, name: str, seen: Observation) -> Iterator[Transition]:
    """MGMT-11, MGMT-20 to MGMT-23, TOPIC-24: describe an entity, in all its partitions.

    It may fail in an outage, or has to (COUNTS-IN-OUTAGE).
    """
    entity, reading = namespace.queues[name], _reading(namespace, "COUNTS-IN-OUTAGE")
    if not (entity.outages.down and reading == "refused"):
        of_topic = isinstance(entity.role, Topic)
        yield from (_topic_described if of_topic else _described)(namespace, entity, seen)
    if entity.outages.any and reading != "left-out":
        yield refusal(namespace, v.Error.UNAVAILABLE, "MGMT-23", any_error=True)


def _described(namespace: Namespace, queue: Queue, seen: Observation) -> Iterator[Transition]:
    if isinstance(seen.outcome, v.Described):
        description = seen.outcome.description
        if not wrongly_told(namespace, queue, description):
            rules = _shown(namespace, queue, description)
            yield Transition(outcome=seen.outcome, next=namespace, rules=rules)
    elif seen.outcome is None:
        description = described(namespace, queue)
        rules = _shown(namespace, queue, description)
        yield Transition(outcome=v.Described(description=description), next=namespace, rules=rules)
        if may_lag(namespace):
            before = v.Availability.AVAILABLE
            if queue.managed.disturbed and not queue.outages.any:
                before = v.Availability.LIMITED
            late = attrs.evolve(description, message_count=0, availability=before)
            yield Transition(outcome=v.Described(description=late), next=namespace)


def _topic_described(namespace: Namespace, topic: Queue, seen: Observation) -> Iterator[Transition]:
    description = _of_topic(namespace, topic)
    if isinstance(seen.outcome, v.TopicDescribed):
        description = seen.outcome.description
        if wrongly_told_of_topic(namespace, topic, description):
            return
    if isinstance(seen.outcome, v.TopicDescribed | None):
        rules = _shown_of_topic(namespace, topic, description)
        yield Transition(
            outcome=v.TopicDescribed(description=description), next=namespace, rules=rules
        )


def _reading(namespace: Namespace, ambiguity: str) -> str | None:
    return namespace.profile.readings.get(ambiguity)


def described(namespace: Namespace, queue: Queue) -> v.QueueDescription:
    """Return a description of the queue, where none was observed."""
    settings, limited = queue.settings, queue.outages.any
    least, most = counts(queue)
    counted = min(most, least + len(queue.locks)) if limited else most
    its_own = queue.role is None
    return v.QueueDescription(
        queue=settings.queue,
        partitioned=bool(settings.partitioned) if its_own else None,
        requires_session=settings.requires_session,
        duplicate_detection=settings.duplicate_detection if its_own else None,
        duplicate_window=settings.duplicate_window if its_own else None,
        lock_duration=settings.lock_duration,
        max_delivery_count=settings.max_delivery_count,
        time_to_live=settings.time_to_live,
        max_size=told_size(namespace, settings) if its_own else None,
        message_count=counted,
        size=sum((*queue.room.held.values(), *dead_letter_storage(namespace, queue).held.values())),
        availability=v.Availability.LIMITED if limited else v.Availability.AVAILABLE,
        transfer_dead_letters=len(dead_letters(namespace, queue, v.TRANSFERS).messages),
    )


def _of_topic(namespace: Namespace, topic: Queue) -> v.TopicDescription:
    """Return a description of the topic, where none was observed."""
    settings = topic.settings
    return v.TopicDescription(
        topic=settings.queue,
        partitioned=bool(settings.partitioned),
        duplicate_detection=settings.duplicate_detection,
        duplicate_window=settings.duplicate_window,
        time_to_live=settings.time_to_live,
        max_size=told_size(namespace, settings),
        subscription_count=len(_subscriptions(namespace, topic)[0]),
        availability=v.Availability.LIMITED if topic.outages.any else v.Availability.AVAILABLE,
    )


def _subscriptions(namespace: Namespace, topic: Queue) -> tuple[frozenset[str], frozenset[str]]:
    """Return the names of its certain subscriptions, and of all possible ones."""
    return listed_names(namespace, v.ListSubscriptions(topic=topic.settings.queue))


def wrongly_told(
    namespace: Namespace, queue: Queue, description: v.QueueDescription
) -> tuple[v.RuleId, ...]:
    """Return the rules that a description breaks."""
    description = _of_its_own(queue, description)
    miscounted = not count_is_allowed(namespace, queue, description.message_count)
    transfers = description.transfer_dead_letters or 0
    unavailable = tuple(_wrongly_available(namespace, queue, description.availability))
    limited_by_room = "MGMT-22" in unavailable and len(queue.room.refused)
    found = (
        *(rules_of_scheduled(namespace, queue) if miscounted else ()),
        *_wrong_settings(namespace, queue, description),
        *rules_if((miscounted, "MGMT-20"), (miscounted and queue.outages.any, "MGMT-23")),
        *rules_if((not 0 <= transfers <= _most_transfers(namespace, queue), "FWD-32")),
        *unavailable,
        *rules_if((limited_by_room, "SIZE-11")),
    )
    return tuple(dict.fromkeys(found))


def wrongly_told_of_topic(
    namespace: Namespace, topic: Queue, description: v.TopicDescription
) -> tuple[v.RuleId, ...]:
    """Return the rules that a description of a topic breaks."""
    found = (
        *_wrong_settings(namespace, topic, _as_of_queue(description)),
        *rules_if((not _is_counted(namespace, topic, description.subscription_count), "TOPIC-24")),
        *_wrongly_available(namespace, topic, description.availability),
    )
    return tuple(dict.fromkeys(found))


def _as_of_queue(description: v.TopicDescription) -> v.QueueDescription:
    """Return what a topic's description has in common with a queue's."""
    return v.QueueDescription(
        queue=description.topic, **shared_fields(description, "subscription_count")
    )


def _is_counted(namespace: Namespace, topic: Queue, count: int | None) -> bool:
    """TOPIC-24: check the number of subscriptions; it may be out of date where that may lag."""
    if count is None or not isinstance(topic.role, Topic):
        return True
    sure, there = _subscriptions(namespace, topic)
    if may_lag(namespace):
        return 0 <= count <= max(topic.role.revision, len(there))
    return len(sure) <= count <= len(there)


def _of_its_own(queue: Queue, description: v.QueueDescription) -> v.QueueDescription:
    """Return the description; for a subscription, without its topic's settings."""
    if queue.role is None:
        return description
    topics: dict[str, Any] = dict.fromkeys(_OF_TOPICS)
    return attrs.evolve(description, **topics)


def _most_transfers(namespace: Namespace, queue: Queue) -> int:
    """FWD-32: return the maximum number of transfer dead letters."""
    known = dead_letters(namespace, queue, v.TRANSFERS).arrivals
    return known + sum(len(several) for several in queue.passed.values())


def _wrong_settings(
    namespace: Namespace, queue: Queue, description: v.QueueDescription
) -> Iterator[v.RuleId]:
    settings, managed, profile = queue.settings, queue.managed, namespace.profile
    of_topic = isinstance(queue.role, Topic)
    if description.queue != settings.queue:
        yield "MGMT-11"
    for name, rule in FIXED.items():
        if getattr(description, name) not in (None, getattr(settings, name)):
            if name in managed.tried:
                yield rule
            if name == "partitioned":
                yield from _of_partitioning(namespace, queue)
                if profile.tier is v.Tier.PREMIUM and not of_topic:
                    yield "PREM-14" if profile.is_partitioned else "PREM-01"
            yield "MGMT-11"
    if description.duplicate_window not in (None, settings.duplicate_window):
        yield "MGMT-11"
    yield from _of_max_size(namespace, queue, description.max_size, wrong=True)
    updated = managed.updated or _is_beside_updated(namespace, queue)
    if not _is_in_force(description, managed):
        yield from rules_if((updated, "MGMT-12"), (updated and not of_topic, "MGMT-17"))
        yield "MGMT-11"


def _is_beside_updated(namespace: Namespace, queue: Queue) -> bool:
    """Return whether another subscription of the same topic was updated."""
    if not isinstance(queue.role, Subscription):
        return False
    topic = namespace.queues[queue.role.topic].role
    paths = topic.subscriptions if isinstance(topic, Topic) else ()
    return any(namespace.queues[path].managed.updated for path in paths)


def _of_partitioning(namespace: Namespace, queue: Queue) -> tuple[v.RuleId, ...]:
    """Return the rules that decide whether a queue or topic is partitioned."""
    if namespace.profile.is_partitioned:
        return ("PREM-14", "MGMT-01")
    if namespace.profile.tier is v.Tier.PREMIUM:
        return _of_premium(queue)
    own: v.RuleId = "MGMT-01" if queue.settings.partitioned else "MGMT-03"
    return (own, "MGMT-05") if queue.managed.other_before else (own,)


def _of_premium(queue: Queue) -> tuple[v.RuleId, ...]:
    """PREM-01, PREM-04, PREM-06: return the rules exercised by the partitioning setting."""
    managed = queue.managed
    if managed.restored:
        return ("PREM-04",)
    again = managed.restored_before
    return rules_if((again, "PREM-06"), (again or "partitions" in managed.tried, "PREM-01"))


def _is_in_force(description: v.QueueDescription, managed: Managed) -> bool:
    """Return whether the reported values that updates can change may be in force."""
    reported = [
        (description.lock_duration, managed.lock_durations),
        (description.max_delivery_count, managed.delivery_counts),
    ]
    if managed.lifetimes.latest < NEVER:
        # The documents do not say which value describes an unlimited one.
        reported.append((description.time_to_live, managed.lifetimes))
    return all(
        value is None or window.earliest <= value <= window.latest for value, window in reported
    )


def _wrongly_available(
    namespace: Namespace, queue: Queue, availability: v.Availability | None
) -> Iterator[v.RuleId]:
    """MGMT-21, MGMT-22: availability is limited exactly during an outage, but may lag."""
    lags = may_lag(namespace)
    if availability is v.Availability.LIMITED:
        if not (queue.outages.any or (queue.managed.disturbed and lags)):
            yield "MGMT-22"
    elif availability is not None and queue.outages.down and not lags:
        yield "MGMT-21"


def _shown(
    namespace: Namespace, queue: Queue, description: v.QueueDescription
) -> tuple[v.RuleId, ...]:
    """Return the rules that a description exercises."""
    description = _of_its_own(queue, description)
    outage, counted = queue.outages.any, description.message_count is not None
    updated = queue.managed.updated and None not in (
        description.lock_duration,
        description.max_delivery_count,
    )
    least, most = counts(queue)
    spread = description.message_count == least == most and _is_spread(queue) and not outage
    rules = (
        *(rules_of_scheduled(namespace, queue) if counted else ()),
        *_tried(queue, description),
        *rules_if((updated, "MGMT-12"), (updated and queue.settings.partitioned, "MGMT-17")),
        *(() if description.partitioned is None else _of_partitioning(namespace, queue)),
        *rules_if((description.lock_duration is not None, "MGMT-11")),
        *_of_max_size(namespace, queue, description.max_size),
        *_shown_by_availability(queue, description.availability),
        *rules_if((counted and outage, "MGMT-23"), (spread, "MGMT-20")),
    )
    return tuple(dict.fromkeys(rules))


def _shown_of_topic(
    namespace: Namespace, topic: Queue, description: v.TopicDescription
) -> tuple[v.RuleId, ...]:
    """Return the rules that a description of a topic exercises."""
    sure, there = _subscriptions(namespace, topic)
    return (
        *_tried(topic, _as_of_queue(description)),
        *rules_if((topic.managed.updated and description.time_to_live is not None, "MGMT-12")),
        *(() if description.partitioned is None else _of_partitioning(namespace, topic)),
        *rules_if((description.duplicate_detection is not None, "MGMT-11")),
        *_of_max_size(namespace, topic, description.max_size),
        *rules_if((description.subscription_count == len(sure) == len(there), "TOPIC-24")),
        *_shown_by_availability(topic, description.availability),
    )


def _tried(queue: Queue, description: v.QueueDescription) -> Iterator[v.RuleId]:
    """Yield the rules of settings that never change and that a request tried to change."""
    for name, rule in FIXED.items():
        if getattr(description, name) is not None and name in queue.managed.tried:
            yield rule


def _of_max_size(
    namespace: Namespace, queue: Queue, reported: int | None, *, wrong: bool = False
) -> Iterator[v.RuleId]:
    """Return the rules that a reported maximum size in GB exercises, or breaks if it is wrong."""
    size = told_size(namespace, queue.settings)
    if reported is None or size is None or (wrong and reported == size):
        return
    if "max_size" in queue.managed.tried:
        yield no_other_size(namespace)
    elif wrong:
        yield from wrong_size(namespace, queue.settings, reported)
    else:
        yield from of_size(namespace, queue.settings)


def _shown_by_availability(
    queue: Queue, availability: v.Availability | None
) -> tuple[v.RuleId, ...]:
    """MGMT-21, MGMT-22: return the rules exercised by the reported availability."""
    return rules_if(
        (queue.outages.down and availability is v.Availability.LIMITED, "MGMT-21"),
        (availability is v.Availability.AVAILABLE and not queue.outages.any, "MGMT-22"),
    )


def _is_spread(queue: Queue) -> bool:
    """Return whether messages are in several partitions, or in unidentified ones."""
    if not queue.settings.partitioned:
        return False
    occupied = [where for where, tally in queue.tallies.items() if tally.total > 0]
    return len(occupied) > 1 or any(where.bit_count() > 1 for where in occupied)
