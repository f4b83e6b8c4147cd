"""Receives: which messages may be given, and when the answer may be empty."""

from collections.abc import Iterator
from typing import Any, Final

from busproof import vocabulary as v
from busproof.oracle.evolve import evolve
from busproof.oracle.messages.deliveries import count_is_possible, may_be_spent
from busproof.oracle.messages.evidence import cached_elsewhere, left_out, why_given, why_nothing
from busproof.oracle.messages.expiry import at_hand, may_be_given
from busproof.oracle.messages.keys import SESSION_ID
from busproof.oracle.messages.locks import given_lock, lock_is_possible, why_locked
from busproof.oracle.messages.matching import Seen, recognised, seen_as, view_of
from busproof.oracle.messages.message_store import first_in_line, hold, line_of, surely_available
from busproof.oracle.messages.partitions import beyond_every_cache, in_one_store
from busproof.oracle.messages.plausible_deliveries import heads, told_of_lock
from busproof.oracle.messages.releasing import without_perhaps_spent
from busproof.oracle.messages.sequence_numbers import misnumbered, numbered, why_numbered
from busproof.oracle.messages.sessions import holds_session, in_outage, not_held, seized, session_at
from busproof.oracle.messages.spontaneous_arrivals import arrivals
from busproof.oracle.queued_messages import Key, Receivers, Stored
from busproof.oracle.state import Namespace, Queue, with_queue
from busproof.oracle.transition import Observation, Transition, refusal


def receive(
    namespace: Namespace, command: v.Receive, connection: str, seen: Observation
) -> Iterator[Transition]:
    """Return every allowed answer to a receive."""
    queue = namespace.queues[command.queue]
    if queue.settings.requires_session is not (command.session_id is not None):
        yield from _of_another_kind(namespace, queue, connection)
        return
    queue = evolve(queue, receivers=_turned(namespace, queue, connection, command.mode))
    if command.session_id is not None:
        holding = holds_session(namespace, queue, command.session_id, connection)
        if holding is not True:
            yield not_held(namespace, queue, command.session_id, connection, "LIFE-10")
        if holding is False:
            yield from in_outage(namespace, queue, command.session_id)
            return
        queue = seized(namespace, queue, command.session_id, connection)
    yield from _given(namespace, queue, command, seen)
    if isinstance(seen.outcome, v.Received):
        return
    yield from _nothing(namespace, queue, command, seen)


def _of_another_kind(namespace: Namespace, queue: Queue, connection: str) -> Iterator[Transition]:
    """SESS-02: without a session, nothing is received where sessions are required.

    The documents leave open whether the holder of a session may omit it, and how a queue without
    sessions answers a session receiver.
    """
    holds_none = queue.settings.requires_session and all(
        held.connection != connection for held in queue.sessions.values()
    )
    if holds_none and connection not in queue.unanswered_accept_next:
        yield refusal(namespace, v.Error.INVALID_OPERATION, "SESS-02", any_error=True)
        return
    yield refusal(namespace, v.Error.INVALID_OPERATION, any_error=True)
    yield Transition(outcome=v.Empty(), next=namespace)


def _turned(namespace: Namespace, queue: Queue, connection: str, mode: v.ReceiveMode) -> Receivers:
    """Return the receivers, with this connection as the latest one."""
    receivers, now = queue.receivers, namespace.now.latest
    if mode is v.ReceiveMode.RECEIVE_AND_DELETE and connection not in receivers.deleters:
        receivers = evolve(receivers, deleters=receivers.deleters | {connection})
    if receivers.connection == connection:
        return evolve(receivers, latest_at=now)
    life = queue.managed.lock_durations_ever.latest + namespace.observability.slack
    others = receivers.latest_at + life if receivers.connection is not None else -1
    return evolve(
        receivers,
        connection=connection,
        switched=receivers.count,
        latest_at=now,
        others_until=max(receivers.others_until, others),
    )


def _counted(queue: Queue) -> Receivers:
    return evolve(queue.receivers, count=queue.receivers.count + 1)


