"""Figures beside their bounds, as every benchmark tells them."""

import argparse
import json
from collections.abc import Iterable

import attrs

__all__ = ["Figure", "at_least", "at_most", "parser", "tell"]


@attrs.frozen
class Figure:
    """What was measured, and what it is held to.

    Attributes:
        name: what it is a figure of, with its unit.
        value: what was measured.
        bound: what it may not be below, or above; `None` where it depends on the machine alone.
        most: whether the bound is the greatest that is allowed.
    """

    name: str
    value: float
    bound: float | None = None
    most: bool = False

    @property
    def holds(self) -> bool:
        """Whether it keeps to its bound."""
        if self.bound is None:
            return True
        return self.value <= self.bound if self.most else self.value >= self.bound

    def __str__(self) -> str:
        """A line of the table."""
        value = f"{self.value:,.0f}" if abs(self.value) >= 1000 else f"{self.value:.2f}"
        if self.bound is None:
            return f"{self.name}: {value}"
        held_to = f"at {'most' if self.most else 'least'} {self.bound:,}"
        return f"{self.name}: {value} ({held_to}{'' if self.holds else ', which does not hold'})"


def at_least(name: str, value: float, bound: float) -> Figure:
    """A figure that may not be below its bound."""
    return Figure(name, value, bound)


def at_most(name: str, value: float, bound: float) -> Figure:
    """A figure that may not be above its bound."""
    return Figure(name, value, bound, most=True)


def parser(description: str | None) -> argparse.ArgumentParser:
    """Options of a benchmark, with `--json` among them."""
    made = argparse.ArgumentParser(description=description)
    made.add_argument("--json", action="store_true", help="print the figures as JSON, and no table")
    return made


def tell(figures: Iterable[Figure], *, as_json: bool) -> int:
    """Print the figures; the exit code: 1 if one does not keep to its bound."""
    found = list(figures)
    if as_json:
        told = [
            {"figure": each.name, "value": each.value, "bound": each.bound, "holds": each.holds}
            for each in found
        ]
        print(json.dumps(told, indent=2))
    else:
        for each in found:
            print(each)
    return 0 if all(each.holds for each in found) else 1
