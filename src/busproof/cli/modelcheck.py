"""`busproof modelcheck`: run TLC on the specs, and compare their graphs with the model."""

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from busproof.cli.console import say
from busproof.cli.frame import FORMAT, PATH, Command, Options, argument, flag, option
from busproof.errors import UsageError
from busproof.extras import need

if TYPE_CHECKING:
    from busproof.tla.manifest import Configuration, Manifest
    from busproof.tla.messages import Reading
    from busproof.tla.running import Limits, Progress, Ran

__all__ = ["COMMAND", "run"]

_Found = TypeVar("_Found")

_DEVIATES: Final = 1
_NO_VERDICT: Final = 3


def run(args: Options) -> int:
    """Check the specs; return an exit code that says whether all was as expected.

    Raises:
        ConformanceError: a name does not exist, or TLC cannot be run at all.
    """
    from busproof.cli.running.child_process import terminable
    from busproof.tla.manifest import FOLDER, load  # the catalogue alone starts faster

    _refuse(args)
    folder = args.specs or FOLDER
    with terminable():
        if args.traces:
            from busproof.cli.modelcheck_traces import run_traces

            return run_traces(args, folder)
        manifest = load(folder)
        if args.mutants:
            return _run_mutants(args, manifest)
        return _run_configurations(args, manifest)


def _refuse(args: Options) -> None:
    if args.workers is not None and args.workers < 1:
        raise UsageError(f"--workers is {args.workers}; give a whole number from 1")
    if args.timeout is not None and not args.timeout > 0:
        raise UsageError(f"--timeout is {args.timeout}; give a number of seconds above 0")
    if args.traces and args.names:
        raise UsageError("--traces judges histories and takes no NAME")
    if args.heap is not None and not _is_size(args.heap):
        raise UsageError(f"--heap is {args.heap!r}; write it as 512m or 4g")


def _is_size(text: str) -> bool:
    return text[:-1].isdecimal() and int(text[:-1]) > 0 and text[-1] in "kmgKMG"


def _limits(args: Options) -> "Limits":
    from busproof.tla.running import Limits

    return Limits(workers=args.workers, timeout=args.timeout, heap=args.heap)


def _choose_configurations(args: Options, manifest: "Manifest") -> "tuple[Configuration, ...]":
    from busproof.tla.manifest import Size

    if args.names:
        return tuple(manifest.configuration(name) for name in args.names)
    size = args.size or ("full" if os.environ.get("BUSPROOF_SIZE") == "full" else "gate")
    everything = args.list and args.size is None
    return manifest.configurations if everything else manifest.of_size(Size(size))


def _run_configurations(args: Options, manifest: "Manifest") -> int:
    from busproof.tla import evidence

    chosen = _choose_configurations(args, manifest)
    if args.list:
        return _print_list(args, chosen)
    from busproof.tla.running import configurations

    if args.changed:
        chosen = evidence.select_configurations(manifest, chosen)
    runs = _run_checks(args, len(chosen), partial(configurations, manifest, chosen, _limits(args)))
    if args.record:
        evidence.record_configurations(manifest, runs)
    _print_results(args, runs)
    if any(ran.deviations for ran in runs):
        return _DEVIATES
    whole = len(runs) == len(chosen)
    return 0 if whole and not any(ran.error for ran in runs) else _NO_VERDICT


def _run_checks(
    args: Options, total: int, running: "Callable[[Progress], Iterator[_Found]]"
) -> "list[_Found]":
    """Run the checks with progress; return their results."""
    from busproof.tla.java import find_jar, find_java

    need("tla", "busproof modelcheck")
    find_java()
    find_jar()
    results: list[_Found] = []
    try:
        with _progress(total, args) as tell:
            for result in running(tell):
                results.append(result)
                tell.advance()
    except KeyboardInterrupt:
        if not results:
            raise
        say(f"interrupted; {len(results)} of {total} were run, and are listed")
    return results


def _print_list(args: Options, chosen: "tuple[Configuration, ...]") -> int:
    if args.format == "json":
        from busproof.tla.views import view_configuration

        _print_json(
            {"configurations": [view_configuration(configuration) for configuration in chosen]}
        )
        return 0
    from busproof.tla.terminal import print_list  # rich is slow to import

    print_list(chosen)
    return 0


