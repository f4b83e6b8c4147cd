"""`busproof run`: the features against one implementation, a verdict on every rule, a report."""

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

import click

from busproof.cli import github, known_failures, required, values
from busproof.cli.console import give_up_output, say, write_aside
from busproof.cli.frame import FORMAT, VERBOSE, Command, Option, Options, flag, option
from busproof.errors import HistoryError, UsageError

if TYPE_CHECKING:
    from rich.console import Console

    from busproof.cli.running.child_run import Request
    from busproof.cli.running.one_run import Conducted
    from busproof.history.conformance import Conformance

__all__ = [
    "COMMAND",
    "EVERY",
    "printed",
    "published",
    "report",
    "request_from",
    "run",
    "terminal",
    "written",
]

EVERY: Final = "all"
"""Stands for every edition, one run after another."""


def _profile(args: Options) -> str | None:
    """Return the profile of the exploration, or `None` for features, rules or a replay alone."""
    alone = [f"--{name}" for name in ("rule", "replay") if getattr(args, name, None)]
    if (only := getattr(args, "only", None)) in ("features", "distilled"):
        alone.append(f"--only {only}")
    asked = [
        f"--{name}"
        for name in ("profile", "minutes", "seed")
        if getattr(args, name, None) is not None
    ]
    if alone and (asked or getattr(args, "only", None) == "exploration"):
        raise UsageError(f"{alone[0]} explores nothing; leave out {(asked or ['--only'])[0]}")
    return None if alone else getattr(args, "profile", None) or _profile_for(args)


def _profile_for(args: Options) -> str:
    """Return the default profile: a small one where each request is slow."""
    from busproof.adapters.finding import is_address, resolved  # noqa: PLC0415

    return "network" if is_address(resolved(getattr(args, "adapter", ""))) else "quick"


