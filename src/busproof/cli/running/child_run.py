"""A run of the features in a child process, watched from here.

The child (`session`) spreads the run over workers. So an adapter that crashes the interpreter
crashes only a worker, and whatever was recorded until then is judged.
"""

import importlib.util
import json
import os
import pickle
import re
import shutil
import sys
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import attrs

from busproof import vocabulary as v
from busproof.cli.running.child_process import Watched
from busproof.errors import AdapterError, HistoryError, UsageError
from busproof.history.conformance import Conformance
from busproof.history.records import Header, Scenario

__all__ = [
    "ADAPTER_ERROR",
    "ALLURE",
    "HISTORY",
    "LOG",
    "PROGRESS",
    "RESULT",
    "Counted",
    "Finished",
    "Recorded",
    "Request",
    "check_run_name",
    "environment",
    "latest",
    "new_name",
    "pytest_arguments",
    "record",
    "run_folder",
]

HISTORY: Final = "history.jsonl"
PROGRESS: Final = ".progress"
"""File in the folder of a run with its progress, while it runs."""
RESULT: Final = ".result"
"""File in the folder of a run with its result, from its end until it was read."""
LOG: Final = "log.txt"
ADAPTER_ERROR: Final = "adapter-error.txt"
TRACEBACK: Final = b"Traceback (most recent call last):"
ALLURE: Final = "allure-results"
USAGE: Final = 2
NAME: Final = re.compile(r"\w[\w.+@-]*")
LATEST: Final = "latest"
RUNS: Final = Path("reports") / "runs"


@attrs.frozen(kw_only=True)
class Counted:
    """The progress of a run.

    Attributes:
        planned: number of scenarios in the run, once it is known.
        ended: number of scenarios that have ended.
        sequences: number of sequences that were explored.
        repeated: number of repeated attempts of scenarios.
        total: number of scenarios and sequences that are planned.
        formed: a line about each family whose scenarios have all ended.
        rehearsing: whether this is only the rehearsal of the run.
    """

    planned: int | None = None
    ended: int = 0
    sequences: int = 0
    repeated: int = 0
    total: int | None = None
    formed: tuple[str, ...] = ()
    rehearsing: bool = False


Progress = Callable[[Counted], None]
"""Called with the progress of a run."""


@attrs.frozen(kw_only=True)
class Request:
    """Options of a run as the user wrote them; `None` stands for the default."""

    adapter: str = "model"
    edition: str | None = None
    tier: str | None = None
    oracle: str | None = None
    partitions: str | None = None
    namespace_partitions: str | None = None
    messaging_units: str | None = None
    timeout: str | None = None
    profile: str | None = None
    minutes: str | None = None
    seed: str | None = None
    replay: str | None = None
    source: str | None = None
    rules: tuple[str, ...] = ()
    readings: tuple[str, ...] = ()
    only: str | None = None
    jobs: int | None = None

    @classmethod
    def of(cls, fields: dict[str, Any]) -> "Request":
        """Return the request that these plain values describe."""
        several = {name: tuple(fields[name]) for name in ("rules", "readings")}
        return cls(**(fields | several))

    def options(self) -> list[str]:
        """Return the request as options of the pytest plugin."""
        several = ("rules", "readings")
        named = attrs.asdict(self, filter=attrs.filters.exclude(*several, "only", "jobs"))
        named["from"] = named.pop("source")
        options = [
            f"--bus-{name.replace('_', '-')}={value}"
            for name, value in named.items()
            if value is not None
        ]
        options += [f"--bus-rule={rule}" for rule in self.rules]
        return [*options, *(f"--bus-reading={reading}" for reading in self.readings)]

    def getoption(self, name: str) -> Any:
        """Return the value of a pytest option, such as `--bus-tier`."""
        several = {"from": self.source, "rule": self.rules, "reading": self.readings}
        short = name.removeprefix("--bus-")
        return several[short] if short in several else getattr(self, short.replace("-", "_"))


