"""Receives: which messages may be given, and when an answer may be empty."""

from typing import Any

from busproof import vocabulary as v
from busproof.oracle.coverage.deliveries import of_count, of_receive
from busproof.oracle.coverage.empty_receives import of_empty_receive
from busproof.oracle.evolve import evolve
from busproof.oracle.messages.deliveries import count_is_possible, may_be_spent
from busproof.oracle.messages.expiry import at_hand, may_be_given
from busproof.oracle.messages.keys import SESSION_ID
from busproof.oracle.messages.locks import given_lock, lock_is_possible
from busproof.oracle.messages.matching import Candidate, recognised, seen_as, view_of
from busproof.oracle.messages.message_store import (
    first_in_line,
    hold,
    line_of,
    order_rule,
    surely_available,
)
from busproof.oracle.messages.partitions import (
    beyond_every_cache,
    cached_elsewhere,
    in_one_store,
    left_out,
)
from busproof.oracle.messages.plausible_deliveries import heads, told_of_lock
from busproof.oracle.messages.releasing import without_perhaps_spent
from busproof.oracle.messages.sequence_numbers import are_unique, misnumbered, numbered, seen_number
from busproof.oracle.messages.sessions import holds_session, in_outage, not_held, seized, session_at
from busproof.oracle.messages.spontaneous_arrivals import arrivals
from busproof.oracle.queued_messages import Key, Receivers, Stored
from busproof.oracle.state import Namespace, Queue, with_queue
from busproof.oracle.transition import Observation, Rules, Transition, Transitions, refusal


def receive(
    namespace: Namespace, command: v.Receive, connection: str, observed: Observation
) -> Transitions:
    """Return every allowed answer to a receive."""
    queue = namespace.queues[command.queue]
    if queue.settings.requires_session is not (command.session_id is not None):
        yield from _of_another_kind(namespace, queue, connection)
        return
    # Each front end has its own cache, so what a receive can reach depends on earlier receivers.
    queue = evolve(queue, receivers=_turned(namespace, queue, connection, command.mode))
    if command.session_id is not None:
        holding = holds_session(namespace, queue, command.session_id, connection)
        if holding is not True:
            yield not_held(namespace, queue, command.session_id, connection, "LIFE-10")
        if holding is False:
            yield from in_outage(namespace, queue, command.session_id)
            return
        # If this connection holds the session only by an unanswered accept, its answer proves that.
        queue = seized(namespace, queue, command.session_id, connection)
    yield from _given(namespace, queue, command, observed)
    if isinstance(observed.outcome, v.Received):
        return
    yield from _nothing(namespace, queue, command, observed)


def _of_another_kind(namespace: Namespace, queue: Queue, connection: str) -> Transitions:
    """SESS-02: refuse a receive without a session where sessions are required, or the reverse.

    The documents do not say whether the holder of a session may omit it, nor how a queue without
    sessions answers a session receiver.
    """
    holds_none = queue.settings.requires_session and all(
        session.connection != connection for session in queue.sessions.values()
    )
    # An unanswered AcceptNextSession may have given the connection a session.
    if holds_none and connection not in queue.unanswered_accept_next:
        yield refusal(namespace, v.Error.INVALID_OPERATION, "SESS-02", any_error=True)
        return
    yield refusal(namespace, v.Error.INVALID_OPERATION, any_error=True)
    yield Transition(outcome=v.Empty(), next=namespace)


