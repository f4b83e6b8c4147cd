"""Descriptions of queues, topics and subscriptions: settings, counts and availability."""

from collections.abc import Iterator
from typing import Any, Final

import attrs

from busproof import vocabulary as v
from busproof.oracle.management.counts import count_is_allowed, counts, may_lag, rules_of_scheduled
from busproof.oracle.management.lists import listed_names
from busproof.oracle.management.topics import shared_fields
from busproof.oracle.management.updates_and_deletions import FIXED
from busproof.oracle.messages.dead_letters import dead_letters
from busproof.oracle.registry import Managed
from busproof.oracle.rule_lists import rules_if
from busproof.oracle.sizes.entity_size import (
    dead_letter_storage,
    is_neither_size,
    no_other_size,
    of_size,
    told_size,
    wrong_size,
)
from busproof.oracle.sizes.size_updates import RESIZED
from busproof.oracle.state import NEVER, Namespace, Queue, Subscription, Topic
from busproof.oracle.transition import Observation, Transition, refusal

Description = v.QueueDescription | v.TopicDescription

_OF_TOPICS: Final = ("partitioned", "duplicate_detection", "duplicate_window", "max_size", "size")
"""Settings that belong to the topic and not to its subscription."""


def get_entity(namespace: Namespace, name: str, observed: Observation) -> Iterator[Transition]:
    """MGMT-11, MGMT-20 to MGMT-23, TOPIC-24: describe an entity in all its partitions.

    In an outage the request may fail, or has to (COUNTS-IN-OUTAGE).
    """
    entity, reading = namespace.queues[name], namespace.reading("COUNTS-IN-OUTAGE")
    # Under the reading `refused` an outage leaves no description at all.
    if not (entity.outages.down and reading == "refused"):
        yield from _described(namespace, entity, observed)
    if entity.outages.any and reading != "left-out":
        yield refusal(namespace, v.Error.UNAVAILABLE, "MGMT-23", any_error=True)


def _described(namespace: Namespace, entity: Queue, observed: Observation) -> Iterator[Transition]:
    of_topic, outcome = isinstance(entity.role, Topic), observed.outcome
    if outcome is None:
        for description, rules in _possible(namespace, entity):
            yield Transition(outcome=_told(description), next=namespace, rules=rules)
    elif isinstance(outcome, v.TopicDescribed if of_topic else v.Described):
        description = outcome.description
        if not wrongly_told(namespace, entity, description):
            rules = _shown(namespace, entity, description)
            yield Transition(outcome=outcome, next=namespace, rules=rules)


def _told(description: Description) -> v.Outcome:
    if isinstance(description, v.TopicDescription):
        return v.TopicDescribed(description=description)
    return v.Described(description=description)


def _possible(
    namespace: Namespace, entity: Queue
) -> Iterator[tuple[Description, tuple[v.RuleId, ...]]]:
    """Yield descriptions to list as allowed, with the rules that each exercises."""
    description = described(namespace, entity)
    yield description, _shown(namespace, entity, description)
    if may_lag(namespace) and isinstance(description, v.QueueDescription):
        over = entity.managed.disturbed and not entity.outages.any
        before = v.Availability.LIMITED if over else v.Availability.AVAILABLE
        yield attrs.evolve(description, message_count=0, availability=before), ()


def described(namespace: Namespace, entity: Queue) -> Description:
    """Return a description that the entity may have, as far as is known."""
    settings, limited = entity.settings, entity.outages.any
    both: dict[str, Any] = {
        "time_to_live": settings.time_to_live,
        "availability": v.Availability.LIMITED if limited else v.Availability.AVAILABLE,
    }
    own: dict[str, Any] = {
        "partitioned": bool(settings.partitioned),
        "duplicate_detection": settings.duplicate_detection,
        "duplicate_window": settings.duplicate_window,
        "max_size": told_size(namespace, settings),
    }
    if isinstance(entity.role, Topic):
        count = len(_subscriptions(namespace, entity)[0])
        return v.TopicDescription(topic=settings.queue, subscription_count=count, **own, **both)
    least, most = counts(entity)
    dead = dead_letter_storage(namespace, entity)
    return v.QueueDescription(
        queue=settings.queue,
        requires_session=settings.requires_session,
        lock_duration=settings.lock_duration,
        max_delivery_count=settings.max_delivery_count,
        # In an outage only messages that are surely within reach are counted, and those that are
        # locked.
        message_count=min(most, least + len(entity.locks)) if limited else most,
        size=sum((*entity.room.certain.values(), *dead.certain.values())),
        transfer_dead_letters=len(dead_letters(namespace, entity, v.TRANSFERS).messages),
        **both,
        **(own if entity.role is None else {}),
    )


