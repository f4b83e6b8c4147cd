"""Summaries of pieces, merged in any order, give the verdicts of the whole."""

import json
from collections.abc import Iterator, Sequence
from random import Random

import attrs
import pytest
import recorded_cases as cases

from busproof.history.conformance import Conformance, Verdict
from busproof.history.records import (
    AGAIN,
    EXPLORATION,
    REPEATED,
    Ended,
    History,
    Scenario,
    ScenarioVerdict,
    StepResult,
)
from busproof.judging.heard import Checker, Heard, Part
from busproof.judging.parts import parts
from busproof.judging.summary import Summary
from busproof.judging.verdicts import conformance, verdicts
from busproof.reports.document import view
from busproof.spec import load

FAILED = Ended(
    verdict=ScenarioVerdict.FAILED,
    detail="it was not",
    steps=(StepResult(keyword="Then", text="it is", result="failed"),),
)
ABOUT = ("KEY-02",)


def ended(verdict: ScenarioVerdict) -> Ended:
    return Ended(verdict=verdict, cause=f"it was {verdict.value}")


@pytest.fixture(scope="module")
def scenarios() -> list[Scenario]:
    """Some of each ending: broken, failed, tried again, explored, without a name."""
    clean, *_ = cases.clean("round-robin", (1,))
    (moved,) = cases.corrupted("key moved", 4, 1)
    (unsent,) = cases.corrupted("never sent", 4, 1)
    events = clean.events[:60]
    missed, passed = ended(ScenarioVerdict.INCONCLUSIVE), ended(ScenarioVerdict.PASSED)
    return [
        Scenario(name="tried", rules=("SESS-04",), events=events[:20], ended=missed),
        Scenario(name="broken", rules=ABOUT, events=moved.events),
        Scenario(name="unsent", events=unsent.events, ended=passed),
        Scenario(name="failed", rules=("KEY-08", "KEY-09"), events=events, ended=FAILED),
        Scenario(name="failed again", rules=("KEY-08",), events=events[:30], ended=FAILED),
        Scenario(events=events),
        Scenario(name="tried", rules=("SESS-04",), feature=REPEATED, events=events, ended=passed),
        Scenario(name="e1", feature=EXPLORATION, events=events, ended=passed),
        Scenario(name="e2", feature=AGAIN, rules=ABOUT, events=moved.events, ended=passed),
        Scenario(name="e3", feature=AGAIN, rules=ABOUT, events=events, ended=passed),
        Scenario(name="error", rules=("TXN-12",), ended=ended(ScenarioVerdict.ERRORED)),
        Scenario(name="stopped", rules=("TXN-13",), events=events[:10]),
    ]


def told(conformance: Conformance) -> str:
    return json.dumps(view(conformance), indent=1)


def in_pieces(checker: Checker, scenarios: Sequence[Scenario], random: Random) -> Summary:
    """As tasks judge: whole scenarios or their parts, in any order, sent as JSON, merged."""
    pieces = list(judged(checker, scenarios))
    random.shuffle(pieces)
    sums = [Summary() for _ in range(3)]
    for number, (place, heard) in enumerate(pieces):
        if isinstance(heard, Part):
            sums[number % 3].add_part(place, heard)
        else:
            sums[number % 3].add(place, heard)
    whole = Summary()
    for each in sums:
        whole.merge(Summary.of(json.loads(json.dumps(each.told()))))
    whole.close()
    return whole


def judged(checker: Checker, scenarios: Sequence[Scenario]) -> Iterator[tuple[int, Heard | Part]]:
    for place, scenario in enumerate(scenarios):
        if scenario.ended is not None or not scenario.events:
            yield place, checker.check(scenario)
            continue
        for indices in parts(scenario.events):
            events = tuple(scenario.events[index] for index in indices)
            heard = checker.check_part(attrs.evolve(scenario, events=events))
            yield place, Part(at=indices[0], heard=heard)


@pytest.mark.parametrize("seed", range(3))
def test_pieces_say_what_the_whole_says(scenarios: list[Scenario], seed: int) -> None:
    """To the letter of the report; so one engine cannot say something else than the other."""
    header = attrs.evolve(cases.header(), planned=20, seed=5)
    whole = conformance(History(header=header, scenarios=tuple(scenarios)), load())
    checker = Checker(header, load())
    summary = in_pieces(checker, scenarios, Random(seed))
    assert told(whole) == told(verdicts(header, checker.terms, summary))
    verdict = {rule.id: rule for rule in whole.rules}
    assert Verdict.VIOLATED is verdict["KEY-02"].verdict
    assert "flaky: 1 of 2 replays" in verdict["KEY-02"].cause
    assert {"passed": 2, "interrupted": 2, "failed": 2, "recorded": 1, "errored": 1} == (
        whole.scenarios
    )


def test_what_comes_later_is_told_later(scenarios: list[Scenario]) -> None:
    """Summaries of one half after the other, as folders are followed."""
    header = cases.header()
    whole = conformance(History(header=header, scenarios=tuple(scenarios)), load())
    checker = Checker(header, load())
    half = len(scenarios) // 2
    summary = in_pieces(checker, scenarios[:half], Random(1))
    summary.merge(in_pieces(checker, scenarios[half:], Random(2)).moved(half))
    assert told(whole) == told(verdicts(header, checker.terms, summary))


def test_a_part_that_cannot_be_read_keeps_its_scenario_from_being_judged(
    scenarios: list[Scenario],
) -> None:
    checker = Checker(cases.header(), load())
    summary = in_pieces(checker, scenarios[:1], Random(1))
    summary.add_part(7, Part(at=3, heard=checker.check(scenarios[1])))
    summary.add_part(7, Part(at=0, heard=Heard(), usable=False))
    summary.close()
    assert 1 == summary.scenarios