def _nothing(
    namespace: Namespace, queue: Queue, command: v.Receive, seen: Observation
) -> Iterator[Transition]:
    """LIFE-08, LIFE-09, LIFE-11: allow an empty answer if no message is surely within reach."""
    out_of_reach = _is_out_of_reach(namespace, queue, command)
    unserved = _may_be_unserved(namespace, queue, command)
    if not (out_of_reach or unserved) and isinstance(seen.outcome, v.Empty):
        queue = without_perhaps_spent(namespace, queue)
        out_of_reach = _is_out_of_reach(namespace, queue, command)
    if out_of_reach or unserved:
        cached = command.session_id is None and cached_elsewhere(namespace, queue)
        rules: tuple[v.RuleId, ...] = (*in_one_store(queue), "LIFE-11")
        if out_of_reach:
            rules = why_nothing(namespace, queue, command.session_id, cached=cached)
        after = with_queue(namespace, evolve(queue, receivers=_counted(queue)))
        yield Transition(outcome=v.Empty(), next=after, rules=rules)
    if command.session_id is not None:
        yield from in_outage(namespace, queue, command.session_id)
    elif unserved:
        rules = ("DLQ-13",) if v.is_dead_letter_queue(command.queue) else ()
        rules = (*in_one_store(queue), "LIFE-11", *rules)
        yield refusal(namespace, v.Error.UNAVAILABLE, *rules, any_error=True)


def _may_be_unserved(namespace: Namespace, queue: Queue, command: v.Receive) -> bool:
    """LIFE-11: return whether a partition that is down may make a receive come back empty."""
    served = namespace.reading("RECEIVE-IN-OUTAGE") == "served"
    return command.session_id is None and queue.outages.any and not served


def _is_out_of_reach(namespace: Namespace, queue: Queue, command: v.Receive) -> bool:
    receivers = queue.receivers
    if command.session_id is not None:
        first = first_in_line(queue, Key(SESSION_ID, command.session_id))
        return first is None or receivers.lost > 0 or queue.outages.may_hit(first.where)
    cached = cached_elsewhere(namespace, queue)
    available = surely_available(queue, cached_elsewhere=cached)
    if left_out(namespace, queue):
        available = 0
    return (
        bool(receivers.unanswered_receivers - {receivers.connection}) or available <= receivers.lost
    )


def _given(
    namespace: Namespace, queue: Queue, command: v.Receive, seen: Observation
) -> Iterator[Transition]:
    if isinstance(seen.outcome, v.Received):
        view = seen.outcome.message
        for candidate in _told_apart(recognised(namespace, queue, view, seen)):
            rules = _allowed(namespace, candidate, command, view)
            counted = _count_is_right(candidate, view)
            if rules and counted is not None:
                yield _handed_out(namespace, candidate, command, view, (*counted, *rules))
        yield from _newly_come(with_queue(namespace, queue), command, view, seen)
    elif seen.outcome is None:
        yield from _offered(namespace, queue, command)


def _newly_come(
    namespace: Namespace, command: v.Receive, view: v.MessageView, seen: Observation
) -> Iterator[Transition]:
    """Yield dead letters and scheduled messages whose arrival was unknown before."""
    for after, arrived in arrivals(namespace, namespace.queues[command.queue], view.body):
        queue = after.queues[command.queue]
        for candidate in seen_as(after, queue, arrived, view, seen):
            if rules := _allowed(after, candidate, command, view):
                yield _handed_out(after, candidate, command, view, rules)


def _told_apart(candidates: Iterator[Seen]) -> list[Seen]:
    """Return one of several messages that differ only in age; equal bodies may be exchanged."""
    alike: dict[object, Seen] = {}
    for candidate in candidates:
        stored = candidate.stored
        kept_back = stored.sent < stored.number
        age = (stored.dies, stored.gone)
        kind = (candidate.where, stored.certain, stored.deferred, stored.lock, kept_back, age)
        alike.setdefault(kind, candidate)
    return list(alike.values())


