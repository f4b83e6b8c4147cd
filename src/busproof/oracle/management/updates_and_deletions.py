"""Updates and deletions of queues, topics and subscriptions."""

from collections.abc import Iterator
from typing import Final, get_args

import attrs

from busproof import vocabulary as v
from busproof.oracle.changes import with_managed
from busproof.oracle.forwarding.forwarding_setup import LONGEST_LOCK
from busproof.oracle.forwarding.forwarding_updates import redirection_refused, with_redirection
from busproof.oracle.management.deletion import delete_entity
from busproof.oracle.management.lifetime_updates import with_lifetime
from busproof.oracle.management.premium import may_keep_as_it_is
from busproof.oracle.management.queue_creation import may_fail_in_outage, outage_reading
from busproof.oracle.management.statuses import with_status
from busproof.oracle.management.topics import has_no_such_setting, shared_fields
from busproof.oracle.registry import Managed
from busproof.oracle.rule_lists import rules_if
from busproof.oracle.sizes.size_updates import refused_size, with_size_in_doubt, with_sizes
from busproof.oracle.state import Namespace, Queue, Topic, with_queue
from busproof.oracle.transactions.limits import is_in_transaction
from busproof.oracle.transition import Transition, done, refusal
from busproof.oracle.unjudged import is_joined, stop_judging
from busproof.oracle.window import Window

FIXED: dict[str, v.RuleId] = {
    "partitioned": "MGMT-04",
    "requires_session": "MGMT-13",
    "duplicate_detection": "MGMT-14",
}
"""Settings that never change, with the rule that forbids changing them."""
CHANGEABLE = ("lock_duration", "max_delivery_count", "time_to_live")
"""Settings that an update replaces by the value that it names."""

MANAGING: Final = (v.GetQueue, v.UpdateQueue, v.DeleteQueue, *get_args(v.TopicManagement))
"""Requests about one entity as a whole."""


def is_managed_otherwise(namespace: Namespace, command: v.Command) -> bool:
    """Return whether the request does not fit its entity, such as `UpdateQueue` for a topic.

    No request fits a dead-letter queue, which is created and deleted with its entity.
    """
    if not isinstance(command, MANAGING):
        return False
    of_topics = isinstance(command, v.TopicManagement)
    name = command.topic if isinstance(command, v.TopicManagement) else command.queue
    known = namespace.queues.get(name)
    # Topics have commands of their own.
    is_other = known is not None and isinstance(known.role, Topic) is not of_topics
    return is_other or v.is_dead_letter_queue(name)


def update_queue(namespace: Namespace, command: v.UpdateQueue) -> Iterator[Transition]:
    """MGMT-04, MGMT-12 to MGMT-14: change settings in all partitions, except fixed settings."""
    queue = namespace.queues[command.queue]
    if has_no_such_setting(queue, command):
        yield from _about_no_setting(namespace, queue)
        return
    refused = _refused_settings(queue, command)
    rules = tuple(FIXED[name] for name in refused)
    may_fail, must_fail = may_fail_in_outage(namespace, queue.outages)
    # Whatever becomes of the request, later violations may be charged to its attempt.
    managed = attrs.evolve(queue.managed, tried=queue.managed.tried.union(refused))
    kept = with_queue(namespace, attrs.evolve(queue, managed=managed))
    # A longer lock may be refused or shortened, but never granted.
    if command.lock_duration is not None and command.lock_duration > LONGEST_LOCK:
        rules = ("LOCK-03", *rules)
        yield refusal(kept, v.Error.INVALID_OPERATION, *rules, any_error=True)
        command = attrs.evolve(command, lock_duration=LONGEST_LOCK)
    if refused:
        yield refusal(kept, v.Error.INVALID_OPERATION, *rules, any_error=True)
        # Under other readings the update may succeed, and leave the option as it was.
        reading = namespace.reading("OPTION-UPDATE")
        if reading == "refused" and "partitioned" in refused:
            return
    if may_keep_as_it_is(namespace, queue):
        yield refusal(kept, v.Error.INVALID_OPERATION, "PREM-05", any_error=True)
        rules = ("PREM-05", *rules)
    if may_fail:
        left = attrs.evolve(managed, refused=managed.refused | {"update"})
        # An update that failed may be in force in the partitions that are up
        # (MANAGEMENT-IN-OUTAGE).
        if outage_reading(namespace) == "either":
            failed = _perhaps_updated(namespace, queue, command, left)
        else:
            failed = _with_updated(namespace, attrs.evolve(queue, managed=left))
        yield refusal(failed, v.Error.UNAVAILABLE, "MGMT-18", any_error=True)
        rules = ("MGMT-18", *rules)
    # The rule is about repeating a request that an outage refused.
    elif "update" in managed.refused:
        rules = ("MGMT-19", *rules)
    yield from redirection_refused(kept, queue, command)
    yield from refused_size(kept, queue, command)
    # Only to an existing destination can messages be forwarded (FWD-29).
    if not must_fail and all(
        destination in namespace.queues for destination in v.destinations(command)
    ):
        surely = not managed.unsettled
        after = _with_updated(namespace, _updated(namespace, queue, command, managed))
        after = with_lifetime(after, command, surely=surely)
        after = with_redirection(after, command, surely=surely)
        for sized in with_sizes(after, command):
            yield done(with_status(sized, command, surely=surely), *rules)


