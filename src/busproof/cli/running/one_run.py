"""One run from its request to its verdicts: recording, judging, and extracting failures."""

import re
import sys
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

import attrs

from busproof.adapters.finding import check_name
from busproof.cli import required
from busproof.cli.console import EVERY, busy, write_aside
from busproof.cli.failures import Failure, failures
from busproof.cli.frame import Options
from busproof.cli.running import child_run, rehearsed_run
from busproof.cli.running.child_run import Recorded
from busproof.cli.running.consent import ask_consent
from busproof.cli.running.repeat import add_commands
from busproof.errors import HistoryError, UsageError
from busproof.history.conformance import Conformance, ExitCode
from busproof.history.files import load
from busproof.history.records import AGAIN, Scenario, ScenarioVerdict
from busproof.spec import load as load_catalogue
from busproof.steps import options

if TYPE_CHECKING:
    from busproof.cli.known_failures import Known
    from busproof.cli.running.child_run import Counted, Finished, Request

__all__ = ["Conducted", "conduct", "interrupt_error"]

_ERRORS_TOLD: Final = 4
"""Maximum number of kinds of adapter errors to print; the history has all."""

_LOG_TOLD: Final = 3
"""Number of lines at the end of an adapter's log to print with each error."""


@attrs.frozen(kw_only=True)
class Conducted:
    """A recorded and judged run, not yet reported.

    Attributes:
        conformance: the verdicts.
        folder: the folder of the run.
        broken: the violations that can be replayed, as commands.
        scenarios: the scenarios of features, which need not have their events.
    """

    conformance: Conformance
    folder: Path
    broken: tuple[Failure, ...]
    scenarios: tuple[Scenario, ...]


def conduct(args: Options, request: "Request", known: "Known") -> Conducted:
    """Run and judge, without reporting.

    Raises:
        ConformanceError: the run could not begin.
    """
    if args.rule and args.source == "tla":
        raise UsageError("the paths of the specs have no rules; leave out --rule or --from")
    options.check(request)
    required.check(args)
    check_name(args.adapter)
    if args.name is not None:
        child_run.check_run_name(args.name)
    with ask_consent(request, yes=args.yes) as agreed_request:
        folder = child_run.run_folder(args.name, args.adapter)
        began = datetime.now(tz=UTC)
        start = time.monotonic()
        finished = _record(agreed_request, folder)
        child_run.latest(folder)
    try:
        recorded = finished.recorded or _judge_here(folder)
        conformance = _describe(_add_problems(recorded, finished), args)
        broken = _find_failures(recorded, conformance)
    except KeyboardInterrupt:
        raise interrupt_error(folder) from None
    conformance = attrs.evolve(
        conformance, at=f"{began:%Y-%m-%dT%H:%M:%SZ}", seconds=round(time.monotonic() - start)
    )
    conformance = add_commands(conformance, args, load_catalogue(), folder, broken, recorded.about)
    return Conducted(
        conformance=required.require(known.mark(conformance), args),
        folder=folder,
        broken=broken,
        scenarios=recorded.scenarios,
    )


def interrupt_error(folder: Path) -> HistoryError:
    """Return the error for an interrupt between the recording and the verdicts."""
    return HistoryError(
        f"interrupted before the verdicts; `busproof check {folder}` judges what was recorded"
    )


def _describe(conformance: Conformance, args: Options) -> Conformance:
    """Return the verdicts with the details of the implementation that options give."""
    values = {name: getattr(args, name) for name in ("commit", "url", "contact")}
    facts = {name: text for name, text in values.items() if text is not None}
    return attrs.evolve(conformance, subject=attrs.evolve(conformance.subject, **facts))


def _find_failures(recorded: Recorded, conformance: Conformance) -> tuple[Failure, ...]:
    catalogue = load_catalogue()
    return tuple(failures(recorded.header, conformance, catalogue, recorded.replays))


