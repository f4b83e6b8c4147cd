"""Outcomes of scenarios that do not pass, and who is at fault."""

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


class NotConforming(AssertionError):  # noqa: N818 - a finding about the bus, not an error of ours
    """The bus broke a rule; the running test found it."""


class Inconclusive(Exception):  # noqa: N818 - neither passed nor failed
    """An answer that the scenario depends on never arrived."""


class Missed(Inconclusive):
    """An answer never arrived, or too late; another attempt may succeed.

    Args:
        request: the request.
        place: the number of earlier answers in the scenario.
    """

    def __init__(self, request: str, place: int) -> None:
        super().__init__(request)
        self.place = place


class NotApplicable(Exception):  # noqa: N818 - says what is missing
    """The scenario needs more than the adapter declares."""


class Undeclared(Exception):  # noqa: N818 - says what is missing, not a failure of the bus
    """The adapter answered `unsupported` for a capability that it declared."""


LONGEST_TEXT: Final = 4096
"""Maximum length of an adapter's exception text, in characters."""


@contextmanager
def blaming_the_adapter() -> Iterator[None]:
    """Convert any exception of an adapter to an error of the adapter, not of the bus.

    Raises:
        AdapterError: the adapter raised something else than our errors.
    """
    try:
        yield
    except ConformanceError:
        raise
    except Exception as error:
        text = str(error)
        if len(text) <= LONGEST_TEXT:
            raise AdapterError(f"the adapter raised {type(error).__name__}: {text}") from error
        # Not chained: pytest would log the whole chain at every scenario.
        cut = f"{text[:LONGEST_TEXT]}… and {len(text) - LONGEST_TEXT} characters more"
        raise AdapterError(f"the adapter raised {type(error).__name__}: {cut}") from None