def _perhaps_updated(
    namespace: Namespace, queue: Queue, command: v.UpdateQueue, managed: Managed
) -> Namespace:
    """Return the namespace in which an update may have been applied in part, or still will be.

    An entity whose status or destination may change at any time is no longer judged.
    """
    after = _with_updated(namespace, attrs.evolve(queue, managed=_widened(managed, command)))
    after = with_size_in_doubt(with_lifetime(after, command, surely=False), command)
    if command.forward_to is None and command.status is None:
        return after
    # What the destination gets from now on is open, too.
    onward = (command.forward_to,) if command.forward_to else ()
    return stop_judging(after, command.queue, *onward)


def _about_no_setting(namespace: Namespace, queue: Queue) -> Iterator[Transition]:
    """Yield the answers to an update of a setting that the entity lacks (ROLE-STATUS)."""
    yield refusal(namespace, v.Error.INVALID_OPERATION, any_error=True)
    if namespace.reading("ROLE-STATUS") != "refused":
        yield done(stop_judging(namespace, queue.settings.queue))


def _with_updated(namespace: Namespace, queue: Queue) -> Namespace:
    """Return the namespace with the updated queue; how long its dead letters are locked is open."""
    # The documents do not say whether an update of the lock duration applies to dead letters.
    ever = queue.managed.lock_durations_ever
    for path in v.dead_letter_queues_of(queue.settings.queue):
        dead = namespace.queues.get(path)
        if dead is not None:
            durations = {"lock_durations": ever, "lock_durations_ever": ever}
            namespace = with_managed(namespace, dead, changed_at=dead.receivers.count, **durations)
    return with_managed(namespace, queue, changed_at=queue.receivers.count)


def _refused_settings(queue: Queue, command: v.UpdateQueue) -> tuple[str, ...]:
    """Return the names of the fixed settings that the update would change."""
    return tuple(
        name
        for name in FIXED
        if getattr(command, name) not in (None, getattr(queue.settings, name))
    )


def _widened(managed: Managed, command: v.UpdateQueue) -> Managed:
    """Return the entity's history with bounds that include old settings, new ones and mixtures."""
    return attrs.evolve(
        managed,
        lock_durations=_reaching(managed.lock_durations, command.lock_duration),
        lock_durations_ever=_reaching(managed.lock_durations_ever, command.lock_duration),
        delivery_counts=_reaching(managed.delivery_counts, command.max_delivery_count),
    )


def _reaching(window: Window, value: int | None) -> Window:
    if value is None:
        return window
    return Window(min(window.earliest, value), max(window.latest, value))


def _updated(namespace: Namespace, queue: Queue, command: v.UpdateQueue, managed: Managed) -> Queue:
    """MGMT-12: return the queue with the new settings; an unanswered update may still follow."""
    duration, count = command.lock_duration, command.max_delivery_count
    managed = attrs.evolve(_widened(managed, command), updated=True)
    # An unanswered update may still take effect after this one.
    if duration is not None and not managed.unsettled:
        managed = attrs.evolve(managed, lock_durations=Window(duration, duration))
    open_count = managed.unsettled or _may_count_by_former(namespace, queue)
    if count is not None and not open_count:
        managed = attrs.evolve(managed, delivery_counts=Window(count, count))
    wanted = {name: getattr(command, name) for name in CHANGEABLE}
    changes = {name: value for name, value in wanted.items() if value is not None}
    settings = attrs.evolve(queue.settings, **changes)
    return attrs.evolve(queue, settings=settings, managed=managed)


