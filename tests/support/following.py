"""`busproof check --engine spark` with and without --follow, as tests of the pipeline run it."""

import contextlib
import io
from pathlib import Path

import attrs

from busproof.cli.main import main
from busproof.history.conformance import Conformance
from busproof.reports import conformance as reports

__all__ = ["Ended", "at_once", "follow"]


@attrs.frozen
class Ended:
    """What the command came to."""

    code: int
    err: str
    report: Conformance | None


def follow(folder: Path, *options: str) -> Ended:
    """Judge what has arrived in a folder."""
    report = folder / "_told"
    words = ["check", "--engine", "spark", "--follow", str(folder), "--once", *options]
    with (
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(io.StringIO()) as err,
    ):
        code = main([*words, "--report", str(report)])
    there = (report / "conformance.json").exists()
    return Ended(code, err.getvalue(), reports.read(report) if there else None)


def at_once(place: Path) -> Conformance:
    """Return the report on the same files when they are judged together."""
    report = place / "_together"
    with contextlib.redirect_stdout(io.StringIO()):
        main(["check", str(place), "--engine", "spark", "--report", str(report)])
    return reports.read(report)
