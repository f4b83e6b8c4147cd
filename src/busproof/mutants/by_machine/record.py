"""Recorded results of generated mutants: an audited sample, and arguments for equivalence.

`busproof audit --generated --record` writes `sample.jsonl`. The score of a sample is that of the
suite that was audited. If a survivor has been killed since, that is noted beside it and changes no
score. `equivalent.toml` is written by hand: it has the ids of mutants that no judge can distinguish
from the model, each with the reason.
"""

import json
import tomllib
from collections.abc import Iterable, Mapping
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any, Final

import attrs

from busproof.errors import HistoryError

__all__ = ["SAMPLE", "Fate", "Result", "Sample", "equivalents", "fate_from", "load_sample", "write"]

FOLDER: Final = Path(__file__).resolve().parent
SAMPLE: Final = FOLDER / "sample.jsonl"
EQUIVALENT: Final = FOLDER / "equivalent.toml"

NOTICED: Final = ("features", "distilled")
"""The parts of the suite that every run has."""


class Result(StrEnum):
    """Result of auditing a generated mutant."""

    KILLED = "killed"
    FOUND = "found"
    EQUIVALENT = "equivalent"
    UNDECIDED = "undecided"
    NOT_RUN = "not run"


@attrs.frozen(kw_only=True)
class Fate:
    """Result of auditing a mutant, with its evidence.

    Attributes:
        id: of the mutant.
        result: `killed` by a scenario or a distilled sequence, or `found` to break a rule by the
            exploration or the search alone; `equivalent` by an argument; `undecided` if none of
            these, and `not run` if nothing recorded runs the changed place.
        part: what noticed it: `features`, `distilled`, `exploration` or `search`.
        by: the scenario that killed it, or the sequence that found it.
        rules: those that the judge says are broken; none if the mutant broke off.
        commands: of a search that found it, as the judge saw them, in words.
        why: how far the fault of an undecided mutant came, or why it is equivalent.
        since: the scenario that kills it, if it was written after the audit.
    """

    id: str
    result: Result
    part: str = ""
    by: str = ""
    rules: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    why: str = ""
    since: str = ""

    @property
    def family(self) -> str:
        """The family of the rule, which the id begins with."""
        return self.id.partition(".")[0]


@attrs.frozen(kw_only=True)
class Sample:
    """An audited sample.

    Attributes:
        on: the day, as an ISO date.
        seed: of the draw and of the search.
        tries: variants that the search tried on a mutant.
        made: how many mutants each family has, including those that were not drawn.
        fates: the results.
    """

    on: str
    seed: int
    tries: int
    made: Mapping[str, int]
    fates: tuple[Fate, ...]

    def count_noticed(self, rule: str) -> tuple[int, int]:
        """Return how many mutants that break this rule were noticed, and how many there are."""
        breaking = [fate for fate in self.fates if rule in fate.rules]
        return sum(fate.part in NOTICED for fate in breaking), len(breaking)


def fate_from(values: Mapping[str, Any]) -> Fate:
    """Return the result that a line of JSON describes; empty attributes may be missing there."""
    lists = {name: tuple(values.get(name, ())) for name in ("rules", "commands")}
    return Fate(**{**values, "result": Result(values["result"]), **lists})


@cache
def load_sample() -> Sample:
    """Return the recorded sample.

    Raises:
        HistoryError: the file cannot be read.
    """
    try:
        head, *lines = map(json.loads, SAMPLE.read_text(encoding="utf-8").splitlines())
        return Sample(**head, fates=tuple(map(fate_from, lines)))
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise HistoryError(f"{SAMPLE.name} cannot be read: {error}; record it again") from None


def write(sample: Sample, path: Path = SAMPLE) -> None:
    """Write a sample: a line for each mutant, in the order of ids.

    Raises:
        HistoryError: the file cannot be written.
    """
    head = attrs.asdict(sample, filter=attrs.filters.exclude("fates"))
    lines = [head, *_lines(sample.fates)]
    text = "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines)
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise HistoryError(f"cannot write {path}: {error.strerror}") from None


def _lines(fates: Iterable[Fate]) -> Iterable[dict[str, Any]]:
    for fate in sorted(fates, key=lambda fate: fate.id):
        yield attrs.asdict(fate, filter=lambda _, value: value not in ("", ()))


@cache
def equivalents() -> Mapping[str, str]:
    """Return the reason for each mutant that is argued to be equivalent, by id."""
    reasons: dict[str, str] = tomllib.loads(EQUIVALENT.read_text(encoding="utf-8"))
    return reasons
