"""What becomes of a message whose lock ends without a settlement.

Expiry of a lock is a giving back that nobody asks for; `prepared` applies it until nothing changes.
"""

from typing import Any, Final

import attrs

from busproof import vocabulary as v
from busproof.oracle.heap import pop
from busproof.oracle.messages.activation import activated
from busproof.oracle.messages.dead_letters import DELIVERED_TOO_OFTEN, moved, with_dead_letters
from busproof.oracle.messages.deliveries import may_be_spent, permitted
from busproof.oracle.messages.expiry import ended, may_have_died
from busproof.oracle.messages.message_store import replace, unlock
from busproof.oracle.messages.stopped_clocks import lock_is_over, lock_lasts_until
from busproof.oracle.queued_messages import Stored
from busproof.oracle.state import NEVER, Namespace, Queue, feeding, with_queue
from busproof.oracle.window import Window

__all__ = ["give_back", "prepared", "without_perhaps_spent"]

ANY_TIME: Final = Window(-NEVER, NEVER)
"""When a lock ends of which nothing is told any more."""


def give_back(
    namespace: Namespace,
    queue: Queue,
    stored: Stored,
    when: Window,
    rule: v.RuleId,
    *,
    since: int | None = None,
    counts: bool | None = True,
) -> Namespace:
    """LIFE-04, LIFE-05: the message can be received again, unless it was its last delivery.

    Args:
        namespace: the namespace.
        queue: the queue, which may be ahead of the one in the namespace.
        stored: the message, locked.
        when: when it was given back.
        rule: the rule by which.
        since: how many receives there had been by then at the least; by default, all so far.
        counts: whether the delivery counts; `None` if that is not known.
    """
    lock = stored.lock
    if lock is not None and lock.pledge is not None and lock.pledge.reading != "ends":
        return _perhaps_back(namespace, queue, stored, when)
    over = lock if lock is not None and lock.expiry.earliest == -NEVER else None
    if over is not None and (counts is False or over.session_id is not None):
        # It may have been abandoned before, which counts, by a request that was never answered; or
        # given back when its session was accepted again, which need not count.
        counts = None
    expected = None
    if counts is not None and stored.expected is not None:
        expected = stored.expected - (not counts)
    fewest, most = permitted(namespace, queue)
    back = attrs.evolve(
        stored,
        lock=None,
        returned="DEFER-06" if stored.deferred else rule,
        counted=stored.counted + (counts is True),
        uncounted=stored.uncounted + (counts is None),
        expected=expected,
        since=queue.receivers.count if since is None else since,
        available_at=when.earliest,
    )
    if back.counted >= most and stored.deferred is False:
        return _spent(namespace, queue, stored, back)
    # Whether what was set aside is given up for its deliveries too is not said.
    if back.counted + back.uncounted >= fewest:
        back = attrs.evolve(back, certain=False)
    return with_queue(namespace, unlock(queue, stored, back))


def _perhaps_back(namespace: Namespace, queue: Queue, stored: Stored, when: Window) -> Namespace:
    """The namespace, in which a message may come again, or wait for its settlement's transaction.

    What becomes of it is open until that ends (LOCK-IN-TRANSACTION).
    """
    lock = stored.lock
    if lock is None:
        raise AssertionError("only a locked message is given back")
    open_ended = attrs.evolve(lock.lasting(Window(-NEVER, when.latest)), expiry=ANY_TIME)
    back = attrs.evolve(stored, lock=open_ended, expected=None)
    messages = queue.messages.set(stored.number, back)
    return with_queue(namespace, attrs.evolve(queue, messages=messages))


def _spent(namespace: Namespace, queue: Queue, stored: Stored, back: Stored) -> Namespace:
    """DLQ-02: delivered as often as it may be, the message becomes a dead letter."""
    changes: dict[str, Any] = {"spent": queue.spent + 1}
    queue = attrs.evolve(queue, **changes)
    # What has outlived its time too may as well be dropped.
    is_dropped = may_have_died(namespace, stored)
    if namespace.profile.readings.get("DEAD-LETTER-DELAY") == "at-once" and not is_dropped:
        counted = attrs.evolve(stored, counted=back.counted, uncounted=back.uncounted)
        return moved(
            namespace, queue, counted, DELIVERED_TOO_OFTEN, "DLQ-02", certain=stored.certain
        )
    back = attrs.evolve(back, certain=False, spent=True)
    return with_queue(namespace, unlock(queue, stored, back))


def without_perhaps_spent(namespace: Namespace, queue: Queue) -> Queue:
    """The queue, in which what may have been spent in a cache unseen is not relied on any more.

    It looks at every message, and is asked only where something else would be a violation: what it
    finds is found once, and where it finds nothing, judging ends.
    """
    for stored in queue.messages.values():
        if stored.available and may_be_spent(namespace, queue, stored):
            queue = replace(queue, stored, attrs.evolve(stored, certain=False))
    return queue


def prepared(namespace: Namespace, name: str) -> Namespace | None:
    """The namespace with all locks of a queue ended that have expired; `None` without the queue.

    What expires in an entity may become a dead letter, so its dead-letter queue comes after it.
    """
    owner = v.owner_of(name)
    if owner not in namespace.queues:
        return None
    namespace = _with_graves_kept(namespace, owner)
    namespace = _expired(namespace, owner)
    if owner == name:
        return namespace
    if name not in namespace.queues:
        return with_dead_letters(namespace, namespace.queues[owner], name[len(owner) :])
    return _expired(namespace, name)


def _with_graves_kept(namespace: Namespace, name: str) -> Namespace:
    """FWD-35: the namespace in which it is known what may have gone on to this entity."""
    for grave in tuple(feeding(namespace, name)):
        namespace = _expired(namespace, v.owner_of(grave))
    return namespace


def _expired(namespace: Namespace, name: str) -> Namespace:
    """LIFE-05, SESS-11: the namespace with every lock ended that cannot be held any more.

    What is scheduled and due is there as well, and what may have died by then is not relied on.
    """
    namespace = activated(namespace, name)
    queue = namespace.queues[name]
    while queue.timers is not None and lock_is_over(namespace, queue, queue.timers[1][0]):
        _, number, token = queue.timers[1]
        queue = attrs.evolve(queue, timers=pop(queue.timers))
        stored = queue.messages.get(number)
        lock = None if stored is None else stored.lock
        ours = lock is not None and lock.token == token
        if (
            stored is None
            or lock is None
            or not ours
            or not (lock_is_over(namespace, queue, lock.expiry.latest))
        ):
            namespace = with_queue(namespace, queue)
            continue
        # A receive may already have found it, if the lock's end is not known exactly, or if there
        # was one at that very moment.
        until = lock_lasts_until(namespace, queue, lock.expiry.latest)
        exact = lock.expiry.earliest == until and queue.receivers.latest_at < until
        since = None if exact else stored.since
        # One that was accepted again, or perhaps closed, may have given it back before.
        before = lock.expiry.earliest == -NEVER
        told = not before or (lock.session_id is None and not stored.deferred)
        # Or it may have been set aside by a request without an answer, which need not count.
        told = told and stored.deferred is not None
        namespace = give_back(
            namespace,
            queue,
            stored,
            lock.expiry,
            "LIFE-05" if lock.session_id is None else "SESS-11",
            since=since,
            counts=True if told else None,
        )
        queue = namespace.queues[name]
    return ended(namespace, name)
