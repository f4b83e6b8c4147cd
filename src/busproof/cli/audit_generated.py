"""`busproof audit --generated`: the suite against mutants made by machine."""

import hashlib
import importlib
import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from busproof import __version__
from busproof.cli.frame import PATH, Option, Options, flag, option
from busproof.errors import HistoryError, UsageError

if TYPE_CHECKING:
    from busproof.cli.mutation.generated import Fate, Terms
    from busproof.mutants.by_machine.made import GeneratedMutant

__all__ = ["OPTIONS", "run"]

ROOMS: Final = ("model", "mutants", "oracle", "judging", "features", "steps")
"""Sources that decide the result of a mutant."""


SECTION: Final = "Generated mutants"

OPTIONS: Final[tuple[Option, ...]] = (
    flag(
        "--generated",
        section=SECTION,
        help="audit generated mutants of the model's rules; each FAULT names a family "
        "such as locks (default: all); exit code 0 for any score",
    ),
    option(
        "--sample",
        section=SECTION,
        type=int,
        metavar="N",
        help="draw N mutants of each family (default: all)",
    ),
    option(
        "--tries",
        section=SECTION,
        type=int,
        default=200,
        metavar="N",
        help="sequences that the search tries on a mutant that no scenario kills (default: 200)",
    ),
    option(
        "--keep",
        section=SECTION,
        type=PATH,
        metavar="FILE",
        help="write each result to FILE, and resume from it",
    ),
)


def run(args: Options) -> int:
    """Audit generated mutants and print; an interrupt prints what is done so far.

    Raises:
        UsageError: an unknown family, or options that do not go together.
        ConformanceError: a run could not be recorded.
    """
    from busproof.cli.mutation.generated import Terms, chosen  # noqa: PLC0415

    _check(args)
    terms = Terms(sample=args.sample, tries=args.tries, seed=args.seed, jobs=args.jobs)
    mutants = chosen(args.fault, terms)
    found: list[Fate] = []
    try:
        found.extend(_audited(mutants, terms, args.keep))
    finally:
        if found:
            _show(mutants, found, args.format)
    return 0


def _check(args: Options) -> None:
    if args.wire or args.matrix != "own" or args.by != "features":
        raise UsageError("--wire, --matrix and --by do not apply to --generated")
    for name in ("sample", "tries"):
        number = getattr(args, name)
        if number is not None and number < (1 if name == "sample" else 0):
            raise UsageError(f"--{name} is {number}; give more")


def _audited(
    mutants: "list[GeneratedMutant]", terms: "Terms", keep: Path | None
) -> "Iterator[Fate]":
    import attrs  # noqa: PLC0415
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import Progress  # noqa: PLC0415

    from busproof.cli.mutation.generated import fates  # noqa: PLC0415

    done = {} if keep is None else _resumed(keep, terms)
    left = [mutant for mutant in mutants if mutant.id not in done]
    console = Console(stderr=True)
    # rich calls a file a terminal where FORCE_COLOR asks for colours.
    with Progress(console=console, disable=not sys.stderr.isatty()) as progress:
        task = progress.add_task("Generated mutants", total=len(mutants))
        for mutant in mutants:
            if mutant.id in done:
                progress.advance(task)
                yield done[mutant.id]
        for fate in fates(left, terms) if left else ():
            if keep is not None:
                with keep.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(attrs.asdict(fate)) + "\n")
            progress.advance(task)
            yield fate


def _resumed(keep: Path, terms: "Terms") -> "dict[str, Fate]":
    """Return the results in the file; create it if it does not exist.

    Raises:
        UsageError: it is from other sources, or from other options.
        HistoryError: it cannot be read or written.
    """
    from busproof.cli.mutation.generated import Fate, Result  # noqa: PLC0415

    head = {
        "busproof": __version__,
        "sources": _sources(),
        "tries": terms.tries,
        "seed": terms.seed,
    }
    line = json.dumps(head)
    try:
        first, *lines = keep.read_text(encoding="utf-8").splitlines() if keep.exists() else [line]
        if first != line:
            raise UsageError(
                f"{keep} was not written by this version with this --tries and --seed; "
                "remove it or choose another"
            )
        # The last line may have been cut off.
        lines = [each for each in lines if each.endswith("}")]
        keep.write_text("".join(f"{each}\n" for each in (first, *lines)), encoding="utf-8")
    except OSError as error:
        raise HistoryError(f"cannot use {keep}: {error.strerror}") from None
    fates = [
        Fate(
            id=each["id"],
            result=Result(each["result"]),
            by=each["by"],
            rules=tuple(each["rules"]),
            commands=tuple(each["commands"]),
        )
        for each in map(json.loads, lines)
    ]
    return {fate.id: fate for fate in fates}


def _sources() -> str:
    digest = hashlib.sha256()
    for room in ROOMS:
        folder = Path(importlib.import_module(f"busproof.{room}").__path__[0])
        for path in sorted(folder.rglob("*")):
            if path.suffix in (".py", ".feature"):
                digest.update(path.read_bytes())
    return digest.hexdigest()


def _show(mutants: "list[GeneratedMutant]", found: "list[Fate]", format_: str) -> None:
    families = list(_families(mutants, found))
    if format_ == "json":
        named = {mutant.id: mutant for mutant in mutants}
        view = {"families": families, "mutants": [_view(named[fate.id], fate) for fate in found]}
        print(json.dumps(view, indent=2))  # noqa: T201
        return
    from rich import box  # noqa: PLC0415
    from rich.console import Console  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("family", no_wrap=True)
    for header in list(families[0])[1:]:
        table.add_column(header.replace("_", " "), justify="right")
    for family in families:
        table.add_row(*("" if value is None else str(value) for value in family.values()))
    console = Console()
    console.print(table)
    console.print("killed: by a scenario; found: by the search only, missed by the scenarios")
    console.print(
        "undecided: equivalent, or the search gave up; not run: no recording runs that line"
    )
    console.print("score: killed as a percentage of killed and found")


def _families(
    mutants: "Iterable[GeneratedMutant]", found: "Iterable[Fate]"
) -> Iterator[dict[str, Any]]:
    """Yield the numbers of each family, and of all at the end."""
    from busproof.cli.mutation.generated import Result  # noqa: PLC0415
    from busproof.mutants.by_machine.made import generated  # noqa: PLC0415

    names = list(dict.fromkeys(mutant.family for mutant in mutants))
    counts = {name: Counter[Result]() for name in names}
    for fate in found:
        counts[fate.id.partition(".")[0]][fate.result] += 1
    made = {name: len(generated(name)) for name in names}
    counts["all"] = sum(counts.values(), Counter[Result]())
    made["all"] = sum(made.values())
    for name, count in counts.items():
        killed, apart = count[Result.KILLED], count[Result.KILLED] + count[Result.FOUND]
        yield {
            "family": name,
            "made": made[name],
            "tried": count.total(),
            **{result.value.replace(" ", "_"): count[result] for result in Result},
            "score": round(100 * killed / apart, 1) if apart else None,
        }


def _view(mutant: "GeneratedMutant", fate: "Fate") -> dict[str, object]:
    import attrs  # noqa: PLC0415

    about = ("family", "function", "operator", "context", "line", "before", "after")
    return {**{name: getattr(mutant, name) for name in about}, **attrs.asdict(fate)}
