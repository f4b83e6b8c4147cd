"""Replies as plain tuples, and those about sessions: which one was accepted, its state, a list."""

from collections.abc import Mapping
from typing import Any

from busproof.errors import SpecificationError
from busproof.model.outcomes import Outcome, Renewed, SessionAccepted, SessionsListed, SessionState

__all__ = ["Reply", "about_sessions", "outcome_of", "reply_for"]

Reply = tuple[Any, ...]
"""A reply as a plain tuple: its kind, then what tells it from others of its kind."""

_NONE = "none"


def about_sessions(spoken: Mapping[str, Any]) -> Reply:
    """A spec's reply as a plain tuple, if it is about sessions or has nothing but its kind."""
    kind = spoken["type"]
    if kind == "SessionAccepted":
        return (kind, spoken["session_id"])
    if kind == "SessionState":
        return (kind, None if spoken["state"] == _NONE else spoken["state"])
    if kind == "SessionsListed":
        return (kind, tuple(sorted(spoken["session_ids"])))
    return (kind,)


def outcome_of(reply: Reply) -> Outcome:
    """What a client sees of a reply about sessions.

    Raises:
        SpecificationError: there is no such reply.
    """
    match reply:
        case ("SessionAccepted", str(session_id)):
            return SessionAccepted(session_id=session_id)
        case ("SessionState", state):
            return SessionState(state=state)
        case ("SessionsListed", session_ids):
            return SessionsListed(session_ids=session_ids)
        case ("Renewed",):
            return Renewed()
        case _:
            raise SpecificationError(f"a graph answers {reply[0]!r}, which is no outcome")


def reply_for(outcome: Outcome) -> Reply:
    """The reply that an outcome about sessions is in a spec's words."""
    match outcome:
        case SessionAccepted(session_id=session_id):
            return ("SessionAccepted", session_id)
        case SessionState(state=state):
            return ("SessionState", state)
        case SessionsListed(session_ids=session_ids):
            return ("SessionsListed", tuple(sorted(session_ids)))
        case Renewed():
            return ("Renewed",)
        case _:
            raise AssertionError(f"step answers {outcome!r}, which is no answer of a bus")