def _turned(namespace: Namespace, queue: Queue, connection: str, mode: v.ReceiveMode) -> Receivers:
    """Return the receives so far, with this connection as the latest receiver."""
    receivers, now = queue.receivers, namespace.now.latest
    if mode is v.ReceiveMode.RECEIVE_AND_DELETE and connection not in receivers.deleters:
        receivers = evolve(receivers, deleters=receivers.deleters | {connection})
    if receivers.connection == connection:
        return receivers if receivers.latest_at == now else evolve(receivers, latest_at=now)
    # The previous front end may have cached every message at its latest receive, under locks that
    # began then. An update does not shorten a lock in a cache, so the longest duration ever counts.
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
    namespace: Namespace, queue: Queue, command: v.Receive, observed: Observation
) -> Transitions:
    """LIFE-08, LIFE-09, LIFE-11: allow an empty answer if no message is surely within reach."""
    out_of_reach = _is_out_of_reach(namespace, queue, command)
    # A partition that is down may make any receive come back empty (RECEIVE-IN-OUTAGE).
    served = namespace.reading("RECEIVE-IN-OUTAGE") == "served"
    unserved = command.session_id is None and queue.outages.any and not served
    # Deliveries that nobody saw may have used up a message's limit. Looking for such messages
    # visits all of them, so it is done only where the alternative is a violation.
    if not (out_of_reach or unserved) and isinstance(observed.outcome, v.Empty):
        queue = without_perhaps_spent(namespace, queue)
        out_of_reach = _is_out_of_reach(namespace, queue, command)
    if out_of_reach or unserved:
        cached = command.session_id is None and cached_elsewhere(namespace, queue)
        rules: Rules = (*in_one_store(queue), "LIFE-11")
        if out_of_reach:
            rules = of_empty_receive(namespace, queue, command.session_id, cached=cached)
        after = with_queue(namespace, evolve(queue, receivers=_counted(queue)))
        yield Transition(outcome=v.Empty(), next=after, rules=rules)
    if command.session_id is not None:
        yield from in_outage(namespace, queue, command.session_id)
    elif unserved:
        rules = ("DLQ-13",) if v.is_dead_letter_queue(command.queue) else ()
        rules = (*in_one_store(queue), "LIFE-11", *rules)
        yield refusal(namespace, v.Error.UNAVAILABLE, *rules, any_error=True)


def _is_out_of_reach(namespace: Namespace, queue: Queue, command: v.Receive) -> bool:
    receivers = queue.receivers
    if command.session_id is not None:
        first = first_in_line(queue, Key(SESSION_ID, command.session_id))
        # A session has no cache, but an unanswered receive may have taken its first message.
        return first is None or receivers.lost > 0 or queue.outages.may_hit(first.where)
    cached = cached_elsewhere(namespace, queue)
    available = surely_available(queue, cached_elsewhere=cached)
    if left_out(namespace, queue):
        # A single receive that the history leaves out may have cached everything.
        available = 0
    # An unanswered receive takes one message. Over another connection its front end may also have
    # cached all others, or may still do so at any later time.
    return (
        bool(receivers.unanswered_receivers - {receivers.connection}) or available <= receivers.lost
    )


def _given(
    namespace: Namespace, queue: Queue, command: v.Receive, observed: Observation
) -> Transitions:
    if isinstance(observed.outcome, v.Received):
        view = observed.outcome.message
        listed = list(recognised(namespace, queue, view, observed))
        by_number = _known_by_number(listed, command)
        for known in by_number or [c for c in _told_apart(listed) if _may_follow(c, command)]:
            yield _handed_out(known, command, of_count(known))
        if by_number:
            return
        # Or the message is a dead letter or a scheduled message whose arrival was unknown until
        # now.
        before = with_queue(namespace, queue)
        for after, arrived in arrivals(before, queue, view.body):
            candidate = seen_as(after, after.queues[command.queue], arrived, view, observed)
            if candidate is not None and _may_be_given(candidate, command):
                yield _handed_out(candidate, command)
    elif observed.outcome is None:
        yield from _offered(namespace, queue, command)


def _known_by_number(listed: list[Candidate], command: v.Receive) -> list[Candidate]:
    """SEQ-03: return the candidate that an earlier receive showed with this number, if possible.

    No other message has its number. A peek proves less: where bodies are equal, it takes any of
    their messages for the one that it shows.
    """
    if not listed or not are_unique(listed[0].namespace, listed[0].queue):
        return []
    return [
        candidate
        for candidate in listed
        if candidate.stored.deliveries
        and candidate.stored.sequence_number == candidate.view.sequence_number is not None
        and _may_follow(candidate, command)
    ]


