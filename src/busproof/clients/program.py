"""The program under test: started for each scenario with a task, and heard line by line."""

import json
import os
import signal
import subprocess
import threading
import time
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

import attrs

from busproof.errors import UsageError

__all__ = ["Ended", "Report", "run_program"]

MOST_REPORTS: Final = 10_000
"""Maximum number of lines that are read of a program."""
LAST_LINES: Final = 12
"""Number of lines of a program's standard error that are kept."""
LONGEST_LINE: Final = 2_000
LOOK: Final = 0.05
"""Time between looks whether a program has ended, in seconds."""
GRACE: Final = 3.0
"""Time for a program to end after it was asked to, in seconds."""


@attrs.frozen
class Report:
    """A line of JSON that the program printed, and when, in seconds."""

    at: float
    fields: Mapping[str, Any]

    @property
    def event(self) -> str:
        """What the program says happened."""
        return str(self.fields.get("event", ""))


@attrs.frozen(kw_only=True)
class Ended:
    """How a program ended.

    Attributes:
        reports: what it reported.
        code: its exit code; `None` if it was ended because its time was over.
        strange: the first line that is no report, if any.
        errors: the last lines of its standard error.
        seconds: how long it ran.
    """

    reports: tuple[Report, ...]
    code: int | None
    strange: str
    errors: tuple[str, ...]
    seconds: float

    def of(self, event: str) -> list[Report]:
        """Return the reports of an event."""
        return [report for report in self.reports if report.event == event]

    @property
    def is_done(self) -> bool:
        """Whether the program said that it has carried out its task."""
        return bool(self.of("done"))

    @property
    def unsupported(self) -> str | None:
        """Why the program cannot carry out the task; `None` if it does not say so."""
        reports = self.of("unsupported")
        return str(reports[0].fields.get("reason", "no reason given")) if reports else None


def run_program(
    words: Sequence[str], variables: Mapping[str, str], limit: float, stop: threading.Event
) -> Ended:
    """Run a program until it ends, for at most `limit` seconds, or until `stop` is set.

    Raises:
        UsageError: it cannot be started.
    """
    start = time.monotonic()
    try:
        process = subprocess.Popen(
            list(words),
            env={**os.environ, **variables},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            errors="replace",
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise UsageError(f"cannot start {words[0]!r}: {reason}") from None
    reports, strange, errors = list[Report](), list[str](), deque[str](maxlen=LAST_LINES)
    readers = [
        threading.Thread(target=_read_reports, args=(process.stdout, reports, strange)),
        threading.Thread(target=_read_errors, args=(process.stderr, errors)),
    ]
    for reader in readers:
        reader.daemon = True
        reader.start()
    while process.poll() is None and time.monotonic() - start < limit and not stop.wait(LOOK):
        pass
    code = process.poll()
    _end(process)
    for reader in readers:
        # A child of the program may keep the pipes open.
        reader.join(GRACE)
    return Ended(
        reports=tuple(reports),
        code=code,
        strange=strange[0] if strange else "",
        errors=tuple(errors),
        seconds=time.monotonic() - start,
    )


def _end(process: "subprocess.Popen[str]") -> None:
    """End a program and what it has started."""
    for wanted in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, wanted)
        try:
            process.wait(GRACE)
        except subprocess.TimeoutExpired:
            continue
        return


def _read_reports(stream: Any, reports: list[Report], strange: list[str]) -> None:
    with suppress(ValueError, OSError):
        for line in stream:
            if len(reports) < MOST_REPORTS and line.strip():
                _read_report(line.strip()[:LONGEST_LINE], reports, strange)


def _read_report(line: str, reports: list[Report], strange: list[str]) -> None:
    try:
        fields = json.loads(line)
    except ValueError:
        fields = None
    if isinstance(fields, dict) and isinstance(fields.get("event"), str):
        reports.append(Report(time.monotonic(), fields))
    else:
        strange.append(line)


def _read_errors(stream: Any, errors: deque[str]) -> None:
    with suppress(ValueError, OSError):
        for line in stream:
            errors.append(line.rstrip()[:LONGEST_LINE])
