"""Requirements for adapters, called lessons, and the findings of checks."""

import traceback
from enum import StrEnum

import attrs

__all__ = ["Exchange", "Finding", "Lesson", "NoAnswer", "Result", "Wrong", "traceback_of"]


class Result(StrEnum):
    """The result of a check."""

    PASSED = "passed"
    FAILED = "failed"
    INCONCLUSIVE = "inconclusive"
    NOT_TRIED = "not tried"
    NOT_APPLICABLE = "not applicable"


class Wrong(Exception):
    """The adapter violates the protocol, as a sentence describes."""


class NoAnswer(Exception):
    """No answer came to a request that the check depends on."""


@attrs.frozen(kw_only=True)
class Exchange:
    """A request to the adapter and its answer, which is empty if none came."""

    sent: str
    came: str


@attrs.frozen(kw_only=True)
class Lesson:
    """A requirement of the protocol, and the advice for adapters that fail it.

    Attributes:
        id: a short name.
        title: what the check examines.
        protocol: what the protocol says.
        advice: what to do if an adapter fails.
    """

    id: str
    title: str
    protocol: str
    advice: str


@attrs.frozen(kw_only=True)
class Finding:
    """The finding of one check.

    Attributes:
        lesson: the requirement.
        result: the result of the check.
        detail: what was wrong, or why there is no result.
        traceback: the traceback of the adapter's exception; empty if it raised none.
        exchanges: all requests and answers; in a failure, the last one is the cause.
    """

    lesson: Lesson
    result: Result
    detail: str = ""
    traceback: str = ""
    exchanges: tuple[Exchange, ...] = ()


def traceback_of(error: Exception) -> str:
    """Return the traceback of the adapter's exception behind an error; empty if there is none."""
    cause = error.__cause__
    return "" if cause is None else "".join(traceback.format_exception(cause))