def _subscriptions(namespace: Namespace, topic: Queue) -> tuple[frozenset[str], frozenset[str]]:
    """Return the names of a topic's certain subscriptions, and of all possible ones."""
    return listed_names(namespace, v.ListSubscriptions(topic=topic.settings.queue))


def wrongly_told(
    namespace: Namespace, entity: Queue, description: Description
) -> tuple[v.RuleId, ...]:
    """Return the rules that this description breaks; none if it may be right."""
    reported, of_topic = _as_of_queue(entity, description), isinstance(entity.role, Topic)
    miscounted = not count_is_allowed(namespace, entity, reported.message_count)
    transfers = reported.transfer_dead_letters or 0
    unavailable = _wrongly_available(namespace, entity, reported.availability)
    # A full partition may look like one that is down, but full is not down (SIZE-11).
    limited_by_room = "MGMT-22" in unavailable and not of_topic and len(entity.room.refused)
    wrong = (
        *(rules_of_scheduled(namespace, entity) if miscounted else ()),
        *_wrong_settings(namespace, entity, reported),
        *rules_if(
            (not _is_counted(namespace, entity, description), "TOPIC-24"),
            (miscounted, "MGMT-20"),
            (miscounted and entity.outages.any, "MGMT-23"),
            (not 0 <= transfers <= _most_transfers(namespace, entity), "FWD-32"),
        ),
        *unavailable,
        *rules_if((limited_by_room, "SIZE-11")),
    )
    return tuple(dict.fromkeys(wrong))


def _as_of_queue(entity: Queue, description: Description) -> v.QueueDescription:
    """Return the part of a description that is about the entity itself, as a queue's.

    The settings that a subscription has from its topic are left out: the topic's own description
    shows whether they are right.
    """
    if isinstance(description, v.TopicDescription):
        shared = shared_fields(description, "subscription_count")
        return v.QueueDescription(queue=description.topic, **shared)
    if entity.role is None:
        return description
    of_topic: dict[str, Any] = dict.fromkeys(_OF_TOPICS)
    return attrs.evolve(description, **of_topic)


def _is_counted(namespace: Namespace, topic: Queue, description: Description) -> bool:
    """TOPIC-24: return whether the number of subscriptions is possible."""
    count: int | None = getattr(description, "subscription_count", None)
    if count is None or not isinstance(topic.role, Topic):
        return True
    sure, there = _subscriptions(namespace, topic)
    if may_lag(namespace):
        # The number may be from any earlier moment; every subscription ever created raised the
        # revision.
        return 0 <= count <= max(topic.role.revision, len(there))
    return len(sure) <= count <= len(there)


def _most_transfers(namespace: Namespace, queue: Queue) -> int:
    """FWD-32: return the greatest possible number of transfer dead letters."""
    known = dead_letters(namespace, queue, v.TRANSFERS).arrivals
    # Each forwarded message may have become a dead letter of its source instead.
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
            # An update that had to be refused may have changed it, or it was wrong from the
            # beginning.
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
    # A subscription may wrongly have got the update of another one of its topic.
    updated = managed.updated or _is_beside_updated(namespace, queue)
    if not _is_in_force(description, managed):
        yield from rules_if((updated, "MGMT-12"), (updated and not of_topic, "MGMT-17"))
        yield "MGMT-11"


def _is_beside_updated(namespace: Namespace, queue: Queue) -> bool:
    """Return whether another subscription of the same topic was ever updated."""
    if not isinstance(queue.role, Subscription):
        return False
    topic = namespace.queues[queue.role.topic].role
    paths = topic.subscriptions if isinstance(topic, Topic) else ()
    return any(namespace.queues[path].managed.updated for path in paths)


def _of_partitioning(namespace: Namespace, queue: Queue) -> tuple[v.RuleId, ...]:
    """Return the rules that decide whether this queue or topic is partitioned."""
    managed = queue.managed
    if namespace.profile.is_partitioned:
        return ("PREM-14", "MGMT-01")
    if namespace.profile.tier is not v.Tier.PREMIUM:
        own: v.RuleId = "MGMT-01" if queue.settings.partitioned else "MGMT-03"
        return (own, "MGMT-05") if managed.other_before else (own,)
    if managed.restored:
        return ("PREM-04",)
    again = managed.restored_before
    return rules_if((again, "PREM-06"), (again or "partitions" in managed.tried, "PREM-01"))