@attrs.frozen(kw_only=True)
class Finished:
    """The end of a child.

    Attributes:
        code: its exit code.
        messages: its messages for the user.
        interrupted: whether the user stopped it.
        recorded: what it has found; `None` if it could not say so.
    """

    code: int
    messages: tuple[str, ...]
    interrupted: bool
    recorded: "Recorded | None" = None


@attrs.define(kw_only=True)
class Recorded:
    """What a run has found.

    Attributes:
        header: the header of its history.
        conformance: the verdicts.
        errors: the details of errored scenarios.
        about: the name of each scenario that broke a rule, with the rules that it is about.
        by_step: the names of those that only a step of theirs fails, and not the judge.
        replays: the replays of shrunk failures.
        scenarios: the scenarios of features, which need not have their events.
    """

    header: Header
    conformance: Conformance
    errors: tuple[str, ...] = ()
    about: dict[str, tuple[v.RuleId, ...]] = attrs.field(factory=dict)
    by_step: tuple[str, ...] = ()
    replays: tuple[Scenario, ...] = ()
    scenarios: tuple[Scenario, ...] = ()


def run_folder(name: str | None, adapter: str, root: Path | None = None) -> Path:
    """Create a folder for a run below `reports/runs/` in the current folder.

    Raises:
        UsageError: the name is taken, or cannot name a folder.
        HistoryError: the folder cannot be created.
    """
    root = root or RUNS
    if name is not None:
        check_run_name(name, root)
    return _make_folder(root / (name or new_name(adapter)))


def check_run_name(name: str, root: Path = RUNS) -> None:
    """Check that a run can have this name.

    Raises:
        UsageError: the name is taken, or cannot name a folder.
    """
    if name == LATEST or not NAME.fullmatch(name):
        raise UsageError(
            f"{name!r} cannot name a run; use letters, digits, '-', '_', '+', '@' and '.', "
            f"a letter or digit first, and not {LATEST!r}, which points to the newest run"
        )
    if (root / name).exists():
        raise _folder_error(root / name)


def new_name(adapter: str) -> str:
    """Return an unused name for a run: time, process id and kind of adapter."""
    stamp = datetime.now(tz=UTC).strftime("%Y%m%d-%H%M%S-%f")[:-3]
    kind = re.sub(r"\W.*", "", adapter, flags=re.DOTALL)
    # Two runs may begin within the same millisecond.
    return f"{stamp}-{os.getpid()}-{kind}".rstrip("-")


def _make_folder(folder: Path) -> Path:
    try:
        folder.mkdir(parents=True)
    except FileExistsError:
        raise _folder_error(folder) from None
    except OSError as error:
        raise HistoryError(
            f"cannot make {folder}: {error.strerror}; run busproof in a folder that can be written"
        ) from None
    return folder


def _folder_error(folder: Path) -> UsageError:
    return UsageError(f"there is a run {folder}; choose another --name or remove it")


def latest(folder: Path) -> None:
    """Point the link `latest` to the run's folder, if links are supported."""
    link = folder.parent / LATEST
    fresh = folder.parent / f".latest-{os.getpid()}"
    try:
        fresh.symlink_to(folder.name)
        fresh.replace(link)
    except OSError:
        fresh.unlink(missing_ok=True)


