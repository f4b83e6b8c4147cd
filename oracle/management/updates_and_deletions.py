"""Updates and deletions of queues, topics and subscriptions."""

from collections.abc import Iterator

import attrs

from busproof import vocabulary as v
from busproof.oracle.forwarding.forwarding_setup import LONGEST_LOCK
from busproof.oracle.forwarding.forwarding_updates import (
    redirection_refused,
    with_lost_redirection,
    with_redirection,
)
from busproof.oracle.management.deletion import delete_entity
from busproof.oracle.management.lifetime_updates import with_lifetime
from busproof.oracle.management.premium import may_keep_as_it_is
from busproof.oracle.management.queue_creation import may_fail_in_outage, outage_reading
from busproof.oracle.management.statuses import with_lost_status, with_status
from busproof.oracle.management.topics import has_no_such_setting
from busproof.oracle.registry import Managed
from busproof.oracle.state import Namespace, Queue, Topic, with_queue
from busproof.oracle.transition import Transition, done, refusal
from busproof.oracle.unjudged import is_joined, stop_judging
from busproof.oracle.window import Window

FIXED: dict[str, v.RuleId] = {
    "partitioned": "MGMT-04",
    "requires_session": "MGMT-13",
    "duplicate_detection": "MGMT-14",
}
"""Settings that never change, each with the rule that says so."""

MANAGING = v.GetQueue | v.UpdateQueue | v.DeleteQueue | v.TopicManagement
"""Requests that concern one entity as a whole."""


def is_managed_otherwise(namespace: Namespace, command: v.Command) -> bool:
    """Return whether a request addresses another kind of entity: a topic as a queue, say.

    Dead-letter queues are created and deleted with their entities and cannot be managed.
    """
    if not isinstance(command, MANAGING):
        return False
    of_topics = isinstance(command, v.TopicManagement)
    name = command.topic if isinstance(command, v.TopicManagement) else command.queue
    known = namespace.queues.get(name)
    is_other = known is not None and isinstance(known.role, Topic) is not of_topics
    return is_other or v.is_dead_letter_queue(name)


def update_queue(namespace: Namespace, command: v.UpdateQueue) -> Iterator[Transition]:
    """MGMT-04, MGMT-12 to MGMT-14: change settings in all partitions; fixed ones never."""
    queue = namespace.queues[command.queue]
    if has_no_such_setting(queue, command):
        yield from _about_no_setting(namespace, queue)
        return
    refused = _refused_settings(queue, command)
    rules = tuple(FIXED[name] for name in refused)
    may_fail, must_fail = may_fail_in_outage(namespace, queue.outages)
    tried = attrs.evolve(queue.managed, tried=queue.managed.tried.union(refused))
    if command.lock_duration is not None and command.lock_duration > LONGEST_LOCK:
        kept = with_queue(namespace, attrs.evolve(queue, managed=tried))
        yield refusal(kept, v.Error.INVALID_OPERATION, "LOCK-03", *rules, any_error=True)
        command = attrs.evolve(command, lock_duration=LONGEST_LOCK)
        rules = ("LOCK-03", *rules)
    if refused:
        kept = with_queue(namespace, attrs.evolve(queue, managed=tried))
        yield refusal(kept, v.Error.INVALID_OPERATION, *rules, any_error=True)
        reading = namespace.profile.readings.get("OPTION-UPDATE")
        if reading == "refused" and "partitioned" in refused:
            return
    if may_keep_as_it_is(namespace, queue):
        kept = with_queue(namespace, attrs.evolve(queue, managed=tried))
        yield refusal(kept, v.Error.INVALID_OPERATION, "PREM-05", any_error=True)
        rules = ("PREM-05", *rules)
    if may_fail:
        left = attrs.evolve(tried, refused=tried.refused | {"update"})
        partly = outage_reading(namespace) == "either"
        if partly:
            left = _widened(left, command)
        failed = _with_updated(namespace, attrs.evolve(queue, managed=left))
        if partly:
            failed = with_lifetime(failed, command, surely=False)
            failed = with_lost_status(with_lost_redirection(failed, command), command)
        yield refusal(failed, v.Error.UNAVAILABLE, "MGMT-18", any_error=True)
        rules = ("MGMT-18", *rules)
    elif "update" in tried.refused:
        rules = ("MGMT-19", *rules)
    yield from redirection_refused(namespace, queue, command)
    if not must_fail and all(each in namespace.queues for each in v.destinations(command)):
        after = _with_updated(namespace, _updated(namespace, queue, command, tried))
        after = with_lifetime(after, command, surely=not tried.unsettled)
        after = with_redirection(after, command, surely=not tried.unsettled)
        yield done(with_status(after, command, surely=not tried.unsettled), *rules)


