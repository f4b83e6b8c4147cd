"""The suite's scenarios in pytest's output: skips, failures without its own frames, verdicts.

pytest formats a traceback for every exception except its own skips, which takes longer than a
scenario. So exceptions are converted here.
"""

import shlex
import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import attrs
import pytest

from busproof import vocabulary as v
from busproof.adapters.finding import is_address
from busproof.history.conformance import Conformance, Verdict
from busproof.history.records import ScenarioVerdict, StepResult

__all__ = ["ScenarioFailure", "as_pytest_says_it", "bounded", "failure", "verdict_lines"]

LONGEST_DETAIL: Final = 65536
"""Maximum length of a scenario's detail, in characters."""

_SKIPPED: Final = (ScenarioVerdict.NOT_APPLICABLE, ScenarioVerdict.INCONCLUSIVE)
_OURS: Final = Path(__file__).parent.parent
_HARNESS: Final = ("_pytest", "pluggy", "pytest_bdd", "contextlib.py")
_NAMED: Final = 12
"""Maximum number of rules listed per verdict in the summary."""


def bounded(detail: str) -> str:
    """Return the detail, truncated: an adapter's exception may have any length."""
    if len(detail) <= LONGEST_DETAIL:
        return detail
    return f"{detail[:LONGEST_DETAIL]}… and {len(detail) - LONGEST_DETAIL} characters more"


def as_pytest_says_it(
    item: pytest.Item,
    call: pytest.CallInfo[None],
    verdict: ScenarioVerdict,
    detail: str,
    steps: Sequence[StepResult],
) -> None:
    """Convert the exception of a scenario to the form that pytest reports.

    A scenario that was not judged becomes a skip with its reason, and a failure is reported with
    the scenario's steps. An exception that is a fault of busproof keeps its whole traceback.
    """
    error = call.excinfo.value if call.excinfo is not None else None
    if error is None or isinstance(error, pytest.skip.Exception):
        return
    if verdict in _SKIPPED:
        call.excinfo = _skip(f"{verdict.value}: {detail}")
    elif type(error).__module__.startswith("busproof.") or isinstance(error, AssertionError):
        text = failure(item, error, detail, steps)
        item.repr_failure = lambda *_, **__: text  # type: ignore[method-assign,assignment]  # of this item only


def _skip(reason: str) -> pytest.ExceptionInfo[BaseException]:
    try:
        # Raise it, because pytest reads the traceback.
        raise pytest.skip.Exception(reason, _use_item_location=True)  # noqa: TRY301 - as above
    except pytest.skip.Exception:
        return pytest.ExceptionInfo.from_current()


@attrs.frozen
class _Place:
    """The location of a scenario and the first line of its failure, for pytest's short summary."""

    path: str
    lineno: int
    message: str


@attrs.frozen
class ScenarioFailure:
    """A scenario's failure, shown with its steps."""

    reprcrash: _Place
    lines: tuple[str, ...]

    def toterminal(self, tw: Any) -> None:
        """Print the failure in the style of pytest."""
        for line in self.lines:
            tw.line(line)

    def __str__(self) -> str:
        return "\n".join(self.lines)


def failure(
    item: pytest.Item, error: BaseException, detail: str, steps: Sequence[StepResult]
) -> ScenarioFailure:
    """Return the steps up to the failed one, the failure, and the frames of foreign code."""
    path, line, _ = item.reportinfo()
    detail_lines = detail.splitlines() or [type(error).__name__]
    marked = [
        f"{'  ' if step.result == 'passed' else '> '}{step.keyword} {step.text}" for step in steps
    ]
    lines = (*marked, *([""] if marked else []), *(f"E   {text}" for text in detail_lines))
    return ScenarioFailure(
        reprcrash=_Place(path=str(path), lineno=(line or 0) + 1, message=detail_lines[0]),
        lines=(*lines, *_foreign(error)),
    )


def _foreign(error: BaseException) -> Iterator[str]:
    """Yield the frames of the code that raised, usually an adapter, without busproof's."""
    cause = error.__cause__
    if cause is None:
        return
    every = traceback.extract_tb(cause.__traceback__)
    foreign = [frame for frame in every if not _is_harness(frame.filename)]
    # If one of busproof's adapters fails, no frame is foreign; then show all.
    frames = (*traceback.format_list(foreign or every), *traceback.format_exception_only(cause))
    yield ""
    yield from "".join(frames).splitlines()


def _is_harness(filename: str) -> bool:
    path = Path(filename)
    return _OURS in path.parents or any(name in path.parts for name in _HARNESS)


def verdict_lines(
    conformance: Conformance, rules: frozenset[v.RuleId], adapter: str
) -> Iterator[str]:
    """Yield the verdicts on the rules whose scenarios ran, and on any other violated rule."""
    rule_verdicts = [
        rule for rule in conformance.rules if rule.id in rules or rule.verdict is Verdict.VIOLATED
    ]
    counted = Counter(rule.verdict for rule in rule_verdicts)
    counts = (f"{counted[verdict]} {verdict.value}" for verdict in Verdict if counted[verdict])
    noun = "rule" if len(rule_verdicts) == 1 else "rules"
    yield f"{len(rule_verdicts)} {noun}: {', '.join(counts) or 'none was run'}"
    for verdict in (Verdict.VIOLATED, Verdict.ERRORED, Verdict.INCONCLUSIVE, Verdict.NOT_SHOWN):
        named = [rule for rule in rule_verdicts if rule.verdict is verdict]
        for rule in named[:_NAMED]:
            cause = f" ({rule.cause})" if rule.cause and verdict is not Verdict.VIOLATED else ""
            yield f"  {verdict.value} {rule.id}: {rule.title}{cause}"
        if named[_NAMED:]:
            yield f"  and {len(named) - _NAMED} more {verdict.value}"
    # The address of a service may contain a key.
    public = "env:NAME" if is_address(adapter) else adapter
    yield f"Every rule with its evidence: busproof run --adapter {shlex.quote(public)}"
