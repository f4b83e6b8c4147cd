"""Sessions: one connection at a time holds a session, until its lock ends."""

from busproof import vocabulary as v
from busproof.oracle.evolve import evolve
from busproof.oracle.heap import push
from busproof.oracle.messages.activation import is_awaited, session_may_come
from busproof.oracle.messages.keys import SESSION_ID
from busproof.oracle.messages.message_store import first_in_line
from busproof.oracle.messages.partitioning import home_of
from busproof.oracle.messages.releasing import give_back
from busproof.oracle.messages.stopped_clocks import ends_in_time, full_term, lock_is_over
from busproof.oracle.queued_messages import Key, SessionLock
from busproof.oracle.rule_lists import rules_if
from busproof.oracle.state import NEVER, Namespace, Queue, with_queue
from busproof.oracle.transition import Observation, Rules, Transition, Transitions, done, refusal
from busproof.oracle.window import Window

_OfLocks = v.AcceptSession | v.AcceptNextSession | v.RenewSessionLock | v.CloseSession


def session_at(queue: Queue, session_id: str) -> SessionLock:
    """Return the lock on a session; it is held, or may be."""
    return queue.sessions[session_id]


def seized(namespace: Namespace, queue: Queue, session_id: str, connection: str) -> Queue:
    """Return the queue in which an unanswered request of this connection locked the session.

    The request may take effect only now, so the lock may last for a whole duration from now on.
    """
    session = queue.sessions.get(session_id)
    if session is not None and session.connection == connection and not session.doubtful:
        return queue
    expiry = Window(namespace.now.earliest, full_term(namespace, queue).latest)
    guessed = SessionLock(connection, expiry, queue.arrivals, doubtful=True)
    if session is not None and session.connection == connection:
        earliest = min(session.expiry.earliest, expiry.earliest)
        guessed = evolve(
            session, expiry=Window(earliest, max(session.expiry.latest, expiry.latest))
        )
    return evolve(queue, sessions=queue.sessions.set(session_id, guessed))


def holds_session(
    namespace: Namespace, queue: Queue, session_id: str, connection: str
) -> bool | None:
    """Return whether this connection holds the session; `None` if it is uncertain."""
    session = queue.sessions.get(session_id)
    if session is None or session.connection != connection:
        # An unanswered AcceptNextSession may have been given any session that no one surely holds.
        doubtful = session is None or _may_be_over(namespace, session)
        perhaps = doubtful and connection in queue.unanswered_accept_next
        return None if perhaps or (session is not None and session.doubtful) else False
    if lock_is_over(namespace, queue, session.expiry.latest) and not session.doubtful:
        return None if connection in queue.unanswered_accept_next else False
    surely = namespace.now.latest < session.expiry.earliest and not session.doubtful
    return True if surely else None


def _may_be_over(namespace: Namespace, session: SessionLock) -> bool:
    return session.doubtful or session.expiry.earliest <= namespace.now.latest


def not_held(
    namespace: Namespace, queue: Queue, session_id: str, connection: str, *rules: v.RuleId
) -> Transition:
    """SESS-12: refuse a connection that does not hold the session.

    The documents name the error only for a lock that the connection has lost.
    """
    session = queue.sessions.get(session_id)
    holding = holds_session(namespace, queue, session_id, connection)
    if holding is False and session is not None and session.connection == connection:
        return refusal(namespace, v.Error.SESSION_LOCK_LOST, "SESS-12", *rules)
    exercised = rules if holding is False else ()
    return refusal(namespace, v.Error.SESSION_LOCK_LOST, *exercised, any_error=True)


def in_outage(namespace: Namespace, queue: Queue, session_id: str) -> Transitions:
    """SESS-25: yield the refusals that an outage permits (SESSION-IN-OUTAGE)."""
    home = home_of(namespace, queue, Key(SESSION_ID, session_id))
    any_session = namespace.reading("SESSION-IN-OUTAGE") == "either"
    if queue.outages.may_hit(home):
        yield refusal(namespace, v.Error.UNAVAILABLE, "SESS-25", "LIFE-11", any_error=True)
    elif any_session and queue.outages.any:
        yield refusal(namespace, v.Error.UNAVAILABLE, any_error=True)


