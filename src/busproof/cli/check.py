"""`busproof check`: judge recorded histories, with a verdict on every rule."""

from pathlib import Path
from typing import TYPE_CHECKING, Final

import attrs
import click

from busproof.cli import began, check_move, known_failures, required
from busproof.cli.console import busy, processors
from busproof.cli.frame import FORMAT, PATH, VERBOSE, Command, Options, argument, flag, option
from busproof.errors import UsageError
from busproof.extras import need

if TYPE_CHECKING:
    from busproof.history.conformance import Conformance
    from busproof.history.records import History, Oracle

__all__ = ["COMMAND", "run"]

ENGINES: Final = ("local", "spark", "auto")

LARGE: Final = 256 * 1024 * 1024
"""Minimum size of history files for `auto` to use Spark, in bytes; tables always use it."""


def run(args: Options) -> int:
    """Judge and print; return the conformance report's exit code.

    Raises:
        HistoryError: the history cannot be read.
        UsageError: the file does not exist, or has terms that the catalogue lacks.
    """
    _refuse_what_does_not_fit(args)
    from busproof.cli.running.publishing import publish
    from busproof.reports.conformance import write

    if args.target is not None:
        return _compare(args)
    required.check(args)
    if args.explain:
        _explain(args)
    failures = known_failures.Known(args)
    marked = failures.mark(_judge_on_spark(args) if _takes_spark(args) else _judge_here(args))
    conformance = required.require(marked, args)

    def write_report() -> None:
        if args.report is not None:
            write(conformance, args.report)

    return publish(conformance, args, write_report, failures)


def _compare(args: Options) -> int:
    """Say what breaks when the clients of a history, or entities, move to another namespace."""
    check_move.refuse_idle_options(args)
    if check_move.has_settings(Path(args.history)):
        return check_move.check_move(args, None)
    return check_move.check_move(args, _history(args))


def _refuse_what_does_not_fit(args: Options) -> None:
    if (args.history is None) is (args.follow is None):
        raise UsageError(
            "name a HISTORY, or a folder of arriving histories with --follow; see "
            "busproof check --help"
        )
    for name in ("checkpoint", "once", "stream", "watermark"):
        if getattr(args, name) and args.follow is None:
            raise UsageError(f"--{name} is of no use without --follow")
    if args.follow is not None and args.as_table is not None:
        raise UsageError("--as-table writes a single history; leave it out with --follow")
    if args.explain and (args.format == "json" or args.engine != "local" or args.history is None):
        raise UsageError(
            "--explain prints the execution of one history as text, by the local engine; leave out "
            "--format json, --engine and --follow beside it"
        )
    if args.explain and args.began is not None:
        raise UsageError(
            "--explain replays a history from its creations on, and one that begins in the middle "
            "has none; leave out --began or --explain"
        )
    if args.follow is not None and args.screen:
        raise UsageError("--screen is for one history; leave it out beside --follow")


def _takes_spark(args: Options) -> bool:
    """Return whether to use Spark: if requested, or if `auto` prefers it.

    Raises:
        UsageError: the local engine is requested with an option that only Spark supports.
    """
    if args.engine == "spark" or (args.engine == "auto" and (args.follow or args.screen)):
        return True
    if args.engine == "auto" and _is_large(str(args.history)):
        return True
    places = ("follow", "mapping", "violations", "as_table")
    for name in (*places, "master", "remote", "conf", "screen", "plan"):
        if getattr(args, name):
            written = name.replace("_", "-")
            raise UsageError(f"--{written} is for --engine spark, and the engine is local")
    return False


def _is_large(history: str) -> bool:
    from busproof.pipeline.sources import find_source

    source = find_source(history)
    return source.is_table or len(source.paths) > 1 or source.size >= LARGE


def _judge_on_spark(args: Options) -> "Conformance":
    need("spark", "--engine spark")
    if args.follow is not None:
        from busproof.cli.spark.folder_watch import follow_folder

        return follow_folder(args)
    from busproof.cli.spark.check import judge_history

    with busy("Judging by Spark", lines=True):
        return judge_history(args)


def _explain(args: Options) -> None:
    from busproof.cli.check_explain import explanations
    from busproof.history.files import load

    for line in explanations(load(_file(Path(args.history))), _oracle(args)):
        print(line)


def _oracle(args: Options) -> "Oracle | None":
    from busproof.history.records import Oracle

    return None if args.oracle is None else Oracle(args.oracle)


def _history(args: Options) -> "History":
    """Return the history, with what `--began` says of it."""
    from busproof.history.files import load
    from busproof.judging.garbage import seldom_collected

    with seldom_collected():
        history = load(_file(Path(args.history)))
    said = began.began_of(args)
    if said is None:
        return history
    return attrs.evolve(history, header=attrs.evolve(history.header, began=said))


