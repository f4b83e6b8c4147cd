"""`busproof run`: the features against one implementation, a verdict on every rule, a report."""

import argparse
import re
import sys
import textwrap
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from busproof import known
from busproof.consent import agreed
from busproof.errors import HistoryError, UsageError
from busproof.saying import busy, give_up_output, say, write_aside

if TYPE_CHECKING:
    from rich.console import Console

    from busproof.following import Following
    from busproof.history.conformance import Conformance
    from busproof.history.records import Scenario
    from busproof.runs import Counted, Finished, Request

__all__ = [
    "EVERY",
    "add_parser",
    "add_terms",
    "conducted",
    "printed",
    "published",
    "report",
    "request_from",
    "run",
    "terminal",
    "written",
]

EVERY: Final = "all"
"""In the place of an edition: each of them, one run after the other."""

_ERRORS_TOLD: Final = 4
"""How many kinds of errors of an adapter are told; the history has them all."""

_LOG_TOLD: Final = 3
"""How many of the last lines of an adapter's log are told with each."""


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command `run` to the command line."""
    parser = subparsers.add_parser(
        "run",
        help="run the suite on an implementation",
        description="Runs the features on an implementation, explores it with random commands, "
        "judges what was recorded and writes reports/runs/NAME/ under the current folder.",
    )
    parser.add_argument(
        "--adapter", default="model", metavar="A", help="see busproof adapters (default: model)"
    )
    add_terms(parser, "of the documents, or all (default: the newest)")
    parser.add_argument(
        "--timeout", metavar="SECONDS", help="for each answer of an exec: adapter (default: 10)"
    )
    parser.add_argument(
        "--rule",
        action="append",
        default=[],
        metavar="ID",
        help="only the scenarios of this rule, or family of rules; may be given several times",
    )
    known.add_options(parser)
    add_exploration(parser)
    parser.add_argument(
        "--from",
        dest="source",
        choices=("features", "tla"),
        help="run the scenarios (default), or the paths of the TLA+ specs",
    )
    parser.add_argument(
        "--yes", action="store_true", help="do not ask before a real namespace is used"
    )
    parser.add_argument("--name", help="of the run (default: time and adapter)")
    parser.add_argument(
        "--no-allure", action="store_true", help="write no results for Allure, which take a while"
    )
    parser.add_argument("--format", choices=("table", "json"), default="table")
    parser.add_argument("-v", "--verbose", action="store_true", help="every rule, every cause")
    parser.set_defaults(run=run)


def add_exploration(parser: argparse.ArgumentParser) -> None:
    """Add what of the suite is run, and how much is explored."""
    parser.add_argument(
        "--only", choices=("features", "exploration"), help="one of both (default: both)"
    )
    parser.add_argument(
        "--profile",
        metavar="P",
        help="how much is explored: quick (default), ci, network or soak",
    )
    parser.add_argument("--minutes", metavar="N", help="how long a soak lasts (default: 10)")
    parser.add_argument(
        "--seed", metavar="N", help="explore as before: the seed is told by each run"
    )
    parser.add_argument(
        "--replay", metavar="FILE", help="ask the commands of a commands.json, and nothing else"
    )


def _profile(args: argparse.Namespace) -> str | None:
    """How much is explored; nothing with features, a rule or a replay alone."""
    alone = [f"--{name}" for name in ("rule", "replay") if getattr(args, name, None)]
    if getattr(args, "only", None) == "features":
        alone.append("--only features")
    asked = [
        f"--{name}"
        for name in ("profile", "minutes", "seed")
        if getattr(args, name, None) is not None
    ]
    if alone and (asked or getattr(args, "only", None) == "exploration"):
        raise UsageError(f"{alone[0]} explores nothing; leave out {(asked or ['--only'])[0]}")
    return None if alone else getattr(args, "profile", None) or _profile_for(args)


def _profile_for(args: argparse.Namespace) -> str:
    """How much is explored where nobody says: little where each request is dear."""
    from busproof.adapters.finding import is_address, resolved  # noqa: PLC0415

    return "network" if is_address(resolved(getattr(args, "adapter", ""))) else "quick"


def add_terms(
    parser: argparse.ArgumentParser,
    edition_help: str = "of the documents (default: the newest)",
) -> None:
    """Add what an implementation is held to."""
    parser.add_argument("--edition", metavar="ID", help=edition_help)
    parser.add_argument("--tier", metavar="T", help="basic, standard (default) or premium")
    parser.add_argument(
        "--reading",
        action="append",
        default=[],
        metavar="AMBIGUITY=READING",
        help="how an ambiguity is read; see busproof rules --ambiguities",
    )
    parser.add_argument("--oracle", metavar="O", help="strict or client (default: what can be)")
    parser.add_argument("--partitions", metavar="N", help="default: 16")


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
        rules=tuple(getattr(args, "rule", ())),
        profile=_profile(args),
        minutes=getattr(args, "minutes", None),
        seed=getattr(args, "seed", None),
        replay=getattr(args, "replay", None),
        only=getattr(args, "only", None),
        source=getattr(args, "source", None),
        readings=tuple(args.reading),
        allure=not getattr(args, "no_allure", False),
    )


def run(args: argparse.Namespace) -> int:
    """Run, judge, report; the exit code is the conformance report's.

    Raises:
        ConformanceError: the run could not begin.
    """
    if args.edition == EVERY:
        from busproof.commands_run_editions import run_editions  # noqa: PLC0415

        return run_editions(args)
    failures = known.Known(args)
    conformance, folder = conducted(args, failures)
    try:
        code = published(conformance, args, lambda: report(conformance, folder, args), failures)
    except KeyboardInterrupt:
        raise _interrupted(folder) from None
    write_aside(f"Report: {folder}")
    return code


def conducted(args: argparse.Namespace, failures: known.Known) -> "tuple[Conformance, Path]":
    """Run and judge, and report nothing yet; the verdicts, and the run's folder.

    Raises:
        ConformanceError: the run could not begin.
    """
    from busproof import runs  # noqa: PLC0415
    from busproof.adapters.finding import check_name  # noqa: PLC0415
    from busproof.following import Following  # noqa: PLC0415
    from busproof.steps import options  # noqa: PLC0415

    request = request_from(args, args.adapter)
    if args.rule and args.source == "tla":
        raise UsageError("the paths of the specs belong to no rule; leave --rule or --from out")
    options.check(request)
    check_name(args.adapter)
    with agreed(request, yes=args.yes) as agreed_request:
        folder = runs.run_folder(args.name, args.adapter)
        with Following(folder / runs.HISTORY) as following:
            finished = _recorded(agreed_request, folder)
        runs.latest(folder)
    try:
        with busy("Judging what was recorded"):
            return failures.mark(_judged(following, finished)), folder
    except KeyboardInterrupt:
        raise _interrupted(folder) from None


def _interrupted(folder: Path) -> HistoryError:
    return HistoryError(
        f"interrupted before the verdicts; `busproof check {folder}` judges what was recorded"
    )


def _recorded(request: "Request", folder: Path) -> "Finished":
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn  # noqa: PLC0415

    from busproof import runs  # noqa: PLC0415

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed:.0f} of {task.total} scenarios{task.fields[besides]}"),
        TimeElapsedColumn(),
    )
    # rich calls a file a terminal where FORCE_COLOR asks for colours.
    shown = sys.stderr.isatty()
    with Progress(*columns, console=Console(stderr=True), disable=not shown) as progress:
        task = progress.add_task(
            f"Running on {request.adapter.partition(':')[0]}", total=None, besides=""
        )
        return runs.record(
            request,
            folder,
            lambda counted: progress.update(
                task, completed=counted.ended, total=counted.planned, besides=_besides(counted)
            ),
        )


def _besides(counted: "Counted") -> str:
    explored = f", {counted.sequences} sequences explored" if counted.sequences else ""
    repeated = f", {counted.repeated} more tries" if counted.repeated else ""
    return explored + repeated


def _judged(following: "Following", finished: "Finished") -> "Conformance":
    import attrs  # noqa: PLC0415

    from busproof.history.conformance import ExitCode  # noqa: PLC0415

    found = following.conformance()
    problems = [*found.problems, *finished.said, *_errors(following.scenarios)]
    if finished.interrupted:
        problems.insert(0, "the run was interrupted; what was recorded until then was judged")
    code = found.exit_code
    if problems and code is ExitCode.OK:
        code = ExitCode.INCOMPLETE
    return attrs.evolve(found, problems=tuple(dict.fromkeys(problems)), exit_code=code)


def _errors(scenarios: Sequence["Scenario"]) -> Iterator[str]:
    """What broke scenarios, one of each kind, with the end of the adapter's log."""
    from busproof.history.records import ScenarioVerdict  # noqa: PLC0415

    endings = [each.ended for each in scenarios if each.ended is not None]
    broken = [each.detail for each in endings if each.verdict is ScenarioVerdict.ERRORED]
    # Two sentences that differ in a number, such as a request's or a process's, are of one kind.
    kinds = {re.sub(r"\d+", "0", detail): detail for detail in reversed(broken)}
    told = [_shortened(detail) for detail in reversed(kinds.values())]
    yield from told[:_ERRORS_TOLD]
    if told[_ERRORS_TOLD:]:
        yield f"{len(told) - _ERRORS_TOLD} kinds of errors more are told by the run's history"


