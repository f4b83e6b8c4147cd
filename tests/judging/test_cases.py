"""Histories with an expected verdict, as data: `cases/` has a file for each family.

Each line is one history of a namespace: all its events are allowed, and none of the `wrong` ones is
allowed after them. `breaks` has a rule for each wrong one, which it is charged to, among others;
none where that is open. With `first` this rule is charged before all others, as the one that a
reader of the documents would name; with none of the wrong ones a `spared` rule is charged.

`profile` and `seen` name what differs from the defaults; where a profile names no reading, the
register's default holds. In place of a profile, `namespace` has the arguments of `profile_for`:
what its edition does not state is not judged. What is `direct` is explained without going back, as
its choices are made when an answer shows them.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import attrs
import pytest

from busproof import vocabulary as v
from busproof.history.codec import structure
from busproof.judging.diagnosis.diagnosis import diagnosis_of_last
from busproof.judging.judge import Judge
from busproof.judging.replay.explanation import Ended, explain
from busproof.spec import load

CASES: Final = Path(__file__).with_name("cases")
CATALOGUE: Final = load()
DEFAULTS: Final = {entry.id: entry.default for entry in CATALOGUE.ambiguities}


@attrs.frozen
class Case:
    """A history, and what may not come after it."""

    about: str
    profile: v.Profile
    seen: v.Observability
    events: tuple[v.Event, ...]
    wrong: tuple[v.Event, ...]
    breaks: tuple[v.RuleId | None, ...]
    first: bool
    spared: frozenset[v.RuleId]
    direct: bool

    @property
    def is_direct(self) -> bool:
        """Whether each event is executed once."""
        return explain(self.events, self.profile, self.seen).steps == len(self.events)

    def ended(self, *more: v.Event) -> Ended:
        """Return how the search for an execution ends, with more events at the end."""
        return explain((*self.events, *more), self.profile, self.seen).ended

    def charged(self, event: v.Event) -> tuple[v.RuleId, ...]:
        """Return the rules that a wrong event is charged to."""
        return diagnosis_of_last((*self.events, event), self.profile, self.seen).rules


def case_of(line: dict[str, Any]) -> Case:
    """Return the case of a line."""
    wrong = tuple(structure(event, v.Event) for event in line.get("wrong", ()))
    return Case(
        about=line["about"],
        profile=profile_of(line),
        seen=structure(line.get("seen", {}), v.Observability),
        events=tuple(structure(event, v.Event) for event in line["events"]),
        wrong=wrong,
        breaks=tuple(line.get("breaks", (None,) * len(wrong))),
        first=line.get("first", False),
        spared=frozenset(line.get("spared", ())),
        direct=line.get("direct", False),
    )


def profile_of(line: dict[str, Any]) -> v.Profile:
    """Return the profile of a line."""
    if "namespace" in line:
        return v.profile_for(CATALOGUE, **line["namespace"])
    told = {"edition": "de-2021-04", "partitions": 4, **line.get("profile", {})}
    told["readings"] = DEFAULTS | told.get("readings", {})
    return structure(told, v.Profile)


def cases_of(family: Path) -> Iterator[Case]:
    """Yield the cases of a family."""
    for line in family.read_text().splitlines():
        yield case_of(json.loads(line))


@pytest.mark.parametrize("family", sorted(CASES.glob("*.jsonl")), ids=lambda family: family.stem)
def test_every_case_has_its_verdict(family: Path) -> None:
    for number, case in enumerate(cases_of(family), 1):
        told = f"line {number}: {case.about}"
        assert case.ended() is Ended.EXPLAINED, told
        for event, rule in zip(case.wrong, case.breaks, strict=True):
            assert case.ended(event) is Ended.IMPOSSIBLE, (told, event)
            if rule is not None:
                charged = case.charged(event)
                assert rule in (charged[:1] if case.first else charged), (told, event)
                assert case.spared.isdisjoint(charged), (told, event)
        assert not case.direct or case.is_direct, told


def test_many_cases_forbid_something() -> None:
    cases = [case for family in CASES.glob("*.jsonl") for case in cases_of(family)]
    assert sum(len(case.wrong) for case in cases) > 1_100
    assert sum(rule is not None for case in cases for rule in case.breaks) > 850


@pytest.mark.parametrize("family", sorted(CASES.glob("*.jsonl")), ids=lambda family: family.stem)
def test_no_case_is_accused_while_it_goes_on(family: Path) -> None:
    """Judged event by event, as in a run: what later events show is not known yet."""
    for case in cases_of(family):
        judge = Judge(case.profile, case.seen)
        for event in case.events:
            assert judge.saw(event) is None, case.about
        assert judge.overdue is None, case.about