def _told_apart(listed: list[Candidate]) -> list[Candidate]:
    """Return the candidates, with one for each group of messages that differ only in age."""
    # Equal bodies may be exchanged, and a state for each would multiply with every receive.
    if len(listed) < 2:
        return listed
    alike: dict[object, Candidate] = {}
    for candidate in listed:
        stored = candidate.stored
        kept_back = stored.sent < stored.number
        # An expired message must not represent a living one, nor a message whose place in a
        # transaction is open one that has to be in order.
        age = (stored.dies, stored.gone)
        # A message that was delivered before must not represent a new one if the answer shows a
        # count.
        counts = (stored.counted, stored.uncounted, stored.expected)
        known = (candidate.where, stored.certain, stored.deferred, stored.lock)
        kind = (*known, kept_back, age, counts)
        alike.setdefault(kind, candidate)
    return list(alike.values())


def _may_follow(candidate: Candidate, command: v.Receive) -> bool:
    """SESS-09, SESS-10: return whether the message may be given after its earlier deliveries.

    Its count continues that of the session's last lock, unless an unanswered receive may have given
    the message in between.
    """
    expected = None if candidate.queue.receivers.lost else candidate.stored.expected
    counted = expected is None or candidate.view.delivery_count in (None, expected)
    return counted and _may_be_given(candidate, command)


def _may_be_given(candidate: Candidate, command: v.Receive) -> bool:
    """Return whether the receive may give this message: its state and the order permit it."""
    namespace, stored, queue = candidate.namespace, candidate.stored, candidate.queue
    if not _is_possible(candidate, command):
        return False
    if stored.came is not None and _overtakes(namespace, queue, stored):
        return False
    first = None if stored.line is None else first_in_line(queue, stored.line)
    # A message of a transaction follows only those that had arrived before its send. Those that
    # arrived between the send and the commit may come before or after it.
    if first is None or first.number >= min(stored.number, stored.sent) or stored.came is not None:
        return True
    return not _must_come_first(namespace, queue, first)


def _is_possible(candidate: Candidate, command: v.Receive) -> bool:
    """Return whether the message can be given to this receive as the view shows it."""
    namespace, queue, view = candidate.namespace, candidate.queue, candidate.view
    stored, session_id = candidate.stored, command.session_id
    foreign = session_id is not None and stored.message.session_id != session_id
    locked = stored.lock is not None and namespace.now.latest < stored.lock.expiry.earliest
    if foreign or locked:
        return False
    if stored.deferred is True or misnumbered(candidate):
        return False
    if beyond_every_cache(namespace, queue, stored) or not may_be_given(namespace, queue, stored):
        return False
    # SCHED-06: on activation the message got a new number.
    if view.sequence_number is not None and view.sequence_number == stored.scheduled_number:
        return False
    if stored.spent or not count_is_possible(candidate):
        return False
    # ReceiveAndDelete locks nothing, so a lock in the view does not matter.
    unlocked = command.mode is v.ReceiveMode.RECEIVE_AND_DELETE
    return unlocked or lock_is_possible(candidate, session_id)


def _overtakes(namespace: Namespace, queue: Queue, stored: Stored) -> bool:
    """SCHED-07: return whether a scheduled message overtakes one sent before its due time."""
    line = line_of(queue, stored.message, stored.key)
    first = None if line is None else first_in_line(queue, line)
    if first is None or first.arrived.latest >= stored.arrived.earliest:
        return False
    return _must_come_first(namespace, queue, first)


