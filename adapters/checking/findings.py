"""Lessons, which are checked, and findings, which result from checks."""

import traceback
from enum import StrEnum

import attrs

__all__ = ["Exchange", "Finding", "Lesson", "NoAnswer", "Result", "Wrong", "traceback_of"]


class Result(StrEnum):
    """Result of a check."""

    PASSED = "passed"
    FAILED = "failed"
    INCONCLUSIVE = "inconclusive"
    NOT_TRIED = "not tried"
    NOT_APPLICABLE = "not applicable"


class Wrong(Exception):  # noqa: N818 - a mistake of the adapter, not an error of ours
    """Violation of the protocol by the adapter, described in a sentence."""


class NoAnswer(Exception):  # noqa: N818 - neither passed nor failed
    """No answer came to a request that a check depends on."""


@attrs.frozen(kw_only=True)
class Exchange:
    """Message to the adapter and its answer, which is empty if none came."""

    sent: str
    came: str


@attrs.frozen(kw_only=True)
class Lesson:
    """Requirement of the protocol.

    Attributes:
        id: a short name.
        title: what is checked.
        protocol: the text of the protocol.
        advice: what to do if an adapter fails.
    """

    id: str
    title: str
    protocol: str
    advice: str


@attrs.frozen(kw_only=True)
class Finding:
    """Finding of one check.

    Attributes:
        lesson: the requirement.
        result: the result of the check.
        detail: what was wrong, or why there is no verdict.
        traceback: the traceback of the adapter's exception; empty if it raised none.
        exchanges: all requests and answers; in a failure, the last one is the cause.
    """

    lesson: Lesson
    result: Result
    detail: str = ""
    traceback: str = ""
    exchanges: tuple[Exchange, ...] = ()


def traceback_of(error: Exception) -> str:
    """Return the traceback of the adapter's exception that led to an error; empty without one."""
    cause = error.__cause__
    return "" if cause is None else "".join(traceback.format_exception(cause))
