"""Diagnosis of events that break rules on sessions, their locks and their states (SESS)."""

from busproof import vocabulary as v
from busproof.oracle.messages.sessions import holds_session
from busproof.oracle.rule_lists import rules_if
from busproof.oracle.state import Namespace, Queue


def blamed_in_sessions(namespace: Namespace, queue: Queue, event: v.Event) -> tuple[v.RuleId, ...]:
    """Return the rules on a session's lock or state that the event breaks, most relevant first."""
    match event.command, event.outcome:
        case v.Receive() | v.ReceiveBatch() as command, v.Received() | v.ReceivedSeveral():
            return _received(namespace, queue, command.session_id, event.connection)
        case v.SetSessionState(session_id=session_id), v.Done():
            return _not_its_holder(namespace, queue, session_id, event.connection)
        case v.GetSessionState(session_id=session_id), v.SessionState(state=state):
            unheld = _not_its_holder(namespace, queue, session_id, event.connection)
            return unheld or _wrong_state(queue, session_id, state)
        case v.RenewSessionLock(session_id=session_id), v.Renewed() | v.Done():
            is_holder = holds_session(namespace, queue, session_id, event.connection)
            return ("SESS-12", "SESS-13") if is_holder is False else ("SESS-13",)
        case _:
            return ()


def _received(
    namespace: Namespace, queue: Queue, session_id: str | None, connection: str
) -> tuple[v.RuleId, ...]:
    """SESS-02, SESS-12: return the rules broken if the receiver does not hold the session."""
    if not queue.settings.requires_session:
        return ()
    # Without a session id, no accepted session can be meant, so no lost one either.
    if session_id is None:
        return ("SESS-02",)
    return rules_if(
        # Having lost the session says more than not holding it, so SESS-12 comes first.
        (_has_lost(namespace, queue, session_id, connection), "SESS-12"),
        (holds_session(namespace, queue, session_id, connection) is False, "SESS-02"),
    )


def _not_its_holder(
    namespace: Namespace, queue: Queue, session_id: str, connection: str
) -> tuple[v.RuleId, ...]:
    """SESS-12, SESS-21: return the rules broken by using the state of a session not held."""
    return rules_if(
        (_has_lost(namespace, queue, session_id, connection), "SESS-12"),
        (holds_session(namespace, queue, session_id, connection) is False, "SESS-21"),
    )


def _has_lost(namespace: Namespace, queue: Queue, session_id: str, connection: str) -> bool:
    """Return whether the connection was the last to hold the session, and surely has lost it."""
    session = queue.sessions.get(session_id)
    lost = holds_session(namespace, queue, session_id, connection) is False
    return lost and session is not None and session.connection == connection


def _wrong_state(queue: Queue, session_id: str, state: str | None) -> tuple[v.RuleId, ...]:
    """SESS-16 to SESS-20: return the rules broken by a state that is not the session's."""
    stored = queue.states.get(session_id)
    others = (other.state for name, other in queue.states.items() if name != session_id)
    cleared = stored is not None and stored.state is None
    lost = stored is not None and stored.kept and state is None
    return rules_if(
        (state is not None and state in others, "SESS-20"),
        (stored is None, "SESS-16"),
        (cleared, "SESS-18"),
        (lost, "SESS-19"),
    )
