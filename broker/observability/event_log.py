"""What happens in a broker, one JSON object a line, for whoever looks for a cause afterwards.

Told are connections, links, logins, tokens, refusals, outages and what the disk does. No key, no
token and nothing of a message is ever told, and no message by itself: the decisions tell those.
"""

import logging
from collections.abc import Callable, MutableMapping
from pathlib import Path
from typing import Any, Final, Protocol, TextIO

import structlog

from busproof.errors import UsageError

__all__ = ["LONGEST", "Journal", "Logged", "Silent", "journal"]

LONGEST: Final = 300
"""How many characters are told of a text that a client chose; a path of an entity has fewer."""


class Journal(Protocol):
    """Is told what happens."""

    def info(self, event: str, **told: Any) -> Any:
        """Something that is as it should be, or a client's own mistake."""

    def warning(self, event: str, **told: Any) -> Any:
        """Something that whoever runs the broker should look at."""


class Silent:
    """Nobody is told."""

    def info(self, event: str, **told: Any) -> None:
        """Nothing comes of it."""

    def warning(self, event: str, **told: Any) -> None:
        """Nothing comes of it."""


class Logged:
    """What happens goes where the program that has the broker within it logs.

    Args:
        log: a logger of the standard library.
    """

    def __init__(self, log: logging.Logger) -> None:
        self._log = log

    def info(self, event: str, **told: Any) -> None:
        """Log it."""
        self._log.info("%s %s", event, told)

    def warning(self, event: str, **told: Any) -> None:
        """Log it as something to look at."""
        self._log.warning("%s %s", event, told)


class _File:
    """A file that a broker goes on without, if it cannot be written.

    Args:
        file: the file.
        failed: is told so, once until it can be written again.
    """

    def __init__(self, file: TextIO, failed: Callable[[str], None]) -> None:
        self._file = file
        self._failed = failed
        self._is_failing = False

    def write(self, text: str) -> None:
        """Write it, if that can be."""
        try:
            self._file.write(text)
            self._file.flush()
        except (OSError, ValueError) as error:
            if not self._is_failing:
                self._is_failing = True
                self._failed(f"the log cannot be written: {error}; what happens is not told there")
        else:
            self._is_failing = False

    def flush(self) -> None:
        """Each line is written at once."""


def journal(path: Path | None, output: TextIO, failed: Callable[[str], None]) -> Journal:
    """What writes each event as a line.

    Args:
        path: of the file that the lines are added to; `None` for the output.
        output: the output.
        failed: is told if no line can be written any more.

    Raises:
        UsageError: the file cannot be written.
    """
    try:
        file = output if path is None else path.open("a", encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot write the log {path}: {error.strerror or error}") from None
    written: Any = _File(file, failed)
    found: Journal = structlog.wrap_logger(
        structlog.WriteLogger(written),
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True, key="time"),
            _in_order,
            structlog.processors.JSONRenderer(),
        ],
        wrapper_class=structlog.make_filtering_bound_logger("info"),
    )
    return found


def _in_order(_: Any, __: str, told: MutableMapping[str, Any]) -> dict[str, Any]:
    """When, how grave and what first, as people read; texts of clients are cut."""
    first = {name: told.pop(name) for name in ("time", "level", "event")}
    return first | {name: _short(value) for name, value in told.items()}


def _short(value: Any) -> Any:
    return value[:LONGEST] if isinstance(value, str) else value
