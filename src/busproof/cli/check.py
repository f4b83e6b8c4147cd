"""`busproof check`: a verdict on every rule from histories that were recorded before."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Final

from busproof.cli import known_failures
from busproof.cli.console import busy
from busproof.errors import UsageError
from busproof.extras import need

if TYPE_CHECKING:
    from busproof.history.conformance import Conformance

__all__ = ["add_parser", "run"]

ENGINES: Final = ("local", "spark", "auto")

LARGE: Final = 256 * 1024 * 1024
"""Bytes of history files from which on `auto` takes Spark; a table it always judges by Spark."""


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command `check` to the command line."""
    parser = subparsers.add_parser(
        "check",
        help="judge a recorded history",
        description="Judges a history file (JSON lines) of any origin, by either oracle.",
    )
    parser.add_argument(
        "history",
        nargs="?",
        metavar="HISTORY",
        help="a history file or the folder of a run; by Spark also a folder of files, or a table",
    )
    parser.add_argument(
        "--engine",
        choices=ENGINES,
        default="local",
        help="local: in this process (default); spark: histories of any size, with the same "
        "verdicts; auto: spark for tables and large files, else local",
    )
    parser.add_argument("--oracle", choices=("strict", "client"))
    known_failures.add_options(parser)
    parser.add_argument("--report", type=Path, metavar="DIR", help="write the report there too")
    parser.add_argument("--format", choices=("table", "json"), default="table")
    parser.add_argument("-v", "--verbose", action="store_true", help="every rule, every cause")
    _add_spark(parser)
    parser.set_defaults(run=run)


def _add_spark(parser: argparse.ArgumentParser) -> None:
    """Add what only the engine spark takes."""
    spark = parser.add_argument_group("with --engine spark")
    spark.add_argument(
        "--master", metavar="URL", help="where Spark runs: local[N] or spark://HOST:PORT"
    )
    spark.add_argument(
        "--remote", metavar="URL", help="a Spark Connect server instead: sc://HOST:PORT"
    )
    spark.add_argument(
        "--conf", action="append", metavar="NAME=VALUE", help="a setting of Spark's (repeatable)"
    )
    spark.add_argument(
        "--mapping",
        type=Path,
        metavar="FILE",
        help="how the columns of a table are called, in TOML, where that is not as published",
    )
    spark.add_argument(
        "--violations",
        type=Path,
        metavar="DIR",
        help="write every violation there, and the lines that could not be used",
    )
    spark.add_argument("--violations-format", choices=("parquet", "json"), default="parquet")
    spark.add_argument(
        "--as-table", type=Path, metavar="DIR", help="write the history there, as a table"
    )
    spark.add_argument(
        "--follow",
        type=Path,
        metavar="DIR",
        help="in the place of HISTORY: judge each history file that comes into DIR, once, until "
        "Ctrl-C; what was judged is known after a restart, too",
    )
    spark.add_argument(
        "--checkpoint",
        type=Path,
        metavar="DIR",
        help="with --follow: where it is kept what was judged (default: _busproof in its DIR)",
    )
    spark.add_argument(
        "--once", action="store_true", help="with --follow: end when all files there are judged"
    )
    spark.add_argument("--explain", action="store_true", help="tell how much the plan moves about")


def run(args: argparse.Namespace) -> int:
    """Judge and print; the exit code is the conformance report's.

    Raises:
        HistoryError: the history cannot be read.
        UsageError: there is no such file, or it names what the catalogue does not have.
    """
    _refuse_what_does_not_fit(args)
    from busproof.cli.run import published  # noqa: PLC0415
    from busproof.reports.conformance import write  # noqa: PLC0415

    failures = known_failures.Known(args)
    conformance = failures.mark(_by_spark(args) if _takes_spark(args) else _judged(args))

    def write_where_asked() -> None:
        if args.report is not None:
            write(conformance, args.report)

    return published(conformance, args, write_where_asked, failures)


def _refuse_what_does_not_fit(args: argparse.Namespace) -> None:
    if (args.history is None) is (args.follow is None):
        raise UsageError(
            "name a HISTORY, or with --follow a folder into which histories come; "
            "see busproof check --help"
        )
    for name in ("checkpoint", "once"):
        if getattr(args, name) and args.follow is None:
            raise UsageError(f"--{name} is of no use without --follow")
    if args.follow is not None and args.as_table is not None:
        raise UsageError("--as-table writes one history; leave it out beside --follow")


def _takes_spark(args: argparse.Namespace) -> bool:
    """Whether Spark is asked for, or by `auto` the better choice.

    Raises:
        UsageError: local is to do what only Spark does.
    """
    if args.engine == "spark" or (args.engine == "auto" and args.follow is not None):
        return True
    if args.engine == "auto" and _is_large(str(args.history)):
        return True
    asked = ("follow", "mapping", "master", "remote", "conf", "violations", "as_table", "explain")
    for name in asked:
        if getattr(args, name):
            option = name.replace("_", "-")
            raise UsageError(f"--{option} is for --engine spark, and the engine is local")
    return False


def _is_large(history: str) -> bool:
    from busproof.pipeline.sources import find_source  # noqa: PLC0415

    source = find_source(history)
    return source.is_table or len(source.paths) > 1 or source.size >= LARGE


def _by_spark(args: argparse.Namespace) -> "Conformance":
    need("spark", "--engine spark")
    if args.follow is not None:
        from busproof.cli.spark.folder_watch import followed  # noqa: PLC0415

        return followed(args)
    from busproof.cli.spark.check import judged  # noqa: PLC0415

    with busy("Judging by Spark"):
        return judged(args)


def _judged(args: argparse.Namespace) -> "Conformance":
    from busproof.history.files import load  # noqa: PLC0415
    from busproof.history.records import Oracle  # noqa: PLC0415
    from busproof.judging.verdicts import conformance  # noqa: PLC0415
    from busproof.spec import load as load_catalogue  # noqa: PLC0415

    oracle = None if args.oracle is None else Oracle(args.oracle)
    file = _file(Path(args.history))
    history = load(file)
    try:
        with busy(f"Judging {sum(len(each.events) for each in history.scenarios):,} events"):
            return conformance(history, load_catalogue(), oracle)
    except UsageError as error:
        raise UsageError(f"{file} names what is not known here. {error}") from None


def _file(path: Path) -> Path:
    """The history file that is meant: that of a run, where its folder was named."""
    from busproof.cli.child_run import HISTORY  # noqa: PLC0415

    file = path / HISTORY if path.is_dir() else path
    if not file.exists():
        raise UsageError(
            f"there is no file {file}; name a history file or the folder of a run, "
            f"such as {Path('reports', 'runs', 'latest')}"
        )
    return file
