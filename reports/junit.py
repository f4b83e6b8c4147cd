"""Verdicts as JUnit XML, for tools that support no other format.

JUnit has no status for a rule whose situation never arose, and tools treat skipped cases as fine.
So only rules that do not apply and known failures are skipped. A rule that was not shown,
inconclusive or errored is an error, so that a tool's red and green agree with the exit code.
"""

import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from busproof.errors import HistoryError
from busproof.extras import need
from busproof.history.conformance import Conformance, Counterexample, RuleVerdict, Verdict
from busproof.history.render.events import story
from busproof.reports.columns import labels

if TYPE_CHECKING:
    from junitparser import TestCase, TestSuite
    from junitparser.junitparser import FinalResult

__all__ = ["write_junit"]

_SKIPPED: Final = (Verdict.NOT_APPLICABLE, Verdict.KNOWN_FAILURE)
_UNPRINTABLE: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML cannot contain, even escaped."""


def write_junit(runs: Iterable[Conformance], path: str | os.PathLike[str]) -> None:
    """Write a test suite for each run, with a case for each rule, without host, time or path.

    Args:
        runs: the redacted verdicts.
        path: the file; its folder is created if it is missing.

    Raises:
        UsageError: the package that writes JUnit XML is not installed.
        HistoryError: the file cannot be written.
    """
    need("report", "JUnit XML")
    from junitparser import JUnitXml  # an extra

    document, runs = JUnitXml("busproof"), tuple(runs)
    for label, run in zip(labels(runs), runs, strict=True):
        document.add_testsuite(_suite(label, run))
    document.update_statistics()  # type: ignore[no-untyped-call]  # it has no types
    file = Path(path)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        document.write(str(file), pretty=True)
    except OSError as error:
        raise HistoryError(f"cannot write {file}: {error.strerror or error}") from None


def _suite(label: str, run: Conformance) -> "TestSuite":
    from junitparser import TestSuite  # an extra

    suite, subject = TestSuite(_printable(label)), run.subject
    properties = {"edition": subject.edition, "tier": str(subject.tier), "oracle": str(run.oracle)}
    for name, value in properties.items():
        suite.add_property(name, value)
    suite.add_testcases([_case(rule) for rule in run.rules])
    return suite


def _case(rule: RuleVerdict) -> "TestCase":
    from junitparser import TestCase  # an extra

    family = rule.id.rpartition("-")[0]
    case = TestCase(_printable(f"{rule.id} {rule.title}"), classname=_printable(family))
    if rule.verdict is not Verdict.SHOWN:
        case.result = [_result(rule)]
    return case


def _result(rule: RuleVerdict) -> "FinalResult":
    words = f"{rule.verdict.value}: {rule.cause}" if rule.cause else rule.verdict.value
    result = _kind(rule.verdict)(_printable(words), rule.verdict.value)
    if rule.counterexample is not None:
        result.text = _printable(_describe(rule.counterexample, rule.again))
    return result


def _kind(verdict: Verdict) -> "type[FinalResult]":
    from junitparser import Error, Failure, Skipped  # an extra

    if verdict is Verdict.VIOLATED:
        return Failure
    return Skipped if verdict in _SKIPPED else Error


def _describe(example: Counterexample, again: str) -> str:
    lines = [f"{number}. {line}" for number, line in enumerate(story(example.events), 1)]
    allowed = [f"allowed: {outcome}" for outcome in example.allowed]
    last = [f"again: {again}"] if again else []
    return "\n".join(
        [f"scenario: {example.scenario}", *lines, f"seen: {example.seen}", *allowed, *last]
    )


def _printable(text: str) -> str:
    return _UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", text)