def _judge_here(folder: Path) -> Recorded:
    """Judge a history whose process could not say what it has found."""
    from busproof.judging.verdicts import conformance as judge_history  # half a second, seldom used

    with busy("Judging what was recorded", lines=True):
        history = load(folder / child_run.HISTORY)
        return Recorded(
            header=history.header,
            conformance=judge_history(history, load_catalogue()),
            errors=tuple(_details(history.scenarios)),
            about={scenario.name: scenario.rules for scenario in reversed(history.scenarios)},
            replays=tuple(one for one in history.scenarios if one.feature == AGAIN),
            scenarios=history.scenarios,
        )


def _details(scenarios: Sequence[Scenario]) -> Iterator[str]:
    for scenario in scenarios:
        if scenario.ended is not None and scenario.ended.verdict is ScenarioVerdict.ERRORED:
            yield scenario.ended.detail


def _record(request: "Request", folder: Path) -> "Finished":
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    # rich takes a file for a terminal if FORCE_COLOR is set, so check the stream itself.
    if not sys.stderr.isatty():
        return rehearsed_run.record(request, folder, _Lines())
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[told]}"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True)) as progress:
        name = f"Running on {request.adapter.partition(':')[0]}"
        task = progress.add_task(name, total=None, told=_how_far(child_run.Counted()))
        printed = 0

        def show(counted: child_run.Counted) -> None:
            nonlocal printed
            for line in counted.formed[printed:]:
                progress.console.print(line, markup=False, highlight=False)
            printed = max(printed, len(counted.formed))
            done = counted.ended + counted.repeated + counted.sequences
            progress.update(task, completed=done, total=counted.total, told=_how_far(counted))

        return rehearsed_run.record(request, folder, show)


class _Lines:
    """A printer of a run's progress: every half minute, and each family as it is complete."""

    def __init__(self) -> None:
        self._due = time.monotonic() + EVERY
        self._printed = 0

    def __call__(self, counted: "Counted") -> None:
        """Print the progress if half a minute has passed, and what is new of the verdicts."""
        # When nothing is left to do, the whole table is about to be printed.
        if counted.total is not None and counted.ended + counted.sequences < counted.total:
            for line in counted.formed[self._printed :]:
                write_aside(line)
            self._printed = max(self._printed, len(counted.formed))
        if time.monotonic() >= self._due:
            self._due += EVERY
            write_aside(f"Running: {_how_far(counted)}")


def _how_far(counted: "Counted") -> str:
    if counted.planned is None:
        return "starting"
    explored = f", {counted.sequences} sequences explored" if counted.sequences else ""
    repeated = f", {counted.repeated} more tries" if counted.repeated else ""
    done = f"{counted.ended} of {counted.planned} scenarios{explored}{repeated}"
    return f"rehearsing, {done}" if counted.rehearsing else done


def _add_problems(recorded: Recorded, finished: "Finished") -> Conformance:
    conformance = recorded.conformance
    problems = [*conformance.problems, *finished.messages, *_errors(recorded.errors)]
    if finished.interrupted:
        problems.insert(0, "the run was interrupted; what was recorded until then was judged")
    code = conformance.exit_code
    if problems and code is ExitCode.OK:
        code = ExitCode.INCOMPLETE
    return attrs.evolve(conformance, problems=tuple(dict.fromkeys(problems)), exit_code=code)


def _errors(broken: Sequence[str]) -> Iterator[str]:
    """Yield the errors of scenarios, one of each kind, with the end of the adapter's log."""
    # Sentences that differ only in numbers, such as process ids, are of one kind.
    kinds = {re.sub(r"\d+", "0", detail): detail for detail in reversed(broken)}
    details = [_shorten(detail) for detail in reversed(kinds.values())]
    yield from details[:_ERRORS_TOLD]
    if details[_ERRORS_TOLD:]:
        yield f"{len(details) - _ERRORS_TOLD} more kinds of errors are in the run's history"


def _shorten(detail: str) -> str:
    """Return the first sentence of a detail, with the end of the log in it."""
    message, *below = [line.strip() for line in detail.splitlines() if line.strip()] or [""]
    log = " | ".join(below[1:][-_LOG_TOLD:])
    return "; ".join(part for part in (message, " ".join((*below[:1], log)).strip()) if part)
