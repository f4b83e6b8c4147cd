"""What a recorded history would be answered otherwise in another namespace."""

from collections.abc import Iterable, Sequence
from typing import Final

from busproof import vocabulary as v
from busproof.history.moves import Move
from busproof.history.records import Header, History
from busproof.history.render.phrases import seconds
from busproof.judging.applicability import profile_of
from busproof.judging.moving.comparison import Comparison, Said
from busproof.judging.moving.targets import name_profile, name_target, target_profile
from busproof.spec import Catalogue

__all__ = ["compare_events", "compare_history"]

ASKS: Final = v.Send | v.SendBatch | v.Schedule | v.Creation
"""Requests that can have taken effect before their answer came."""


def compare_history(history: History, catalogue: Catalogue, target: str) -> Move:
    """Return what the clients of a history would be answered otherwise in another namespace.

    Raises:
        UsageError: there is no such namespace, or it is the history's own.
    """
    header = history.header
    source = profile_of(catalogue, header)
    other = target_profile(catalogue, source, target)
    move = Move(source=name_profile(source), target=name_target(other, target))
    for scenario in history.scenarios:
        comparison = Comparison(source, other, move=move)
        for command in () if header.began is None else header.began.settings:
            comparison.saw(command, v.Done(), "settings", Said(client="settings"))
        compare_events(comparison, header, scenario.name, scenario.events)
    return move


def compare_events(
    comparison: Comparison, header: Header, scenario: str, events: Iterable[v.Event]
) -> None:
    """Compare the events of one scenario, which began in an empty namespace."""
    is_real = header.clock is v.Clock.REAL
    for event in _in_order(tuple(events)) if is_real else events:
        at = _moment(event)
        if is_real:
            comparison.pass_time(at)
        said = Said(client=event.client, at=seconds(at), where=scenario)
        comparison.saw(event.command, event.outcome, event.connection, said)


def _in_order(events: Sequence[v.Event]) -> list[v.Event]:
    """Return events of a real clock in an order in which they may have taken effect.

    A message may be delivered before the answer to its send came, and never before its call.
    """
    return sorted(events, key=_moment)


def _moment(event: v.Event) -> int:
    if event.returned is None or isinstance(event.command, ASKS):
        return event.called
    return event.returned
