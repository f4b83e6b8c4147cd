"""Histories with an expected verdict, as data: `cases/` has a file for each family.

Each line is one history of a namespace: all its events are allowed, and none of the `wrong` ones is
allowed after them. `profile` and `seen` name what differs from the defaults; where a profile names
no reading, the register's default holds.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import attrs
import pytest

from busproof import vocabulary as v
from busproof.history.codec import structure
from busproof.judging.judge import Judge
from busproof.judging.replay.explanation import Ended, explain
from busproof.spec import load

CASES: Final = Path(__file__).with_name("cases")
DEFAULTS: Final = {entry.id: entry.default for entry in load().ambiguities}


@attrs.frozen
class Case:
    """A history, and what may not come after it."""

    about: str
    profile: v.Profile
    seen: v.Observability
    events: tuple[v.Event, ...]
    wrong: tuple[v.Event, ...]

    def ended(self, *more: v.Event) -> Ended:
        """Return how the search for an execution ends, with more events at the end."""
        return explain((*self.events, *more), self.profile, self.seen).ended


def case_of(line: dict[str, Any]) -> Case:
    """Return the case of a line."""
    told = {"edition": "de-2021-04", "partitions": 4, **line.get("profile", {})}
    told["readings"] = DEFAULTS | told.get("readings", {})
    return Case(
        about=line["about"],
        profile=structure(told, v.Profile),
        seen=structure(line.get("seen", {}), v.Observability),
        events=tuple(structure(event, v.Event) for event in line["events"]),
        wrong=tuple(structure(event, v.Event) for event in line.get("wrong", ())),
    )


def cases_of(family: Path) -> Iterator[Case]:
    """Yield the cases of a family."""
    for line in family.read_text().splitlines():
        yield case_of(json.loads(line))


@pytest.mark.parametrize("family", sorted(CASES.glob("*.jsonl")), ids=lambda family: family.stem)
def test_every_case_has_its_verdict(family: Path) -> None:
    for number, case in enumerate(cases_of(family), 1):
        told = f"line {number}: {case.about}"
        assert case.ended() is Ended.EXPLAINED, told
        for event in case.wrong:
            assert case.ended(event) is Ended.IMPOSSIBLE, (told, event)


def test_every_family_forbids_something() -> None:
    cases = {family.stem: list(cases_of(family)) for family in CASES.glob("*.jsonl")}
    assert {"entity_counts"} == {
        name for name, some in cases.items() if not any(case.wrong for case in some)
    }
    assert sum(len(case.wrong) for some in cases.values() for case in some) > 250


@pytest.mark.parametrize("family", sorted(CASES.glob("*.jsonl")), ids=lambda family: family.stem)
def test_no_case_is_accused_while_it_goes_on(family: Path) -> None:
    """Judged event by event, as in a run: what later events show is not known yet."""
    for case in cases_of(family):
        judge = Judge(case.profile, case.seen)
        for event in case.events:
            assert judge.saw(event) is None, case.about
        assert judge.overdue is None, case.about
