"""Release of messages whose lock ends without a settlement.

A lock that expires releases its message without any request; `prepared` does this for all locks of
an entity before a request to it is judged.
"""

from typing import Final

from busproof import vocabulary as v
from busproof.oracle.evolve import evolve
from busproof.oracle.expiry_index import NO_DEATHS
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

ANY_TIME: Final = Window(-NEVER, NEVER)
"""The window of a lock whose end can be any moment."""


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
    """LIFE-04, LIFE-05: release a message, unless it has reached its delivery limit.

    Args:
        namespace: the namespace.
        queue: the queue, possibly with changes that the namespace lacks.
        stored: the locked message.
        when: when it was released.
        rule: the rule that releases it.
        since: how many receives there had surely been by then; by default, all so far.
        counts: whether the delivery counts; `None` if it is not known.
    """
    lock = stored.lock
    if lock is not None and lock.pledge is not None and lock.pledge.reading != "ends":
        return _perhaps_back(namespace, queue, stored, when)
    over = lock if lock is not None and lock.expiry.earliest == -NEVER else None
    if over is not None and (counts is False or over.session_id is not None):
        # An unanswered request may have abandoned it, which counts; or a second accept of its
        # session may have released it, which need not count.
        counts = None
    # Its next delivery count is known only if it is known whether this delivery counts.
    expected = None
    if counts is not None and stored.expected is not None:
        expected = stored.expected - (not counts)
    fewest, most = permitted(namespace, queue)
    back = evolve(
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
    # The documents do not say whether the delivery limit applies to deferred messages.
    if back.counted + back.uncounted >= fewest:
        back = evolve(back, certain=False)
    return with_queue(namespace, unlock(queue, stored, back))


def _perhaps_back(namespace: Namespace, queue: Queue, stored: Stored, when: Window) -> Namespace:
    """Return the namespace in which a message may be released, or wait for its transaction.

    Which of the two is open until the transaction ends (LOCK-IN-TRANSACTION).
    """
    lock = stored.lock
    if lock is None:
        raise AssertionError("only a locked message is released")
    open_ended = evolve(lock.lasting(Window(-NEVER, when.latest)), expiry=ANY_TIME)
    back = evolve(stored, lock=open_ended, expected=None)
    messages = queue.messages.set(stored.number, back)
    return with_queue(namespace, evolve(queue, messages=messages))


def _spent(namespace: Namespace, queue: Queue, stored: Stored, back: Stored) -> Namespace:
    """DLQ-02: return the namespace after a message has reached its delivery limit."""
    queue = evolve(queue, spent=queue.spent + 1)
    # If it may have expired as well, it may have been dropped instead.
    is_dropped = may_have_died(namespace, stored)
    if namespace.reading("DEAD-LETTER-DELAY") == "at-once" and not is_dropped:
        counted = evolve(stored, counted=back.counted, uncounted=back.uncounted)
        return moved(
            namespace, queue, counted, DELIVERED_TOO_OFTEN, "DLQ-02", certain=stored.certain
        )
    # Until it is seen among the dead letters it stays here, where no receive may give it.
    back = evolve(back, certain=False, spent=True)
    return with_queue(namespace, unlock(queue, stored, back))


def without_perhaps_spent(namespace: Namespace, queue: Queue) -> Queue:
    """Return the queue in which messages that may have reached their limit are uncertain.

    This visits every message, but is called only where judging would otherwise end in a violation.
    """
    for stored in queue.messages.values():
        if stored.available and may_be_spent(namespace, queue, stored):
            queue = replace(queue, stored, evolve(stored, certain=False))
    return queue


def prepared(namespace: Namespace, name: str) -> Namespace | None:
    """Return the namespace with expired locks of an entity released; `None` without the entity.

    An expired message may become a dead letter, so the entity comes before its dead-letter queue.
    """
    owner = v.owner_of(name)
    if owner not in namespace.queues:
        return None
    # FWD-35: dead letters may have been forwarded here, so their entity's locks matter, too.
    for path in tuple(feeding(namespace, owner)):
        namespace = _expired(namespace, v.owner_of(path))
    namespace = _expired(namespace, owner)
    if owner == name:
        return namespace
    if name not in namespace.queues:
        return with_dead_letters(namespace, namespace.queues[owner], name[len(owner) :])
    return _expired(namespace, name)


def _expired(namespace: Namespace, name: str) -> Namespace:
    """LIFE-05, SESS-11: return the namespace after everything that time alone does to an entity.

    Expired locks release their messages, scheduled messages that are due become active, and
    messages that may have expired become uncertain.
    """
    queue = namespace.queues[name]
    if queue.calendar.due is not None:
        namespace = activated(namespace, name)
        queue = namespace.queues[name]
    # Each renewal leaves an entry in `timers`; only the entry of the present lock and end counts.
    while queue.timers is not None and lock_is_over(namespace, queue, queue.timers[1][0]):
        _, number, token = queue.timers[1]
        queue = evolve(queue, timers=pop(queue.timers))
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
        # A receive may already have found the message if the exact end of the lock is unknown, or
        # if a receive happened at that very moment.
        until = lock_lasts_until(namespace, queue, lock.expiry.latest)
        exact = lock.expiry.earliest == until and queue.receivers.latest_at < until
        since = None if exact else stored.since
        # A session that was accepted again, or perhaps closed, may have released it before that.
        before = lock.expiry.earliest == -NEVER
        surely = not before or (lock.session_id is None and not stored.deferred)
        # An unanswered request may have deferred it, and such a delivery need not count.
        surely = surely and stored.deferred is not None
        namespace = give_back(
            namespace,
            queue,
            stored,
            lock.expiry,
            "LIFE-05" if lock.session_id is None else "SESS-11",
            since=since,
            counts=True if surely else None,
        )
        queue = namespace.queues[name]
    return namespace if queue.deaths is NO_DEATHS else ended(namespace, name)
