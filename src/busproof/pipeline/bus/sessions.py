"""Sessions: their locks and their states."""

from busproof import vocabulary as v
from busproof.pipeline.bus.entities import run_on_queue
from busproof.pipeline.bus.limits import is_large_state
from busproof.pipeline.bus.releasing import release
from busproof.pipeline.bus.tables import HELD, TABLES
from busproof.pipeline.bus.terms import (
    Expression,
    add_outcome,
    change_struct,
    let,
    one,
    refuse,
    row,
    state,
    succeed,
    where,
)

__all__ = [
    "accept",
    "accept_next",
    "close",
    "get_state",
    "list_sessions",
    "renew",
    "set_state",
]

_LOCKED = "b.queue = q AND b.session = {id}"


def _give_session(session_id: Expression, answer: Expression) -> Expression:
    """Lock a session for the connection, and release messages that were locked in it before."""
    new = row(
        TABLES["sessions"],
        queue="q",
        session_id=session_id,
        connection="r.connection",
        until="s.now + e.lock_duration",
    )
    others = where("s.sessions", "x", f"x.queue <> q OR x.session_id <> {session_id}")
    with_session = state(sessions=f"concat({others}, array({new}))")
    freed = release(_LOCKED.format(id=session_id))
    return let("s", freed, let("s", with_session, answer))


def _run_on_sessions(body: Expression) -> Expression:
    return run_on_queue(
        f"IF(e.requires_session AND NOT is_dlq, {body}, {refuse(v.Error.INVALID_OPERATION)})"
    )


def accept() -> Expression:
    """LIFE-10: accept a session, unless another connection holds it."""
    taken = (
        "exists(s.sessions, x -> x.queue = q AND x.session_id = c.session_id "
        "AND x.connection <> r.connection)"
    )
    return _run_on_sessions(
        f"IF({taken}, {refuse(v.Error.SESSION_CANNOT_BE_LOCKED)}, "
        f"{_give_session('c.session_id', succeed())})"
    )


def accept_next() -> Expression:
    """SESS-06, SESS-07: accept the free session whose message is oldest."""
    free = (
        "h.queue = q AND h.message.session_id IS NOT NULL "
        "AND NOT array_contains(unavailable, h.partition) "
        "AND NOT exists(s.sessions, x -> x.queue = q AND x.session_id = h.message.session_id)"
    )
    answer = state(told=add_outcome("SessionAccepted", session_id="id"))
    body = f"IF(id IS NULL, {state(told=add_outcome('Empty'))}, {_give_session('id', answer)})"
    return _run_on_sessions(let("id", f"{one('s.messages', 'h', free)}.message.session_id", body))


def _run_for_holder(body: Expression) -> Expression:
    """Run a request of the connection that holds the session; refuse it for any other."""
    mine = (
        "exists(s.sessions, x -> x.queue = q AND x.session_id = c.session_id "
        "AND x.connection = r.connection)"
    )
    return run_on_queue(f"IF({mine}, {body}, {refuse(v.Error.SESSION_LOCK_LOST)})")


def renew() -> Expression:
    """SESS-13, SESS-14: renew the lock of a session and of the messages locked in it."""
    mine = "x.queue = q AND x.session_id = c.session_id"
    longer = change_struct(TABLES["sessions"], "x", until="ends")
    kept = change_struct(HELD, "b", until="ends")
    locked = _LOCKED.format(id="c.session_id")
    renewed = state(
        sessions=f"transform(s.sessions, x -> IF({mine}, {longer}, x))",
        messages=f"transform(s.messages, b -> IF({locked}, {kept}, b))",
        told=add_outcome("Renewed", locked_until="ends"),
    )
    return _run_for_holder(let("ends", "s.now + e.lock_duration", renewed))


def close() -> Expression:
    """SESS-08, SESS-09: close a session; the deliveries of its locked messages do not count."""
    locked = _LOCKED.format(id="c.session_id")
    uncounted = change_struct(HELD, "b", deliveries="b.deliveries - 1")
    counted = state(messages=f"transform(s.messages, b -> IF({locked}, {uncounted}, b))")
    others = where("s.sessions", "x", "x.queue <> q OR x.session_id <> c.session_id")
    return _run_for_holder(let("s", counted, let("s", release(locked), succeed(sessions=others))))


def set_state() -> Expression:
    """SESS-17, SESS-18: store or remove a session's state."""
    others = where("s.states", "x", "x.queue <> q OR x.session_id <> c.session_id")
    new = row(TABLES["states"], queue="q", session_id="c.session_id", state="c.state")
    stored = f"IF(c.state IS NULL, {others}, concat({others}, array({new})))"
    large = refuse(v.Error.MESSAGE_TOO_LARGE)
    return _run_for_holder(f"IF({is_large_state()}, {large}, {succeed(states=stored)})")


def get_state() -> Expression:
    """SESS-16, SESS-21: return a session's state as it was stored."""
    stored = one("s.states", "x", "x.queue = q AND x.session_id = c.session_id")
    return _run_for_holder(state(told=add_outcome("SessionState", state=f"{stored}.state")))


def list_sessions() -> Expression:
    """SESS-22: return the sessions that have messages or a state."""
    with_messages = "transform(filter(s.messages, h -> h.queue = q), h -> h.message.session_id)"
    with_state = "transform(filter(s.states, x -> x.queue = q), x -> x.session_id)"
    names = f"array_distinct(filter(concat({with_messages}, {with_state}), n -> n IS NOT NULL))"
    return run_on_queue(state(told=add_outcome("SessionsListed", session_ids=names)))