def _allowed(
    namespace: Namespace, candidate: Seen, command: v.Receive, view: v.MessageView
) -> tuple[v.RuleId, ...]:
    """Return the rules by which this message may be given, none if it may not be."""
    stored, queue = candidate.stored, candidate.queue
    if not _is_possible(namespace, candidate, command, view):
        return ()
    if stored.came is not None and _overtakes(namespace, queue, stored):
        return ()
    rules = _why_allowed(namespace, candidate, command, view)
    if stored.line is None:
        orderless = stored.key is None and queue.arrivals > 1 and queue.settings.partitioned
        orderless = orderless and stored.reason is None
        return ("KEY-16", *rules) if orderless else rules
    first = first_in_line(queue, stored.line)
    if first is None or first.number >= stored.number:
        return (order_rule(queue), *rules) if first is not None else rules
    if stored.came is not None or first.number >= stored.sent:
        return rules
    return () if _must_come_first(namespace, queue, first) else rules


def _why_allowed(
    namespace: Namespace, candidate: Seen, command: v.Receive, view: v.MessageView
) -> tuple[v.RuleId, ...]:
    """Return the rules that this delivery exercises, whatever its place in its line."""
    queue, stored = candidate.queue, candidate.stored
    rules = (*why_given(namespace, candidate, view), *why_numbered(queue, stored, view))
    if command.mode is v.ReceiveMode.PEEK_LOCK:
        rules = (*rules, *why_locked(namespace, candidate, view))
    if command.session_id is not None:
        rules = (*_of_the_session(queue, stored, command.session_id), *rules)
    return rules


def _is_possible(
    namespace: Namespace, candidate: Seen, command: v.Receive, view: v.MessageView
) -> bool:
    """Return whether the message can be given to this receive, as the view shows it."""
    stored, session_id = candidate.stored, command.session_id
    foreign = session_id is not None and stored.message.session_id != session_id
    held = stored.lock is not None and namespace.now.latest < stored.lock.expiry.earliest
    if foreign or held:
        return False
    other = stored.deferred is True or misnumbered(namespace, candidate.queue, stored, view)
    if other or beyond_every_cache(namespace, candidate.queue, stored):
        return False
    if not may_be_given(namespace, candidate.queue, stored):
        return False
    if view.sequence_number is not None and view.sequence_number == stored.scheduled_number:
        return False
    if stored.spent or not count_is_possible(namespace, candidate.queue, stored, view):
        return False
    # ReceiveAndDelete does not lock, whatever lock the view shows.
    unlocked = command.mode is v.ReceiveMode.RECEIVE_AND_DELETE
    return unlocked or lock_is_possible(namespace, candidate, session_id, view)


def _of_the_session(queue: Queue, stored: Stored, session_id: str) -> tuple[v.RuleId, ...]:
    """Return the rules exercised by giving a session's message to its holder."""
    held = session_at(queue, session_id)
    rules: tuple[v.RuleId, ...] = ()
    if not held.doubtful and stored.number >= held.since and stored.returned is None:
        rules = ("SESS-05",)
    others = (each for each in queue.sessions.values() if each.connection != held.connection)
    if any(not each.doubtful for each in others):
        rules = ("SESS-04", *rules)
    if stored.returned == "LIFE-04":
        rules = ("SESS-15", *rules)
    if queue.outages.down and not queue.outages.may_hit(stored.where):
        rules = ("SESS-24", *rules)
    return rules


def _overtakes(namespace: Namespace, queue: Queue, stored: Stored) -> bool:
    """SCHED-07: return whether a scheduled message is given before one sent before it was due."""
    line = line_of(queue, stored.message, stored.key)
    first = None if line is None else first_in_line(queue, line)
    if first is None or first.arrived.latest >= stored.arrived.earliest:
        return False
    return _must_come_first(namespace, queue, first)


COUNTED_AGAIN: Final[dict[v.RuleId, v.RuleId]] = {"SESS-08": "SESS-09", "SESS-11": "SESS-10"}