def _is_in_force(description: v.QueueDescription, managed: Managed) -> bool:
    """Return whether the changeable settings in the description may be in force."""
    reported = [
        (description.lock_duration, managed.lock_durations),
        (description.max_delivery_count, managed.delivery_counts),
    ]
    if managed.lifetimes.latest < NEVER:
        # The documents do not say how a description shows an unlimited time to live.
        reported.append((description.time_to_live, managed.lifetimes))
    return all(
        value is None or window.earliest <= value <= window.latest for value, window in reported
    )


def _wrongly_available(
    namespace: Namespace, queue: Queue, availability: v.Availability | None
) -> tuple[v.RuleId, ...]:
    """MGMT-21, MGMT-22: return the rules that the reported availability breaks."""
    lags, limited = may_lag(namespace), availability is v.Availability.LIMITED
    # A description may still show an outage that is over (GET-LAG).
    may_be = queue.outages.any or (queue.managed.disturbed and lags)
    must_be = availability is not None and queue.outages.down and not lags
    return rules_if((limited and not may_be, "MGMT-22"), (not limited and must_be, "MGMT-21"))


def _shown(namespace: Namespace, entity: Queue, description: Description) -> tuple[v.RuleId, ...]:
    """Return the rules that this description exercises."""
    reported, of_topic = _as_of_queue(entity, description), isinstance(entity.role, Topic)
    tried, outage = entity.managed.tried, entity.outages.any
    changeable = (
        (reported.time_to_live,)
        if of_topic
        else (reported.lock_duration, reported.max_delivery_count)
    )
    updated = entity.managed.updated and None not in changeable
    set_once = reported.duplicate_detection if of_topic else reported.lock_duration
    counted, (least, most) = reported.message_count is not None, counts(entity)
    # Only an exact count shows that all partitions were added up.
    spread = reported.message_count == least == most and _is_spread(entity) and not outage
    subscriptions = {len(names) for names in _subscriptions(namespace, entity)} if of_topic else ()
    # Only if the number of subscriptions is certain does the answer show that it is right.
    all_counted = {getattr(description, "subscription_count", None)} == subscriptions
    rules = (
        *(rules_of_scheduled(namespace, entity) if counted else ()),
        *(
            rule
            for name, rule in FIXED.items()
            if getattr(reported, name) is not None and name in tried
        ),
        *rules_if(
            (updated, "MGMT-12"),
            (updated and not of_topic and entity.settings.partitioned, "MGMT-17"),
            (reported.partitioned is not None, *_of_partitioning(namespace, entity)),
            (set_once is not None, "MGMT-11"),
        ),
        *_of_max_size(namespace, entity, reported.max_size),
        *rules_if(
            (all_counted, "TOPIC-24"),
            (entity.outages.down and reported.availability is v.Availability.LIMITED, "MGMT-21"),
            (reported.availability is v.Availability.AVAILABLE and not outage, "MGMT-22"),
            (counted and outage, "MGMT-23"),
            (spread, "MGMT-20"),
        ),
    )
    return tuple(dict.fromkeys(rules))


def _of_max_size(
    namespace: Namespace, queue: Queue, reported: int | None, *, wrong: bool = False
) -> Iterator[v.RuleId]:
    """Yield the rules that a reported maximum size exercises, or breaks if it is `wrong`."""
    size = told_size(namespace, queue.settings)
    if wrong and size is None and is_neither_size(namespace, queue.settings, reported):
        yield "MGMT-11"
    if reported is None or size is None or (wrong and reported == size):
        return
    if RESIZED in queue.managed.tried:
        yield "SIZE-16"
    elif "max_size" in queue.managed.tried:
        yield no_other_size(namespace)
    elif wrong:
        yield from wrong_size(namespace, queue.settings, reported)
    else:
        yield from of_size(namespace, queue.settings)


def _is_spread(queue: Queue) -> bool:
    """Return whether messages are in several partitions, or in partitions that are not known."""
    if not queue.settings.partitioned:
        return False
    # If only one partition has messages, the count does not show that partitions are added up.
    occupied = [where for where, tally in queue.tallies.items() if tally.total > 0]
    return len(occupied) > 1 or any(where.bit_count() > 1 for where in occupied)
