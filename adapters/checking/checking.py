"""All checks of one adapter, whether it is in this process or in another."""

import functools
import shlex
from collections.abc import Iterator
from typing import Final

import attrs

from busproof import vocabulary as v
from busproof.adapters.checking.basics import (
    AFTER,
    BASICS,
    DECLARATION,
    check_declaration,
)
from busproof.adapters.checking.entities import ENTITIES
from busproof.adapters.checking.findings import (
    Finding,
    Lesson,
    NoAnswer,
    Result,
    Wrong,
    traceback_of,
)
from busproof.adapters.checking.partitions import PARTITIONS
from busproof.adapters.checking.receiving import RECEIVING
from busproof.adapters.checking.sending import SENDING
from busproof.adapters.checking.sessions import SESSIONS
from busproof.adapters.checking.talk import Check, Talk
from busproof.adapters.checking.wire import SAME, WIRE, wire_findings
from busproof.adapters.finding import find
from busproof.errors import AdapterError

__all__ = ["MAKING", "check_adapter", "lessons"]

MAKING: Final = Lesson(
    id="made",
    title="can be made",
    protocol="A factory is called without arguments and returns an object with declaration, start, "
    "do and stop.",
    advice="Call your factory in a Python shell, in the folder and the environment that busproof "
    "runs in.",
)

CHECKS: Final = (*BASICS, *SENDING, *RECEIVING, *SESSIONS, *PARTITIONS, *ENTITIES, AFTER)
"""All checks of a conversation, in order."""

PATIENCE: Final = 3
"""Number of failures of an adapter to tolerate; one more ends the checks."""


def lessons(name: str) -> tuple[Lesson, ...]:
    """Return the requirements that are checked for an adapter with this name, in order."""
    wire = (*(lesson for lesson, _ in WIRE), SAME) if name.startswith("exec:") else ()
    return (*wire, MAKING, *_lessons())


def check_adapter(name: str, profile: v.Profile, timeout: float) -> Iterator[Finding]:
    """Check an adapter; yield each finding as soon as it is made.

    Args:
        name: name of the adapter, as for `--adapter`.
        profile: the profile to start the adapter with.
        timeout: maximum wait for an answer of a process, in seconds.

    Raises:
        UsageError: there is no such adapter.
    """
    if name.startswith("exec:"):
        find(name, timeout=timeout)  # refuses a command that makes no sense
        failed = False
        for finding in wire_findings(shlex.split(name.removeprefix("exec:")), timeout):
            failed = failed or (finding.lesson is WIRE[0][0] and _is_failed(finding))
            yield finding
        if failed:
            yield from _skip_checks((MAKING, *_lessons()), "hello has failed")
            return
    yield from _translating(name, profile, timeout)


def _is_failed(finding: Finding) -> bool:
    return finding.result is Result.FAILED


def _lessons() -> list[Lesson]:
    return [check.lesson for check in CHECKS]


def _skip_checks(these: tuple[Lesson, ...] | list[Lesson], why: str) -> Iterator[Finding]:
    for lesson in these:
        yield Finding(lesson=lesson, result=Result.NOT_TRIED, detail=why)


def _translating(name: str, profile: v.Profile, timeout: float) -> Iterator[Finding]:
    try:
        adapter = find(name, timeout=timeout)
    except AdapterError as error:
        yield Finding(
            lesson=MAKING,
            result=Result.FAILED,
            detail=str(error),
            traceback=traceback_of(error),
        )
        yield from _skip_checks(_lessons(), "there is no adapter to check")
        return
    yield Finding(lesson=MAKING, result=Result.PASSED)
    try:
        declaration = _read_declaration(adapter)
    except (Wrong, AdapterError) as wrong:
        yield Finding(
            lesson=DECLARATION,
            result=Result.FAILED,
            detail=str(wrong),
            traceback=traceback_of(wrong),
        )
        yield from _skip_checks(_lessons()[1:], "the declaration is invalid")
        return
    full = name.startswith("exec:")
    yield from _Checking(adapter, declaration, profile, full=full).all()


def _read_declaration(adapter: v.Adapter) -> v.Declaration:
    try:
        return check_declaration(adapter.declaration)
    except (Wrong, AdapterError):
        raise
    except Exception as error:
        raise Wrong(f"its declaration raises {type(error).__name__}: {error}") from error


class _Checking:
    """The checks of one adapter, which may fail a few times before they are given up."""

    def __init__(
        self, adapter: v.Adapter, declaration: v.Declaration, profile: v.Profile, *, full: bool
    ) -> None:
        self._adapter = adapter
        self._full = full
        self._declaration = declaration
        self._profile = profile
        self._broke = 0

    def all(self) -> Iterator[Finding]:
        """Run all checks; yield their findings."""
        for check in CHECKS:
            yield self._one(check)

    def _one(self, check: Check) -> Finding:
        lesson = check.lesson
        for capability in check.needs:
            if capability not in self._declaration.capabilities:
                detail = f"{capability.value} is not declared"
                return Finding(lesson=lesson, result=Result.NOT_APPLICABLE, detail=detail)
        if self._broke > PATIENCE:
            detail = f"it broke {self._broke} times before"
            return Finding(lesson=lesson, result=Result.NOT_TRIED, detail=detail)
        talk = Talk(self._adapter, self._declaration, self._profile, full=self._full)
        finding = self._try_check(check, talk)
        return attrs.evolve(finding, exchanges=tuple(talk.exchanges))

    def _try_check(self, check: Check, talk: Talk) -> Finding:
        finding = functools.partial(Finding, lesson=check.lesson)
        try:
            check.run(talk)
        except Wrong as wrong:
            return finding(result=Result.FAILED, detail=str(wrong), traceback=traceback_of(wrong))
        except NoAnswer as silence:
            return finding(result=Result.INCONCLUSIVE, detail=str(silence))
        except AdapterError as error:
            self._broke += 1
            detail = f"the adapter broke: {error}"
            return finding(result=Result.FAILED, detail=detail, traceback=traceback_of(error))
        return finding(result=Result.PASSED)