def _about_no_setting(namespace: Namespace, queue: Queue) -> Iterator[Transition]:
    """Handle an update of a setting that the entity lacks; its effect is open (ROLE-STATUS)."""
    yield refusal(namespace, v.Error.INVALID_OPERATION, any_error=True)
    if namespace.profile.readings.get("ROLE-STATUS") != "refused":
        yield done(stop_judging(namespace, queue.settings.queue))


def _with_updated(namespace: Namespace, queue: Queue) -> Namespace:
    """Return the namespace with an updated queue; the documents leave its DLQ's locks open."""
    ever = queue.managed.lock_durations_ever
    for path in v.dead_letter_queues_of(queue.settings.queue):
        dead = namespace.queues.get(path)
        if dead is None:
            continue
        managed = attrs.evolve(
            dead.managed,
            lock_durations=ever,
            lock_durations_ever=ever,
            changed_at=dead.receivers.count,
        )
        namespace = with_queue(namespace, attrs.evolve(dead, managed=managed))
    managed = attrs.evolve(queue.managed, changed_at=queue.receivers.count)
    return with_queue(namespace, attrs.evolve(queue, managed=managed))


def _refused_settings(queue: Queue, command: v.UpdateQueue) -> tuple[str, ...]:
    """Return the settings that the update would change but cannot."""
    return tuple(
        name
        for name in FIXED
        if getattr(command, name) not in (None, getattr(queue.settings, name))
    )


def _widened(managed: Managed, command: v.UpdateQueue) -> Managed:
    """Return bounds that include the old settings, the new ones, or a mixture."""
    durations = _reaching(managed.lock_durations, command.lock_duration)
    return attrs.evolve(
        managed,
        lock_durations=durations,
        lock_durations_ever=_reaching(managed.lock_durations_ever, command.lock_duration),
        delivery_counts=_reaching(managed.delivery_counts, command.max_delivery_count),
    )


def _reaching(window: Window, value: int | None) -> Window:
    if value is None:
        return window
    return Window(min(window.earliest, value), max(window.latest, value))


def _updated(namespace: Namespace, queue: Queue, command: v.UpdateQueue, managed: Managed) -> Queue:
    """MGMT-12: return the queue with changed settings; an unanswered update may still follow."""
    wider = _widened(managed, command)
    changed = wider
    if not managed.unsettled:
        changed = attrs.evolve(
            wider,
            lock_durations=_exactly(wider.lock_durations, command.lock_duration),
        )
        if not _may_count_by_former(namespace, queue):
            counts = _exactly(wider.delivery_counts, command.max_delivery_count)
            changed = attrs.evolve(changed, delivery_counts=counts)
    settings = queue.settings
    if command.lock_duration is not None:
        settings = attrs.evolve(settings, lock_duration=command.lock_duration)
    if command.max_delivery_count is not None:
        settings = attrs.evolve(settings, max_delivery_count=command.max_delivery_count)
    if command.time_to_live is not None:
        settings = attrs.evolve(settings, time_to_live=command.time_to_live)
    managed = attrs.evolve(changed, updated=True)
    return attrs.evolve(queue, settings=settings, managed=managed)


def _may_count_by_former(namespace: Namespace, queue: Queue) -> bool:
    """Return whether a lock may have ended, and counted, under the old maximum."""
    now = namespace.now.latest
    held = (queue.messages.get(number) for number in queue.locks.values())
    locks = (None if stored is None else stored.lock for stored in held)
    return any(lock is not None and lock.expiry.earliest <= now for lock in locks)


def _exactly(window: Window, value: int | None) -> Window:
    return window if value is None else Window(value, value)


def lost_update(namespace: Namespace, command: v.UpdateQueue) -> Namespace:
    """Return the states in which the update takes effect now, later or never."""
    queue = namespace.queues[command.queue]
    if has_no_such_setting(queue, command):
        return stop_judging(namespace, command.queue)
    tried = queue.managed.tried.union(_refused_settings(queue, command))
    if command.lock_duration is not None:
        command = attrs.evolve(command, lock_duration=min(command.lock_duration, LONGEST_LOCK))
    managed = attrs.evolve(_widened(queue.managed, command), unsettled=True, tried=tried)
    after = _with_updated(namespace, attrs.evolve(queue, managed=managed))
    after = with_lost_redirection(with_lifetime(after, command, surely=False), command)
    return with_lost_status(after, command)


