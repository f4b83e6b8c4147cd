"""`busproof run --edition all`: run every edition of the documents, and compare the verdicts."""

import copy
from pathlib import Path
from typing import TYPE_CHECKING, Final

import attrs

from busproof.cli import github, known_failures
from busproof.cli.console import write_aside
from busproof.cli.frame import Options
from busproof.cli.running.publishing import report, terminal, try_printing, try_writing
from busproof.cli.running.run_options import request_from
from busproof.errors import UsageError

if TYPE_CHECKING:
    from busproof.cli.running.one_run import Conducted
    from busproof.history.conformance import Conformance
    from busproof.spec import Catalogue

__all__ = ["run_editions"]

GRAVEST_FIRST: Final = (2, 4, 1, 3, 0)
"""Exit codes, the gravest first."""


def run_editions(args: Options) -> int:
    """Run, judge and report for each edition, oldest first; return the gravest exit code.

    Raises:
        ConformanceError: a run could not begin, or an option applies to a single run only.
    """
    from busproof.cli.running.child_run import check_run_name, new_name
    from busproof.cli.running.one_run import conduct  # the catalogue alone starts faster
    from busproof.spec import load

    _refuse(args)
    catalogue = load()
    name = args.name or new_name(args.adapter)
    failures = known_failures.Known(args)
    editions = sorted(catalogue.editions, key=lambda edition: edition.order)
    runs: list[Conformance] = []
    for edition in editions:
        check_run_name(f"{name}-{edition.id}")
    for edition in editions:
        write_aside(f"Edition {edition.id}, {len(runs) + 1} of {len(editions)}")
        one = copy.copy(args)
        one.edition = edition.id
        one.name = f"{name}-{edition.id}"
        one.format = "json"
        # Consent to the first run covers all of them.
        one.yes = args.yes or bool(runs)
        ran = conduct(one, request_from(one, one.adapter), failures)
        runs.append(_report(ran, allure=args.allure))
        write_aside(f"Report: {ran.folder}")
    shown = try_printing(lambda: _print(runs, catalogue, args))
    github.annotate_verdicts(runs)
    page = Path("reports") / "runs" / f"{name}.html"
    done = try_writing(lambda: _write_page(runs, catalogue, page))
    if done:
        write_aside(f"Page: {page}")
    codes = {int(run.exit_code) for run in runs} | (set() if shown and done else {3})
    return next(code for code in GRAVEST_FIRST if code in codes)


def _refuse(args: Options) -> None:
    from busproof.adapters.finding import check_name

    check_name(args.adapter)
    for option in ("replay", "write_known_failures"):
        if getattr(args, option) is not None:
            name = option.replace("_", "-")
            raise UsageError(f"--{name} belongs to one run; name an edition, or leave it out")


def _report(done: "Conducted", *, allure: bool) -> "Conformance":
    """Write the files of a run and return its verdicts, as incomplete if writing failed."""
    from busproof.history.conformance import ExitCode

    conformance = done.conformance
    if try_writing(lambda: report(done, allure=allure)) or conformance.exit_code is not ExitCode.OK:
        return conformance
    return attrs.evolve(conformance, exit_code=ExitCode.INCOMPLETE)


def _print(runs: "list[Conformance]", catalogue: "Catalogue", args: Options) -> None:
    if args.format == "json":
        import json

        from busproof.reports.document import view
        from busproof.reports.redaction import redact

        documents = {run.subject.edition: view(redact(run)) for run in runs}
        print(json.dumps({"editions": documents}, indent=2))
        return
    from busproof.reports.editions import show

    show(runs, catalogue, terminal())


def _write_page(runs: "list[Conformance]", catalogue: "Catalogue", page: Path) -> None:
    from busproof.cli.evidence import evidence
    from busproof.reports.page import write_page
    from busproof.reports.page_data import Comparison
    from busproof.reports.redaction import redact

    public = tuple(map(redact, runs))
    write_page(
        Comparison(runs=public, catalogue=catalogue, evidence=evidence(catalogue.rules)), page
    )