def _must_come_first(namespace: Namespace, queue: Queue, first: Stored) -> bool:
    """KEY-06, KEY-17, KEY-26: return whether giving a later message before this one is a fault."""
    silent = namespace.profile.silent
    # A partitioned entity that Premium still has keeps what holds for partitioned ones (PREM-03).
    is_premium = namespace.profile.tier is v.Tier.PREMIUM
    is_kept = is_premium and bool(queue.settings.partitioned) and "PREM-03" not in silent
    # An unanswered receive may have taken this very message.
    if (order_rule(queue) in silent and not is_kept) or queue.receivers.lost:
        return False
    # It may be out of reach, or may have become a dead letter.
    if queue.outages.may_hit(first.where) or may_be_spent(namespace, queue, first):
        return False
    if queue.settings.requires_session:
        return True
    sessions_only = namespace.reading("KEY-ORDER") == "sessions-only"
    if first.deliveries or (sessions_only and not queue.in_order):
        # After its release, messages in the front end's cache may come before it (KEY-ORDER).
        return False
    if left_out(namespace, queue):
        return False
    # It may be in another front end's cache, if it was there before this connection took over. Or
    # its lock in a cache has ended, and the messages cached with it are given before it.
    cached = cached_elsewhere(namespace, queue) and first.since < queue.receivers.switched
    life = queue.managed.lock_durations_ever.earliest - namespace.observability.slack
    received_since = first.since < queue.receivers.count or bool(namespace.observability.left_out)
    expired_in_cache = received_since and namespace.now.latest > first.available_at + life
    return not cached and not expired_in_cache


def _handed_out(candidate: Candidate, command: v.Receive, counted: Rules = ()) -> Transition:
    namespace, queue, view = candidate.namespace, candidate.queue, candidate.view
    stored = at_hand(namespace, queue, candidate.stored)
    lock = None
    if command.mode is v.ReceiveMode.PEEK_LOCK:
        lock = given_lock(candidate, command.session_id)
    number = seen_number(view, stored)
    also: dict[str, Any] = {"receivers": _counted(queue), **numbered(queue, stored, number)}
    if lock is not None:
        also["sequence_number"] = number
        also["delivery_count"] = view.delivery_count
    if command.session_id is not None and lock is not None:
        session = session_at(queue, command.session_id)
        also["sessions"] = queue.sessions.set(command.session_id, session.with_taken(stored.number))
        # Only if the session is surely held is it known how the delivery ends, and so whether it
        # counts.
        if view.delivery_count is not None and not session.doubtful:
            also["expected"] = view.delivery_count + 1
    after = hold(queue, stored, lock, candidate.where, **also)
    return Transition(
        outcome=v.Received(message=view),
        next=with_queue(namespace, after),
        rules=(*counted, *of_receive(candidate, command)),
    )


def _offered(namespace: Namespace, queue: Queue, command: v.Receive) -> Transitions:
    """Yield the answers that must be possible: the first message of each partition and key."""
    for stored in heads(queue, command.session_id):
        if queue.outages.may_hit(stored.where):
            continue
        lock = {}
        if command.mode is v.ReceiveMode.PEEK_LOCK:
            lock = told_of_lock(namespace, queue, command.session_id, stored)
        placed, view = ("KEY-01", "LIFE-12"), view_of(stored, **lock)
        candidate = Candidate(namespace, queue, stored, stored.where, view, placed)
        transition = _handed_out(candidate, command)
        # The view is made up in part, such as its number. If it cannot be right, no rule is
        # credited.
        yield transition if _may_be_given(candidate, command) else evolve(transition, rules=())


def lost_receive(namespace: Namespace, command: v.Receive, connection: str) -> Namespace:
    """Return the namespace in which one unknown message may be taken, now or later."""
    queue = namespace.queues[command.queue]
    receivers = _turned(namespace, queue, connection, command.mode)
    lost = evolve(
        receivers,
        count=receivers.count + 1,
        lost=receivers.lost + 1,
        unanswered_receivers=receivers.unanswered_receivers | {connection},
    )
    return with_queue(namespace, evolve(queue, receivers=lost))
