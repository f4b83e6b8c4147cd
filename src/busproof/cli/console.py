"""Messages on standard error, even if pipes are closed or disks are full."""

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from typing import Final

__all__ = [
    "EVERY",
    "busy",
    "give_up_output",
    "processors",
    "progress",
    "say",
    "say_next",
    "write_aside",
]

EVERY: Final = 30.0
"""Time between progress lines if there is no terminal, in seconds."""


@contextmanager
def busy(what: str, *, lines: bool = False) -> Iterator[None]:
    """Show the elapsed time while the block runs.

    Without a terminal, nothing is shown, or with `lines` a line every half minute.
    """
    if not sys.stderr.isatty():  # rich calls a file a terminal where FORCE_COLOR asks for colours
        with _lines(what) if lines else nullcontext():
            yield
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        bar.add_task(what, total=None)
        yield


@contextmanager
def _lines(what: str) -> Iterator[None]:
    over = threading.Event()
    start = time.monotonic()

    def write() -> None:
        while not over.wait(EVERY):
            write_aside(f"{what}: {time.monotonic() - start:.0f} s")

    writer = threading.Thread(target=write, daemon=True)
    writer.start()
    try:
        yield
    finally:
        over.set()
        writer.join()


@contextmanager
def progress(what: str, total: int, *, transient: bool = False) -> Iterator[Callable[[], None]]:
    """Show how much of `total` is done; yield a function to call after each piece of work.

    Without a terminal, a line every half minute says it.

    Args:
        what: the kind of work.
        total: number of pieces of work.
        transient: whether the bar disappears at the end.
    """
    if not sys.stderr.isatty():  # rich calls a file a terminal where FORCE_COLOR asks for colours
        yield _Count(what, total)
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=transient) as bar:
        task = bar.add_task(what, total=total)
        yield lambda: bar.advance(task)


class _Count:
    """A count that is written every half minute."""

    def __init__(self, what: str, total: int) -> None:
        self._what = what
        self._total = total
        self._done = 0
        self._due = time.monotonic() + EVERY

    def __call__(self) -> None:
        """Count a piece of work, and write the count if half a minute has passed."""
        self._done += 1
        if time.monotonic() >= self._due:
            self._due = time.monotonic() + EVERY
            write_aside(f"{self._what}: {self._done} of {self._total}")


def say(text: str) -> None:
    """Print an error message, prefixed by the name of the program."""
    write_aside(f"busproof: {text}")


def say_next(step: str) -> None:
    """Print the next step of a user who does not know busproof, as one line."""
    write_aside(f"Next: {step}")


def write_aside(line: str) -> None:
    """Write a line to standard error; ignore a closed pipe."""
    with suppress(OSError, ValueError):
        print(line, file=sys.stderr, flush=True)


def give_up_output(error: OSError) -> None:
    """Print why the output could not be written, and keep Python from trying again at exit.

    If the reader has closed the pipe, as `head` does, there is no message.
    """
    if not isinstance(error, BrokenPipeError):
        place = f" {error.filename}" if error.filename else ""
        say(f"cannot go on writing{place}: {error.strerror or error}")
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def processors() -> int:
    """Return how many cores this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity is not None else os.cpu_count() or 1
