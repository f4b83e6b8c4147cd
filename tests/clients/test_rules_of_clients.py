"""Every rule for clients has a scenario, and a faulty client that its scenario catches."""

import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import pytest
from proton import Described

from busproof.clients.program import Ended, Report
from busproof.clients.running import run_scenario, run_scenarios
from busproof.clients.scenario import Evidence, Finding
from busproof.clients.scenarios import SCENARIOS
from busproof.clients.verdicts import Result, Verdict, exit_code, judge_rules, level_status
from busproof.clients.wire import Link, Record
from busproof.spec import load
from busproof.spec.client_rules import load_client_rules

HERE = Path(__file__).resolve().parent
FAULTY = HERE / "faulty_client.py"
RULES = load_client_rules()
LIMIT = 600.0
SIDE_BY_SIDE = 8
"""As many as the command runs at a time."""
EXAMPLE = HERE.parents[1] / "examples" / "clients" / "proton_client.py"
SLEEPS = "import time; time.sleep(1000)"

CATCHES = {
    "SessionAsProperty": "CLIENT-01",
    "KeyAsProperty": "CLIENT-02",
    "KeyOfEverything": "CLIENT-03",
    "Nameless": "CLIENT-04",
    "LifeInProperties": "CLIENT-05",
    "RenamedCopies": "CLIENT-06",
    "Greedy": "CLIENT-09",
    "Impatient": "CLIENT-17",
    "Stubborn": "CLIENT-18",
    "Liar": "CLIENT-19",
    "OneByOne": "CLIENT-07",
    "AtOnce": "CLIENT-08",
    "Keeping": "CLIENT-10",
    "Hoarder": "CLIENT-11",
    "Locking": "CLIENT-12",
    "Releasing": "CLIENT-13",
    "Forgetful": "CLIENT-14",
    "Optimist": "CLIENT-15",
    "AnySession": "CLIENT-16",
    "Careless": "CLIENT-20",
    "Quitter": "CLIENT-21",
    "Hasty": "CLIENT-22",
    "Anonymous": "CLIENT-23",
    "WrongToken": "CLIENT-24",
    "OneToken": "CLIENT-25",
    "Committer": "CLIENT-27",
    "Sleeper": "CLIENT-28",
    "Despairing": "CLIENT-30",
    "WrongPath": "CLIENT-26",
    "Antique": "CLIENT-29",
    "Administrator": "CLIENT-31",
}
"""The faults of the faulty client, and the rule that each breaks."""

WAITING = {
    *("Anonymous", "Despairing", "Forgetful", "Hasty", "OneToken", "Optimist", "Quitter"),
    "Sleeper",
}
"""Faults whose scenarios take ten seconds and more."""


def test_every_rule_has_a_scenario_and_a_fault():
    shown = {rule for scenario in SCENARIOS for rule in scenario.rules}
    assert {rule.id for rule in RULES} == shown == set(CATCHES.values())


def test_no_bus_is_held_to_a_rule_for_clients():
    assert not {rule.id for rule in RULES} & {rule.id for rule in load().rules}


@pytest.mark.slow
def test_client_that_keeps_the_rules_is_not_accused():
    """Whatever its program cannot do is not applicable, and leaves nothing open."""
    words = [sys.executable, str(EXAMPLE)]
    results = list(run_scenarios(SCENARIOS, words, LIMIT, SIDE_BY_SIDE))
    verdicts = judge_rules(RULES, results)
    calm = {Verdict.SHOWN, Verdict.NOT_APPLICABLE}
    assert {} == {one.rule.id: one.said for one in verdicts if one.verdict not in calm}
    assert calm == {one.verdict for one in verdicts}
    assert level_status(verdicts) == "full"
    assert exit_code(verdicts) == 0


@pytest.mark.parametrize(
    ("is_repeated", "verdict"), [(False, Verdict.SHOWN), (True, Verdict.VIOLATED)]
)
def test_what_is_broken_beside_others_is_judged_by_itself(monkeypatch, is_repeated, verdict):
    """A machine with eight programs may be too slow for a rule about time."""
    runs = []

    def run(scenario, *_):
        runs.append(scenario)
        is_first = runs.count(scenario) == 1
        is_kept = scenario is not SCENARIOS[0] or not (is_first or is_repeated)
        findings = tuple(Finding(rule, is_kept, "seen") for rule in scenario.rules)
        return Result(scenario=scenario, findings=findings)

    monkeypatch.setattr("busproof.clients.running.run_scenario", run)
    results = list(run_scenarios(SCENARIOS[:3], ["client"], LIMIT, 2))
    assert sorted(result.scenario.name for result in results) == sorted(
        one.name for one in SCENARIOS[:3]
    )
    assert runs.count(SCENARIOS[0]) == 2
    assert len(runs) == 4
    (first, *_) = judge_rules([one for one in RULES if one.id == SCENARIOS[0].rules[0]], results)
    assert first.verdict is verdict
    assert first.said.endswith("kept by itself)") is not is_repeated


@pytest.mark.parametrize(("left", "is_kept"), [(1.0, None), (9.0, False)])
def test_a_link_that_ends_with_the_program_need_not_be_attached_again(left, is_kept):
    """The service may be slow to end it."""
    link = Link("c", "receiver", True, None, None, None, at=0.0, is_confirmed=True)
    link.ended = (10.0, False, "amqp:link:detach-forced")
    record = Record(())
    record.connections = (SimpleNamespace(links=[link]),)
    done = Report(10.0 + left, {"event": "done"})
    program = Ended(reports=(done,), code=0, strange="", errors=(), seconds=10.0 + left)
    (scenario,) = (one for one in SCENARIOS if one.name == "ended-link")
    link.source = Described(0x28, [scenario.parameters["entity"]])
    (finding,) = scenario.judge(Evidence(record, program, scenario.parameters))
    assert (finding.rule, finding.is_kept) == ("CLIENT-20", is_kept)


@pytest.mark.slow
def test_interrupted_run_ends_its_programs():
    stop = threading.Event()
    stop.set()
    result = run_scenario(SCENARIOS[0], [sys.executable, "-c", SLEEPS], LIMIT, stop)
    assert result.gave_up


def judge_fault(fault: str) -> str:
    """Return what is said of a faulty client; nothing if it is caught."""
    rule = next(rule for rule in RULES if rule.id == CATCHES[fault])
    words = [sys.executable, str(FAULTY), fault]
    chosen = [scenario for scenario in SCENARIOS if rule.id in scenario.rules]
    results = [run_scenario(scenario, words, LIMIT) for scenario in chosen]
    (verdict,) = judge_rules([rule], results)
    bad = Verdict.NOT_FOLLOWED if rule.modality == "should" else Verdict.VIOLATED
    return "" if bad is verdict.verdict else f"{fault}: {verdict.verdict}: {verdict.said}"


@pytest.mark.slow
@pytest.mark.parametrize("fault", [name for name in CATCHES if name not in WAITING])
def test_faulty_client_is_caught(fault: str):
    assert "" == judge_fault(fault)


@pytest.mark.slow
def test_faulty_clients_that_wait_are_caught():
    """Side by side: in turn they take two minutes in which nothing happens."""
    with ThreadPoolExecutor(len(WAITING)) as pool:
        assert {""} == set(pool.map(judge_fault, WAITING))
