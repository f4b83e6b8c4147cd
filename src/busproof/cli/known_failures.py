"""Known failures on the command line: read before a run, applied and written after it."""

from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final

from busproof.cli.console import say, write_aside
from busproof.cli.frame import PATH, Option, Options, option
from busproof.errors import HistoryError, UsageError

if TYPE_CHECKING:
    from busproof.history.conformance import Conformance, KnownFailure

__all__ = ["OPTIONS", "Known"]

LASTS: Final = timedelta(days=90)
"""Lifetime of generated entries, which the user may change."""


OPTIONS: Final[tuple[Option, ...]] = (
    option(
        "--known-failures",
        type=PATH,
        metavar="FILE",
        help="rules that are known to be broken, which must fail: YAML, see the how-to",
    ),
    option(
        "--write-known-failures",
        type=PATH,
        metavar="FILE",
        help="write the violated rules to a new list of known failures; FILE must not exist",
    ),
)
"""Options that name the list to read and the list to write."""


class Known:
    """Known failures from the user's list.

    Raises:
        UsageError: the list cannot be read, or the one to write exists already.
    """

    def __init__(self, args: Options) -> None:
        self._today: date = datetime.now(tz=UTC).date()
        self._target: Path | None = args.write_known_failures
        self._entries = _read(args.known_failures)
        if self._target is not None and self._target.exists():
            raise UsageError(
                f"there is a file {self._target}, which --write-known-failures would overwrite; "
                "name another one, or remove it"
            )

    def mark(self, conformance: "Conformance") -> "Conformance":
        """Return the verdicts with known failures marked; unchanged without a list."""
        if self._entries is None:
            return conformance
        from busproof.judging.known_failures import marked
        from busproof.spec import load

        return marked(conformance, self._entries, load(), self._today)

    def write(self, conformance: "Conformance") -> bool:
        """Write the requested list and print its rules; return whether that succeeded."""
        if self._target is None:
            return True
        from busproof.judging.known_failures import write_known_failures
        from busproof.reports.redaction import redact

        try:
            written = write_known_failures(
                redact(conformance), self._target, self._today, self._today + LASTS
            )
        except HistoryError as error:
            say(str(error))
            return False
        count = f"{len(written)} rule{'' if len(written) == 1 else 's'}"
        outcome = f"{self._target}, {count}" if written else "none; no file was written"
        write_aside(f"Known failures: {outcome}")
        return True


def _read(path: Path | None) -> "tuple[KnownFailure, ...] | None":
    if path is None:
        return None
    from busproof.judging.known_failures import read_known_failures

    return read_known_failures(path)
