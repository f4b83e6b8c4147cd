"""The command as a user gives it, and what it leaves behind."""

import json
import os
import shlex
import signal
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

import attrs
import pytest
from commands import Ended, run_here
from preloaded import Forked, popen
from work import until

from busproof.history.conformance import Conformance, RuleVerdict, Verdict
from busproof.history.files import load
from busproof.history.records import History
from busproof.reports import conformance as reports

BUS = Path(__file__).parent / "children" / "bus.py"
FULL = os.environ.get("BUSPROOF_SIZE") == "full"
Process = Forked | subprocess.Popen[str]
FOREVER = 480
"""Seconds after which a command is taken to hang, however busy the machine is."""


@attrs.frozen
class Run:
    """What one run left in its folder."""

    folder: Path

    @property
    def history(self) -> History:
        return load(self.folder / "history.jsonl")

    @property
    def report(self) -> Conformance:
        return reports.read(self.folder)

    def verdict(self, rule: str) -> RuleVerdict:
        return next(each for each in self.report.rules if each.id == rule)

    def rules(self, verdict: Verdict) -> set[str]:
        return {each.id for each in self.report.rules if each.verdict is verdict}

    def broken(self) -> set[str]:
        """The rules of which a scenario was errored."""
        endings = [(each.rules, each.ended) for each in self.history.scenarios]
        return {
            rule for rules, end in endings if end and end.verdict == "errored" for rule in rules
        }


class Shell:
    """A user's shell in an empty folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.mark = f"BUSPROOF_TEST={uuid.uuid4()}"
        kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
        hidden = {"NO_COLOR", "FORCE_COLOR", "COLUMNS", "CI", "GITHUB_ACTIONS"}
        self.environment = {name: value for name, value in kept.items() if name not in hidden}
        self.environment |= {"COLUMNS": "200", self.mark.split("=")[0]: self.mark.split("=")[1]}

    def __call__(self, *arguments: str, **options: object) -> Ended:
        """Run `busproof` with these arguments until it ends.

        In this process, which has imported what it needs, unless an option is for one of its own.
        """
        if options.keys() <= {"environment"}:
            also: Any = options.get("environment") or {}
            return run_here(*arguments, folder=self.folder, environment=self.environment | also)
        return self.finish(self.start(*arguments, **options))

    def features(self, adapter: str, *arguments: str) -> Ended:
        """Run the features on an adapter; the run is called `it`."""
        own = ("--only", "features", "--adapter", adapter, "--name", "it")
        return self("run", *own, *arguments)

    def start(
        self,
        *arguments: str,
        folder: Path | None = None,
        environment: dict[str, str] | None = None,
        prepare: Callable[[], object] | None = None,
        program: tuple[str, ...] = (sys.executable, "-m", "busproof"),
    ) -> Process:
        """Start `busproof` in a process group of its own, as a shell does.

        It is forked from a preloaded process, unless something has to be prepared in its own.
        """
        options: dict[str, Any] = {} if prepare is None else {"preexec_fn": prepare}
        return (popen if prepare is None else subprocess.Popen)(
            [*program, *arguments],
            cwd=folder or self.folder,
            env=self.environment | (environment or {}),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            process_group=0,
            **options,
        )

    def finish(self, process: Process) -> Ended:
        try:
            out, err = process.communicate(timeout=FOREVER)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            raise
        return Ended(code=process.returncode, out=out, err=err)

    def run(self, name: str) -> Run:
        """What the run of this name left."""
        return Run(self.folder / "reports" / "runs" / name)

    @property
    def runs(self) -> set[str]:
        """Names of the runs that left something."""
        folder = self.folder / "reports" / "runs"
        return {each.name for each in folder.iterdir()} if folder.is_dir() else set()

    def left_running(self) -> list[str]:
        """Processes that were started from here and still run."""
        return [
            process.name
            for process in Path("/proc").glob("[0-9]*")
            if _carries(process, self.mark) and int(process.name) != os.getpid()
        ]


def _carries(process: Path, mark: str) -> bool:
    try:
        return mark.encode() in (process / "environ").read_bytes()
    except OSError:
        return False


@pytest.fixture
def busproof(tmp_path: Path) -> Iterator[Shell]:
    """The command in an empty folder; none of its processes outlives the test."""
    shell = Shell(tmp_path)
    yield shell
    assert until(lambda: not shell.left_running()), shell.left_running()


@pytest.fixture
def bus(tmp_path: Path) -> Callable[..., str]:
    """The name of an adapter: the model in another process, made to misbehave."""

    def named(*options: str) -> str:
        count = tmp_path / "scenarios-begun"
        return "exec:" + shlex.join([sys.executable, str(BUS), *options, "--count", str(count)])

    return named


@pytest.fixture(scope="session")
def shell() -> Callable[[Path], Shell]:
    """Makes the shell of a folder, for a run that several tests share."""
    return Shell


def of(*rules: str) -> tuple[str, ...]:
    """Return the options for these rules at the gate, and for all at full size."""
    return () if FULL else tuple(word for rule in rules for word in ("--rule", rule))


def recorded_run(folder: Path) -> Run:
    """Features on the model, and an exploration of it; at the gate only some rules."""
    shell = Shell(folder)
    few = of("KEY", "LIFE-01", "LIFE-02")
    ended = shell("run", "--name", "whole", "--format", "json", *few)
    assert 0 == ended.code, ended.err
    (shell.run("whole").folder / "printed.json").write_text(ended.out)
    return shell.run("whole")


@pytest.fixture(scope="session")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A run on the model; what it printed is in its folder."""
    return recorded_run(tmp_path_factory.mktemp("whole"))