def request_from(args: Options, adapter: str) -> "Request":
    """Return the request of a run from the command line."""
    from busproof.cli.running.child_run import Request  # noqa: PLC0415 - the catalogue alone starts faster

    return Request(
        adapter=adapter,
        edition=args.edition,
        tier=args.tier,
        oracle=args.oracle,
        partitions=args.partitions,
        namespace_partitions=args.namespace_partitions,
        messaging_units=args.messaging_units,
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


def run(args: Options) -> int:
    """Run, judge and report; return the conformance report's exit code.

    Raises:
        ConformanceError: the run could not begin.
    """
    if args.edition == EVERY:
        from busproof.cli.running.run_editions import run_editions  # noqa: PLC0415

        return run_editions(args)
    from busproof.cli.running.one_run import conducted, interrupted  # noqa: PLC0415

    failures = known_failures.Known(args)
    done = conducted(args, request_from(args, args.adapter), failures)
    try:
        code = published(done.conformance, args, lambda: report(done), failures)
    except KeyboardInterrupt:
        raise interrupted(done.folder) from None
    write_aside(f"Report: {done.folder}")
    return code


def report(done: "Conducted") -> None:
    """Write a run's files, with each violation as commands and as a scenario.

    Raises:
        HistoryError: one cannot be written.
    """
    from busproof.cli.failures import write as write_failure  # noqa: PLC0415
    from busproof.cli.running.child_run import ALLURE  # noqa: PLC0415
    from busproof.reports.allure import cleaned  # noqa: PLC0415
    from busproof.reports.conformance import write  # noqa: PLC0415
    from busproof.spec import load as load_catalogue  # noqa: PLC0415

    write(done.conformance, done.folder)
    if (done.folder / ALLURE).is_dir():
        cleaned(done.folder / ALLURE, done.conformance, load_catalogue())
    for failure in done.broken:
        write_failure(failure, done.folder)


def published(
    conformance: "Conformance",
    args: Options,
    write: Callable[[], None],
    failures: known_failures.Known,
) -> int:
    """Print the verdicts, write the report and known failures; return the exit code.

    What cannot be printed or written makes a run incomplete, and hides neither the other nor a
    violation.
    """
    from busproof.history.conformance import ExitCode  # noqa: PLC0415

    was_printed, done = printed(lambda: _print(conformance, args)), written(write)
    github.annotate_verdicts([conformance])
    code = conformance.exit_code
    complete = failures.write(conformance) and was_printed and done
    return int(code if complete or code is not ExitCode.OK else ExitCode.INCOMPLETE)


def written(write: Callable[[], None]) -> bool:
    """Write, or print why that failed; return whether it succeeded."""
    try:
        write()
    except HistoryError as error:
        say(str(error))
        return False
    return True


def printed(tell: Callable[[], None]) -> bool:
    """Print, or say why that failed; return whether it succeeded."""
    try:
        tell()
        sys.stdout.flush()
    except OSError as error:
        give_up_output(error)
        return isinstance(error, BrokenPipeError)
    return True


def _print(conformance: "Conformance", args: Options) -> None:
    """Print the verdicts as a table for people or as JSON."""
    if args.format == "json":
        import json  # noqa: PLC0415

        from busproof.reports.document import view  # noqa: PLC0415
        from busproof.reports.redaction import redacted  # noqa: PLC0415

        print(json.dumps(view(redacted(conformance)), indent=2))  # noqa: T201
    else:
        from busproof.reports.terminal import show  # noqa: PLC0415
        from busproof.spec import load  # noqa: PLC0415

        show(conformance, load(), terminal(), verbose=args.verbose, folded=github.group)


def terminal() -> "Console":
    """Return a console that raises when its reader is gone."""
    from rich.console import Console  # noqa: PLC0415

    class Terminal(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError

    return Terminal()


EXPLORATION: Final = "What to run"
TERMS_OF: Final = "Options that select the rules"

TERMS: Final[tuple[Option, ...]] = (
    option(
        "--edition",
        section=TERMS_OF,
        metavar="ID",
        help="edition of the documents, or all (default: see busproof rules)",
        shell_complete=values.editions,
    ),
    option(
        "--tier",
        section=TERMS_OF,
        metavar="T",
        help="tier: basic, standard (default) or premium",
        shell_complete=values.one_of("basic", "standard", "premium"),
    ),
    option(
        "--reading",
        section=TERMS_OF,
        multiple=True,
        metavar="AMBIGUITY=READING",
        help="choose a reading of an ambiguity (repeatable); see busproof rules --ambiguities",
    ),
    option(
        "--oracle",
        section=TERMS_OF,
        metavar="O",
        help="strict or client (default: strict if partitions are observable)",
        shell_complete=values.one_of("strict", "client"),
    ),
    option("--partitions", section=TERMS_OF, metavar="N", help="default: 16"),
    option(
        "--namespace-partitions",
        section=TERMS_OF,
        metavar="N",
        help="partitions of a Premium namespace: 1 (not partitioned, default), 2 or 4",
        shell_complete=values.one_of("1", "2", "4"),
    ),
    option(
        "--messaging-units",
        section=TERMS_OF,
        metavar="N",
        help="messaging units of a Premium namespace (default: one for each partition)",
    ),
)
"""Options that select the rules."""

HOW_MUCH: Final[tuple[Option, ...]] = (
    option(
        "--rule",
        section=EXPLORATION,
        multiple=True,
        metavar="ID",
        help="only the scenarios of this rule or family (repeatable)",
        shell_complete=values.rules,
    ),
    option(
        "--only",
        section=EXPLORATION,
        type=click.Choice(("features", "distilled", "exploration")),
        help="run only the scenarios, the distilled sequences or the exploration",
    ),
    option(
        "--profile",
        section=EXPLORATION,
        metavar="P",
        help="amount of exploration: quick (default), ci, network or soak",
        shell_complete=values.one_of("quick", "ci", "network", "soak"),
    ),
    option(
        "--minutes",
        section=EXPLORATION,
        metavar="N",
        help="duration of a soak (default: 10)",
    ),
    option(
        "--seed",
        section=EXPLORATION,
        metavar="N",
        help="repeat an exploration; each run prints its seed",
    ),
    option(
        "--replay",
        section=EXPLORATION,
        type=click.Path(readable=False),
        metavar="FILE",
        help="replay the commands of a commands.json, and nothing else",
    ),
    option(
        "--from",
        "source",
        section=EXPLORATION,
        type=click.Choice(("features", "tla")),
        help="features: the scenarios (default); tla: the paths of the TLA+ specs",
    ),
)
"""Options that select what runs."""

COMMAND: Final = Command(
    "run",
    run,
    description="Run the scenarios against an implementation, explore it with random "
    "commands, judge the recorded history and write reports/runs/NAME/ below "
    "the current folder.",
    parameters=[
        option(
            "--adapter",
            default="model",
            metavar="A",
            help="implementation to test; see busproof adapters (default: model)",
            shell_complete=values.adapters,
        ),
        option(
            "--timeout",
            metavar="SECONDS",
            help="limit for each answer of an exec: adapter (default: 10)",
        ),
        *known_failures.OPTIONS,
        required.REQUIRE,
        flag("--yes", help="use a real namespace without asking"),
        option("--name", metavar="NAME", help="name of the run (default: time and adapter)"),
        option("--commit", metavar="ID", help="commit of the implementation, for the report"),
        option(
            "--url",
            metavar="URL",
            help="web page of the implementation, for the report",
        ),
        option("--contact", metavar="WHO", help="contact for the implementation, for the report"),
        flag("--no-allure", help="skip Allure results (faster)"),
        FORMAT,
        VERBOSE,
        *TERMS,
        *HOW_MUCH,
    ],
    examples=[
        ("busproof run", "The reference model, in a minute or two:"),
        (
            "busproof run --adapter mybus:make --rule KEY --rule SESS",
            "Two families of rules against your bus:",
        ),
        (
            "busproof run --adapter 'exec:node adapter.js' --only features --tier premium",
            "A program that speaks the protocol, without exploration:",
        ),
        (
            "busproof run --adapter mybus:make --require core --require sessions",
            "Two levels that must be claimed and shown:",
        ),
        (
            "busproof run --adapter env:BUS --edition en-2026-02 --yes --name nightly",
            "A namespace; its connection string is in the variable BUS:",
        ),
        (
            "busproof run --replay reports/runs/latest/failures/KEY-08/commands.json",
            "Replay a violation:",
        ),
    ],
)