def _judge_here(args: Options) -> "Conformance":
    from busproof.judging.verdicts import conformance
    from busproof.spec import load as load_catalogue

    oracle = _oracle(args)
    file = _file(Path(args.history))
    history = _history(args)
    cores = args.jobs or processors()
    try:
        events = sum(len(scenario.events) for scenario in history.scenarios)
        with busy(f"Judging {events:,} events", lines=True):
            return conformance(history, load_catalogue(), oracle, cores=cores)
    except UsageError as error:
        raise UsageError(f"{file} names what is not known here. {error}") from None


def _file(path: Path) -> Path:
    """Return the history file; in the folder of a run, the file that it has."""
    from busproof.cli.running.child_run import HISTORY
    from busproof.history.recordings import parts_of

    if path.is_dir() and parts_of(path):
        return path
    file = path / HISTORY if path.is_dir() else path
    if not file.exists():
        raise UsageError(
            f"there is no file {file}; name a history file or the folder of a run, "
            f"such as {Path('reports', 'runs', 'latest')}"
        )
    return file


SPARK: Final = "With --engine spark"
"""Help section of options that only Spark supports."""

COMMAND: Final = Command(
    "check",
    run,
    description="Judge a recorded history (JSON lines) from any source.",
    parameters=[
        argument(
            "history",
            "HISTORY",
            "a history file or the folder of a run; with Spark also a folder of files or a table",
            type=click.Path(readable=False),
        ),
        option(
            "--engine",
            type=click.Choice(ENGINES),
            default="local",
            help="local: in this process (default); spark: histories of any size, with the same "
            "verdicts; auto: spark for tables and large files, else local",
        ),
        option(
            "--oracle",
            type=click.Choice(("strict", "client")),
            help="strict or client (default: strict if the history names partitions)",
        ),
        began.OPTION,
        check_move.OPTION,
        *known_failures.OPTIONS,
        required.REQUIRE,
        option("--report", type=PATH, metavar="DIR", help="also write the report to this folder"),
        option(
            "--jobs",
            type=click.IntRange(min=1),
            metavar="N",
            help="processes that judge one long history of overlapping requests (default: one for "
            "each core); on Spark: --conf spark.task.cpus=N",
        ),
        FORMAT,
        VERBOSE,
        flag(
            "--explain",
            help="print an execution of the reference model that gives the recorded answers: what "
            "the bus may have chosen at each event",
        ),
        option(
            "--master",
            section=SPARK,
            metavar="URL",
            help="Spark master: local[N] or spark://HOST:PORT",
        ),
        option(
            "--remote",
            section=SPARK,
            metavar="URL",
            help="use a Spark Connect server: sc://HOST:PORT",
        ),
        option(
            "--conf",
            section=SPARK,
            multiple=True,
            metavar="NAME=VALUE",
            help="Spark setting (repeatable)",
        ),
        option(
            "--mapping",
            section=SPARK,
            type=PATH,
            metavar="FILE",
            help="TOML file that maps the table's columns, if they differ from the "
            "published schema",
        ),
        option(
            "--violations",
            section=SPARK,
            type=PATH,
            metavar="DIR",
            help="write all violations and unusable lines to this folder",
        ),
        option(
            "--violations-format",
            section=SPARK,
            type=click.Choice(("parquet", "json")),
            default="parquet",
            help="format of --violations (default: parquet)",
        ),
        option(
            "--as-table",
            section=SPARK,
            type=PATH,
            metavar="DIR",
            help="also write the history as a table to this folder",
        ),
        option(
            "--follow",
            section=SPARK,
            type=PATH,
            metavar="DIR",
            help="judge each history file that arrives in DIR, until Ctrl-C (instead of "
            "HISTORY); a restart continues",
        ),
        option(
            "--checkpoint",
            section=SPARK,
            type=PATH,
            metavar="DIR",
            help="with --follow: folder for progress (default: _busproof in DIR)",
        ),
        flag("--once", section=SPARK, help="with --follow: exit when all files are judged"),
        option(
            "--stream",
            section=SPARK,
            type=PATH,
            metavar="FILE",
            help="with --follow: TOML file that names a stream, such as a topic of Kafka, whose "
            "records are stored in DIR and judged",
        ),
        option(
            "--watermark",
            section=SPARK,
            type=click.IntRange(min=0),
            metavar="SECONDS",
            help="with --follow: histories of a table may continue in later files, until they end "
            "or nothing of them was requested for so long",
        ),
        flag(
            "--screen",
            section=SPARK,
            help="judge only what looks like a violation of a few rules; shows no rule",
        ),
        flag("--plan", section=SPARK, help="print how much data the plan shuffles"),
    ],
    examples=[
        ("busproof check reports/runs/latest", "Judge the newest run again:"),
        ("busproof check history.jsonl --oracle client -v", "By what clients can see alone:"),
        (
            "busproof check reports/runs/latest --as premium:4",
            "What breaks when its clients move to a partitioned Premium namespace:",
        ),
        ("busproof check histories/ --engine spark --report judged", "A folder of histories:"),
    ],
)
