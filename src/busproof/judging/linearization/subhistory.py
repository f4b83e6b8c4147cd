"""Subhistory: some events of a history that are judged without the others."""

import attrs

from busproof import vocabulary as v
from busproof.judging.replay.precedences import NEVER

__all__ = ["Subhistory", "end_of", "given"]


@attrs.frozen(kw_only=True)
class Subhistory:
    """Some events of a part, perhaps shortened, with what was left out.

    `indices` are the indices of the events in the part. `left_out` has the connections of receives
    that were left out.
    """

    events: list[v.Event]
    indices: list[int]
    left_out: frozenset[str]


def end_of(event: v.Event) -> int:
    """Return when an event was answered, in microseconds; `NEVER` if it was not answered."""
    return NEVER if event.returned is None else event.returned


def given(event: v.Event) -> tuple[v.MessageView, ...]:
    """Return the messages that a receive of any kind returned; none for other events."""
    if isinstance(event.outcome, v.ReceivedSeveral):
        return event.outcome.messages
    return (event.outcome.message,) if isinstance(event.outcome, v.Received) else ()