def accept_session(namespace: Namespace, command: v.AcceptSession, connection: str) -> Transitions:
    """LIFE-10: lock the session for one connection, until its lock ends."""
    queue = namespace.queues[command.queue]
    if not queue.settings.requires_session:
        yield refusal(namespace, v.Error.INVALID_OPERATION, any_error=True)
        return
    session = queue.sessions.get(command.session_id)
    # Whether its holder may accept a session again is open, so both answers are allowed below.
    if session is None or _may_be_over(namespace, session) or session.connection == connection:
        rules = _accepting(namespace, queue, command.session_id, connection)
        yield done(_accepted(namespace, queue, command.session_id, connection), *rules)
    if session is not None and _may_last(namespace, queue, session):
        rules = ("SESS-13", "LIFE-10") if session.renewed else ("LIFE-10",)
        free = not _is_error_named(namespace, queue, session, connection)
        yield refusal(namespace, v.Error.SESSION_CANNOT_BE_LOCKED, *rules, any_error=free)
    elif queue.unanswered_accept_next:
        # Perhaps this connection itself got the session then; whether it may accept it again is
        # open.
        yield refusal(namespace, v.Error.SESSION_CANNOT_BE_LOCKED, any_error=True)
    else:
        yield from in_outage(namespace, queue, command.session_id)


def _is_error_named(
    namespace: Namespace, queue: Queue, session: SessionLock, connection: str
) -> bool:
    """Return whether a refusal has to say that the session cannot be locked.

    The documents name no other error where another connection surely holds the session. In an
    outage it may be the outage's; a client library may report an error of its own.
    """
    is_held = session.connection != connection and not _may_be_over(namespace, session)
    plain = queue.settings.forward_to is None and not queue.outages.any
    return is_held and plain and not namespace.observability.assigns_message_ids


def _accepting(namespace: Namespace, queue: Queue, session_id: str, connection: str) -> Rules:
    """SESS-03, SESS-11, SESS-24, SESS-25, LIFE-10: return the rules that an accept exercises."""
    outages, home = queue.outages, home_of(namespace, queue, Key(SESSION_ID, session_id))
    session = queue.sessions.get(session_id)
    over = session is not None and not _may_last(namespace, queue, session)
    passed_on = over and session is not None and session.connection != connection
    return rules_if(
        (outages.down and outages.must_hit(home), "SESS-25"),
        (outages.down and not outages.may_hit(home), "SESS-24"),
        (session is None, "SESS-03"),
        (passed_on, "SESS-11"),
        (passed_on, "LIFE-10"),
    )


def _accepted(namespace: Namespace, queue: Queue, session_id: str, connection: str) -> Namespace:
    expiry = full_term(namespace, queue)
    before = queue.sessions.get(session_id)
    own = before is not None and before.connection == connection
    if own and before is not None and _may_last(namespace, queue, before):
        # The documents do not say whether accepting it again releases its messages.
        queue = _bounded(queue, before, Window(-NEVER, expiry.latest))
        # They do not say either whether the lock ends as before or a whole duration from now.
        earliest = min(before.expiry.earliest, expiry.earliest)
        again = evolve(before, expiry=Window(earliest, expiry.latest), doubtful=False)
        return _with(namespace, queue, session_id, again)
    # An unanswered close may have ended the earlier lock, and closing ends deliveries that do not
    # count.
    counts = None if before is None or before.doubtful else True
    freed = _freed(namespace, queue, session_id, "SESS-11", counts=counts)
    queue = _kept(freed.queues[queue.settings.queue], session_id)
    return _with(freed, queue, session_id, SessionLock(connection, expiry, queue.arrivals))


def _kept(queue: Queue, session_id: str) -> Queue:
    """Record that the session's state has survived a lock on the session."""
    stored = queue.states.get(session_id)
    if stored is None or stored.kept:
        return queue
    states = queue.states.set(session_id, evolve(stored, kept=True))
    return evolve(queue, states=states)


