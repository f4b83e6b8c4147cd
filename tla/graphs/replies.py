"""Replies as plain tuples, from a spec's replies and from outcomes of the model or the oracle."""

from collections.abc import Mapping
from typing import Any, Final

from busproof import vocabulary as v
from busproof.tla.graphs.command_mapping import ANY

__all__ = ["ANY_REFUSAL", "Reply", "reply_for", "reply_of"]

Reply = tuple[Any, ...]
"""A reply: its kind, then the fields that distinguish it from others of its kind."""

ANY_REFUSAL: Final[Reply] = ("Refused", ANY)
"""Stands for a refusal whose error the documents do not name."""

_NONE = "none"


def _plain_reply(spoken: Mapping[str, Any]) -> Reply:
    """Return the tuple for a reply without fields, or about a session or a scheduled message."""
    kind = spoken["type"]
    if kind == "SessionAccepted":
        return (kind, spoken["session_id"])
    if kind == "SessionState":
        return (kind, None if spoken["state"] == _NONE else spoken["state"])
    if kind == "SessionsListed":
        return (kind, tuple(sorted(spoken["session_ids"])))
    if kind == "Scheduled":
        return (kind, spoken["message"])
    return (kind,)


def _reply_about_sessions(outcome: v.Outcome) -> Reply:
    match outcome:
        case v.SessionAccepted(session_id=session_id):
            return ("SessionAccepted", session_id)
        case v.SessionState(state=state):
            return ("SessionState", state)
        case v.SessionsListed(session_ids=session_ids):
            return ("SessionsListed", tuple(sorted(session_ids)))
        case v.Renewed() | v.Empty():
            return (type(outcome).__name__,)
        case _:
            raise AssertionError(f"step answers {outcome!r}, which is not an answer of a bus")


def reply_for(outcome: v.Outcome, *, sent: int, partition: int | None) -> Reply:
    """Return the spec's reply for an outcome.

    Args:
        outcome: the outcome that the client sees.
        sent: the number of messages sent so far.
        partition: the partition that accepted the message; `None` if not known.
    """
    match outcome:
        case v.Done():
            return ("Done", partition)
        case v.Refused(error=error):
            return ("Refused", error.value)
        case v.Received(message=view) | v.ReceivedSeveral(messages=(view,)):
            return ("Received", _number(view))
        case v.Peeked(messages=views):
            return ("Peeked", tuple(_number(view) for view in views))
        case v.Scheduled():
            return ("Scheduled", sent)
        case _:
            return _reply_about_sessions(outcome)


def _number(view: v.MessageView) -> int:
    return int(view.body.removeprefix("m"))


def reply_of(spoken: Mapping[str, Any]) -> Reply:
    """Return the tuple for a reply of a spec."""
    kind = spoken["type"]
    if kind == "Done":
        return ("Done", spoken.get("partition"))
    if kind == "Refused":
        return ("Refused", spoken["error"])
    if kind == "Received":
        return ("Received", spoken["message"])
    if kind == "Peeked":
        return ("Peeked", tuple(spoken["messages"]))
    return _plain_reply(spoken)
