"""Listing, updating and deleting queues."""

from collections.abc import Iterator

import attrs

from busproof.model.commands import (
    DeleteQueue,
    ListQueues,
    UpdateQueue,
)
from busproof.model.creating import may_fail_in_outage, outage_reading
from busproof.model.dead_letters import graves_of, is_dead_letter_queue
from busproof.model.entities import destinations
from busproof.model.lifetime_updates import with_lifetime
from busproof.model.outages import Outages
from busproof.model.outcomes import Listed
from busproof.model.premium import may_keep_as_it_is
from busproof.model.redirecting import (
    redirection_refused,
    with_lost_redirection,
    with_redirection,
)
from busproof.model.registry import Buried, Managed
from busproof.model.retrying import is_mere_destination
from busproof.model.sources import LONGEST_LOCK
from busproof.model.state import Namespace, Queue, everywhere, is_unsure, with_queue, without_queue
from busproof.model.statuses import with_lost_status, with_status
from busproof.model.transition import Sighting, Transition, done, refusal
from busproof.model.unknowable import given_up, is_joined
from busproof.model.values import Error, RuleId, Window

__all__ = [
    "FIXED",
    "buried",
    "delete_queue",
    "is_a_queue",
    "list_queues",
    "lost_delete",
    "lost_update",
    "update_queue",
    "wrongly_named",
]

FIXED: dict[str, RuleId] = {
    "partitioned": "MGMT-04",
    "requires_session": "MGMT-13",
    "duplicate_detection": "MGMT-14",
}
"""The settings that never change, and the rules that say so."""


def is_a_queue(namespace: Namespace, name: str) -> bool:
    """Whether this is the name of a queue, and not of dead letters, a topic or a subscription."""
    known = namespace.queues.get(name)
    return not is_dead_letter_queue(name) and (known is None or known.role is None)


def list_queues(namespace: Namespace, command: ListQueues, seen: Sighting) -> Iterator[Transition]:  # noqa: ARG001 - a request without fields
    """MGMT-16: every queue that is there, each once."""
    sure = (name for name in _entities(namespace) if not _may_be_absent(namespace, name))
    names = tuple(sorted(sure))
    if isinstance(seen.outcome, Listed):
        if wrongly_named(namespace, seen.outcome):
            return
        names = seen.outcome.names
    yield Transition(outcome=Listed(names=names), next=namespace, rules=("MGMT-16",))


def _entities(namespace: Namespace) -> Iterator[str]:
    """The names of all queues but those of dead letters, and of no topic or subscription."""
    return (name for name in namespace.queues if is_a_queue(namespace, name))


def wrongly_named(namespace: Namespace, listed: Listed) -> frozenset[str]:
    """The names that a list leaves out, has twice or should not have."""
    # Whether a list names topics and dead-letter queues beside the queues is not said.
    named = {name for name in listed.names if is_a_queue(namespace, name)}
    twice = {name for name in named if listed.names.count(name) > 1}
    known = set(_entities(namespace)) | set(namespace.registry.unknowable)
    missing = {
        name
        for name in _entities(namespace)
        if name not in named and not _may_be_absent(namespace, name)
    }
    return frozenset(twice | missing | (named - known))


def _may_be_absent(namespace: Namespace, name: str) -> bool:
    return name in namespace.registry.unknowable or is_unsure(namespace.queues[name])


def update_queue(namespace: Namespace, command: UpdateQueue) -> Iterator[Transition]:
    """MGMT-04, MGMT-12 to MGMT-14: what can change changes, in all partitions; the rest never."""
    queue = namespace.queues[command.queue]
    refused = _refused_settings(queue, command)
    rules = tuple(FIXED[name] for name in refused)
    may_fail, must_fail = may_fail_in_outage(namespace, queue.outages)
    tried = attrs.evolve(queue.managed, tried=queue.managed.tried.union(refused))
    if command.lock_duration is not None and command.lock_duration > LONGEST_LOCK:
        kept = with_queue(namespace, attrs.evolve(queue, managed=tried))
        yield refusal(kept, Error.INVALID_OPERATION, "LOCK-03", *rules, any_error=True)
        command = attrs.evolve(command, lock_duration=LONGEST_LOCK)
        rules = ("LOCK-03", *rules)
    if refused:
        kept = with_queue(namespace, attrs.evolve(queue, managed=tried))
        yield refusal(kept, Error.INVALID_OPERATION, *rules, any_error=True)
    if may_keep_as_it_is(namespace, queue):
        kept = with_queue(namespace, attrs.evolve(queue, managed=tried))
        yield refusal(kept, Error.INVALID_OPERATION, "PREM-05", any_error=True)
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
        yield refusal(failed, Error.UNAVAILABLE, "MGMT-18", any_error=True)
        rules = ("MGMT-18", *rules)
    elif "update" in tried.refused:
        rules = ("MGMT-19", *rules)
    yield from redirection_refused(namespace, queue, command)
    if not must_fail and all(each in namespace.queues for each in destinations(command)):
        after = _with_updated(namespace, _updated(namespace, queue, command, tried))
        after = with_lifetime(after, command, surely=not tried.unsettled)
        after = with_redirection(after, command, surely=not tried.unsettled)
        yield done(with_status(after, command, surely=not tried.unsettled), *rules)


