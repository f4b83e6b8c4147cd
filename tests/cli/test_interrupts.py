"""Ctrl-C ends a run: what was recorded is judged, and no process is left."""

import os
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import pytest
from work import until

from busproof.history.conformance import Verdict
from busproof.mutants import MUTANTS

pytestmark = pytest.mark.slow

BEGUN = 2
"""Scenarios that have begun before the user loses patience."""

INTERRUPTED = "the run was interrupted; what was recorded until then was judged"


def wait_for_scenarios(count: Path, process: subprocess.Popen[str], number: int = BEGUN) -> None:
    """Wait until the adapter was asked to begin so many scenarios."""

    def have_begun() -> bool:
        assert process.poll() is None
        return count.exists() and count.stat().st_size >= number

    assert until(have_begun)


def interrupt(process: subprocess.Popen[str]) -> None:
    """What a terminal does on Ctrl-C: nothing, once the run has ended."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGINT)


@pytest.fixture
def slow_run(busproof, bus, tmp_path):
    """A run in the middle of its third scenario, on an adapter that takes its time."""

    def started(*options: str) -> subprocess.Popen[str]:
        # No answer is waited for as long as this: a run that did would be found to hang.
        what = ("--only", "features", "--rule", "FWD", "--timeout", "3600")
        process = busproof.start("run", *what, "--adapter", bus(*options), "--name", "it")
        wait_for_scenarios(tmp_path / "scenarios-begun", process, 3)
        return process

    return started


def test_an_interrupted_run_is_judged_on_what_it_recorded(busproof, slow_run):
    """One sentence, exit code 3, the scenario in the middle errored."""
    process = slow_run("--pause", "0.02")
    time.sleep(0.3)
    interrupt(process)
    ended = busproof.finish(process)
    run = busproof.run("it")
    assert 3 == ended.code == run.report.exit_code
    assert ended.problems.startswith(INTERRUPTED)
    assert [] == ended.sentences
    assert 2 == run.report.scenarios["passed"]
    assert 1 == run.report.scenarios["interrupted"]
    assert f"the run stopped in the middle of {run.history.scenarios[-1].name!r}" in ended.problems
    assert run.rules(Verdict.ERRORED) & {*run.history.scenarios[-1].rules}
    assert run.rules(Verdict.SHOWN)


def test_an_adapter_that_hangs_does_not_hold_ctrl_c_up(busproof, slow_run):
    """Its process is killed, however long its timeout."""
    process = slow_run("hang", "--at", "3")
    interrupt(process)
    ended = busproof.finish(process)
    assert 3 == ended.code
    assert ended.problems.startswith(INTERRUPTED)


@pytest.mark.parametrize("times", [2, 12])
def test_further_ctrl_c_end_a_run_at_once(busproof, slow_run, times):
    """What was recorded is kept, judged or to be judged by the command that is named."""
    process = slow_run("--pause", "0.02")
    for _ in range(times):
        interrupt(process)
        time.sleep(0.1)
    ended = busproof.finish(process)
    assert 3 == ended.code
    said = f"{ended.problems} {' '.join(ended.sentences)}"
    assert "interrupted" in said
    assert 2 <= len(busproof.run("it").history.scenarios)


def test_a_terminated_run_is_an_interrupted_run(busproof, slow_run):
    """SIGTERM reaches busproof only, as from a job that ran out of time."""
    process = slow_run("--pause", "0.02")
    process.terminate()
    ended = busproof.finish(process)
    assert 3 == ended.code
    assert ended.problems.startswith(INTERRUPTED)


@pytest.mark.needs("bash")
def test_a_run_that_is_interrupted_before_it_began_leaves_nothing(busproof, tmp_path):
    """The adapter has not even said what it is."""
    begun = tmp_path / "begun"
    what = ("--rule", "KEY-08", "--adapter", f"exec:sh -c 'touch {begun}; exec sleep 99'")
    process = busproof.start("run", "--only", "features", *what)
    wait_for_scenarios(begun.parent, process, 0)
    assert until(begun.exists)
    interrupt(process)
    ended = busproof.finish(process)
    assert (3, "") == (ended.code, ended.out)
    assert "interrupted before anything was recorded" == ended.sentence
    assert set() == busproof.runs


STUBBORN = """
import time
from pathlib import Path
from busproof.adapters.model import ModelAdapter

class Stubborn(ModelAdapter):
    def do(self, command, connection):
        Path("asked").touch()
        while True:
            try:
                time.sleep(99)
            except KeyboardInterrupt:
                pass
"""


def test_an_adapter_that_swallows_ctrl_c_is_killed(busproof):
    """Two more Ctrl-C, or ten seconds, are enough for any adapter in Python."""
    (busproof.folder / "stubborn.py").write_text(STUBBORN)
    what = ("--rule", "KEY", "--adapter", "stubborn:Stubborn", "--name", "it")
    process = busproof.start("run", "--only", "features", *what)
    # The history would not tell: what cannot apply begins and ends there before any worker does.
    assert until((busproof.folder / "asked").exists)
    for _ in range(3):
        interrupt(process)
        time.sleep(0.3)
    ended = busproof.finish(process)
    assert 3 == ended.code
    open_yet = [one for one in busproof.run("it").history.scenarios if one.ended is None]
    # Each worker was in one.
    assert len(open_yet) in range(1, (os.cpu_count() or 1) + 1)


def test_interrupted_audit_shows_what_was_done(busproof, monkeypatch):
    """Of two faults the first was tried: its row is printed, and the exit code is 3."""
    from busproof.cli.mutation import audit as auditing
    from busproof.judging.audit import Audited, Result

    def apart(job, _):
        if job.fault != "mismatch-accepted":
            raise KeyboardInterrupt
        return Audited(id=job.fault, rule="KEY-08", result=Result.KILLED)

    monkeypatch.setattr(auditing, "audit_apart", apart)
    other = next(each.id for each in MUTANTS if each.id != "mismatch-accepted")
    ended = busproof("audit", "mismatch-accepted", other)
    assert 3 == ended.code
    assert "interrupted; 1 of 2 faults were tried, and are listed" == ended.sentence
    assert "mismatch-accepted" in ended.out
    assert "1 killed" in ended.out
    nothing = busproof("audit", other)
    assert (3, "interrupted; nothing more was done") == (nothing.code, nothing.sentence)


@pytest.mark.parametrize("format_", ["table", "json"])
def test_interrupted_modelcheck_shows_what_was_done(busproof, monkeypatch, format_):
    """Of two configurations the first was run."""
    from busproof.tla import running

    real = running.configurations

    def interrupted(manifest, chosen, *rest):
        yield from real(manifest, chosen[:1], *rest)
        raise KeyboardInterrupt

    monkeypatch.setattr(running, "configurations", interrupted)
    names = ("regular-numbering", "numbering")
    ended = busproof("modelcheck", *names, "--format", format_)
    assert 3 == ended.code
    assert "interrupted; 1 of 2 were run, and are listed" == ended.sentence
    assert "regular-numbering" in ended.out
