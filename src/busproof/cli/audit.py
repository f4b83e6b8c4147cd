"""`busproof audit`: run the suite against every seeded fault."""

import json
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import repeat
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Final

import click

from busproof.cli import audit_generated, github, values
from busproof.cli.console import progress, say
from busproof.cli.frame import FORMAT, Command, Options, argument, flag, option
from busproof.errors import UsageError
from busproof.extras import need

if TYPE_CHECKING:
    from busproof.cli.mutation.audit import Job
    from busproof.judging.audit import Audited
    from busproof.mutants import Mutant

__all__ = ["COMMAND", "run"]


def run(args: Options) -> int:
    """Audit and print the results; return 0 if every fault was killed or is equivalent, else 1.

    It is 1, too, if a scenario accuses what the judge allows, unless the fault says why. Over AMQP
    the judge sees less, and the scenario is enough. With `--by exploration` it is enough that the
    share `KILLED_AT_LEAST` of the faults is killed.

    Raises:
        UsageError: an option names a fault that does not exist, or has a value that is not allowed.
        ConformanceError: a run could not begin.
    """
    from busproof.adapters.faults import fault
    from busproof.judging.audit import Result
    from busproof.mutants import MUTANTS

    if args.jobs < 1:
        raise UsageError(f"--jobs is {args.jobs}; give at least 1")
    if args.wire:
        need("amqp", "--wire")
    if args.generated:
        return audit_generated.run(args)
    chosen = [fault(name) for name in args.fault] or MUTANTS
    outcomes: list[Audited] = []
    try:
        outcomes.extend(_audit_faults(chosen, args))
    except KeyboardInterrupt:
        if not outcomes:
            raise
        say(f"interrupted; {len(outcomes)} of {len(chosen)} faults were tried, and are listed")
    if args.format == "json":
        print(json.dumps({"faults": [_view(outcome) for outcome in outcomes]}, indent=2))
    else:
        _print(outcomes)
    github.annotate_failures(
        (f"{outcome.id} is silent", f"No test of {outcome.rule} notices this fault.")
        for outcome in outcomes
        if outcome.result is Result.SILENT
    )
    github.annotate_failures(
        (f"{outcome.id} is noticed by a step alone", "The judge allows what the scenario accuses.")
        for outcome in outcomes
        if is_allowed(outcome)
    )
    silent = sum(outcome.result is Result.SILENT for outcome in outcomes)
    killed = sum(outcome.result is Result.KILLED for outcome in outcomes)
    if len(outcomes) < len(chosen) and (args.by == "exploration" or not silent):
        return INCOMPLETE
    if args.by == "exploration":
        return 0 if killed >= KILLED_AT_LEAST * (killed + silent) else 1
    steps = not args.wire and any(map(is_allowed, outcomes))
    return 1 if silent or steps else 0


def is_allowed(outcome: "Audited") -> bool:
    """Return whether a scenario accuses what the judge allows, without a reason: one is wrong."""
    return not (outcome.is_judged or outcome.why)


INCOMPLETE = 3
KILLED_AT_LEAST = 0.9
"""Minimum share of the faults that exploration must find; scenarios must find all."""


def _audit_faults(faults: "Sequence[Mutant]", args: Options) -> "Iterator[Audited]":
    from busproof.cli.mutation.audit import Job, audit_apart

    explored = args.by == "exploration"
    whole = args.matrix == "full"
    about = {"explored": explored, "whole": whole, "wire": args.wire}
    jobs = [Job(fault=fault.id, seed=args.seed, **about) for fault in faults]
    compared = whole and not explored and not args.wire
    with (
        tempfile.TemporaryDirectory(prefix="busproof-audit-") as scratch,
        ThreadPoolExecutor(args.jobs) as pool,
        progress("Seeded faults", len(faults)) as advance,
    ):
        folder = Path(scratch)
        try:
            if compared:
                jobs = _attach_recordings(jobs, pool, folder)
            for outcome in pool.map(audit_apart, jobs, repeat(folder)):
                advance()
                yield outcome
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def _attach_recordings(jobs: "list[Job]", pool: ThreadPoolExecutor, scratch: Path) -> "list[Job]":
    """Attach to each job the recorded run of its adapter without the fault."""
    import attrs

    from busproof.cli.mutation.audit import record_apart

    requests = list(dict.fromkeys(job.counterpart() for job in jobs))
    histories = pool.map(record_apart, requests, repeat(scratch))
    recorded = dict(zip(requests, histories, strict=True))
    return [attrs.evolve(job, beside=recorded[job.counterpart()]) for job in jobs]


