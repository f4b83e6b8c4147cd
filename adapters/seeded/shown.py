"""For every fault the shortest run in which it shows, by the fault's id."""

from collections.abc import Mapping
from typing import Final

from busproof.mutants.runs import Run

__all__ = ["READINGS", "SHOWN"]

SHOWN: Final[dict[str, Run]] = {}
"""In the order of the faults."""

READINGS: Final[Mapping[str, Mapping[str, str]]] = {}
"""The readings, other than the default ones, under which the judge alone sees a fault."""
