"""Descriptions of queues: settings, counts and availability."""

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
from busproof.oracle.management.updates_and_deletions import FIXED
from busproof.oracle.messages.dead_letters import dead_letters
from busproof.oracle.sizes.entity_size import (
    dead_letter_storage,
    no_other_size,
    of_size,
    told_size,
    wrong_size,
)
from busproof.oracle.state import NEVER, Namespace, Queue, Subscription, Topic
from busproof.oracle.transition import Observation, Transition, refusal
from busproof.oracle.window import Window

_OF_TOPICS: Final = ("partitioned", "duplicate_detection", "duplicate_window", "max_size", "size")
"""Settings that a subscription shares with its topic, or lacks."""


def get_queue(namespace: Namespace, command: v.GetQueue, seen: Observation) -> Iterator[Transition]:
    """MGMT-11, MGMT-20 to MGMT-23: describe the queue and the contents of all its partitions."""
    queue = namespace.queues[command.queue]
    must_fail, refusals = get_may_fail(namespace, queue)
    if not must_fail:
        yield from _described(namespace, queue, seen)
    yield from refusals


def get_may_fail(namespace: Namespace, queue: Queue) -> tuple[bool, tuple[Transition, ...]]:
    """MGMT-23: return whether a get has to fail in an outage, and how it may (COUNTS-IN-OUTAGE)."""
    reading = _reading(namespace, "COUNTS-IN-OUTAGE")
    must_fail = bool(queue.outages.down) and reading == "refused"
    if not queue.outages.any or reading == "left-out":
        return must_fail, ()
    return must_fail, (refusal(namespace, v.Error.UNAVAILABLE, "MGMT-23", any_error=True),)


def _described(namespace: Namespace, queue: Queue, seen: Observation) -> Iterator[Transition]:
    if isinstance(seen.outcome, v.Described):
        told = seen.outcome.description
        if not wrongly_told(namespace, queue, told):
            rules = _shown(namespace, queue, told)
            yield Transition(outcome=seen.outcome, next=namespace, rules=rules)
    elif seen.outcome is None:
        told = described(namespace, queue)
        rules = _shown(namespace, queue, told)
        yield Transition(outcome=v.Described(description=told), next=namespace, rules=rules)
        if may_lag(namespace):
            before = v.Availability.AVAILABLE
            if queue.managed.disturbed and not queue.outages.any:
                before = v.Availability.LIMITED
            late = attrs.evolve(told, message_count=0, availability=before)
            yield Transition(outcome=v.Described(description=late), next=namespace)


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


def wrongly_told(
    namespace: Namespace, queue: Queue, told: v.QueueDescription
) -> tuple[v.RuleId, ...]:
    """Return the rules that a description breaks."""
    told = _of_its_own(queue, told)
    found = [*_wrong_settings(namespace, queue, told)]
    if not count_is_allowed(namespace, queue, told.message_count):
        found += ["MGMT-20", "MGMT-23"] if queue.outages.any else ["MGMT-20"]
        found = [*rules_of_scheduled(namespace, queue), *found]
    if not 0 <= (told.transfer_dead_letters or 0) <= _most_transfer_dead_letters(namespace, queue):
        found.append("FWD-32")
    if not availability_is_allowed(namespace, queue, told.availability):
        limited = told.availability is v.Availability.LIMITED
        found.append("MGMT-22" if limited else "MGMT-21")
        if limited and len(queue.room.refused):
            found.append("SIZE-11")
    return tuple(dict.fromkeys(found))


def _of_its_own(queue: Queue, told: v.QueueDescription) -> v.QueueDescription:
    """Return the description; for a subscription, without its topic's settings."""
    if queue.role is None:
        return told
    topics: dict[str, Any] = dict.fromkeys(_OF_TOPICS)
    return attrs.evolve(told, **topics)


def _most_transfer_dead_letters(namespace: Namespace, queue: Queue) -> int:
    """FWD-32: return the maximum number of transfer dead letters."""
    known = dead_letters(namespace, queue, v.TRANSFERS).arrivals
    return known + sum(len(several) for several in queue.passed.values())


def _wrong_settings(
    namespace: Namespace, queue: Queue, told: v.QueueDescription
) -> Iterator[v.RuleId]:
    settings, managed = queue.settings, queue.managed
    if told.queue != settings.queue:
        yield "MGMT-11"
    for name, rule in FIXED.items():
        if getattr(told, name) not in (None, getattr(settings, name)):
            if name in managed.tried:
                yield rule
            if name == "partitioned":
                yield from of_partitioning(namespace, queue)
                if namespace.profile.tier is v.Tier.PREMIUM:
                    yield "PREM-14" if namespace.profile.is_partitioned else "PREM-01"
            yield "MGMT-11"
    if told.duplicate_window not in (None, settings.duplicate_window):
        yield "MGMT-11"
    yield from wrongly_sized(namespace, queue, told.max_size)
    updated = managed.updated or _is_beside_updated(namespace, queue)
    changed: tuple[v.RuleId, ...] = ("MGMT-12", "MGMT-17") if updated else ()
    if not is_within(told.lock_duration, managed.lock_durations):
        yield from (*changed, "MGMT-11")
    if not is_within(told.max_delivery_count, managed.delivery_counts):
        yield from (*changed, "MGMT-11")
    # The documents do not say which value describes an unlimited time to live.
    asked = managed.lifetimes.latest < NEVER
    if asked and not is_within(told.time_to_live, managed.lifetimes):
        yield from (*changed, "MGMT-11")