def _may_count_by_former(namespace: Namespace, queue: Queue) -> bool:
    """Return whether a lock may have ended, and been counted, under the old delivery limit."""
    now = namespace.now.latest
    locked = (queue.messages.get(number) for number in queue.locks.values())
    locks = (None if stored is None else stored.lock for stored in locked)
    return any(lock is not None and lock.expiry.earliest <= now for lock in locks)


def lost_update(namespace: Namespace, command: v.UpdateQueue) -> Namespace:
    """Return the namespace in which the update takes effect now, later or never."""
    queue = namespace.queues[command.queue]
    if has_no_such_setting(queue, command):
        return stop_judging(namespace, command.queue)
    tried = queue.managed.tried.union(_refused_settings(queue, command))
    if command.lock_duration is not None:
        # LOCK-03: no lock lasts longer than this, whatever the request says.
        command = attrs.evolve(command, lock_duration=min(command.lock_duration, LONGEST_LOCK))
    managed = attrs.evolve(queue.managed, unsettled=True, tried=tried)
    return _perhaps_updated(namespace, queue, command, managed)


def delete(namespace: Namespace, name: str) -> Iterator[Transition]:
    """MGMT-15, MGMT-17, MGMT-18, TOPIC-22: yield the answers to a deletion.

    Messages are deleted in every partition, and subscriptions with their topic.
    """
    queue = namespace.queues[name]
    may_fail, must_fail = may_fail_in_outage(namespace, queue.outages)
    if may_fail:
        yield refusal(_kept(namespace, queue), v.Error.UNAVAILABLE, "MGMT-18", any_error=True)
    if not must_fail:
        rules = rules_if(
            (may_fail, "MGMT-18"),
            (not may_fail and queue.managed.restored, "PREM-04"),
            (not may_fail and "delete" in queue.managed.refused, "MGMT-19"),
        )
        yield done(delete_entity(namespace, queue), *rules)


def _kept(namespace: Namespace, queue: Queue) -> Namespace:
    """Return the namespace after an outage refused the deletion (MANAGEMENT-IN-OUTAGE)."""
    namespace = with_managed(namespace, queue, refused=queue.managed.refused | {"delete"})
    # Under the other readings a refused deletion changes nothing.
    if outage_reading(namespace) != "either":
        return namespace
    name = queue.settings.queue
    subscriptions = queue.role.subscriptions if isinstance(queue.role, Topic) else ()
    # A topic that was deleted in part may have lost some of its subscriptions.
    for path in (name, *subscriptions):
        namespace = with_managed(namespace, namespace.queues[path], partially_applied="delete")
    return stop_judging(namespace, name) if is_joined(namespace, name) else namespace


def update_topic(namespace: Namespace, command: v.UpdateTopic) -> Iterator[Transition]:
    """MGMT-04, MGMT-12, MGMT-14: change settings of a topic in the same way as those of a queue.

    The topic is no longer judged if it is uncertain which time to live arriving messages get: the
    update may have been applied in part, or messages may be in transit.
    """
    name = command.topic
    lifetimes = namespace.queues[name].managed.lifetimes
    for transition in update_queue(namespace, _as_queue(command)):
        # An update that names a time to live makes a new window, even if the time is the same.
        other = transition.next.queues[name].managed.lifetimes is not lifetimes
        refused = isinstance(transition.outcome, v.Refused)
        if other and (refused or _is_busy(namespace, name)):
            yield attrs.evolve(transition, next=stop_judging(transition.next, name))
        else:
            yield transition


def _as_queue(command: v.UpdateTopic) -> v.UpdateQueue:
    """Return the update of the queue that represents the topic."""
    return v.UpdateQueue(queue=command.topic, **shared_fields(command))


def _is_busy(namespace: Namespace, name: str) -> bool:
    """Return whether messages that were sent earlier may still arrive."""
    topic = namespace.queues[name]
    late = isinstance(topic.role, Topic) and topic.role.unanswered_sends
    waits = is_in_transaction(namespace, name) or len(topic.calendar.entries)
    return bool(late or waits or topic.managed.unsettled or is_joined(namespace, name))


def lost_update_topic(namespace: Namespace, command: v.UpdateTopic) -> Namespace:
    """Return the namespace in which the update takes effect now, later or never."""
    after = lost_update(namespace, _as_queue(command))
    return after if command.time_to_live is None else stop_judging(after, command.topic)
