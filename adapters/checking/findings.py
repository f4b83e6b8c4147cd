"""Lessons, which are checked, and findings, which result from checks."""

from enum import StrEnum

import attrs

__all__ = ["Exchange", "Finding", "Lesson", "NoAnswer", "Result", "Wrong"]


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
        said: what was wrong, or why there is no verdict.
        exchanges: all requests and answers; in a failure, the last one is the cause.
    """

    lesson: Lesson
    result: Result
    said: str = ""
    exchanges: tuple[Exchange, ...] = ()
