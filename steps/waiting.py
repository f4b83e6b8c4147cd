"""Mark of steps that let time pass, which a smoke run leaves out."""

from collections.abc import Callable
from typing import Final, TypeVar

__all__ = ["SHOWN_LATE", "lets_time_pass", "waiting"]

Step = TypeVar("Step", bound=Callable[..., object])

SHOWN_LATE: Final = frozenset(
    {
        *("DEFER-11", "DLQ-04", "DUP-01", "DUP-13", "FWD-05", "LIMIT-09", "LIMIT-10", "LIMIT-11"),
        *("LIMIT-12", "LOCK-01", "LOCK-15", "LOCK-16"),
        *("SCHED-04", "SESS-10", "SESS-12", "SESS-19"),
    }
)
"""Rules that have scenarios without waiting, which do not show them by themselves.

They do not show them on the model, or do not on an address, where partitions are not seen.
"""

_WAITING: Final[set[Callable[..., object]]] = set()


def waiting(step: Step) -> Step:
    """Mark the function of a step that lets more than a second pass."""
    _WAITING.add(step)
    return step


def lets_time_pass(step: Callable[..., object]) -> bool:
    """Return whether a step lets more than a second pass, however the bus answers."""
    return step in _WAITING
