"""A run by several processes: the same history, and a process that dies costs its scenario."""

import os

import attrs
import pytest

from busproof.cli.running.child_run import HISTORY, Request
from busproof.cli.running.session import Session
from busproof.exploration.sizes import SIZES
from busproof.history.conformance import Verdict
from busproof.history.files import load
from busproof.history.records import ScenarioVerdict

pytestmark = pytest.mark.slow

FULL = os.environ.get("BUSPROOF_SIZE") == "full"

ONCE = """
import os
import time
from pathlib import Path

import attrs
from busproof.adapters.model import ModelAdapter

MARK = Path(__file__).with_name("died")

class Mortal(ModelAdapter):
    def do(self, command, connection):
        if type(command).__name__ == "Peek" and not MARK.exists():
            MARK.touch()
            os._exit(9)
        return super().do(command, connection)

class Hanging(ModelAdapter):
    def do(self, command, connection):
        if type(command).__name__ == "Peek" and not MARK.exists():
            MARK.touch()
            time.sleep(9999)
        return super().do(command, connection)

class Asleep(ModelAdapter):
    def do(self, command, connection):
        while True:
            pass

class Single(ModelAdapter):
    def __init__(self):
        super().__init__()
        os.close(os.open(MARK, os.O_CREAT | os.O_EXCL))

class Counted(ModelAdapter):
    def start(self, profile):
        with Path(__file__).with_name("processes").open("a") as file:
            file.write(f"{os.getpid()}\\n")
        super().start(profile)

class Bare(ModelAdapter):
    @property
    def declaration(self):
        return attrs.evolve(super().declaration, capabilities=frozenset())

class Lonely(Counted):
    @property
    def declaration(self):
        return attrs.evolve(super().declaration, several=False)
"""


def test_history_does_not_depend_on_the_number_of_processes(busproof):
    written = []
    for jobs in ("1", "3"):
        options = ("--seed", "5") if FULL else ("--rule", "DUP")
        ended = busproof("run", *options, "--jobs", jobs, "--name", f"by-{jobs}")
        assert ended.code in (0, 3)
        assert [] == ended.sentences
        written.append((busproof.run(f"by-{jobs}").folder / "history.jsonl").read_bytes())
    assert written[0] == written[1]


def test_exploration_does_not_depend_on_the_number_of_processes(tmp_path, monkeypatch):
    """At the gate each of its parts has just enough for three processes."""
    few = {"sequences": 30, "steps": 10, "combinations": 52, "times": 1}
    size = attrs.evolve(SIZES["quick"], **({} if FULL else few))
    monkeypatch.setitem(SIZES, "quick", size)
    written = []
    for jobs in (1, 3):
        folder = tmp_path / f"by-{jobs}"
        folder.mkdir()
        request = Request(only="exploration", profile="quick", seed="5", jobs=jobs)
        assert 0 == Session(folder, request).run()
        ended = load(folder / HISTORY).scenarios[-1].ended
        assert ScenarioVerdict.PASSED is ended.verdict, ended.detail
        written.append((folder / HISTORY).read_bytes())
    assert written[0] == written[1]


def test_process_that_dies_costs_the_scenario_that_it_played(busproof):
    (busproof.folder / "mortal.py").write_text(ONCE)
    options = ("--only", "features", "--rule", "DEFER", "--jobs", "2", "--name", "it")
    ended = busproof("run", "--adapter", "mortal:Mortal", *options)
    run = busproof.run("it")
    assert 3 == ended.code
    assert "the process of the adapter ended, exit code 9" in ended.problems
    assert 1 == run.report.scenarios["errored"]
    assert run.history.header.planned == sum(run.report.scenarios.values())
    assert run.rules(Verdict.SHOWN)
    assert 3 == busproof("check", "reports/runs/it", "--report", "again").code


HANGS = "the adapter did not answer within 10 s; its process was ended"


def test_adapter_that_hangs_costs_the_scenario_that_it_played(busproof):
    (busproof.folder / "mortal.py").write_text(ONCE)
    options = ("--only", "features", "--rule", "DEFER", "--jobs", "2", "--name", "it")
    ended = busproof("run", "--adapter", "mortal:Hanging", "--timeout", "10", *options)
    run = busproof.run("it")
    assert 3 == ended.code
    assert HANGS in ended.problems
    assert 1 == run.report.scenarios["errored"]
    assert run.history.header.planned == sum(run.report.scenarios.values())
    assert run.rules(Verdict.SHOWN)


def test_adapter_that_always_hangs_ends_the_run(busproof):
    (busproof.folder / "mortal.py").write_text(ONCE)
    options = ("--only", "features", "--rule", "DEFER", "--jobs", "1", "--timeout", "0.2")
    ended = busproof("run", "--adapter", "mortal:Asleep", *options, "--name", "it")
    assert 3 == ended.code
    assert "the features stopped early: the adapter did not answer within 0.2 s" in ended.problems
    assert 3 == busproof.run("it").report.scenarios["errored"]


@pytest.mark.parametrize(("adapter", "processes"), [("Counted", 3), ("Lonely", 1)])
def test_several_processes_have_an_adapter_only_if_it_declares_so(busproof, adapter, processes):
    (busproof.folder / "mortal.py").write_text(ONCE)
    options = ("--only", "features", "--rule", "DUP", "--jobs", "3")
    assert 0 == busproof("run", "--adapter", f"mortal:{adapter}", *options).code
    found = (busproof.folder / "processes").read_text().split()
    assert processes == len(set(found))


def test_factory_that_works_once_is_enough_for_the_whole_run(busproof):
    (busproof.folder / "mortal.py").write_text(ONCE)
    options = ("--only", "features", "--rule", "DUP", "--jobs", "3", "--name", "it")
    ended = busproof("run", "--adapter", "mortal:Single", *options)
    run = busproof.run("it")
    assert 3 == ended.code
    assert "one more cannot be made, so the run went on with fewer processes: " in ended.problems
    assert "mortal:Single failed to make an adapter: FileExistsError" in ended.problems
    assert "errored" not in run.report.scenarios
    assert run.history.header.planned == sum(run.report.scenarios.values())
    assert "DUP-01" in run.rules(Verdict.SHOWN)


def test_exploration_of_a_broken_bus_ends_at_the_same_place_by_several_processes(busproof):
    written = []
    for jobs in ("1", "3"):
        options = ("--only", "exploration", "--seed", "5", "--jobs", jobs, "--name", f"by-{jobs}")
        assert 1 == busproof("run", "--adapter", "faulty:copy-in-second-partition", *options).code
        written.append((busproof.run(f"by-{jobs}").folder / "history.jsonl").read_bytes())
    assert written[0] == written[1]


def test_what_cannot_apply_is_recorded_before_anything_is_sent(busproof):
    (busproof.folder / "mortal.py").write_text(ONCE)
    options = ("--only", "features", "--rule", "KEY", "--jobs", "2", "--name", "it")
    ended = busproof("run", "--adapter", "mortal:Bare", *options)
    assert 0 == ended.code
    assert ": not applicable" not in ended.err  # it is no verdict on families not asked for
    scenarios = busproof.run("it").history.scenarios
    begun = [number for number, scenario in enumerate(scenarios) if scenario.events]
    left_out = scenarios[: begun[0]]
    assert {"not-applicable"} == {scenario.ended.verdict.value for scenario in left_out}
    assert "capability: duplicate-detection" in {scenario.ended.cause for scenario in left_out}
    later = [scenario for scenario in scenarios[begun[0] :] if not scenario.events]
    assert 10 > len(later)
    assert 50 < len(left_out)