def _count_is_right(candidate: Seen, view: v.MessageView) -> tuple[v.RuleId, ...] | None:
    """SESS-09, SESS-10: return the rules of a delivery count; `None` if it breaks one."""
    stored = candidate.stored
    if stored.expected is None or view.delivery_count is None:
        return ()
    if view.delivery_count != stored.expected:
        return None
    rule = COUNTED_AGAIN.get(stored.returned or "")
    return () if rule is None else (rule,)


def order_rule(queue: Queue) -> v.RuleId:
    """Return the rule by which the queue keeps a line in order."""
    if queue.in_order:
        return "KEY-26"
    return "KEY-06" if queue.settings.requires_session else "KEY-17"


def _must_come_first(namespace: Namespace, queue: Queue, first: Stored) -> bool:
    """KEY-06, KEY-17, KEY-26: return whether only a fault can have kept this message back."""
    rule = order_rule(queue)
    if rule in namespace.profile.silent or queue.receivers.lost:
        return False
    if queue.outages.may_hit(first.where) or may_be_spent(namespace, queue, first):
        return False
    if queue.settings.requires_session:
        return True
    sessions_only = namespace.reading("KEY-ORDER") == "sessions-only"
    if first.deliveries or (sessions_only and not queue.in_order):
        # Messages cached by the front end may overtake a released one (KEY-ORDER).
        return False
    if left_out(namespace, queue):
        return False
    cached = cached_elsewhere(namespace, queue) and first.since < queue.receivers.switched
    life = queue.managed.lock_durations_ever.earliest - namespace.observability.slack
    received_since = first.since < queue.receivers.count or bool(namespace.observability.left_out)
    expired_in_cache = received_since and namespace.now.latest > first.available_at + life
    return not cached and not expired_in_cache


def _handed_out(
    namespace: Namespace,
    candidate: Seen,
    command: v.Receive,
    view: v.MessageView,
    rules: tuple[v.RuleId, ...],
) -> Transition:
    queue = candidate.queue
    stored = at_hand(namespace, queue, candidate.stored)
    lock = None
    if command.mode is v.ReceiveMode.PEEK_LOCK:
        lock = given_lock(namespace, candidate, command.session_id, view)
    number = view.sequence_number or stored.sequence_number
    also: dict[str, Any] = {"receivers": _counted(queue), **numbered(queue, stored, number)}
    if lock is not None:
        also["sequence_number"] = number
        also["delivery_count"] = view.delivery_count
    if command.session_id is not None and lock is not None:
        held = session_at(queue, command.session_id)
        also["sessions"] = queue.sessions.set(command.session_id, held.with_taken(stored.number))
        if view.delivery_count is not None and not held.doubtful:
            also["expected"] = view.delivery_count + 1
    after = hold(queue, stored, lock, candidate.where, **also)
    return Transition(
        outcome=v.Received(message=view),
        next=with_queue(namespace, after),
        rules=rules,
    )


def _offered(namespace: Namespace, queue: Queue, command: v.Receive) -> Iterator[Transition]:
    """Return what can be given as far as is known: the oldest by partition, key or session."""
    for stored in heads(queue, command.session_id):
        if queue.outages.may_hit(stored.where):
            continue
        candidate = Seen(stored, queue, stored.where, ("KEY-01", "LIFE-12"))
        lock = {}
        if command.mode is v.ReceiveMode.PEEK_LOCK:
            lock = told_of_lock(namespace, queue, command.session_id, stored)
        view = view_of(stored, **lock)
        rules = _allowed(namespace, candidate, command, view)
        yield _handed_out(namespace, candidate, command, view, rules)


def lost_receive(namespace: Namespace, command: v.Receive, connection: str) -> Namespace:
    """Return the states in which one unknown message may have been taken, now or later."""
    queue = namespace.queues[command.queue]
    receivers = _turned(namespace, queue, connection, command.mode)
    lost = evolve(
        receivers,
        count=receivers.count + 1,
        lost=receivers.lost + 1,
        unanswered_receivers=receivers.unanswered_receivers | {connection},
    )
    return with_queue(namespace, evolve(queue, receivers=lost))
