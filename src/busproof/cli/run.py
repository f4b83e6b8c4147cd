"""`busproof run`: run the features against an implementation, judge every rule, and report."""

from typing import Final

from busproof.cli import known_failures, required, values
from busproof.cli.console import say_next, write_aside
from busproof.cli.frame import FORMAT, VERBOSE, Command, Options, flag, option
from busproof.cli.running.publishing import publish, report
from busproof.cli.running.run_options import HOW_MUCH, TERMS, request_from
from busproof.extras import need
from busproof.judging.garbage import seldom_collected

__all__ = ["COMMAND", "EVERY", "run"]

EVERY: Final = "all"
"""Value that stands for every edition, one run after another."""

NEXT: Final = {
    0: "busproof report {run} writes a page; busproof adapters lists what can be tested",
    1: "repair the bus and repeat the run; busproof report {run} writes a page",
    3: "busproof report {run} writes a page with the cause of each rule that was not shown",
    4: "correct the list of known failures as stated above, and repeat the run",
}
"""The next step after a run, by its exit code."""


@seldom_collected()
def run(args: Options) -> int:
    """Run, judge and report; return the conformance report's exit code.

    Raises:
        ConformanceError: the run could not begin.
    """
    if args.edition == EVERY:
        from busproof.cli.running.run_editions import run_editions

        return run_editions(args)
    from busproof.cli.running.one_run import conduct, interrupt_error

    if args.allure:
        need("report", "--allure")
    failures = known_failures.Known(args)
    done = conduct(args, request_from(args, args.adapter), failures)
    try:
        code = publish(done.conformance, args, lambda: report(done, allure=args.allure), failures)
    except KeyboardInterrupt:
        raise interrupt_error(done.folder) from None
    write_aside(f"Report: {done.folder}")
    say_next(NEXT[code].format(run=done.folder.name))
    return code


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
            help="limit for each answer (default: 10 of an exec: adapter, 300 of one in Python)",
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
        option(
            "--jobs",
            metavar="N",
            help="number of processes (default: one for each core, if the adapter declares that "
            "several of it can run; otherwise 1)",
        ),
        flag("--allure", help="also write Allure results of the scenarios"),
        FORMAT,
        VERBOSE,
        *TERMS,
        *HOW_MUCH,
    ],
    examples=[
        ("busproof run", "The reference model, in a minute or less:"),
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
