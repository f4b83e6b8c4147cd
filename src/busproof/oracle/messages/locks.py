"""Locks of messages: how long they last, and their renewal."""

from busproof import vocabulary as v
from busproof.oracle.evolve import evolve
from busproof.oracle.heap import push
from busproof.oracle.messages import settling
from busproof.oracle.messages.expiry import is_surely_dead, may_have_died
from busproof.oracle.messages.matching import Candidate
from busproof.oracle.messages.sessions import session_at
from busproof.oracle.messages.stopped_clocks import ends_in_time, full_term
from busproof.oracle.queued_messages import Lock, Stored
from busproof.oracle.state import NEVER, Namespace, Queue, with_queue
from busproof.oracle.transition import Observation, Transition, Transitions, refusal
from busproof.oracle.window import Window


def given_lock(candidate: Candidate, session_id: str | None) -> Lock:
    """LOCK-01: return the lock that a receiver gets, with the bounds of its end.

    In a session it ends with the session's lock; otherwise the bus may report its end. If it does
    not, the lock may have begun when the message entered a cache (CACHE-LOCK).
    """
    namespace, queue, view = candidate.namespace, candidate.queue, candidate.view
    slack, now = namespace.observability.slack, namespace.now
    # An adapter need not report the token; this one is never used in a request.
    token = view.lock_token or f"unknown lock of {view.body}"
    if session_id is not None:
        expiry = session_at(queue, session_id).expiry
    elif view.locked_until is not None:
        expiry = Window.around(view.locked_until, slack)
    elif is_whole(candidate):
        expiry = full_term(namespace, queue)
    else:
        expiry = Window(now.earliest, full_term(namespace, queue).latest)
    return Lock(token, expiry, session_id, now, settlements=queue.settlements)


def is_whole(candidate: Candidate) -> bool:
    """Return whether the lock begins with this delivery, because no cache had the message."""
    receivers, namespace = candidate.queue.receivers, candidate.namespace
    # A receive that was not answered, or that the history leaves out, may have filled a cache
    # unseen.
    all_told = not receivers.lost and not namespace.observability.left_out
    never_cached = candidate.stored.since == receivers.count and all_told
    return never_cached or namespace.reading("CACHE-LOCK") == "from-handing-out"


def lock_is_possible(candidate: Candidate, session_id: str | None) -> bool:
    """LOCK-01: return whether the reported end of a lock is possible.

    Both the duration and the reporting clock may be off by the slack.
    """
    namespace, until = candidate.namespace, candidate.view.locked_until
    if session_id is not None:
        return True
    if is_lock_of_another(candidate):
        return False
    if until is None:
        return True
    # `full_term` is widened by the slack already; it is added once more because the clock that
    # reports the end may be off as well.
    full, slack = full_term(namespace, candidate.queue), namespace.observability.slack
    managed, receivers = candidate.queue.managed, candidate.queue.receivers
    if is_whole(candidate):
        return full.earliest - slack <= until <= full.latest + slack
    latest = full.latest + slack
    untold = receivers.lost or namespace.observability.left_out
    # A cache may have held the message since before an update of the lock duration.
    if untold or candidate.stored.since < managed.changed_at:
        latest = namespace.now.latest + managed.lock_durations_ever.latest + 2 * slack
    return _earliest_end(candidate) <= until <= latest


def is_lock_of_another(candidate: Candidate) -> bool:
    """Return whether another message is surely locked with the same token."""
    queue, token = candidate.queue, candidate.view.lock_token or ""
    other = queue.messages.get(queue.locks.get(token, candidate.stored.number))
    if other is None or other.number == candidate.stored.number or other.lock is None:
        return False
    return candidate.namespace.now.latest < other.lock.expiry.earliest


def _earliest_end(candidate: Candidate) -> int:
    """Return when a lock ends at the earliest, if it began when the message became available."""
    stored, slack = candidate.stored, candidate.namespace.observability.slack
    # A receive at the very moment of the arrival may have found the message: a scheduled one may be
    # in a cache since it was due, before anything showed that it is active.
    begins = min(stored.available_at, stored.arrived.earliest)
    return begins + candidate.queue.managed.lock_durations_ever.earliest - 2 * slack