def _print_json(value: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(value, indent=2) + "\n")


def _print_results(args: Options, runs: "list[Ran]") -> None:
    if args.format == "json":
        from busproof.tla.views import view_ran

        _print_json({"configurations": [view_ran(ran) for ran in runs]})
        return
    from busproof.tla.terminal import print_configurations, print_ran

    print_configurations(runs)
    for ran in runs:
        print_ran(ran, trace=bool(args.names))


def _run_mutants(args: Options, manifest: "Manifest") -> int:
    from busproof.tla import evidence
    from busproof.tla.mutants import choose_mutants, load_mutants
    from busproof.tla.running import mutants_tried

    mutants = choose_mutants(load_mutants(manifest), tuple(args.names))
    if args.changed:
        mutants = evidence.select_mutants(manifest, mutants)
    fates = _run_checks(
        args, len(mutants), partial(mutants_tried, manifest, mutants, _limits(args))
    )
    if args.record:
        evidence.record_mutants(manifest, fates)
    if args.format == "json":
        from busproof.tla.views import view_fate

        _print_json({"mutants": [view_fate(fate) for fate in fates]})
    elif not fates:
        say("no mutant's sources changed since it was recorded")
    else:
        from busproof.tla.terminal import print_fates

        print_fates(fates)
    if not all(fate.killed for fate in fates):
        return _DEVIATES
    return 0 if len(fates) == len(mutants) else _NO_VERDICT


class _Teller:
    """Progress on the terminal: number of runs, states, and their rate so far."""

    def __init__(self, total: int, *, shown: bool) -> None:
        from rich.console import Console
        from rich.progress import (
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeElapsedColumn,
        )

        self.progress = Progress(
            MofNCompleteColumn(),
            TextColumn("{task.description}"),
            TimeElapsedColumn(),
            console=Console(stderr=True),
            disable=not shown,
        )
        self._task = self.progress.add_task("starting TLC", total=total)

    def __call__(self, name: str, reading: "Reading", seconds: float) -> None:
        known = reading.distinct or reading.printed
        noun = "states" if reading.distinct else "edges"
        rate = known / seconds if seconds else 0
        description = f"{name}: {known:,} {noun}, {rate:,.0f} a second" if known else name
        self.progress.update(self._task, description=description)

    def advance(self) -> None:
        self.progress.advance(self._task)


@contextmanager
def _progress(total: int, args: Options) -> Iterator[_Teller]:
    teller = _Teller(total, shown=sys.stderr.isatty() and args.format != "json")
    with teller.progress:
        yield teller


if TYPE_CHECKING:
    _checked: Progress = _Teller(0, shown=False)


COMMAND: Final = Command(
    "modelcheck",
    run,
    description="Run TLC on the configurations of the TLA+ specs and compares each with what "
    "the manifest expects; graphs are compared with the model in every state.",
    notes="Exit codes: 0 all is as expected, 1 a deviation, a surviving mutant or a trace "
    "rejected, 2 usage, 3 TLC gave no verdict.",
    parameters=[
        argument("names", "NAME", "configurations (default: all)", nargs=-1),
        flag("--list", help="only list what there is"),
        flag("--mutants", help="run the mutants instead; a NAME is a mutant, a module or a rule"),
        option(
            "--traces",
            multiple=True,
            type=PATH,
            metavar="HISTORY",
            help="let TLC judge recorded histories (may be repeated)",
        ),
        flag("--changed", help="only what changed since it was recorded, and every graph"),
        flag("--record", help="record the results as evidence"),
        option("--size", type=click.Choice(("gate", "full")), help="default: gate"),
        option("--workers", type=int, metavar="N", help="threads for each run, if that is sound"),
        option("--timeout", type=float, metavar="SECONDS", help="for each run of TLC"),
        option("--heap", metavar="4g", help="memory for TLC (default: a quarter of all)"),
        option("--specs", type=PATH, metavar="DIR", help="folder of other specs"),
        FORMAT,
    ],
    exclusive=("mutants", "traces"),
    examples=[
        ("busproof modelcheck --list", "List what can be checked:"),
        ("busproof modelcheck --changed", "What changed since it was recorded, and all graphs:"),
        (
            "busproof modelcheck --traces reports/runs/latest/history.jsonl",
            "Let TLC judge the newest run:",
        ),
    ],
)
