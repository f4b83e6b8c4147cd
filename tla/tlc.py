"""Runs of TLC as a child process, in temporary folders and with a time limit.

TLC 2.15 is unsound for liveness with several workers (tlaplus #971), and with `-continue` it exits
with 0 despite violations. This module uses neither.
"""

import os
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import attrs

from busproof.errors import TlcError
from busproof.tla.java import find_jar, find_java
from busproof.tla.messages import Code, Listener, Reading

__all__ = ["Ended", "Task", "run"]

Progress = Callable[[Reading, float], None]

_CONFIG: Final = "Run.cfg"
_PATIENCE: Final = 5.0
"""Number of seconds between terminating TLC and killing it."""

_TOLD_EVERY: Final = 0.2
_OUT_OF_MEMORY: Final = "OutOfMemoryError"
_SHOWN: Final = 6
"""Number of lines of TLC's output in an error message."""


@attrs.frozen(kw_only=True)
class Task:
    """A run of TLC.

    Attributes:
        module: the file of the root module; the modules that it extends are in the same folder.
        name: the name of the run in messages.
        config: the text of the configuration.
        files: file name to the text of a module that is added to the folder, or replaces one there.
        workers: the number of threads; 1 for liveness, graphs and traces.
        deadlock: whether a state without a successor is a violation.
        coverage: whether to count the states of each action, which takes time.
        brief: whether the run takes only seconds, so that Java need not optimize much.
        timeout: the time limit in seconds.
        heap: the maximum heap size, such as `4g`; by default a quarter of the machine's memory.
    """

    module: Path
    name: str
    config: str
    files: Mapping[str, str] = attrs.field(factory=dict)
    workers: int = attrs.field(default=1, validator=attrs.validators.ge(1))
    deadlock: bool = False
    coverage: bool = False
    brief: bool = False
    timeout: float = 600.0
    heap: str | None = None


@attrs.frozen(kw_only=True)
class Ended:
    """The end of a run: TLC's output, its exit code, and the duration in seconds."""

    reading: Reading
    code: int
    seconds: float


def run(
    task: Task,
    printed: Callable[[str], None] | None = None,
    progress: Progress | None = None,
) -> Ended:
    """Run TLC to its end.

    Args:
        task: the run.
        printed: called with each line that the spec prints, as soon as TLC writes it.
        progress: called several times a second with the output so far and the elapsed seconds.

    Raises:
        TlcError: TLC did not run or gave no verdict: Java is missing, the spec does not parse, or
            memory or time ran out. A violation, expected or not, is a verdict.
    """
    java, jar = find_java(), find_jar()
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="busproof-tlc-") as scratch:
        folder = Path(scratch)
        command = _command(task, java, jar, folder)
        ended = _watch(command, folder, task, Listener(printed), progress, begun)
    _refuse_broken(task, ended)
    return ended


def _command(task: Task, java: Path, jar: Path, folder: Path) -> list[str]:
    """Return the command line, after copying the specs to the folders of the run."""
    specs, temporary = folder / "specs", folder / "tmp"
    for directory in (specs, temporary, folder / "states"):
        directory.mkdir()
    for source in sorted(task.module.parent.glob("*.tla")):
        (specs / source.name).write_bytes(_bytes(source))
    for name, text in {**task.files, _CONFIG: task.config}.items():
        (specs / name).write_text(text, encoding="utf-8")
    heap = [f"-Xmx{task.heap}"] if task.heap else []
    threads = ["-XX:+UseParallelGC"] if task.workers > 1 else ["-XX:+UseSerialGC"]
    brief = ["-XX:TieredStopAtLevel=1"] if task.brief else []
    return [
        *(str(java), *heap, *threads, *brief, "-XX:+ExitOnOutOfMemoryError", "-Xss16m"),
        *(f"-Djava.io.tmpdir={temporary}", "-Dfile.encoding=UTF-8", "-cp", str(jar)),
        *("tlc2.TLC", "-tool", "-workers", str(task.workers), "-checkpoint", "0"),
        *([] if task.deadlock else ["-deadlock"]),
        *(["-coverage", "1"] if task.coverage else []),
        *("-metadir", str(folder / "states"), "-config", _CONFIG, task.module.stem),
    ]


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise TlcError(f"cannot read {path}: {error.strerror}") from None