def _with_updated(namespace: Namespace, queue: Queue) -> Namespace:
    """The namespace with an updated queue; whether its dead letters' locks change is not said."""
    ever = queue.managed.lock_durations_ever
    for grave in graves_of(queue.settings.queue):
        dead = namespace.queues.get(grave)
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


def _refused_settings(queue: Queue, command: UpdateQueue) -> tuple[str, ...]:
    """The settings that the update would change and cannot."""
    return tuple(
        name
        for name in FIXED
        if getattr(command, name) not in (None, getattr(queue.settings, name))
    )


def _widened(managed: Managed, command: UpdateQueue) -> Managed:
    """Either the settings from before are in force, or those of the update, or both in parts."""
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


def _updated(namespace: Namespace, queue: Queue, command: UpdateQueue, managed: Managed) -> Queue:
    """MGMT-12: the queue with its settings changed; an unanswered update may still come later."""
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
    """Whether a lock may have ended already, and have counted by the maximum from before."""
    now = namespace.now.latest
    held = (queue.messages.get(number) for number in queue.locks.values())
    locks = (None if stored is None else stored.lock for stored in held)
    ended = any(lock is not None and lock.expiry.earliest <= now for lock in locks)
    return ended and not namespace.vantage.decides


def _exactly(window: Window, value: int | None) -> Window:
    return window if value is None else Window(value, value)


def lost_update(namespace: Namespace, command: UpdateQueue) -> Namespace:
    """The update may be in force, from now or later on."""
    queue = namespace.queues[command.queue]
    tried = queue.managed.tried.union(_refused_settings(queue, command))
    if command.lock_duration is not None:
        command = attrs.evolve(command, lock_duration=min(command.lock_duration, LONGEST_LOCK))
    managed = attrs.evolve(_widened(queue.managed, command), unsettled=True, tried=tried)
    after = _with_updated(namespace, attrs.evolve(queue, managed=managed))
    after = with_lost_redirection(with_lifetime(after, command, surely=False), command)
    return with_lost_status(after, command)


def delete_queue(namespace: Namespace, command: DeleteQueue) -> Iterator[Transition]:
    """MGMT-15, MGMT-17, MGMT-18: the queue is gone with all that it held, in every partition."""
    queue = namespace.queues[command.queue]
    may_fail, must_fail = may_fail_in_outage(namespace, queue.outages)
    if may_fail:
        yield refusal(_kept(namespace, queue), Error.UNAVAILABLE, "MGMT-18", any_error=True)
    if not must_fail:
        repeated: tuple[RuleId, ...] = ("MGMT-19",) if "delete" in queue.managed.refused else ()
        if queue.managed.restored:
            repeated = ("PREM-04", *repeated)
        yield done(buried(namespace, queue), *(("MGMT-18",) if may_fail else repeated))


def _kept(namespace: Namespace, queue: Queue) -> Namespace:
    """What a deletion leaves that was refused in an outage (MANAGEMENT-IN-OUTAGE)."""
    managed = attrs.evolve(queue.managed, refused=queue.managed.refused | {"delete"})
    if outage_reading(namespace) != "either":
        return with_queue(namespace, attrs.evolve(queue, managed=managed))
    frayed = attrs.evolve(managed, frayed="delete")
    left = with_queue(namespace, attrs.evolve(queue, managed=frayed))
    name = queue.settings.queue
    return given_up(left, name) if is_joined(namespace, name) else left


def _lasting(namespace: Namespace, queue: Queue) -> Outages:
    """Outages that may last beyond a deletion: the queue's, and of partitions that it had not."""
    its_own, outages = everywhere(namespace, queue.settings), queue.outages
    before = namespace.registry.outages.get(queue.settings.queue, Outages(outages.told))
    others = (before.down | before.doubt) & ~its_own
    return Outages(outages.told, doubt=outages.down | outages.doubt | others)


def buried(namespace: Namespace, queue: Queue) -> Namespace:
    """The namespace without the queue; whether its outages last is not known.

    What was to go on to it can do so no more (FWD-20); what becomes of messages that were to go on
    from it is left open.
    """
    name = queue.settings.queue
    simple = not is_joined(namespace, name) or is_mere_destination(namespace, queue)
    if name in namespace.registry.haunted or not simple:
        namespace = given_up(namespace, name)
    namespace = without_queue(namespace, name)
    registry = namespace.registry
    buried = Buried(queue.bodies, bool(queue.settings.partitioned), queue.managed.restored)
    registry = attrs.evolve(
        registry,
        buried=registry.buried.set(name, buried),
        outages=registry.outages.set(name, _lasting(namespace, queue)),
    )
    return attrs.evolve(namespace, registry=registry)


def lost_delete(namespace: Namespace, command: DeleteQueue) -> Namespace:
    """The queue may be gone, now or later, and so may one that is created again."""
    return given_up(namespace, command.queue)
