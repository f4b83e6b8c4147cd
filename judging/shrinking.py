"""Shrinking of a failure: remove what it does not need, then simplify the rest.

Each candidate is tested for one property: whether it still fails. When the budget ends, the result
is the smallest failure found by then.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, TypeVar

import attrs

from busproof import vocabulary as v
from busproof.history.records import Oracle
from busproof.history.replay import RecordedCommand
from busproof.judging.compress_time import without_waiting
from busproof.judging.judge import Judge, observability_for

__all__ = ["Spent", "minimised", "off_the_wire", "simplified"]

T = TypeVar("T")
Fails = Callable[[Sequence[T]], bool]

_KEPT: Final = frozenset({"queue", "lock_token", "transaction", "body", "session_id"})
"""Fields whose values other commands refer to, or that have no default."""


class Spent(Exception):
    """The budget of candidates is used up."""


def minimised(items: Sequence[T], fails: Fails[T]) -> tuple[T, ...]:
    """Return the items that the failure needs, found by delta debugging.

    Args:
        items: the failing items.
        fails: the test whether a candidate still fails; it may raise `Spent`.
    """
    best = tuple(items)
    size = max(1, len(best) // 2)
    while best:
        smaller = _once_through(best, size, fails)
        if isinstance(smaller, _Stopped):
            return tuple(smaller.best)
        if smaller == best and size == 1:
            break
        size = max(1, size // 2) if smaller == best else min(size, max(1, len(smaller) // 2))
        best = smaller
    return best


@attrs.frozen
class _Stopped:
    best: Sequence[Any]


def _once_through(best: tuple[T, ...], size: int, fails: Fails[T]) -> "tuple[T, ...] | _Stopped":
    """Try to remove each piece of this size, from the end, where most items are not needed."""
    start = max(0, len(best) - size)
    while True:
        candidate = best[:start] + best[start + size :]
        try:
            if candidate and fails(candidate):
                best = candidate
        except Spent:
            return _Stopped(best)
        if start == 0:
            return best
        start = max(0, min(start, len(best)) - size)


def simplified(
    commands: Sequence[RecordedCommand], fails: Fails[RecordedCommand]
) -> tuple[RecordedCommand, ...]:
    """Return the commands with fields set to their defaults, where they still fail with them."""
    best = tuple(commands)
    try:
        for place in range(len(best)):
            for plainer in _plainer(best[place]):
                candidate = (*best[:place], plainer(best[place]), *best[place + 1 :])
                if candidate != best and fails(candidate):
                    best = candidate
    except Spent:
        pass
    return best


def _plainer(recorded: RecordedCommand) -> Iterator[Callable[[RecordedCommand], RecordedCommand]]:
    yield lambda candidate: attrs.evolve(candidate, connection="c1")
    for name in _defaulted(recorded.command):
        yield lambda candidate, name=name: attrs.evolve(  # type: ignore[misc]  # a bound name has no type
            candidate, command=_at_default(candidate.command, name)
        )
    message = getattr(recorded.command, "message", None)
    if message is not None:
        for name in ("message_id", "partition_key", "session_id"):
            yield lambda candidate, name=name: _without(candidate, name)  # type: ignore[misc]  # a bound name has no type


def _defaulted(command: Any) -> Iterator[str]:
    for field in attrs.fields(type(command)):
        has_default = field.default is not attrs.NOTHING
        if (
            has_default
            and field.name not in _KEPT
            and getattr(command, field.name) != field.default
        ):
            yield field.name


def _at_default(command: Any, name: str) -> Any:
    return attrs.evolve(command, **{name: attrs.fields_dict(type(command))[name].default})


def _without(recorded: RecordedCommand, name: str) -> RecordedCommand:
    command: Any = recorded.command
    unset: dict[str, Any] = {name: None}
    changed = attrs.evolve(command, message=attrs.evolve(command.message, **unset))
    return attrs.evolve(recorded, command=changed)


def off_the_wire(
    events: Sequence[v.Event],
    rule: v.RuleId,
    profile: v.Profile,
    observability: v.Observability,
    oracle: Oracle,
) -> tuple[v.Event, ...]:
    """Return the recorded events that the judge needs to reject the last one.

    No request is sent. The result is a guess, because the bus might have answered differently
    without the removed requests.
    """
    last = len(events) - 1

    def fails(places: Sequence[int]) -> bool:
        judge = Judge(profile, observability_for(observability, oracle))
        *before, at_last = without_waiting(events, (*places, last))
        if any(judge.saw(event) for event in before):
            return False
        violation = judge.saw(at_last)
        return violation is not None and rule in violation.rules

    return without_waiting(events, (*minimised(range(last), fails), last))
