"""Session states, and lists of sessions."""

from collections.abc import Iterator

from busproof import vocabulary as v
from busproof.oracle.evolve import evolve
from busproof.oracle.messages.keys import SESSION_ID
from busproof.oracle.messages.message_store import first_in_line
from busproof.oracle.messages.partitioning import home_of
from busproof.oracle.messages.sessions import holds_session, in_outage, not_held
from busproof.oracle.queued_messages import Key, SessionData
from busproof.oracle.rule_lists import rules_if
from busproof.oracle.sizes.entity_size import may_be_full
from busproof.oracle.sizes.message_limits import refuses_state, shown_of_state
from busproof.oracle.state import Namespace, Queue, everywhere, with_queue
from busproof.oracle.storage_used import filled, most_of_state
from busproof.oracle.transition import Observation, Rules, Transition, Transitions, done, refusal

NOTHING = SessionData(None)


def set_state(namespace: Namespace, command: v.SetSessionState, connection: str) -> Transitions:
    """SESS-17, SESS-18, SIZE-13: set or remove the state if the connection holds the session."""
    queue = namespace.queues[command.queue]
    holding = holds_session(namespace, queue, command.session_id, connection)
    # A connection that may hold the session may succeed, and may be refused below.
    if holding is not False:
        # The texts of unanswered requests may still replace the one that is set now.
        late = queue.states.get(command.session_id, NOTHING).late
        stored = SessionData(command.state, late)
        may_refuse, must_refuse = refuses_state(namespace, command.state)
        if may_refuse:
            yield refusal(namespace, v.Error.MESSAGE_TOO_LARGE, "LIMIT-20", any_error=True)
        if not must_refuse:
            after = _with(
                namespace, _weighed(namespace, queue, command), command.session_id, stored
            )
            yield done(after, *shown_of_state(namespace, command.state))
        size, anywhere = most_of_state(command.state), everywhere(namespace, queue.settings)
        # A state takes storage like a message (SIZE-13), so it may be refused for lack of room.
        if command.state is not None and may_be_full(namespace, queue, anywhere, size):
            yield refusal(namespace, v.Error.QUOTA_EXCEEDED, "SIZE-11")
    yield from _refusals(namespace, queue, command.session_id, connection)


def _weighed(namespace: Namespace, queue: Queue, command: v.SetSessionState) -> Queue:
    """SIZE-13: return the queue with the session state charged to its storage.

    A state is so small that it alone never decides whether there is room: how many bytes a gigabyte
    has is less certain than that.
    """
    size = most_of_state(command.state)
    room = filled(queue.room, everywhere(namespace, queue.settings), size)
    return evolve(queue, room=room)


def get_state(
    namespace: Namespace, command: v.GetSessionState, connection: str, observed: Observation
) -> Transitions:
    """SESS-16 to SESS-20: return the state set last; it survives closing and expiry."""
    queue = namespace.queues[command.queue]
    holding = holds_session(namespace, queue, command.session_id, connection)
    if holding is not False:
        stored = queue.states.get(command.session_id, NOTHING)
        answer = observed.outcome if isinstance(observed.outcome, v.SessionState) else None
        if answer is None or answer.state == stored.state:
            yield Transition(
                outcome=v.SessionState(state=stored.state),
                next=namespace,
                rules=_rules(queue, command.session_id),
            )
        elif answer.state in stored.late:
            # An unanswered request sets its text at most once.
            late = list(stored.late)
            late.remove(answer.state)
            arrived = evolve(stored, state=answer.state, late=tuple(late))
            left = _with(namespace, queue, command.session_id, arrived)
            yield Transition(outcome=answer, next=left)
    yield from _refusals(namespace, queue, command.session_id, connection)


def _rules(queue: Queue, session_id: str) -> Rules:
    """SESS-16 to SESS-20: return the rules that the answer exercises."""
    stored = queue.states.get(session_id)
    others = any(state.state for name, state in queue.states.items() if name != session_id)
    return rules_if(
        (stored is not None and stored.kept, "SESS-19"),
        (others, "SESS-20"),
        (stored is None, "SESS-16"),
        (stored is not None and stored.state is None, "SESS-18"),
        (stored is not None and stored.state is not None, "SESS-17"),
    )


def _refusals(namespace: Namespace, queue: Queue, session_id: str, connection: str) -> Transitions:
    if holds_session(namespace, queue, session_id, connection) is not True:
        yield not_held(namespace, queue, session_id, connection, "SESS-21")
    yield from in_outage(namespace, queue, session_id)


def _with(namespace: Namespace, queue: Queue, session_id: str, stored: SessionData) -> Namespace:
    states = queue.states.set(session_id, stored)
    return with_queue(namespace, evolve(queue, states=states))


def lost_set_state(namespace: Namespace, command: v.SetSessionState) -> Namespace:
    """Return the namespace in which the session state may be set, now or later."""
    queue = _weighed(namespace, namespace.queues[command.queue], command)
    stored = queue.states.get(command.session_id, NOTHING)
    late = evolve(stored, late=(*stored.late, command.state))
    return _with(namespace, queue, command.session_id, late)


def list_sessions(
    namespace: Namespace, command: v.ListSessions, observed: Observation
) -> Transitions:
    """SESS-22: list the sessions that have messages or a state, and no others."""
    queue = namespace.queues[command.queue]
    if not queue.settings.requires_session:
        # Nothing is said of an entity that requires no sessions; it has none.
        yield refusal(namespace, v.Error.INVALID_OPERATION, any_error=True)
        yield Transition(outcome=v.SessionsListed(session_ids=()), next=namespace)
        return
    surely = set(_within_reach(namespace, queue))
    listed = tuple(sorted(surely))
    if isinstance(observed.outcome, v.SessionsListed):
        listed = observed.outcome.session_ids
    # An unanswered receive may have taken the last message of a session.
    complete = surely <= set(listed) or bool(queue.receivers.lost)
    once = len(set(listed)) == len(listed)
    late = {name for name, data in queue.states.items() if data.state is not None or data.late}
    # A scheduled message may be active unseen, and an unanswered request may still set a state.
    possible = {*queue.members, *queue.calendar.sessions, *late}
    if complete and once and possible.issuperset(listed):
        yield Transition(
            outcome=v.SessionsListed(session_ids=listed),
            next=namespace,
            rules=("SESS-22",) if surely else (),
        )
    if queue.outages.any:
        yield refusal(namespace, v.Error.UNAVAILABLE, any_error=True)


def _within_reach(namespace: Namespace, queue: Queue) -> Iterator[str]:
    """Yield the sessions that surely have a state or an active message, with partitions up."""
    # A session with deferred messages only may be listed or not: the clients' documents say
    # "active".
    for session_id, stored in queue.states.items():
        home = home_of(namespace, queue, Key(SESSION_ID, session_id))
        # An unanswered request may yet clear the state, so this session need not be listed.
        if stored.state is not None and not stored.late and not queue.outages.may_hit(home):
            yield session_id
    for line in queue.lines:
        first = first_in_line(queue, line)
        if line.taken_from == SESSION_ID and first and not queue.outages.may_hit(first.where):
            yield line.value