def renew_lock(namespace: Namespace, command: v.RenewLock, observed: Observation) -> Transitions:
    """LOCK-04, LOCK-05: renew a lock for a full duration from now, or refuse if it was lost."""
    queue = namespace.queues[command.queue]
    stored = settling.locked(queue, command.lock_token)
    if stored is not None and not settling.has_ended(namespace, queue, stored):
        yield from _of_held(namespace, queue, stored, observed)
    yield from settling.lost_lock(namespace, queue, stored, command.lock_token, "LOCK-05")
    renewed = observed.outcome if isinstance(observed.outcome, v.Renewed) else v.Renewed()
    yield from settling.of_lost_answer(namespace, queue, command.lock_token, renewed)
    lock = None if stored is None else stored.lock
    if lock is not None and (lock.session_id is not None or lock.pledge is not None):
        # Outside the documents: the lock of a message in a session is the session's, and a message
        # settled in a transaction may no longer be locked by its receiver.
        yield refusal(namespace, v.Error.INVALID_OPERATION, any_error=True)


def _of_held(
    namespace: Namespace, queue: Queue, stored: Stored, observed: Observation
) -> Transitions:
    """Yield the renewal, or a refusal if only the lock kept an expired message (RENEW-EXPIRED)."""
    reading = namespace.reading("RENEW-EXPIRED")
    if reading != "refused" or not is_surely_dead(namespace, queue, stored):
        yield from _renewed(namespace, queue, stored, observed)
    if reading != "accepted" and may_have_died(namespace, stored):
        yield refusal(namespace, v.Error.LOCK_LOST, any_error=True)


def _renewed(
    namespace: Namespace, queue: Queue, stored: Stored, observed: Observation
) -> Transitions:
    lock, slack = stored.lock, namespace.observability.slack
    if lock is None:
        raise AssertionError("only a locked message's lock is renewed")
    expiry = full_term(namespace, queue)
    until: int | None = namespace.now.earliest + queue.settings.lock_duration
    if isinstance(observed.outcome, v.Renewed):
        until = observed.outcome.locked_until
        if not ends_in_time(namespace, queue, until):
            return
        if until is not None:
            expiry = Window.around(until, slack)
    # The documents do not say what renewing a single lock in a session does; it may do nothing.
    if lock.session_id is not None:
        expiry = Window(lock.expiry.earliest, max(lock.expiry.latest, expiry.latest))
    elif lock.expiry.earliest == -NEVER:
        # A settlement that was not answered may still end the renewed lock.
        expiry = Window(-NEVER, expiry.latest)
    outcome = v.Renewed(locked_until=until)
    after = with_queue(namespace, _until(queue, stored, expiry))
    yield Transition(outcome=outcome, next=after, rules=("LOCK-04",))


def _until(queue: Queue, stored: Stored, expiry: Window) -> Queue:
    """Return the queue in which the message's lock ends in this window."""
    lock = stored.lock
    if lock is None:
        raise AssertionError("only a locked message has a lock that can end")
    longer = evolve(lock.lasting(expiry), first=lock.first or lock.expiry)
    return evolve(
        queue,
        messages=queue.messages.set(stored.number, evolve(stored, lock=longer)),
        timers=push(queue.timers, (longer.expiry.latest, stored.number, lock.token)),
    )


def lost_renew_lock(namespace: Namespace, command: v.RenewLock) -> Namespace:
    """Return the namespace in which the lock may last for one more full duration."""
    queue = namespace.queues[command.queue]
    stored = settling.locked(queue, command.lock_token)
    if stored is None or stored.lock is None:
        return namespace
    expiry = stored.lock.expiry
    # The renewal may take effect at any moment until the lock ends.
    latest = expiry.latest + queue.managed.lock_durations.latest + namespace.observability.slack
    return with_queue(namespace, _until(queue, stored, Window(expiry.earliest, latest)))
