"""How a scenario ends that does not pass, and whose fault it is."""

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
    """The bus did what no rule allows; the test that was running has found it."""


class Inconclusive(Exception):  # noqa: N818 - neither passed nor failed
    """An answer that the scenario depends on never came."""


class Missed(Inconclusive):
    """An answer never came, or too late; another time it may.

    Args:
        told: the request.
        place: how many answers came before in the scenario.
    """

    def __init__(self, told: str, place: int) -> None:
        super().__init__(told)
        self.place = place


class NotApplicable(Exception):  # noqa: N818 - says what is missing
    """The scenario needs more than the adapter declares."""


class Undeclared(Exception):  # noqa: N818 - says what is missing, and is no failure of the bus
    """The adapter declared what it then called unsupported."""


LONGEST_TOLD: Final = 4096
"""Of what an adapter raised, in characters; it may raise anything."""


@contextmanager
def blaming_the_adapter() -> Iterator[None]:
    """Whatever an adapter raises is its own fault: neither the bus's nor a failed expectation.

    Raises:
        AdapterError: the adapter raised something else than our errors.
    """
    try:
        yield
    except ConformanceError:
        raise
    except Exception as error:
        told = str(error)
        if len(told) <= LONGEST_TOLD:
            raise AdapterError(f"the adapter raised {type(error).__name__}: {told}") from error
        # Nor is it chained: pytest would write all of it into the log, at every scenario.
        cut = f"{told[:LONGEST_TOLD]}… and {len(told) - LONGEST_TOLD} characters more"
        raise AdapterError(f"the adapter raised {type(error).__name__}: {cut}") from None
