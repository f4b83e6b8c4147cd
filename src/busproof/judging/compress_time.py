"""Removal of idle time: events as they would be recorded if less time had passed."""

from collections.abc import Sequence

import attrs

from busproof import vocabulary as v

__all__ = ["without_waiting"]


def without_waiting(events: Sequence[v.Event], kept: Sequence[int]) -> tuple[v.Event, ...]:
    """Return the events at these indices, without the time that the other events took.

    Only on a virtual clock does a command, `AdvanceClock`, take time.
    """
    saved, places = 0, frozenset(kept)
    earlier = []
    for place, event in enumerate(events):
        if place in places:
            earlier.append(_earlier(event, saved))
        elif isinstance(event.command, v.AdvanceClock):
            saved += event.command.duration
    return tuple(earlier)


def _earlier(event: v.Event, by: int) -> v.Event:
    if by == 0:
        return event
    returned = None if event.returned is None else event.returned - by
    outcome = _with_earlier_locks(event.outcome, by)
    return attrs.evolve(event, called=event.called - by, returned=returned, outcome=outcome)


def _with_earlier_locks(outcome: v.Outcome, by: int) -> v.Outcome:
    match outcome:
        case v.Received(message=view):
            return attrs.evolve(outcome, message=_view(view, by))
        case v.ReceivedSeveral(messages=views) | v.Peeked(messages=views):
            return attrs.evolve(outcome, messages=tuple(_view(view, by) for view in views))
        case v.Renewed(locked_until=int(until)):
            return v.Renewed(locked_until=until - by)
        case v.RenewedSeveral(locked_until=ends):
            earlier = (None if end is None else end - by for end in ends)
            return v.RenewedSeveral(locked_until=tuple(earlier))
        case _:
            return outcome


def _view(view: v.MessageView, by: int) -> v.MessageView:
    until = view.locked_until
    return view if until is None else attrs.evolve(view, locked_until=until - by)