@pytest.fixture(scope="session")
def brief(recorded: Run, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Some scenarios of it, for what does not depend on how many there are."""
    return excerpt(recorded, {"KEY-04", "LIFE-01", "LIFE-02"}, tmp_path_factory.mktemp("brief"))


@pytest.fixture(scope="session")
def broken(tmp_path_factory: pytest.TempPathFactory) -> Shell:
    """A folder with the run `it`, which violates KEY-08, SCHED-12 and TXN-07, and with its list.

    At the gate it has the scenarios of some rules only.
    """
    shell = Shell(tmp_path_factory.mktemp("broken"))
    few = of("KEY-02", "KEY-08", "SCHED-02", "SCHED-12", "TXN-07")
    options = ("--only", "features", "--write-known-failures", "known.yaml", *few)
    ended = shell("run", "--name", "it", "--adapter", "faulty:mismatch-accepted", *options)
    assert 1 == ended.code
    assert "Known failures: known.yaml, 3 rules\n" in ended.err
    return shell


@pytest.fixture(scope="session")
def briefly_broken(broken: Shell, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """The scenarios of its first violated rule, and of one that passed."""
    rules = {"KEY-02", "KEY-08"}
    return excerpt(broken.run("it"), rules, tmp_path_factory.mktemp("briefly-broken"))


def excerpt(run: Run, rules: set[str], folder: Path) -> Run:
    """A history with the scenarios of these rules only, which is all that was planned."""
    header, *lines = (run.folder / "history.jsonl").read_bytes().splitlines(keepends=True)
    begins = [n for n, line in enumerate(lines) if b'"record":"started"' in line]
    parts = [lines[a:b] for a, b in pairwise([*begins, len(lines)])]
    kept = [part for part in parts if rules & set(json.loads(part[0]).get("rules", ()))]
    assert kept
    opening = json.loads(header) | {"planned": len(kept)}
    content = [json.dumps(opening, separators=(",", ":")).encode() + b"\n", *chain(*kept)]
    (folder / "history.jsonl").write_bytes(b"".join(content))
    return Run(folder)
