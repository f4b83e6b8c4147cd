"""One run of the features in a process of its own, watched from here.

The features run under pytest in a child, so that pytest rewrites their asserts, an adapter that
breaks the interpreter breaks the child only, and what was recorded until then can be judged.
"""

import importlib.util
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import attrs

from busproof.errors import AdapterError, HistoryError, UsageError

__all__ = ["HISTORY", "Finished", "Request", "latest", "record", "run_folder"]

HISTORY: Final = "history.jsonl"
LOG: Final = "log.txt"
ALLURE: Final = "allure-results"
POLL: Final = 0.05
USAGE: Final = 2
PATIENCE: Final = 10.0
"""Seconds that an interrupted child has to stop its adapter and close its history."""

Progress = Callable[[int, int | None], None]


@attrs.frozen(kw_only=True)
class Request:
    """What to run on; `None` leaves an option at its default."""

    adapter: str = "model"
    edition: str | None = None
    tier: str | None = None
    oracle: str | None = None
    partitions: int | None = None
    timeout: float | None = None
    rule: str | None = None
    readings: tuple[str, ...] = ()

    def options(self) -> list[str]:
        """The request as options of our pytest plugin."""
        named = attrs.asdict(self, filter=attrs.filters.exclude("readings"))
        given = [f"--bus-{name}={value}" for name, value in named.items() if value is not None]
        return [*given, *(f"--bus-reading={reading}" for reading in self.readings)]


@attrs.frozen(kw_only=True)
class Finished:
    """How the child ended: its exit code, what it said to the user, whether a user stopped it."""

    code: int
    said: str
    interrupted: bool


def run_folder(name: str | None, adapter: str, root: Path | None = None) -> Path:
    """A new folder for a run, under `reports/runs/` of the current folder.

    Raises:
        UsageError: the name is taken or is no name of a folder.
        HistoryError: the folder cannot be made.
    """
    root = root or Path("reports") / "runs"
    stamp = datetime.now(tz=UTC).strftime("%Y%m%d-%H%M%S-%f")[:-3]
    kind = adapter.partition(":")[0].partition("?")[0]
    folder = root / (name or f"{stamp}-{kind}")
    if name is not None and Path(name).name != name:
        raise UsageError(f"{name!r} is no name for a run; leave out slashes and dots")
    try:
        folder.mkdir(parents=True)
    except FileExistsError:
        raise UsageError(f"there is a run {folder}; choose another --name or remove it") from None
    except OSError as error:
        raise HistoryError(f"cannot make {folder}: {error.strerror}") from None
    return folder


def latest(folder: Path) -> None:
    """Let `latest` beside the run's folder point to it; where links are not to be had, do not."""
    link = folder.parent / "latest"
    fresh = folder.parent / f".latest-{os.getpid()}"
    try:
        fresh.symlink_to(folder.name)
        fresh.replace(link)
    except OSError:
        fresh.unlink(missing_ok=True)


def record(request: Request, folder: Path, progress: Progress) -> Finished:
    """Run the features and record their history in the folder, telling of progress.

    Raises:
        UsageError: the request names what does not exist.
        AdapterError: the adapter cannot be started at all.
        HistoryError: nothing can be recorded.
    """
    command = _command(request, folder)
    with _log(folder).open("wb") as log:
        child = subprocess.Popen(  # noqa: S603 - our own interpreter and arguments
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=_environment()
        )
        interrupted = _watch(child, folder / HISTORY, progress)
    finished = Finished(code=child.returncode, said=_said(_log(folder)), interrupted=interrupted)
    if not (folder / HISTORY).exists() or not (folder / HISTORY).stat().st_size:
        _nothing_recorded(finished, folder)
    return finished


def _log(folder: Path) -> Path:
    return folder / LOG


def _nothing_recorded(finished: Finished, folder: Path) -> None:
    said = finished.said or f"the features did not run; {_log(folder)} says why"
    if finished.interrupted:
        raise HistoryError("interrupted before anything was recorded")
    if finished.code == USAGE:
        raise UsageError(said)
    raise AdapterError(said)


def _command(request: Request, folder: Path) -> list[str]:
    features = importlib.util.find_spec("busproof.features")
    if features is None or not features.submodule_search_locations:
        raise AssertionError("busproof.features belongs to this very package")
    where = features.submodule_search_locations[0]
    options = [
        *("-p", "pytest_bdd.plugin", "-p", "busproof.steps.plugin", "-p", "no:cacheprovider"),
        *("-c", os.devnull, f"--rootdir={where}", f"--confcutdir={where}"),
        *("--import-mode=importlib", "-q", "--tb=short", f"--bus-history={folder / HISTORY}"),
    ]
    if importlib.util.find_spec("allure_pytest") is not None:
        options += ["-p", "allure_pytest.plugin", f"--alluredir={folder / ALLURE}"]
    return [sys.executable, "-m", "pytest", where, *options, *request.options()]


def _environment() -> dict[str, str]:
    """The user's environment, without what would bring foreign plugins or options into the run."""
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")
    }
    return {**environment, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONUNBUFFERED": "1"}


def _watch(child: "subprocess.Popen[bytes]", history: Path, progress: Progress) -> bool:
    """Wait for the child, telling of progress; whether the user interrupted it."""
    counter = _Counter(history)
    try:
        while child.poll() is None:
            time.sleep(POLL)
            progress(*counter.counted())
    except KeyboardInterrupt:
        _stop(child)
        return True
    progress(*counter.counted())
    return False


def _stop(child: "subprocess.Popen[bytes]") -> None:
    """Let the child end by itself, as the terminal has interrupted it too; else end it."""
    for ask in (lambda: None, lambda: child.send_signal(signal.SIGINT), child.kill):
        ask()
        try:
            child.wait(PATIENCE / 2)
        except (subprocess.TimeoutExpired, KeyboardInterrupt):
            continue
        return
    child.wait()


class _Counter:
    """Counts the scenarios that have ended, reading only what is new in the history."""

    def __init__(self, history: Path) -> None:
        self._history = history
        self._place = 0
        self._ended = 0
        self._planned: int | None = None

    def counted(self) -> tuple[int, int | None]:
        """Scenarios ended, and planned if that is known."""
        if self._history.exists():
            with self._history.open("rb") as file:
                file.seek(self._place)
                new = file.read()
            self._place += len(new)
            self._ended += new.count(b'"record":"ended"')
            if self._planned is None and b'"planned":' in new:
                digits = new.partition(b'"planned":')[2][:9]
                self._planned = int(digits.replace(b"}", b",").partition(b",")[0])
        return self._ended, self._planned


def _said(log: Path) -> str:
    """What the child meant for the user: its lines that begin with our name, and what belongs."""
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    said: Sequence[str] = [line for line in lines if line.startswith("busproof: ")]
    return "\n".join(line.removeprefix("busproof: ") for line in said)
