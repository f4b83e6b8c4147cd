"""Printing and writing the results of a finished run, and its exit code."""

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from busproof.cli import github, known_failures
from busproof.cli.console import give_up_output, say
from busproof.cli.frame import Options
from busproof.errors import HistoryError

if TYPE_CHECKING:
    from rich.console import Console

    from busproof.cli.running.one_run import Conducted
    from busproof.history.conformance import Conformance

__all__ = ["publish", "report", "terminal", "try_printing", "try_writing"]


def report(done: "Conducted", *, allure: bool = False) -> None:
    """Write the files of a run, including each violation as commands and as a scenario.

    Args:
        done: the run.
        allure: whether to write Allure results of its scenarios, too.

    Raises:
        HistoryError: a file cannot be written.
    """
    from busproof.cli.failures import write as write_failure
    from busproof.reports.conformance import write

    write(done.conformance, done.folder)
    if allure:
        _write_allure(done)
    for failure in done.broken:
        write_failure(failure, done.folder)


def _write_allure(done: "Conducted") -> None:
    from busproof.cli.running.child_run import ALLURE
    from busproof.reports.allure import write_environment
    from busproof.reports.allure_cases import scenario_cases, write_cases
    from busproof.reports.redaction import redact
    from busproof.spec import load as load_catalogue

    folder = done.folder / ALLURE
    public = redact(done.conformance)
    catalogue = load_catalogue()
    write_cases(scenario_cases(public.subject.name, public, done.scenarios, catalogue), folder)
    write_environment(folder, public)


def publish(
    conformance: "Conformance",
    args: Options,
    write: Callable[[], None],
    failures: known_failures.Known,
) -> int:
    """Print the verdicts, write the report and known failures; return the exit code.

    If one of these fails, the run is incomplete, but the others still happen, and a violation still
    decides the exit code.
    """
    from busproof.history.conformance import ExitCode

    was_printed = try_printing(lambda: _print(conformance, args))
    done = try_writing(write)
    github.annotate_verdicts([conformance])
    code = conformance.exit_code
    complete = failures.write(conformance) and was_printed and done
    return int(code if complete or code is not ExitCode.OK else ExitCode.INCOMPLETE)


def try_writing(write: Callable[[], None]) -> bool:
    """Call a function that writes; if it fails, print why. Return whether it succeeded."""
    try:
        write()
    except HistoryError as error:
        say(str(error))
        return False
    return True


def try_printing(write: Callable[[], None]) -> bool:
    """Call a function that prints; if it fails, report why. Return whether it succeeded."""
    try:
        write()
        sys.stdout.flush()
    except OSError as error:
        give_up_output(error)
        return isinstance(error, BrokenPipeError)
    return True


def _print(conformance: "Conformance", args: Options) -> None:
    """Print the verdicts, as a table for people or as JSON."""
    if args.format == "json":
        import json

        from busproof.reports.document import view
        from busproof.reports.redaction import redact

        print(json.dumps(view(redact(conformance)), indent=2))
    else:
        from busproof.reports.terminal import show
        from busproof.spec import load

        show(conformance, load(), terminal(), verbose=args.verbose, folded=github.group)


def terminal() -> "Console":
    """Return a console that raises an error if its reader has closed the pipe."""
    from rich.console import Console

    class Terminal(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError

    return Terminal()
