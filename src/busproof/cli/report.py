"""`busproof report`: write one page about any number of runs, side by side and over time."""

import os
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Final

import attrs

from busproof.cli import values
from busproof.cli.console import write_aside
from busproof.cli.frame import PATH, Command, Options, argument, option
from busproof.errors import UsageError
from busproof.extras import need

if TYPE_CHECKING:
    from busproof.history.conformance import Conformance
    from busproof.reports.page_data import Comparison
    from busproof.reports.trends import Entry
    from busproof.spec import Catalogue

__all__ = ["COMMAND", "run"]

PAGE: Final = Path("reports") / "conformance.html"


def run(args: Options) -> int:
    """Write the page and the other requested files; return 0 whatever the verdicts are.

    Raises:
        UsageError: a run does not exist, or two options exclude each other.
        HistoryError: a file cannot be read or written, or has invalid contents.
    """
    from busproof.cli.evidence import evidence  # other commands start faster
    from busproof.reports.conformance import read
    from busproof.reports.page import write_page
    from busproof.reports.page_data import Comparison
    from busproof.reports.printed import read_audit
    from busproof.reports.redaction import redact
    from busproof.spec import load

    _refuse_idle(args)
    places = [_find_run(run) for run in args.runs or ["latest"]]
    # A report may come from anywhere, so redact what its writer has left in it.
    runs = tuple(redact(read(place)) for place in places)
    catalogue = load()
    comparison = Comparison(
        runs=runs,
        catalogue=catalogue,
        evidence=evidence(catalogue.rules),
        fates=read_audit(args.audit) if args.audit is not None else {},
    )
    if args.junit is not None:
        _write_junit(runs, args.junit)
    if args.badges is not None:
        _write_badges(runs[0], args.badges)
    if args.allure is not None:
        _write_allure(comparison, places, args)
    entries = _entries(runs, catalogue, args.history, args.label)
    write_page(attrs.evolve(comparison, entries=entries), args.output)
    write_aside(f"Page: {args.output}")
    return 0


def _refuse_idle(args: Options) -> None:
    if args.badges is not None and len(args.runs) > 1:
        raise UsageError("--badges are of one run; name one")
    if args.label and args.history is None:
        raise UsageError("--label tells what a history of runs is of; give --history, too")
    for name, value in (("modelcheck", args.modelcheck), ("allure-from", args.allure_from)):
        if value and args.allure is None:
            raise UsageError(f"--{name} appears in Allure results only; give --allure, too")
    for name, place in (("junit", args.junit), ("allure", args.allure)):
        if place is not None:
            need("report", f"--{name}")


def _find_run(name: str) -> Path:
    for place in (Path(name), values.RUNS / name):
        if place.exists():
            return place
    raise UsageError(
        f"there is no run {name!r}; name a run's folder, a conformance.json, or a folder "
        f"in {values.RUNS}, where busproof run puts each run"
    )


def _write_junit(runs: "tuple[Conformance, ...]", file: Path) -> None:
    from busproof.reports.junit import write_junit

    write_junit(runs, file)


def _write_badges(run: "Conformance", folder: Path) -> None:
    from busproof.reports.badges import write_badges
    from busproof.spec import load

    if write_badges(run, load(), folder):
        write_aside(f"Badges: {folder}")
    else:
        write_aside("No badges: the run was limited to some rules, which says nothing of levels")


def _write_allure(comparison: "Comparison", places: list[Path], args: Options) -> None:
    from busproof.reports.allure import RESULTS_NAME, clean_results, collect_results
    from busproof.reports.allure_cases import (
        fault_cases,
        spec_cases,
        verdict_cases,
    )
    from busproof.reports.columns import labels
    from busproof.reports.printed import read_modelcheck

    catalogue = comparison.catalogue
    named = dict(zip(labels(comparison.runs), comparison.runs, strict=True))
    checked = read_modelcheck(args.modelcheck) if args.modelcheck is not None else ()
    scenarios = [place / RESULTS_NAME for place in places if (place / RESULTS_NAME).is_dir()]
    verdicts = (verdict_cases(name, conformance, catalogue) for name, conformance in named.items())
    cases = chain(*verdicts, fault_cases(comparison.fates.values(), catalogue), spec_cases(checked))
    collect_results(named, [*scenarios, *args.allure_from], cases, args.allure)
    clean_results(args.allure, catalogue=catalogue)
    write_aside(f"Allure results: {args.allure}")


def _entries(
    runs: "tuple[Conformance, ...]", catalogue: "Catalogue", file: Path | None, label: str
) -> "tuple[Entry, ...]":
    from busproof.reports.redaction import redact_text
    from busproof.reports.trends import entry_of, extend

    if file is None:
        return ()
    at = _now()
    label = redact_text(label)
    return extend(file, [entry_of(run, catalogue, at, label) for run in runs])


def _now() -> str:
    """Return the time in UTC, such as `2026-11-22T05:50Z`, or that of SOURCE_DATE_EPOCH.

    Raises:
        UsageError: SOURCE_DATE_EPOCH is not a number of seconds.
    """
    named = os.environ.get("SOURCE_DATE_EPOCH")
    try:
        moment = datetime.now(tz=UTC) if named is None else datetime.fromtimestamp(int(named), UTC)
    except (ValueError, OverflowError, OSError):
        raise UsageError(
            f"SOURCE_DATE_EPOCH is {named!r}; it must be a number of seconds since 1970"
        ) from None
    return f"{moment:%Y-%m-%dT%H:%MZ}"


COMMAND: Final = Command(
    "report",
    run,
    description="Write one HTML page that compares any number of runs: rules by "
    "implementation, the evidence for each verdict, and the violations. The "
    "page works offline.",
    parameters=[
        argument(
            "runs",
            "RUN",
            "a run's folder, its name under reports/runs, or a conformance.json (default: latest)",
            nargs=-1,
            shell_complete=values.runs,
        ),
        option("-o", "--output", type=PATH, default=PAGE, metavar="FILE", help=f"default: {PAGE}"),
        option(
            "--audit",
            type=PATH,
            metavar="FILE",
            help="output of busproof audit --format json: shows which seeded faults were caught",
        ),
        option(
            "--history",
            type=PATH,
            metavar="FILE",
            help="append the runs to this file (JSON lines) and plot verdict changes",
        ),
        option(
            "--label",
            default="",
            metavar="TEXT",
            help="label of these runs in --history, such as a commit",
        ),
        option(
            "--badges",
            type=PATH,
            metavar="DIR",
            help="write a badge for each conformance level there: SVG, and JSON for shields.io",
        ),
        option("--junit", type=PATH, metavar="FILE", help="also write JUnit XML to this file"),
        option(
            "--allure",
            type=PATH,
            metavar="DIR",
            help="also write Allure results to this folder: runs, verdicts and the other inputs",
        ),
        option(
            "--allure-from",
            type=PATH,
            multiple=True,
            metavar="DIR",
            help="with --allure: include results of other tests, redacted like ours (repeatable)",
        ),
        option(
            "--modelcheck",
            type=PATH,
            metavar="FILE",
            help="with --allure: output of busproof modelcheck --format json",
        ),
    ],
    examples=[
        ("busproof report", "The newest run, to reports/conformance.html:"),
        ("busproof report before after -o compared.html", "Compare two runs:"),
        ("busproof report --badges docs/badges", "A badge for each conformance level:"),
        ("busproof report --junit junit.xml", "Also write JUnit XML:"),
    ],
)
