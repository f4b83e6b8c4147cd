"""Exceptions that end a scenario, by who is at fault."""

import time
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Final

from busproof.errors import AdapterError, ConformanceError

__all__ = [
    "Inconclusive",
    "Missed",
    "NotApplicable",
    "NotConforming",
    "Undeclared",
    "blaming_the_adapter",
    "seconds_owed",
]


class NotConforming(AssertionError):
    """The bus broke a rule, as the running scenario found."""


class Inconclusive(Exception):
    """An answer that the scenario needs never arrived."""


class Missed(Inconclusive):
    """An answer never arrived, or arrived too late; another attempt may succeed.

    Args:
        request: the request without an answer.
        place: how many answers the scenario had before.
    """

    def __init__(self, request: str, place: int) -> None:
        super().__init__(request)
        self.place = place


class NotApplicable(Exception):
    """The scenario needs a capability that the adapter does not declare."""


class Undeclared(Exception):
    """The adapter declares a capability, and answered `unsupported` to a request that needs it."""


_called: Final[list[float]] = []
"""The times of the calls of the adapter that have not returned, the outermost first."""

LONGEST_TEXT: Final = 4096
"""Maximum number of characters that are kept of an exception of the adapter."""


class _Blaming:
    """The context of `blaming_the_adapter`; a generator would cost as much as a short answer."""

    def __enter__(self) -> None:
        _called.append(time.monotonic())

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        _called.pop()
        if not isinstance(error, Exception) or isinstance(error, ConformanceError):
            return
        text = str(error)
        if len(text) <= LONGEST_TEXT:
            raise AdapterError(f"the adapter raised {type(error).__name__}: {text}") from error
        # It is not chained, because pytest would print the long text again for every scenario.
        cut = f"{text[:LONGEST_TEXT]}… and {len(text) - LONGEST_TEXT} characters more"
        raise AdapterError(f"the adapter raised {type(error).__name__}: {cut}") from None


_BLAMING: Final = _Blaming()


def blaming_the_adapter() -> AbstractContextManager[None]:
    """Convert an exception raised by an adapter to an `AdapterError`, and note the time.

    Raises:
        AdapterError: the adapter raised an exception that is not one of busproof's.
    """
    return _BLAMING


def seconds_owed() -> float:
    """Return for how long the adapter has been asked without an answer, in seconds; 0 if it is not.

    Another thread may ask this while the adapter hangs.
    """
    called = _called[:1]
    return time.monotonic() - called[0] if called else 0.0