def _shortened(detail: str) -> str:
    """A sentence, and below it a log of which only the end is kept."""
    said, *below = [line.strip() for line in detail.splitlines() if line.strip()] or [""]
    log = " | ".join(below[1:][-_LOG_TOLD:])
    return "; ".join(part for part in (said, " ".join((*below[:1], log)).strip()) if part)


def report(conformance: "Conformance", folder: Path, args: argparse.Namespace) -> None:
    """Write a run's files.

    Raises:
        HistoryError: one cannot be written.
    """
    from busproof.reports.allure import cleaned  # noqa: PLC0415
    from busproof.reports.conformance import write  # noqa: PLC0415
    from busproof.runs import ALLURE  # noqa: PLC0415
    from busproof.spec import load as load_catalogue  # noqa: PLC0415

    write(conformance, folder)
    if (folder / ALLURE).is_dir():
        cleaned(folder / ALLURE, conformance, load_catalogue())
    _take_along(conformance, folder, printed=args.format == "table")


def _take_along(conformance: "Conformance", folder: Path, *, printed: bool) -> None:
    """Write each violation as commands and as a scenario, and print those that are short."""
    from busproof.failures import COMMANDS, failures, write  # noqa: PLC0415
    from busproof.history.files import load  # noqa: PLC0415
    from busproof.runs import HISTORY  # noqa: PLC0415
    from busproof.spec import load as load_catalogue  # noqa: PLC0415

    if all(rule.counterexample is None for rule in conformance.rules):
        return
    for failure in failures(load(folder / HISTORY), conformance, load_catalogue()):
        place = write(failure, folder)
        if printed:
            told = "" if failure.is_long else f":\n\n{textwrap.indent(failure.words, '  ')}\n"
            print(f"\nWhat broke {failure.rule}, as commands and as a scenario{told}")  # noqa: T201
            print(f"Again: busproof run --replay {place / COMMANDS}")  # noqa: T201