def record(
    request: Request, folder: Path, progress: Progress, also: Mapping[str, str] | None = None
) -> Finished:
    """Run the features, record their history in the folder, and report progress.

    If nothing could be recorded for a known reason, the folder is removed.

    Args:
        request: the options of the run.
        folder: the folder of the run.
        progress: called often with the progress.
        also: environment variables of the run besides those of this process.

    Raises:
        UsageError: the request names something that does not exist.
        AdapterError: the adapter cannot be started at all.
        HistoryError: nothing can be recorded.
    """
    # With -P, a queue.py or json.py in the user's folder does not replace Python's own module.
    program = [sys.executable, "-P", "-m", "busproof.cli.running"]
    words = [*program, str(folder), json.dumps(attrs.asdict(request))]
    watched = Watched(words, {**environment(), **(also or {})}, folder / LOG)
    interrupted = watched.wait(lambda: progress(_progress(folder)))
    finished = Finished(
        code=watched.code,
        messages=watched.messages,
        interrupted=interrupted,
        recorded=_result(folder),
    )
    (folder / PROGRESS).unlink(missing_ok=True)
    if not (folder / HISTORY).exists() or not (folder / HISTORY).stat().st_size:
        _refuse_empty(finished, folder)
    if finished.messages or interrupted or finished.recorded is not None:
        return finished
    early = f"the features stopped early ({watched.broke}); {folder / LOG} has the details"
    return attrs.evolve(finished, messages=(early,))


def _progress(folder: Path) -> Counted:
    try:
        fields = json.loads((folder / PROGRESS).read_bytes())
        return Counted(**{**fields, "formed": tuple(fields["formed"])})
    except (OSError, ValueError):
        return Counted()


def _result(folder: Path) -> Recorded | None:
    """Return what the child has found, and remove its file."""
    file = folder / RESULT
    try:
        recorded: Recorded = pickle.loads(file.read_bytes())  # noqa: S301 - written by the child
    except (OSError, EOFError, pickle.UnpicklingError):
        return None
    file.unlink(missing_ok=True)
    return recorded


def _refuse_empty(finished: Finished, folder: Path) -> None:
    kept = _keep_traceback(folder) if finished.messages and finished.code != USAGE else ""
    if finished.interrupted or finished.messages:
        shutil.rmtree(folder, ignore_errors=True)
    if finished.interrupted:
        raise HistoryError("interrupted before anything was recorded")
    if not finished.messages:
        raise AdapterError(f"the features did not run; {folder / LOG} has the reason")
    text = "\n".join(finished.messages) + kept
    raise UsageError(text) if finished.code == USAGE else AdapterError(text)


def _keep_traceback(folder: Path) -> str:
    """Keep the log if it has the traceback of a broken factory; return where, for a message."""
    kept = folder.parent.parent / ADAPTER_ERROR
    try:
        if TRACEBACK not in (folder / LOG).read_bytes():
            return ""
        shutil.move(folder / LOG, kept)
    except OSError:
        return ""
    return f"; {kept} has its traceback"


def pytest_arguments(request: Request, folder: Path) -> list[str]:
    """Return pytest's arguments to run and record the features.

    Args:
        request: the options of the run.
        folder: the folder for the history.
    """
    features = importlib.util.find_spec("busproof.features")
    if features is None or not features.submodule_search_locations:
        raise AssertionError("busproof.features belongs to this very package")
    where = features.submodule_search_locations[0]
    options = [
        *("-p", "pytest_bdd.plugin", "-p", "busproof.steps.plugin", "-p", "no:cacheprovider"),
        *("-c", os.devnull, f"--rootdir={where}", f"--confcutdir={where}"),
        *("--import-mode=importlib", "-q", "--tb=native", f"--bus-history={folder / HISTORY}"),
    ]
    alone = {"exploration": "test_exploration.py", "distilled": "test_distilled.py"}
    tests = f"{where}/{alone[request.only]}" if request.only in alone else where
    if request.only == "features":
        options.append(f"--ignore={where}/test_distilled.py")
    return [tests, *options, *request.options()]


def environment() -> dict[str, str]:
    """Return this process's environment without variables that give pytest plugins or options.

    Hypothesis keeps its files in `reports/`, like everything else that a run writes.
    """
    ours = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    kept = {"HYPOTHESIS_STORAGE_DIRECTORY": str(RUNS.parent / ".hypothesis")}
    return {**kept, **ours, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONUNBUFFERED": "1"}
