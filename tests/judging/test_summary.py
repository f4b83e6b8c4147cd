"""Summaries of pieces, merged in any order, give the verdicts of the whole."""

import json
import os
from collections.abc import Iterator, Sequence
from random import Random

import attrs
import pytest
import recorded_cases as cases

from busproof import vocabulary as v
from busproof.history.conformance import Conformance, Counterexample, Verdict
from busproof.history.records import (
    AGAIN,
    EXPLORATION,
    REPEATED,
    Ended,
    Header,
    History,
    Scenario,
    ScenarioVerdict,
    StepResult,
)
from busproof.judging.applicability import profile_of
from busproof.judging.decompose import parts
from busproof.judging.scenario_result import Checker, Heard, Part, joined
from busproof.judging.summary import Summary
from busproof.judging.verdicts import conformance, verdicts
from busproof.reports.document import view
from busproof.spec import load

FAILED = Ended(
    verdict=ScenarioVerdict.FAILED,
    detail="it was not",
    steps=(StepResult(keyword="Then", text="it is", result="failed"),),
)
FULL = os.environ.get("BUSPROOF_SIZE") == "full"
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


def comparable(conformance: Conformance) -> str:
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


@pytest.mark.parametrize("seed", range(3 if FULL else 1))
def test_pieces_say_what_the_whole_says(scenarios: list[Scenario], seed: int) -> None:
    """To the letter of the report; so one engine cannot say something else than the other."""
    header = attrs.evolve(cases.header(), planned=20, seed=5)
    whole = conformance(History(header=header, scenarios=tuple(scenarios)), load())
    checker = Checker(header, load())
    summary = in_pieces(checker, scenarios, Random(seed))
    assert comparable(whole) == comparable(verdicts(header, checker.terms, summary))
    verdict = {rule.id: rule for rule in whole.rules}
    assert Verdict.VIOLATED is verdict["KEY-02"].verdict
    assert "flaky: 1 of 2 replays" in verdict["KEY-02"].cause
    assert {"passed": 2, "interrupted": 2, "failed": 2, "recorded": 1, "errored": 1} == (
        whole.scenarios
    )


def test_later_scenarios_are_reported_later(scenarios: list[Scenario]) -> None:
    """Summaries of one half after the other, as folders are followed."""
    header = cases.header()
    whole = conformance(History(header=header, scenarios=tuple(scenarios)), load())
    checker = Checker(header, load())
    half = len(scenarios) // 2
    summary = in_pieces(checker, scenarios[:half], Random(1))
    summary.merge(in_pieces(checker, scenarios[half:], Random(2)).moved(half))
    assert comparable(whole) == comparable(verdicts(header, checker.terms, summary))


def test_a_part_that_cannot_be_read_keeps_its_scenario_from_being_judged(scenarios) -> None:
    checker = Checker(cases.header(), load())
    summary = in_pieces(checker, scenarios[:1], Random(1))
    summary.add_part(7, Part(at=3, heard=checker.check(scenarios[1])))
    summary.add_part(7, Part(at=0, heard=Heard(), usable=False))
    summary.close()
    assert 1 == summary.scenarios


def wrong(queue: str, at: int, sends: int) -> list[v.Event]:
    """A queue that gives what nobody sent, after some sends."""
    asked: list[tuple[v.Command, v.Outcome]] = [(v.CreateQueue(queue=queue), v.Done())]
    asked += [
        (v.Send(queue=queue, message=v.Message(body=f"m{n}")), v.Done()) for n in range(sends)
    ]
    given = v.MessageView(body="never sent", sequence_number=1)
    asked.append((v.Receive(queue=queue), v.Received(message=given)))
    return [
        v.Event(
            client=queue, connection=queue, called=at + n, returned=at + n, command=c, outcome=o
        )
        for n, (c, o) in enumerate(asked)
    ]


@pytest.mark.parametrize(("sends", "queue"), [(0, "second"), (1, "first"), (2, "first")])
def test_shortest_counterexample_is_reported(sends: int, queue: str) -> None:
    """And of as short ones the first."""
    header = cases.header()
    events = (*wrong("first", 0, 1), *wrong("second", 10, sends))
    scenario = Scenario(events=events)
    whole = conformance(History(header=header, scenarios=(scenario,)), load())
    checker = Checker(header, load())
    for seed in range(2):
        summary = in_pieces(checker, [scenario], Random(seed))
        assert comparable(whole) == comparable(verdicts(header, checker.terms, summary))
    (violated,) = [each for each in whole.rules if each.verdict is Verdict.VIOLATED]
    assert queue == violated.counterexample.events[-1].client


def test_forced_change_of_region_leaves_nothing_to_accuse() -> None:
    """Nobody who says that there was one is told of a violation: any message may be lost."""
    recorded = cases.header()
    readings = recorded.profile.readings.set("REGION-CHANGE", "forced")
    header = attrs.evolve(recorded, profile=attrs.evolve(recorded.profile, readings=readings))
    history = History(header=header, scenarios=(Scenario(events=tuple(wrong("q", 0, 1))),))
    found = {each.id: each for each in conformance(history, load()).rules}
    assert Verdict.VIOLATED not in {each.verdict for each in found.values()}
    assert Verdict.INCONCLUSIVE is found["LIFE-01"].verdict
    assert "REGION-CHANGE" in found["LIFE-01"].cause


def test_a_part_without_a_verdict_leaves_the_whole_without_one() -> None:
    """Unless another part breaks a rule."""
    first, second = Part(at=0, heard=Heard(exhausted="too long")), Part(at=5, heard=Heard())
    later = Part(at=9, heard=Heard(exhausted="longer still"))
    assert "too long" == joined(second, first).heard.exhausted
    assert "too long" == joined(later, first).heard.exhausted
    example = Counterexample(scenario="", events=(), seen="", allowed=())
    broken = Part(at=7, heard=Heard(counterexample=example, blamed=("KEY-02",)))
    assert "" == joined(first, broken).heard.exhausted


def test_a_recorded_default_that_has_moved_since_keeps_no_history_from_being_judged() -> None:
    """SESSION-KEPT is on record only, and a run of another day may have had another default."""
    recorded = v.profile_for(load())
    before = attrs.evolve(recorded, readings=recorded.readings.set("SESSION-KEPT", "kept"))
    header = Header(profile=before)
    assert profile_of(load(), header).readings["SESSION-KEPT"] == "ends"
