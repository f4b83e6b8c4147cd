"""`busproof run` explores: how much, from which seed, and what becomes of what it finds."""

import json
import re
import shutil
import signal
import subprocess
import sys
from importlib import resources
from pathlib import Path

import pytest
from work import until

from busproof.adapters.faults import make
from busproof.history.conformance import Verdict
from busproof.history.files import load
from busproof.history.records import EXPLORATION
from busproof.history.replay import read_commands

pytestmark = pytest.mark.slow

EXPLORE = ("run", "--only", "exploration", "--seed", "6", "--name", "it")
FAULTY = ("--adapter", "faulty:abandoned-is-lost")


@pytest.fixture(scope="module")
def broken(shell, tmp_path_factory) -> Path:
    """The folder of a run on a bus that breaks LIFE-04, and what it printed.

    It ends with the first failure, and has five minutes for it, which a busy machine needs.
    """
    folder = tmp_path_factory.mktemp("broken")
    ended = shell(folder)(*EXPLORE, *FAULTY, "--profile", "audit")
    assert 1 == ended.code, ended.err
    (folder / "printed.txt").write_text(ended.out)
    return folder


@pytest.mark.full_size("much as the next one, on other buses: run by the nightly part commands")
@pytest.mark.parametrize("policy", ["random", "hostile"])
def test_a_seed_repeats_the_same_events_in_every_process(busproof, monkeypatch, policy) -> None:
    """However Python's hashes fall, by which the model's maps are in another order each time.

    It leaves nothing outside of `reports/`, nor do Hypothesis' own files.
    """
    sequences = []
    for name, hashes in (("a", "1"), ("b", "2")):
        monkeypatch.setenv("PYTHONHASHSEED", hashes)
        busproof(*EXPLORE[:-1], name, "--adapter", f"model?policy={policy}&seed=4")
        sequences.append([each for each in busproof.run(name).history.scenarios if each.events])
    # A busy machine has time for fewer of them.
    fewer = min(map(len, sequences))
    assert fewer
    assert sequences[0][:fewer] == sequences[1][:fewer]
    assert ["reports"] == [each.name for each in busproof.folder.iterdir()]


@pytest.fixture
def rule(broken) -> str:
    """A rule that the exploration found broken."""
    return sorted(each.name for each in (broken / "reports/runs/it/failures").iterdir())[0]


@pytest.fixture
def failure(broken, rule) -> Path:
    """The folder of that failure."""
    return broken / "reports/runs/it/failures" / rule


@pytest.mark.full_size("a whole run, which .ci/run makes too: run by the nightly part commands")
def test_features_and_exploration_are_one_verdict(busproof, recorded) -> None:
    """The printed seed repeats exactly these events."""
    explored = json.loads((recorded.folder / "printed.json").read_text())["explored"]
    assert 0 < explored["sequences"] <= 80, "a slow machine may explore less in its 20 seconds"
    again = busproof(
        *("run", "--name", "b", "--only", "exploration", "--seed", str(explored["seed"]))
    )
    assert f"seed {explored['seed']}" in again.out
    sequences = [
        [each for each in run.history.scenarios if each.feature == EXPLORATION]
        for run in (recorded, busproof.run("b"))
    ]
    assert sequences[0]
    fewer = min(map(len, sequences))
    assert sequences[0][:fewer] == sequences[1][:fewer]


def test_features_alone_explore_nothing(busproof) -> None:
    """Nor does a single rule."""
    busproof("run", "--only", "features", "--name", "a", "--rule", "KEY-08")
    assert busproof.run("a").report.explored is None


def test_a_failure_lies_in_the_folder_as_commands_and_as_a_scenario(broken, failure, rule) -> None:
    """And is printed with the command that repeats it."""
    assert rule == read_commands(failure / "commands.json").rule
    assert f"@{rule}\n" in (failure / "scenario.feature").read_text()
    again = f"--replay reports/runs/it/failures/{rule}/commands.json\n"
    assert again in (broken / "printed.txt").read_text()


def test_the_commands_break_the_rule_again_wherever_it_is_broken(busproof, failure, rule) -> None:
    """And nowhere else."""
    file = str(failure / "commands.json")
    assert 1 == busproof("run", "--replay", file, *FAULTY, "--name", "bad").code
    assert {rule} == busproof.run("bad").rules(Verdict.VIOLATED)
    assert busproof("run", "--replay", file, "--name", "good").code in (0, 3)
    assert set() == busproof.run("good").rules(Verdict.VIOLATED)
    # A settlement of what another bus was not given there cannot be asked.
    asked = [
        each for each in read_commands(file).commands if not hasattr(each.command, "lock_token")
    ]
    assert len(asked) <= busproof.run("good").report.events <= len(read_commands(file).commands)


def test_the_profile_of_the_commands_is_kept_unless_another_is_asked_for(busproof, failure) -> None:
    """A failure may need as few partitions as there were."""
    file = str(failure / "commands.json")
    busproof("run", "--replay", file, "--partitions", "5", "--name", "a")
    assert 5 == busproof.run("a").report.subject.partitions
    busproof("run", "--replay", file, "--name", "b")
    assert 16 == busproof.run("b").report.subject.partitions


@pytest.mark.parametrize(("adapter", "counted"), [(FAULTY[1], "failed"), ("model", "passed")])
def test_the_scenario_runs_with_our_steps(tmp_path, failure, adapter, counted) -> None:
    """Put into our features as it is."""
    features = tmp_path / "features"
    package = resources.files("busproof.features")
    for name in ("conftest.py", "test_features.py"):
        features.mkdir(exist_ok=True)
        shutil.copy(str(package / name), features)
    shutil.copy(failure / "scenario.feature", features)
    ended = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-q", "--import-mode=importlib", "-p", "no:xdist"),
            *("-p", "no:cacheprovider", "--rootdir", str(features), "-c", "/dev/null"),
            *(str(features), "--bus-adapter", adapter),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    # A passed scenario is repeated if it gives no evidence about its rule.
    assert re.search(rf"^\d+ {counted} in", ended.stdout, re.MULTILINE), ended.stdout
    make(FAULTY[1].removeprefix("faulty:"))


def test_replays_that_differ_are_kept(failure) -> None:
    """All three replays are histories of their own."""
    for number in (1, 2, 3):
        (scenario,) = load(failure / f"again-{number}.jsonl").scenarios
        assert scenario.events


def test_an_interrupted_exploration_keeps_what_was_recorded(busproof) -> None:
    """And is judged as far as it went."""
    options = ("--only", "exploration", "--profile", "soak", "--minutes", "5", "--name", "it")
    process = busproof.start("run", *options)
    history = busproof.folder / "reports" / "runs" / "it" / "history.jsonl"
    assert until(lambda: history.exists() and history.stat().st_size > 99_999)
    process.send_signal(signal.SIGINT)
    ended = busproof.finish(process)
    assert 3 == ended.code
    assert "the run was interrupted; what was recorded until then was judged" in ended.problems
    report = busproof.run("it").report
    assert report.explored.events > 100
    assert set() == busproof.run("it").rules(Verdict.VIOLATED)
