"""What a check is, and what it finds."""

from enum import StrEnum

import attrs

__all__ = ["Exchange", "Finding", "Lesson", "NoAnswer", "Result", "Wrong"]


class Result(StrEnum):
    """What came of a check."""

    PASSED = "passed"
    FAILED = "failed"
    INCONCLUSIVE = "inconclusive"
    NOT_TRIED = "not tried"
    NOT_APPLICABLE = "not applicable"


class Wrong(Exception):  # noqa: N818 - what the adapter did, not an error of ours
    """What the adapter did that the protocol does not allow, as a sentence."""


class NoAnswer(Exception):  # noqa: N818 - neither passed nor failed
    """An answer that a check depends on never came."""


@attrs.frozen(kw_only=True)
class Exchange:
    """One thing that was sent, and what came of it; empty where nothing did."""

    sent: str
    came: str


@attrs.frozen(kw_only=True)
class Lesson:
    """One thing that the protocol says.

    Attributes:
        id: a short name.
        title: what is checked.
        protocol: what the protocol says of it.
        advice: what to do where an adapter does otherwise.
    """

    id: str
    title: str
    protocol: str
    advice: str


@attrs.frozen(kw_only=True)
class Finding:
    """What one check found.

    Attributes:
        lesson: what was checked.
        result: what came of it.
        said: what was wrong, or why nothing can be said.
        exchanges: what was sent and what came; of a failure, the last one is it.
    """

    lesson: Lesson
    result: Result
    said: str = ""
    exchanges: tuple[Exchange, ...] = ()