def _watch(
    command: list[str],
    folder: Path,
    task: Task,
    listener: Listener,
    progress: Progress | None,
    begun: float,
) -> Ended:
    # In a process group of its own, TLC does not get Ctrl-C; busproof does, and ends TLC.
    process = subprocess.Popen(
        command,
        cwd=folder / "specs",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        errors="replace",
        process_group=0 if os.name == "posix" else None,
    )
    overdue = threading.Event()
    with _ensure_end(process), _limit_time(process, task.timeout, overdue):
        with _report_progress(listener.reading, progress, begun):
            for line in process.stdout or ():
                listener.hear(line.rstrip("\n"))
        code = process.wait()
    if overdue.is_set():
        raise TlcError(
            f"TLC did not finish {task.name} within {task.timeout:.0f} s, at "
            f"{listener.reading.distinct:,} distinct states; --timeout gives it longer"
        )
    return Ended(reading=listener.reading, code=code, seconds=time.monotonic() - begun)


@contextmanager
def _ensure_end(process: "subprocess.Popen[str]") -> Iterator[None]:
    """Ensure that the process has ended when the block is left."""
    try:
        yield
    finally:
        if process.poll() is None:
            for end in (process.terminate, lambda: _kill(process)):
                end()
                with suppress(subprocess.TimeoutExpired):
                    process.wait(_PATIENCE)
                    break
        if process.stdout is not None:
            process.stdout.close()


def _kill(process: "subprocess.Popen[str]") -> None:
    with suppress(ProcessLookupError):
        if os.name == "posix":
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()


@contextmanager
def _limit_time(
    process: "subprocess.Popen[str]", seconds: float, overdue: threading.Event
) -> Iterator[None]:
    """Kill the process after so many seconds, and set `overdue`."""

    def end() -> None:
        overdue.set()
        _kill(process)

    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


@contextmanager
def _report_progress(reading: Reading, progress: Progress | None, begun: float) -> Iterator[None]:
    """Report progress from a thread, because TLC may print nothing for a minute."""
    over = threading.Event()

    def tell() -> None:
        while progress is not None and not over.wait(_TOLD_EVERY):
            progress(reading, time.monotonic() - begun)

    teller = threading.Thread(target=tell, daemon=True)
    teller.start()
    try:
        yield
    finally:
        over.set()
        teller.join()


def _refuse_broken(task: Task, ended: Ended) -> None:
    """Raise an error unless TLC has reported success or a violation."""
    reading, name = ended.reading, task.name
    output = _last_words(reading)
    if _OUT_OF_MEMORY in output:
        raise TlcError(
            f"TLC ran out of memory on {name}, at {reading.distinct:,} distinct states; "
            f"--heap gives it more (now: {task.heap or 'a quarter of the machine'})"
        )
    if any(message.code == Code.PARSING_FAILED for message in reading.errors):
        raise TlcError(f"{task.module.name} does not parse:\n{_first_lines(reading.parsing)}")
    if reading.violation or (reading.success and ended.code == 0):
        return
    raise TlcError(
        f"TLC gave no verdict on {name} (exit code {ended.code}):\n"
        f"{_first_lines(output.splitlines()) or '  it said nothing'}"
    )


def _last_words(reading: Reading) -> str:
    return "\n".join(message.text for message in reading.errors)


def _first_lines(lines: list[str]) -> str:
    filled = [line for line in lines if line.strip()]
    more = [f"  … and {len(filled) - _SHOWN} lines more"] if len(filled) > _SHOWN else []
    return "\n".join([*(f"  {line.strip()}" for line in filled[:_SHOWN]), *more])
