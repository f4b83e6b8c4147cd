"""Generators of commands about sessions."""

from collections.abc import Callable, Iterator
from typing import Any, Final

from hypothesis import strategies as st

from busproof import vocabulary as v
from busproof.exploration.state import (
    World,
)
from busproof.exploration.strategies.row import QUEUES, Generator, Made

__all__ = ["rows_of_sessions"]

_INDEX: Final = st.integers(0, 2)


def rows_of_sessions() -> Iterator[Generator]:
    """Yield the rows that accept, close and renew sessions, and that use their states."""
    one = {"queue": QUEUES, "session": _INDEX}
    yield Generator(kind=v.AcceptSession, draws=one, make=_accept, weight=3, when=_has_sessions)
    for kind in (v.CloseSession, v.RenewSessionLock, v.GetSessionState):
        yield Generator(kind=kind, draws=one, make=_use_session(kind), when=_has_sessions)
    yield Generator(
        kind=v.SetSessionState,
        draws={**one, "state": st.sampled_from((None, "one", "two"))},
        make=_use_session(v.SetSessionState),
        when=_has_sessions,
    )
    # Use two rows instead of drawing a name, because Hypothesis draws the first of several names
    # far more often.
    for any_of, name in ((v.AcceptNextSession, "nextsession"), (v.ListSessions, "listsessions")):
        yield Generator(
            kind=any_of,
            draws={"queue": QUEUES},
            make=_use_session_queue(any_of),
            when=_has_sessions,
            name=name,
        )


def _accept(world: World, queue: v.CreateQueue, session: int) -> v.AcceptSession:
    return v.AcceptSession(queue=_session_queue(world, queue), session_id=world.session(session))


def _use_session(kind: Callable[..., v.Command]) -> Made:
    """Return a function for a command on a session of this queue, or else of another entity."""

    def make_command(world: World, queue: v.CreateQueue, session: int, **drawn: Any) -> v.Command:
        name = _session_queue(world, queue)
        return kind(queue=name, session_id=world.session_at_hand(name, session), **drawn)

    return make_command


def _use_session_queue(kind: Callable[..., v.Command]) -> Made:
    return lambda world, queue: kind(queue=_session_queue(world, queue))


def _session_queue(world: World, queue: v.CreateQueue) -> str:
    """Return this queue if it requires sessions, or else the latest entity that does."""
    if queue.requires_session:
        return queue.queue
    return world.with_sessions()[-1].queue


def _has_sessions(world: World) -> bool:
    return bool(world.with_sessions())