def _is_beside_updated(namespace: Namespace, queue: Queue) -> bool:
    """Return whether another subscription of the same topic was updated."""
    if not isinstance(queue.role, Subscription):
        return False
    topic = namespace.queues[queue.role.topic].role
    paths = topic.subscriptions if isinstance(topic, Topic) else ()
    return any(namespace.queues[path].managed.updated for path in paths)


def of_partitioning(namespace: Namespace, queue: Queue) -> tuple[v.RuleId, ...]:
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
    again: tuple[v.RuleId, ...] = ("PREM-06",) if managed.restored_before else ()
    return (*again, "PREM-01") if again or "partitions" in managed.tried else ()


def is_within(told: int | None, window: Window) -> bool:
    """Return whether the reported value, if any, may be in force."""
    return told is None or window.earliest <= told <= window.latest


def availability_is_allowed(
    namespace: Namespace, queue: Queue, told: v.Availability | None
) -> bool:
    """MGMT-21, MGMT-22: check that availability is limited exactly during an outage."""
    if told is None:
        return True
    if told is v.Availability.LIMITED:
        return queue.outages.any or (queue.managed.disturbed and may_lag(namespace))
    return not queue.outages.down or may_lag(namespace)


def _shown(namespace: Namespace, queue: Queue, told: v.QueueDescription) -> tuple[v.RuleId, ...]:
    """Return the rules that a description exercises."""
    told = _of_its_own(queue, told)
    scheduled = () if told.message_count is None else rules_of_scheduled(namespace, queue)
    rules = (*scheduled, *_settings_shown(namespace, queue, told), *_rest(queue, told))
    return tuple(dict.fromkeys(rules))


def _settings_shown(
    namespace: Namespace, queue: Queue, told: v.QueueDescription
) -> Iterator[v.RuleId]:
    managed = queue.managed
    for name, rule in FIXED.items():
        if getattr(told, name) is not None and name in managed.tried:
            yield rule
    if managed.updated and None not in (told.lock_duration, told.max_delivery_count):
        yield from ("MGMT-12", "MGMT-17") if queue.settings.partitioned else ("MGMT-12",)
    if told.partitioned is not None:
        yield from of_partitioning(namespace, queue)
    if told.lock_duration is not None:
        yield "MGMT-11"
    yield from rightly_sized(namespace, queue, told.max_size)


def wrongly_sized(namespace: Namespace, queue: Queue, told: int | None) -> Iterator[v.RuleId]:
    """Return the rules that a reported maximum size in GB breaks."""
    size = told_size(namespace, queue.settings)
    if told is None or size in (None, told):
        return
    if "max_size" in queue.managed.tried:
        yield no_other_size(namespace)
    else:
        yield from wrong_size(namespace, queue.settings, told)


def rightly_sized(namespace: Namespace, queue: Queue, told: int | None) -> Iterator[v.RuleId]:
    """Return the rules that a reported maximum size exercises."""
    if told is None or told_size(namespace, queue.settings) is None:
        return
    if "max_size" in queue.managed.tried:
        yield no_other_size(namespace)
    else:
        yield from of_size(namespace, queue.settings)


def _rest(queue: Queue, told: v.QueueDescription) -> Iterator[v.RuleId]:
    """Return the rules exercised by its counts and its availability."""
    yield from shown_by_availability(queue, told.availability)
    if told.message_count is not None and queue.outages.any:
        yield "MGMT-23"
    least, most = counts(queue)
    if told.message_count == least == most and _is_spread(queue) and not queue.outages.any:
        yield "MGMT-20"


def shown_by_availability(queue: Queue, told: v.Availability | None) -> Iterator[v.RuleId]:
    """MGMT-21, MGMT-22: return the rules exercised by the reported availability."""
    if queue.outages.down and told is v.Availability.LIMITED:
        yield "MGMT-21"
    if told is v.Availability.AVAILABLE and not queue.outages.any:
        yield "MGMT-22"


def _is_spread(queue: Queue) -> bool:
    """Return whether messages are in several partitions, or in unidentified ones."""
    if not queue.settings.partitioned:
        return False
    held = [where for where, tally in queue.tallies.items() if tally.total > 0]
    return len(held) > 1 or any(where.bit_count() > 1 for where in held)
