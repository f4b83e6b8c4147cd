"""`busproof audit --generated`: run the suite against mutants made by machine."""

import hashlib
import importlib
import json
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

from busproof import __version__
from busproof.cli.console import progress
from busproof.cli.frame import PATH, Option, Options, flag, option
from busproof.errors import HistoryError, UsageError

if TYPE_CHECKING:
    from busproof.cli.mutation.generated import Terms
    from busproof.mutants.by_machine.made import GeneratedMutant
    from busproof.mutants.by_machine.record import Fate

__all__ = ["OPTIONS", "run"]

ROOMS: Final = ("model", "mutants", "judging", "features", "steps")
"""Folders whose sources determine the result of a mutant."""


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
        help="draw N mutants of each family, by --seed (default: all)",
    ),
    option(
        "--minutes",
        section=SECTION,
        type=float,
        metavar="N",
        help="stop after N minutes; the mutants audited until then are a sample (default: no end)",
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
    flag(
        "--record",
        section=SECTION,
        help="keep the results as evidence, which busproof rules and reports show",
    ),
)


def run(args: Options) -> int:
    """Audit generated mutants and print; an interrupt prints the results so far.

    Raises:
        UsageError: a family does not exist, or options exclude each other.
        ConformanceError: a run could not be recorded.
    """
    from busproof.cli.mutation.generated import Terms, choose_mutants

    _check(args)
    terms = Terms(sample=args.sample, tries=args.tries, seed=args.seed, jobs=args.jobs)
    mutants = choose_mutants(args.fault, terms)
    fates: list[Fate] = []
    try:
        fates.extend(_limit_time(_audit_mutants(mutants, terms, args.keep), args.minutes))
    finally:
        if fates:
            _show(mutants, fates, terms, args.format)
    if args.record:
        _record(mutants, fates, terms)
    return 0


def _record(mutants: "list[GeneratedMutant]", fates: "list[Fate]", terms: "Terms") -> None:
    from busproof.mutants.by_machine.record import Sample, write

    today = datetime.now(UTC).date().isoformat()
    write(
        Sample(
            on=today,
            seed=terms.seed,
            tries=terms.tries,
            made=_count_mutants(mutants),
            fates=tuple(fates),
        )
    )


def _check(args: Options) -> None:
    if args.wire or args.matrix != "own" or args.by != "features":
        raise UsageError("--wire, --matrix and --by do not apply to --generated")
    for name, least in (("sample", 1), ("tries", 0), ("minutes", 0)):
        number = getattr(args, name)
        if number is not None and number < least:
            raise UsageError(f"--{name} is {number}; give more")


def _limit_time(fates: "Generator[Fate, None, None]", minutes: float | None) -> "Iterator[Fate]":
    """Yield results until the time is up, then stop the running audits."""
    end = None if minutes is None else monotonic() + 60 * minutes
    with closing(fates):
        for fate in fates:
            yield fate
            if end is not None and monotonic() > end:
                return


def _audit_mutants(
    mutants: "list[GeneratedMutant]", terms: "Terms", keep: Path | None
) -> "Generator[Fate, None, None]":
    import attrs

    from busproof.cli.mutation.generated import draw_mutants, fates

    done = {} if keep is None else _resume(keep, terms)
    # Use a random order, so that the results are a sample whenever the audit stops.
    left = draw_mutants([mutant for mutant in mutants if mutant.id not in done], terms.seed)
    with progress("Generated mutants", len(mutants)) as advance:
        for mutant in mutants:
            if mutant.id in done:
                advance()
                yield done[mutant.id]
        for fate in fates(left, terms) if left else ():
            if keep is not None:
                with keep.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(attrs.asdict(fate)) + "\n")
            advance()
            yield fate


