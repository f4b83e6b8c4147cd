"""Exceptions that end a scenario, by who is at fault."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from busproof.errors import AdapterError, ConformanceError

__all__ = [
    "Inconclusive",
    "Missed",
    "NotApplicable",
    "NotConforming",
    "Undeclared",
    "blaming_the_adapter",
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


LONGEST_TEXT: Final = 4096
"""Maximum number of characters that are kept of an exception of the adapter."""


@contextmanager
def blaming_the_adapter() -> Iterator[None]:
    """Convert an exception raised by an adapter to an `AdapterError`.

    Raises:
        AdapterError: the adapter raised an exception that is not one of busproof's.
    """
    try:
        yield
    except ConformanceError:
        raise
    except Exception as error:
        text = str(error)
        if len(text) <= LONGEST_TEXT:
            raise AdapterError(f"the adapter raised {type(error).__name__}: {text}") from error
        # It is not chained, because pytest would print the long text again for every scenario.
        cut = f"{text[:LONGEST_TEXT]}… and {len(text) - LONGEST_TEXT} characters more"
        raise AdapterError(f"the adapter raised {type(error).__name__}: {cut}") from None