def _view(outcome: "Audited") -> dict[str, object]:
    import attrs

    return attrs.asdict(outcome)


def _print(outcomes: "list[Audited]") -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table

    from busproof.judging.audit import Result

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    for header in ("rule", "fault", "result"):
        table.add_column(header, no_wrap=True)
    for header in ("commands", "scenarios"):
        table.add_column(header, justify="right")
    ordered = sorted(outcomes, key=lambda one: (one.rule, one.id))
    for outcome in ordered:
        colour = {"killed": "green", "silent": "bold red"}.get(outcome.result.value, "yellow")
        caught = (
            (str(outcome.commands), str(len(outcome.killed_by))) if outcome.killed_by else ("", "")
        )
        table.add_row(outcome.rule, outcome.id, f"[{colour}]{outcome.result.value}[/]", *caught)
    console = Console()
    console.print(table)
    for outcome in ordered:
        if outcome.why:
            console.print(f"{outcome.rule} {outcome.id}: {outcome.result.value}, {outcome.why}")
    counted = {kind: sum(outcome.result is kind for outcome in outcomes) for kind in Result}
    console.print(", ".join(f"{number} {kind.value}" for kind, number in counted.items()))
    steps = [outcome.id for outcome in ordered if is_allowed(outcome)]
    if steps:
        console.print(
            f"[bold red]{len(steps)} of them by a step of a scenario alone, which the judge "
            f"allows:[/] {', '.join(steps)}"
        )
    beside = sum(
        len(outcome.scenarios_by_step)
        for outcome in outcomes
        if not (outcome.why or is_allowed(outcome))
    )
    if beside:
        failed = sum(len(outcome.killed_by) for outcome in outcomes)
        console.print(
            f"{beside} of {failed} scenarios that failed did so by a step alone, beside others of "
            "their fault (scenarios_by_step in --format json)"
        )
    told = [outcome for outcome in outcomes if outcome.content]
    if told:
        commands = median(outcome.commands for outcome in told)
        content = median(outcome.content / outcome.commands for outcome in told)
        console.print(
            f"Counterexamples: {commands:g} commands, {content:.0f} characters of each in its file "
            f"(medians of {len(told)})"
        )


COMMAND: Final = Command(
    "audit",
    run,
    description="Run the suite against every seeded fault; the tests of its own rule "
    "must catch each, and the judge accuse it. Exit code 1 if one survives.",
    parameters=[
        argument("fault", "FAULT", "ids (default: all)", nargs=-1, shell_complete=values.faults),
        option(
            "--matrix",
            type=click.Choice(("own", "full")),
            default="own",
            help="own: run the scenarios of the fault's rule (default); full: all scenarios",
        ),
        option(
            "--by",
            type=click.Choice(("features", "exploration")),
            default="features",
            help="who must notice: features (default), or exploration alone with profile ci",
        ),
        flag("--wire", help="serve each fault over AMQP and test it there"),
        option("--seed", type=int, default=0, metavar="N", help="of the exploration"),
        option("--jobs", type=int, default=2, metavar="N", help="processes (default: 2)"),
        FORMAT,
        *audit_generated.OPTIONS,
    ],
    examples=[
        ("busproof audit mismatch-accepted", "One fault:"),
        (
            "busproof audit --format json > reports/audit.json",
            "All faults, for busproof report --audit:",
        ),
        ("busproof audit --generated locks --sample 20", "Twenty mutants of a family:"),
    ],
)