def _may_last(namespace: Namespace, queue: Queue, session: SessionLock) -> bool:
    # An unanswered accept may take effect at any later time, so its lock has no certain end.
    return session.doubtful or not lock_is_over(namespace, queue, session.expiry.latest)


def _bounded(queue: Queue, session: SessionLock, expiry: Window) -> Queue:
    """Return the queue with the locks of a session's messages ending within `expiry`.

    A message whose lock may have ended already keeps that doubt: when a session was accepted again,
    its messages may have been released, and a later renewal does not show that they were not.
    """
    for number in sorted(session.taken):
        stored = queue.messages.get(number)
        if stored is not None and stored.lock is not None:
            over = stored.lock.expiry.earliest == -NEVER
            bounds = Window(-NEVER if over else expiry.earliest, expiry.latest)
            # The delivery may have ended at any time, and how it ended decides whether it counts.
            expected = stored.expected if bounds.earliest > -NEVER else None
            lock = stored.lock.lasting(bounds)
            changed = evolve(stored, lock=lock, expected=expected)
            timer = (lock.expiry.latest, number, lock.token)
            queue = evolve(
                queue,
                messages=queue.messages.set(number, changed),
                timers=push(queue.timers, timer),
            )
    return queue


def _with(
    namespace: Namespace, queue: Queue, session_id: str, session: SessionLock | None
) -> Namespace:
    if session is None:
        sessions = queue.sessions
        sessions = sessions.delete(session_id) if session_id in sessions else sessions
    else:
        sessions = queue.sessions.set(session_id, session)
    return with_queue(namespace, evolve(queue, sessions=sessions))


def _freed(
    namespace: Namespace, queue: Queue, session_id: str, rule: v.RuleId, *, counts: bool | None
) -> Namespace:
    """SESS-08, SESS-11: return the namespace with all locked messages of the session released."""
    session = queue.sessions.get(session_id)
    for number in sorted(session.taken) if session is not None else ():
        stored = queue.messages.get(number)
        if stored is not None and stored.lock is not None and stored.lock.session_id == session_id:
            namespace = give_back(namespace, queue, stored, namespace.now, rule, counts=counts)
            queue = namespace.queues[queue.settings.queue]
    return with_queue(namespace, queue)


def close_session(namespace: Namespace, command: v.CloseSession, connection: str) -> Transitions:
    """Release a session, with the messages that are locked in it."""
    queue = namespace.queues[command.queue]
    holding = holds_session(namespace, queue, command.session_id, connection)
    if holding is not False:
        # Closing ends a delivery that does not count, but the lock may have expired before.
        counts = False if holding else None
        freed = _freed(namespace, queue, command.session_id, "SESS-08", counts=counts)
        kept = _kept(freed.queues[command.queue], command.session_id)
        yield done(_with(freed, kept, command.session_id, None))
    if holding is not True:
        # The documents do not say what closing a session does that is not held.
        yield refusal(namespace, v.Error.SESSION_LOCK_LOST, any_error=True)
        yield done(namespace)
    else:
        yield from in_outage(namespace, queue, command.session_id)


def accept_next(
    namespace: Namespace, command: v.AcceptNextSession, connection: str, observed: Observation
) -> Transitions:
    """SESS-06, SESS-07: accept any free session that has messages, or answer that there is none."""
    queue = namespace.queues[command.queue]
    if not queue.settings.requires_session:
        yield refusal(namespace, v.Error.INVALID_OPERATION, any_error=True)
        return
    free = _free_with_messages(namespace, queue)
    if isinstance(observed.outcome, v.SessionAccepted):
        session_id: str | None = observed.outcome.session_id
    else:
        session_id = free
    session = queue.sessions.get(session_id or "")
    if (
        session_id is not None
        and (session is None or _may_be_over(namespace, session))
        # A scheduled message may have brought the session unseen.
        and (session_id in queue.members or session_may_come(namespace, queue, session_id))
    ):
        yield Transition(
            outcome=v.SessionAccepted(session_id=session_id),
            next=_accepted(namespace, queue, session_id, connection),
            rules=("SESS-06",),
        )
    outage = queue.outages.any and namespace.reading("NEXT-IN-OUTAGE") != "found"
    # An unanswered request may have taken the last message of the session, or the session.
    if free is None or queue.receivers.lost or queue.unanswered_accept_next or outage:
        waits = queue.calendar.sessions and is_awaited(namespace, queue)
        rules = rules_if((free is None, "SESS-07"), (free is None and waits, "SCHED-13"))
        yield Transition(outcome=v.Empty(), next=namespace, rules=rules)
        yield refusal(namespace, v.Error.SESSION_CANNOT_BE_LOCKED, *rules, any_error=True)


