"""`busproof client`: judge a client, a program that carries out tasks with Service Bus."""

import json
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Final

from busproof.cli import github
from busproof.cli.console import progress
from busproof.cli.frame import FORMAT, PATH, Command, Options, argument, flag, option
from busproof.errors import HistoryError, UsageError

if TYPE_CHECKING:
    from rich.console import Console

    from busproof.clients.report import ClientReport
    from busproof.clients.scenario import Scenario

__all__ = ["COMMAND", "run"]

FOLDER: Final = Path("reports") / "clients" / "latest"
LONGEST: Final = 3_600.0
MOST_JOBS: Final = 64
JOBS: Final = 8
"""Scenarios to run at a time: most of them wait."""
STYLES: Final = {
    "shown": "green",
    "violated": "bold red",
    "not followed": "yellow",
    "not applicable": "dim",
    "not shown": "yellow",
    "inconclusive": "cyan",
    "errored": "magenta",
}


def run(args: Options) -> int:
    """Run the scenarios, print and write the report, and return the exit code.

    Raises:
        UsageError: an option has no such value, or the program cannot be started.
        HistoryError: the report cannot be written.
    """
    from rich.console import Console

    from busproof.extras import need

    need("amqp", "a client under test")
    from busproof.clients.report import ClientReport, view_report, write_report
    from busproof.clients.running import run_scenarios
    from busproof.clients.verdicts import exit_code, judge_rules
    from busproof.spec.client_rules import load_client_rules

    scenarios = _choose_scenarios(args)
    if args.list:
        _list(scenarios, Console())
        return 0
    words = _command(args)
    results = []
    with progress("Scenarios", len(scenarios), transient=True) as advance:
        for result in run_scenarios(scenarios, words, args.timeout, args.jobs):
            results.append(result)
            advance()
    order = [scenario.name for scenario in scenarios]
    results.sort(key=lambda result: order.index(result.scenario.name))
    rules = [one for one in load_client_rules() if not args.rule or one.id in args.rule]
    verdicts = judge_rules(rules, results)
    report = ClientReport(command=tuple(words), verdicts=verdicts, results=results)
    write_report(report, args.report)
    _write_badge(report, args.report)
    if args.format == "json":
        print(json.dumps(view_report(report), indent=2))
    else:
        _print(report, Console(), args.report)
    github.annotate_failures(
        (f"{one.rule.id} violated", f"{one.rule.title}: {one.said}")
        for one in verdicts
        if one.verdict.value == "violated"
    )
    return exit_code(verdicts)


def _command(args: Options) -> list[str]:
    """Return the words that start the program.

    Raises:
        UsageError: there are none, or a number is out of range.
    """
    words = list(args.command)
    if not words:
        raise UsageError("no program is named; write it behind --, as in: client -- node client.js")
    if not 0 < args.timeout <= LONGEST:
        raise UsageError(
            f"the timeout is {args.timeout:g} s; give more than 0, and {LONGEST:.0f} at most"
        )
    if not 0 < args.jobs <= MOST_JOBS:
        raise UsageError(f"--jobs is {args.jobs}; give 1 to {MOST_JOBS}")
    if shutil.which(words[0]) is None:
        raise UsageError(f"cannot start {words[0]!r}: there is no such program that can be run")
    return words


def _choose_scenarios(args: Options) -> "list[Scenario]":
    """Return the scenarios to run.

    Raises:
        UsageError: there is no such scenario or rule.
    """
    from busproof.clients.scenarios import SCENARIOS
    from busproof.spec.client_rules import client_rule

    names = [scenario.name for scenario in SCENARIOS]
    for name in args.scenario:
        if name not in names:
            raise UsageError(f"there is no scenario {name!r}; there are {', '.join(names)}")
    for rule in args.rule:
        client_rule(rule)
    return [
        scenario
        for scenario in SCENARIOS
        if (not args.scenario or scenario.name in args.scenario)
        and (not args.rule or set(args.rule) & set(scenario.rules))
    ]


def _list(scenarios: "list[Scenario]", console: "Console") -> None:
    for scenario in scenarios:
        rules = " ".join(scenario.rules)
        console.print(f"{scenario.name} [{scenario.task}] {rules}", highlight=False, markup=False)
        console.print(f"  {scenario.about}", highlight=False, markup=False)


def _write_badge(report: "ClientReport", folder: "str | os.PathLike[str]") -> None:
    from busproof.clients.verdicts import LEVEL, level_status
    from busproof.reports.badges import draw_badge
    from busproof.reports.levels import State

    file = Path(folder) / f"{LEVEL}.svg"
    try:
        badge = draw_badge(f"busproof {LEVEL}", State(level_status(report.verdicts)))
        file.write_text(badge, encoding="utf-8")
    except OSError as error:
        raise HistoryError(f"cannot write {file}: {error.strerror or error}") from None


def _print(report: "ClientReport", console: "Console", folder: Path) -> None:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    from busproof.clients.report import PAGE_NAME
    from busproof.clients.verdicts import LEVEL, level_status

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("rule", no_wrap=True)
    table.add_column("a client")
    table.add_column("verdict", no_wrap=True)
    for one in report.verdicts:
        verdict = Text(one.verdict.value, style=STYLES[one.verdict.value])
        table.add_row(one.rule.id, one.rule.title, verdict)
    console.print(table)
    for one in report.verdicts:
        if one.verdict.value != "shown":
            style = STYLES[one.verdict.value]
            console.print(Text(f"{one.rule.id} {one.verdict.value}: {one.said}", style=style))
    counts = ", ".join(f"{number} {name}" for name, number in report.counts.items())
    console.print(f"\n{counts}; level {LEVEL}: {level_status(report.verdicts)}", highlight=False)
    console.print(f"Report: {Path(folder) / PAGE_NAME}", highlight=False)


COMMAND: Final = Command(
    "client",
    run,
    description="Judge a client: start the program COMMAND once for each scenario, with a task "
    "and a broker of its own, and judge what it does on the wire. Exit codes: 0 every "
    "applicable rule was shown, 1 a violation, 2 usage, 3 something was left open.",
    parameters=[
        argument(
            "command",
            "COMMAND",
            "the words that start the program, behind -- where options of its own are among them",
            nargs=-1,
        ),
        option("--rule", multiple=True, metavar="ID", help="only this rule; repeatable"),
        option("--scenario", multiple=True, metavar="NAME", help="only this scenario; repeatable"),
        flag("--list", help="list the scenarios, their tasks and rules, and run none"),
        option(
            "--timeout",
            type=float,
            default=180.0,
            metavar="SECONDS",
            help="limit for each scenario (default: 180); a program that runs longer is ended",
        ),
        option(
            "--jobs",
            type=int,
            default=JOBS,
            metavar="N",
            help=f"scenarios to run at a time (default: {JOBS}); most of them wait",
        ),
        option(
            "--report",
            type=PATH,
            default=FOLDER,
            metavar="DIR",
            help=f"folder for the page, the JSON and the badge (default: {FOLDER})",
        ),
        FORMAT,
    ],
    examples=[
        (
            "busproof client -- python examples/clients/azure_servicebus.py",
            "Microsoft's client for Python:",
        ),
        ("busproof client --list", "What programs are asked to do:"),
    ],
    notes="The program gets its task by environment variables and reports in lines of JSON: see "
    "docs/how-to/test-a-client.md.",
)
