"""Messages beside the output, also to closed pipes and full disks."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

__all__ = ["busy", "give_up_output", "say", "write_aside"]


@contextmanager
def busy(what: str) -> Iterator[None]:
    """Show a spinner with the elapsed time, on a terminal."""
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn  # noqa: PLC0415

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    # rich calls a file a terminal where FORCE_COLOR asks for colours.
    shown = sys.stderr.isatty()
    with Progress(*columns, console=Console(stderr=True), disable=not shown, transient=True) as bar:
        bar.add_task(what, total=None)
        yield


def say(text: str) -> None:
    """Print an error message."""
    write_aside(f"busproof: {text}")


def write_aside(line: str) -> None:
    """Write a line to the standard error; ignore a closed pipe."""
    with suppress(OSError, ValueError):
        print(line, file=sys.stderr, flush=True)  # noqa: T201 - this is the terminal


def give_up_output(error: OSError) -> None:
    """Print why the output could not be written, and keep Python from trying again at exit.

    A reader that has stopped reading, such as `head`, gets no message.
    """
    if not isinstance(error, BrokenPipeError):
        place = f" {error.filename}" if error.filename else ""
        say(f"cannot go on writing{place}: {error.strerror or error}")
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
