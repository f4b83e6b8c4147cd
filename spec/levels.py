"""Conformance levels: sets of capabilities that an implementation can claim as a whole."""

from functools import cache
from pathlib import Path
from typing import Final

import attrs

from busproof.spec import checks
from busproof.spec.reading import Fields, read_file
from busproof.spec.terms import CAPABILITIES
from busproof.spec.values import Rule

__all__ = ["Level", "Levels", "load_levels"]

_OWN: Final = Path(__file__).parent
_ID: Final = r"[a-z]+(-[a-z]+)*"


@attrs.frozen(kw_only=True)
class Level:
    """A conformance level.

    Attributes:
        id: the name of the level for `--require`.
        title: the name of the level on a badge.
        summary: a sentence on what the level is about.
        capabilities: the capabilities that the level requires.
    """

    id: str
    title: str
    summary: str
    capabilities: tuple[str, ...]


@attrs.frozen(kw_only=True)
class Levels:
    """All levels, the most basic first.

    Attributes:
        all: the levels.
        beside: the capabilities that no level has.
    """

    all: tuple[Level, ...]
    beside: tuple[str, ...]

    def of(self, rule: Rule) -> Level:
        """Return the level of a rule: the highest one with a capability that the rule needs."""
        places = [min(self._place(name) for name in need.split("|")) for need in rule.needs]
        return self.all[max(places, default=0)]

    def _place(self, capability: str) -> int:
        places = (place for place, level in enumerate(self.all) if capability in level.capabilities)
        return next(places, 0)


def load_levels(folder: Path | None = None) -> Levels:
    """Load the levels in `folder`; without it busproof's own, which are read only once.

    Raises:
        SpecificationError: a field is wrong, or a capability is listed twice or not at all.
    """
    return _own() if folder is None else _load(folder)


@cache
def _own() -> Levels:
    return _load(_OWN)


def _load(folder: Path) -> Levels:
    top = read_file(folder, "levels.yaml")
    levels = tuple(_level(fields) for fields in top.entries("levels", "id"))
    beside = top.texts("beside", CAPABILITIES)
    top.end()
    checks.check_unique(top, "id", [level.id for level in levels])
    named = [name for level in levels for name in level.capabilities] + list(beside)
    checks.check_unique(top, "capability", named)
    for capability in CAPABILITIES:
        if capability not in named:
            raise top.wrong("levels", capability, "each capability in a level, or beside them")
    return Levels(all=levels, beside=beside)


def _level(fields: Fields) -> Level:
    level = Level(
        id=checks.matching(fields, "id", _ID),
        title=fields.text("title"),
        summary=fields.text("summary"),
        capabilities=fields.texts("capabilities", CAPABILITIES),
    )
    fields.end()
    return level