def delete_queue(namespace: Namespace, command: v.DeleteQueue) -> Iterator[Transition]:
    """MGMT-15, MGMT-17, MGMT-18: delete the entity and its messages, in every partition."""
    yield from _deleted(namespace, namespace.queues[command.queue])


def _deleted(namespace: Namespace, queue: Queue) -> Iterator[Transition]:
    """Return the answers to a deletion of a queue, topic or subscription, and their states."""
    may_fail, must_fail = may_fail_in_outage(namespace, queue.outages)
    if may_fail:
        yield refusal(_kept(namespace, queue), v.Error.UNAVAILABLE, "MGMT-18", any_error=True)
    if not must_fail:
        repeated: tuple[v.RuleId, ...] = ("MGMT-19",) if "delete" in queue.managed.refused else ()
        if queue.managed.restored:
            repeated = ("PREM-04", *repeated)
        yield done(delete_entity(namespace, queue), *(("MGMT-18",) if may_fail else repeated))


def _kept(namespace: Namespace, queue: Queue) -> Namespace:
    """Return the state after a deletion refused in an outage (MANAGEMENT-IN-OUTAGE)."""
    managed = attrs.evolve(queue.managed, refused=queue.managed.refused | {"delete"})
    if outage_reading(namespace) != "either":
        return with_queue(namespace, attrs.evolve(queue, managed=managed))
    subscriptions = queue.role.subscriptions if isinstance(queue.role, Topic) else ()
    partially_applied = attrs.evolve(managed, partially_applied="delete")
    left = with_queue(namespace, attrs.evolve(queue, managed=partially_applied))
    for path in subscriptions:
        each = left.queues[path]
        in_part = attrs.evolve(each.managed, partially_applied="delete")
        left = with_queue(left, attrs.evolve(each, managed=in_part))
    name = queue.settings.queue
    return stop_judging(left, name) if is_joined(namespace, name) else left


def lost_delete(namespace: Namespace, command: v.DeleteQueue) -> Namespace:
    """Return the states in which the queue, or a later one of its name, may be deleted."""
    return stop_judging(namespace, command.queue)


def update_topic(namespace: Namespace, command: v.UpdateTopic) -> Iterator[Transition]:
    """MGMT-04, MGMT-12, MGMT-14: change settings of a topic, as of a queue.

    If the time to live of arriving messages is open, the topic is no longer judged: an update may
    be in force in part, or messages are in transit.
    """
    name = command.topic
    for transition in update_queue(namespace, _as_queue(command)):
        refused = isinstance(transition.outcome, v.Refused)
        if _is_other(namespace, transition, name) and (refused or _is_busy(namespace, name)):
            yield attrs.evolve(transition, next=stop_judging(transition.next, name))
        else:
            yield transition


def _as_queue(command: v.UpdateTopic) -> v.UpdateQueue:
    """Convert the update of a topic to one of the queue that represents it."""
    return v.UpdateQueue(
        queue=command.topic,
        partitioned=command.partitioned,
        duplicate_detection=command.duplicate_detection,
        time_to_live=command.time_to_live,
        status=command.status,
    )


def _is_other(namespace: Namespace, transition: Transition, name: str) -> bool:
    """Return whether the update changes the time to live."""
    before, after = namespace.queues[name].managed, transition.next.queues[name].managed
    return after.lifetimes is not before.lifetimes


def _is_busy(namespace: Namespace, name: str) -> bool:
    """Return whether messages sent earlier may still arrive."""
    topic = namespace.queues[name]
    late = isinstance(topic.role, Topic) and topic.role.unanswered_sends
    waits = any(
        transaction is not None and name in transaction.queues
        for transaction in namespace.transactions.values()
    )
    scheduled = len(topic.calendar.entries)
    return bool(late or waits or scheduled or topic.managed.unsettled or is_joined(namespace, name))


def lost_update_topic(namespace: Namespace, command: v.UpdateTopic) -> Namespace:
    """Return the states in which the update takes effect now, later or never."""
    after = lost_update(namespace, _as_queue(command))
    return after if command.time_to_live is None else stop_judging(after, command.topic)


def delete_topic(namespace: Namespace, command: v.DeleteTopic) -> Iterator[Transition]:
    """TOPIC-22, MGMT-18: delete the topic with its subscriptions and their messages."""
    yield from _deleted(namespace, namespace.queues[command.topic])


def lost_delete_topic(namespace: Namespace, command: v.DeleteTopic) -> Namespace:
    """Return the states in which the topic, or a later one of its name, may be deleted."""
    return stop_judging(namespace, command.topic)
