"""The event log of a broker, with one JSON object per line.

It has connections, links, logins, tokens, refusals, outages and the state of the disk. It never has
keys, tokens, contents of messages or single messages; the decisions list those.
"""

import logging
from collections.abc import Callable, MutableMapping
from pathlib import Path
from typing import Any, Final, Protocol, TextIO

from busproof.errors import UsageError

__all__ = ["LONGEST", "Journal", "Logged", "Silent", "journal"]

LONGEST: Final = 300
"""Maximum length of a client's text in the log, in characters; entity paths are shorter."""


class Journal(Protocol):
    """The interface of an event log."""

    def info(self, event: str, **details: Any) -> Any:
        """Log a normal event, or a mistake of a client."""

    def warning(self, event: str, **details: Any) -> Any:
        """Log an event that needs the operator's attention."""


class Silent:
    """An event log that discards all events."""

    def info(self, event: str, **details: Any) -> None:
        """Discard an event."""

    def warning(self, event: str, **details: Any) -> None:
        """Discard an event."""


class Logged:
    """An event log that writes to a logger of the embedding program.

    Args:
        log: a logger of the standard library.
    """

    def __init__(self, log: logging.Logger) -> None:
        self._log = log

    def info(self, event: str, **details: Any) -> None:
        """Log an event."""
        self._log.info("%s %s", event, details)

    def warning(self, event: str, **details: Any) -> None:
        """Log an event as a warning."""
        self._log.warning("%s %s", event, details)


class _File:
    """A log file whose write errors do not stop the broker.

    Args:
        file: the file.
        failed: called with a sentence on the first error after a success.
    """

    def __init__(self, file: TextIO, failed: Callable[[str], None]) -> None:
        self._file = file
        self._failed = failed
        self._is_failing = False

    def write(self, text: str) -> None:
        """Write a text if possible."""
        try:
            self._file.write(text)
            self._file.flush()
        except (OSError, ValueError) as error:
            if not self._is_failing:
                self._is_failing = True
                self._failed(f"the log cannot be written: {error}; events are not logged there")
        else:
            self._is_failing = False

    def flush(self) -> None:
        """Do nothing: each line is flushed when it is written."""


def journal(path: Path | None, output: TextIO, failed: Callable[[str], None]) -> Journal:
    """Return an event log that writes each event as a line.

    Args:
        path: the file to append to; `None` to write to `output`.
        output: the stream to write to without a file.
        failed: called with a sentence when lines cannot be written.

    Raises:
        UsageError: the file cannot be opened.
    """
    try:
        file = output if path is None else path.open("a", encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot write the log {path}: {error.strerror or error}") from None
    # Import it only if there is a log, because it imports terminal libraries.
    import structlog

    written: Any = _File(file, failed)
    log: Journal = structlog.wrap_logger(
        structlog.WriteLogger(written),
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True, key="time"),
            _order_fields,
            structlog.processors.JSONRenderer(),
        ],
        wrapper_class=structlog.make_filtering_bound_logger("info"),
    )
    return log


def _order_fields(_: Any, __: str, details: MutableMapping[str, Any]) -> dict[str, Any]:
    """Put the time, the level and the event first, and truncate long texts of clients."""
    first = {name: details.pop(name) for name in ("time", "level", "event")}
    return first | {name: _short(value) for name, value in details.items()}


def _short(value: Any) -> Any:
    return value[:LONGEST] if isinstance(value, str) else value