def _resume(keep: Path, terms: "Terms") -> "dict[str, Fate]":
    """Return the results in the file; create the file if it does not exist.

    Raises:
        UsageError: the file is from other sources or other options.
        HistoryError: the file cannot be read or written.
    """
    from busproof.mutants.by_machine.record import fate_from

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
        # The last line may be incomplete after an interrupt.
        lines = [line for line in lines if line.endswith("}")]
        keep.write_text("".join(f"{line}\n" for line in (first, *lines)), encoding="utf-8")
    except OSError as error:
        raise HistoryError(f"cannot use {keep}: {error.strerror}") from None
    fates = [fate_from(json.loads(line)) for line in lines]
    return {fate.id: fate for fate in fates}


def _sources() -> str:
    from busproof.mutants.by_machine.record import SAMPLE

    digest = hashlib.sha256()
    for room in ROOMS:
        folder = Path(importlib.import_module(f"busproof.{room}").__path__[0])
        for path in sorted(folder.rglob("*")):
            if path.suffix in (".py", ".feature", ".jsonl", ".toml") and path != SAMPLE:
                digest.update(path.read_bytes())
    return digest.hexdigest()


def _show(
    mutants: "list[GeneratedMutant]", fates: "list[Fate]", terms: "Terms", format_: str
) -> None:
    families = list(_families(mutants, fates))
    if format_ == "json":
        named = {mutant.id: mutant for mutant in mutants}
        view = {
            "seed": terms.seed,
            "tries": terms.tries,
            "families": families,
            "mutants": [_view(named[fate.id], fate) for fate in fates],
        }
        print(json.dumps(view, indent=2))
        return
    from rich import box
    from rich.console import Console
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=0)
    table.add_column("family", no_wrap=True)
    for heading in COLUMNS.values():
        table.add_column(heading, justify="right")
    for family in families:
        shown = (family[header] for header in ("family", *COLUMNS))
        table.add_row(*("" if value is None else str(value) for value in shown))
    console = Console()
    console.print(table)
    console.print(
        "feat.: killed by a scenario; dist.: only by a distilled sequence; "
        "found: only by the exploration or the search, missed by the suite"
    )
    console.print(
        "equiv.: no judge can distinguish it, by an argument that is kept; "
        f"undec.: the search gave up after {terms.tries} variants; "
        "not run: no recording runs that line"
    )
    console.print(
        "score: killed as a percentage of killed and found; feat. score: by scenarios alone"
    )
    every = families[-1]
    if every["tried"] < every["made"] and every["score"] is not None:
        low, high = every["interval"]
        console.print(
            f"A sample: {every['tried']} of {every['made']} mutants, drawn with seed {terms.seed}; "
            f"the score of all is between {low} and {high} % with a confidence of 95 %, "
            "each family weighed by its size"
        )


COLUMNS: Final = {
    "made": "made",
    "tried": "tried",
    "features": "feat.",
    "distilled": "dist.",
    "found": "found",
    "equivalent": "equiv.",
    "undecided": "undec.",
    "not_run": "not\nrun",
    "score_of_features": "feat.\nscore",
    "score": "score",
}
"""Headings of the columns after the name of the family; with them the table has 80 characters."""


def _families(
    mutants: "Iterable[GeneratedMutant]", fates: "Iterable[Fate]"
) -> Iterator[dict[str, Any]]:
    """Yield the figures of each family, and of all families last."""
    from busproof.cli.mutation.score import score_families

    return score_families(_count_mutants(mutants), fates)


def _count_mutants(mutants: "Iterable[GeneratedMutant]") -> dict[str, int]:
    """Return the number of mutants in each of their families."""
    from busproof.mutants.by_machine.made import generate_mutants

    families = dict.fromkeys(mutant.family for mutant in mutants)
    return {family: len(generate_mutants(family)) for family in families}


def _view(mutant: "GeneratedMutant", fate: "Fate") -> dict[str, object]:
    import attrs

    about = ("family", "function", "operator", "context", "line", "before", "after")
    return {**{name: getattr(mutant, name) for name in about}, **attrs.asdict(fate)}