def published(
    conformance: "Conformance",
    args: argparse.Namespace,
    write: Callable[[], None],
    failures: known.Known,
) -> int:
    """Print the verdicts, write the report and the list of known failures; the exit code.

    What cannot be printed or written makes a run incomplete, and hides neither the other nor a
    violation.
    """
    from busproof.history.conformance import ExitCode  # noqa: PLC0415

    told, done = printed(lambda: _print(conformance, args)), written(write)
    code = conformance.exit_code
    complete = failures.write(conformance) and told and done
    return int(code if complete or code is not ExitCode.OK else ExitCode.INCOMPLETE)


def written(write: Callable[[], None]) -> bool:
    """Write, or say why that is not possible; whether it went well."""
    try:
        write()
    except HistoryError as error:
        say(str(error))
        return False
    return True


def printed(tell: Callable[[], None]) -> bool:
    """Print, or say why that is not possible; whether it went well."""
    try:
        tell()
        sys.stdout.flush()
    except OSError as error:
        give_up_output(error)
        return isinstance(error, BrokenPipeError)
    return True


def _print(conformance: "Conformance", args: argparse.Namespace) -> None:
    """Print the verdicts as the command line asks: a matrix for people, or JSON."""
    if args.format == "json":
        import json  # noqa: PLC0415

        from busproof.reports.document import view  # noqa: PLC0415
        from busproof.reports.redaction import redacted  # noqa: PLC0415

        print(json.dumps(view(redacted(conformance)), indent=2))  # noqa: T201
    else:
        from busproof.reports.terminal import show  # noqa: PLC0415
        from busproof.spec import load  # noqa: PLC0415

        show(conformance, load(), terminal(), verbose=args.verbose)


def terminal() -> "Console":
    """A console that leaves it to us what becomes of a run that nobody reads about."""
    from rich.console import Console  # noqa: PLC0415

    class Terminal(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError

    return Terminal()
