"""A part of a history that is judged by itself, with answer times and messages of events."""

import attrs

from busproof import vocabulary as v
from busproof.oracle.state import NEVER

__all__ = ["Subhistory", "end_of", "given"]


@attrs.frozen(kw_only=True)
class Subhistory:
    """Some events, possibly shortened; `indices` has their indices, -1 for an added event."""

    events: list[v.Event]
    indices: list[int]
    left_out: frozenset[str]


def end_of(event: v.Event) -> int:
    """Return when an event was answered, in microseconds; `NEVER` if it was not."""
    return NEVER if event.returned is None else event.returned


def given(event: v.Event) -> tuple[v.MessageView, ...]:
    """Return the messages that a receive of any kind returned."""
    if isinstance(event.outcome, v.ReceivedSeveral):
        return event.outcome.messages
    return (event.outcome.message,) if isinstance(event.outcome, v.Received) else ()
