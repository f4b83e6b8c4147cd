"""`busproof run`: the features against one implementation, a verdict on every rule, a report."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING


if TYPE_CHECKING:
    from busproof.history.conformance import Conformance
    from busproof.runs import Finished, Request

__all__ = ["add_parser", "add_terms", "print_conformance", "request_from", "run"]


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command `run` to the command line."""
    parser = subparsers.add_parser(
        "run",
        help="run the suite on an implementation",
        description="Runs the features on an implementation, judges what was recorded and writes "
        "reports/runs/NAME/ under the current folder.",
    )
    parser.add_argument(
        "--adapter", default="model", metavar="A", help="see busproof adapters (default: model)"
    )
    add_terms(parser)
    parser.add_argument(
        "--timeout", type=float, metavar="SECONDS", help="for each answer of an exec: adapter"
    )
    parser.add_argument("--rule", metavar="ID", help="only the scenarios of this rule")
    parser.add_argument("--name", help="of the run (default: time and adapter)")
    parser.add_argument("--format", choices=("table", "json"), default="table")
    parser.add_argument("-v", "--verbose", action="store_true", help="every rule, every cause")
    parser.set_defaults(run=run)


def add_terms(parser: argparse.ArgumentParser) -> None:
    """Add what an implementation is held to."""
    parser.add_argument("--edition", metavar="ID", help="of the documents (default: the newest)")
    parser.add_argument("--tier", metavar="T", help="basic, standard (default) or premium")
    parser.add_argument(
        "--reading",
        action="append",
        default=[],
        metavar="AMBIGUITY=READING",
        help="how an ambiguity is read; see busproof rules --ambiguities",
    )
    parser.add_argument("--oracle", metavar="O", help="strict or client (default: what can be)")
    parser.add_argument("--partitions", type=int, metavar="N", help="default: 16")


def request_from(args: argparse.Namespace, adapter: str) -> "Request":
    """What to run, from the command line."""
    from busproof.runs import Request  # noqa: PLC0415 - the catalogue alone starts faster

    return Request(
        adapter=adapter,
        edition=args.edition,
        tier=args.tier,
        oracle=args.oracle,
        partitions=args.partitions,
        timeout=getattr(args, "timeout", None),
        rule=getattr(args, "rule", None),
        readings=tuple(args.reading),
    )


def run(args: argparse.Namespace) -> int:
    """Run, judge, report; the exit code is the conformance report's.

    Raises:
        ConformanceError: the run could not begin, or its report cannot be written.
    """
    from busproof import runs, spec  # noqa: PLC0415

    catalogue = spec.load()
    if args.rule:
        catalogue.rule(args.rule)
    folder = runs.run_folder(args.name, args.adapter)
    finished = _recorded(args, folder)
    runs.latest(folder)
    conformance = _judged(folder, finished)
    print_conformance(conformance, args)
    _report(conformance, folder)
    print(f"Report: {folder}", file=sys.stderr)  # noqa: T201 - for people, not for --format json
    return int(conformance.exit_code)


def _recorded(args: argparse.Namespace, folder: Path) -> "Finished":
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn  # noqa: PLC0415

    from busproof import runs  # noqa: PLC0415

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed:.0f} of {task.total} scenarios"),
        TimeElapsedColumn(),
    )
    console = Console(stderr=True)
    with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
        task = progress.add_task(f"Running on {args.adapter.partition(':')[0]}", total=None)
        return runs.record(
            request_from(args, args.adapter),
            folder,
            lambda ended, planned: progress.update(task, completed=ended, total=planned),
        )


def _judged(folder: Path, finished: "Finished") -> "Conformance":
    import attrs  # noqa: PLC0415

    from busproof.history.conformance import ExitCode  # noqa: PLC0415
    from busproof.history.files import load  # noqa: PLC0415
    from busproof.judging.verdicts import conformance  # noqa: PLC0415
    from busproof.runs import HISTORY  # noqa: PLC0415
    from busproof.spec import load as load_catalogue  # noqa: PLC0415

    found = conformance(load(folder / HISTORY), load_catalogue())
    problems = [*found.problems, *([finished.said] if finished.said else [])]
    if finished.interrupted:
        problems.insert(0, "the run was interrupted; what was recorded until then was judged")
    code = found.exit_code
    if problems and code is ExitCode.OK:
        code = ExitCode.INCOMPLETE
    return attrs.evolve(found, problems=tuple(dict.fromkeys(problems)), exit_code=code)


def _report(conformance: "Conformance", folder: Path) -> None:
    from busproof.reports.allure import cleaned  # noqa: PLC0415
    from busproof.reports.conformance import write  # noqa: PLC0415
    from busproof.runs import ALLURE  # noqa: PLC0415

    write(conformance, folder)
    if (folder / ALLURE).is_dir():
        cleaned(folder / ALLURE, conformance)


def print_conformance(conformance: "Conformance", args: argparse.Namespace) -> None:
    """Print the verdicts as the command line asks: a matrix for people, or JSON."""
    from busproof.spec import load  # noqa: PLC0415

    if args.format == "json":
        import json  # noqa: PLC0415

        from busproof.reports.document import view  # noqa: PLC0415
        from busproof.reports.redaction import redacted  # noqa: PLC0415

        print(json.dumps(view(redacted(conformance)), indent=2))  # noqa: T201
        return
    from rich.console import Console  # noqa: PLC0415

    from busproof.reports.terminal import show  # noqa: PLC0415

    show(conformance, load(), Console(), verbose=args.verbose)
