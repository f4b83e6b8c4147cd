"""The figures that benchmarks measure, with their bounds."""

import argparse
import json
from collections.abc import Iterable

import attrs

__all__ = ["Figure", "at_least", "at_most", "parser", "report"]


@attrs.frozen
class Figure:
    """A measured value and its bound.

    Attributes:
        name: name of the figure, with its unit.
        value: the measured value.
        bound: minimum or maximum allowed value; `None` if the value depends only on the machine.
        most: whether the bound is a maximum.
        target: the bound to reach, if the figure is known to miss it; it is held to another one,
            so that it gets no worse.
    """

    name: str
    value: float
    bound: float | None = None
    most: bool = False
    target: float | None = None

    @property
    def holds(self) -> bool:
        """Whether the value is within its bound."""
        if self.bound is None:
            return True
        return self.value <= self.bound if self.most else self.value >= self.bound

    def __str__(self) -> str:
        """Return the figure as a line of the table."""
        value = f"{self.value:,.0f}" if abs(self.value) >= 1000 else f"{self.value:.2f}"
        if self.bound is None:
            return f"{self.name}: {value}"
        held_to = f"at {'most' if self.most else 'least'} {self.bound:,}"
        if self.target is not None:
            held_to += f"; target {self.target:,}"
        return f"{self.name}: {value} ({held_to}{'' if self.holds else ', which does not hold'})"


def at_least(name: str, value: float, bound: float) -> Figure:
    """Return a figure that must not be below its bound."""
    return Figure(name, value, bound)


def at_most(name: str, value: float, bound: float, target: float | None = None) -> Figure:
    """Return a figure that must not be above its bound; a target is what it misses so far."""
    return Figure(name, value, bound, most=True, target=target)


def parser(description: str | None) -> argparse.ArgumentParser:
    """Return the parser of a benchmark's options, which include `--json`."""
    made = argparse.ArgumentParser(description=description)
    made.add_argument("--json", action="store_true", help="print the figures as JSON, and no table")
    return made


def report(figures: Iterable[Figure], *, as_json: bool) -> int:
    """Print the figures; return 1 if a value is outside its bound."""
    listed = list(figures)
    if as_json:
        measured = [
            {
                "figure": figure.name,
                "value": figure.value,
                "bound": figure.bound,
                "target": figure.target,
                "holds": figure.holds,
            }
            for figure in listed
        ]
        print(json.dumps(measured, indent=2))
    else:
        for figure in listed:
            print(figure)
    return 0 if all(figure.holds for figure in listed) else 1
