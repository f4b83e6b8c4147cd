"""`busproof check`: a verdict on every rule from histories that were recorded before."""

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from busproof import known
from busproof.errors import UsageError

if TYPE_CHECKING:
    from busproof.history.conformance import Conformance

__all__ = ["add_parser", "run"]

ENGINES: Final = ("local", "spark", "auto")
"""`auto` takes the one that is there; today that is local."""


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command `check` to the command line."""
    parser = subparsers.add_parser(
        "check",
        help="judge a recorded history",
        description="Judges a history file (JSON lines) of any origin, by either oracle.",
    )
    parser.add_argument(
        "history", type=Path, metavar="HISTORY", help="a history file, or the folder of a run"
    )
    parser.add_argument(
        "--engine",
        choices=ENGINES,
        default="local",
        help="local: in this process (default); spark comes with a later release",
    )
    parser.add_argument("--oracle", choices=("strict", "client"))
    known.add_options(parser)
    parser.add_argument("--report", type=Path, metavar="DIR", help="write the report there too")
    parser.add_argument("--format", choices=("table", "json"), default="table")
    parser.add_argument("-v", "--verbose", action="store_true", help="every rule, every cause")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Judge and print; the exit code is the conformance report's.

    Raises:
        HistoryError: the history cannot be read.
        UsageError: there is no such file, or it names what the catalogue does not have.
    """
    if args.engine == "spark":
        raise UsageError(
            "the engine spark comes with a later release of busproof, with the extra "
            "busproof[spark]; choose local"
        )
    from busproof.commands_run import published  # noqa: PLC0415
    from busproof.reports.conformance import write  # noqa: PLC0415

    failures = known.Known(args)
    conformance = failures.mark(_judged(args))

    def write_where_asked() -> None:
        if args.report is not None:
            write(conformance, args.report)

    return published(conformance, args, write_where_asked, failures)


def _judged(args: argparse.Namespace) -> "Conformance":
    from busproof.history.files import load  # noqa: PLC0415
    from busproof.history.records import Oracle  # noqa: PLC0415
    from busproof.judging.verdicts import conformance  # noqa: PLC0415
    from busproof.spec import load as load_catalogue  # noqa: PLC0415

    oracle = None if args.oracle is None else Oracle(args.oracle)
    file = _file(args.history)
    history = load(file)
    try:
        with _busy(f"Judging {sum(len(each.events) for each in history.scenarios):,} events"):
            return conformance(history, load_catalogue(), oracle)
    except UsageError as error:
        raise UsageError(f"{file} names what is not known here. {error}") from None


@contextmanager
def _busy(what: str) -> Iterator[None]:
    """Show on a terminal that something is going on, and for how long."""
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn  # noqa: PLC0415

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    shown = sys.stderr.isatty()
    with Progress(*columns, console=Console(stderr=True), disable=not shown, transient=True) as bar:
        bar.add_task(what, total=None)
        yield


def _file(path: Path) -> Path:
    """The history file that is meant: that of a run, where its folder was named."""
    from busproof.runs import HISTORY  # noqa: PLC0415

    file = path / HISTORY if path.is_dir() else path
    if not file.exists():
        raise UsageError(
            f"there is no file {file}; name a history file or the folder of a run, "
            f"such as {Path('reports', 'runs', 'latest')}"
        )
    return file