def _free_with_messages(namespace: Namespace, queue: Queue) -> str | None:
    """Return a session that surely has an available message and no holder."""
    for line in queue.lines:
        session = queue.sessions.get(line.value)
        first = first_in_line(queue, line)
        reachable = first is not None and not queue.outages.may_hit(first.where)
        if reachable and (session is None or not _may_last(namespace, queue, session)):
            return line.value
    return None


def renew(
    namespace: Namespace, command: v.RenewSessionLock, connection: str, observed: Observation
) -> Transitions:
    """SESS-13: renew the holder's lock for a full duration, and its messages' locks."""
    queue = namespace.queues[command.queue]
    holding = holds_session(namespace, queue, command.session_id, connection)
    if holding is not False:
        renewed = observed.outcome if isinstance(observed.outcome, v.Renewed) else None
        if renewed is None or ends_in_time(namespace, queue, renewed.locked_until):
            yield _renewed(namespace, queue, command.session_id, connection, renewed)
    if holding is not True:
        yield not_held(namespace, queue, command.session_id, connection)
    yield from in_outage(namespace, queue, command.session_id)


def _renewed(
    namespace: Namespace, queue: Queue, session_id: str, connection: str, renewed: v.Renewed | None
) -> Transition:
    expiry = full_term(namespace, queue)
    if renewed is None:
        until = namespace.now.earliest + queue.settings.lock_duration
        renewed = v.Renewed(locked_until=until)
    elif renewed.locked_until is not None:
        expiry = Window.around(renewed.locked_until, namespace.observability.slack)
    before = queue.sessions.get(session_id) or SessionLock(connection, expiry)
    queue = _bounded(queue, before, expiry)
    # The answer proves that the connection holds the session, whatever was open before.
    session = SessionLock(connection, expiry, before.since, before.taken, renewed=True)
    return Transition(outcome=renewed, next=_with(namespace, queue, session_id, session))


def without_answer(namespace: Namespace, command: _OfLocks, connection: str) -> Namespace:
    """Return the namespace after an unanswered request, which takes effect now, later or never."""
    queue = namespace.queues[command.queue]
    if isinstance(command, v.AcceptNextSession):
        # The connection may come to hold any session that is free.
        connections = queue.unanswered_accept_next | {connection}
        return with_queue(namespace, evolve(queue, unanswered_accept_next=connections))
    session = queue.sessions.get(command.session_id)
    if isinstance(command, v.AcceptSession):
        # It may take effect at any later time, so no one surely holds the session from now on. The
        # holder's own request may release its messages, as an answered one may.
        if session is not None and session.connection == connection:
            queue = _bounded(queue, session, Window(-NEVER, session.expiry.latest))
        session = evolve(session or SessionLock(connection, namespace.now), doubtful=True)
    elif session is None:
        return namespace
    elif isinstance(command, v.CloseSession):
        # It may close the session at any time from now on, and release its messages.
        queue = _bounded(queue, session, Window(-NEVER, session.expiry.latest))
        session = evolve(session, doubtful=True)
    else:
        # If it arrived before the lock ended, the lock lasts longer.
        slack, term = namespace.observability.slack, queue.managed.lock_durations.latest
        longer = Window(session.expiry.earliest, session.expiry.latest + term + slack)
        queue, session = _bounded(queue, session, longer), evolve(session, expiry=longer)
    return _with(namespace, queue, command.session_id, session)
