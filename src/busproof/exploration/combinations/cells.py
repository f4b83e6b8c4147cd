"""Which operations are tried in which circumstances, and in which order."""

from itertools import combinations
from random import Random

import attrs

from busproof.exploration.combinations.circumstances import CIRCUMSTANCES
from busproof.exploration.combinations.operations import OPERATIONS

__all__ = ["Cell", "cells", "plan_cells", "repeat_cells"]


@attrs.frozen
class Cell:
    """An operation, the circumstances in which it is tried, and how many times it is."""

    operation: str
    circumstances: tuple[str, ...] = ()
    times: int = 1

    @property
    def name(self) -> str:
        """The cell in words."""
        words = self.operation if self.times == 1 else f"{self.operation}, {self.times:,} times"
        return ", ".join([words, *self.circumstances]).capitalize()


def cells() -> tuple[Cell, ...]:
    """Return every operation in every pair of circumstances."""
    return tuple(
        Cell(operation, pair) for operation in OPERATIONS for pair in combinations(CIRCUMSTANCES, 2)
    )


def plan_cells(most: int, start: int) -> tuple[Cell, ...]:
    """Return as many cells as there may be, so that soon each operation met each circumstance.

    First comes each operation in each circumstance, two of them at a time, then the other pairs.

    Args:
        most: how many cells to return at most.
        start: the seed of the order.
    """
    random = Random(start)  # noqa: S311 - repeatable choices, not secrets
    first: list[Cell] = []
    for operation in OPERATIONS:
        names = random.sample(list(CIRCUMSTANCES), len(CIRCUMSTANCES))
        pairs = zip(names[::2], names[1::2], strict=True)
        first += [Cell(operation, tuple(sorted(pair, key=_order))) for pair in pairs]
    random.shuffle(first)
    if most <= len(first):
        return tuple(first[:most])
    known = set(first)
    others = [cell for cell in cells() if cell not in known]
    random.shuffle(others)
    return tuple((first + others)[:most])


def repeat_cells(times: int) -> tuple[Cell, ...]:
    """Return each operation that can be repeated, so many times; none for 0 times."""
    if not times:
        return ()
    return tuple(
        Cell(operation, times=times)
        for operation in OPERATIONS
        if OPERATIONS[operation].is_repeatable
    )


def _order(circumstance: str) -> int:
    return list(CIRCUMSTANCES).index(circumstance)
