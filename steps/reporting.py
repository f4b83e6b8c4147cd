"""How our scenarios look in pytest's own output: skips, failures without our frames, verdicts.

pytest formats the traceback of whatever is no skip of its own, which takes longer than a scenario.
"""

import shlex
import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import attrs
import pytest

from busproof.adapters.finding import is_address
from busproof.history.conformance import Conformance, Verdict
from busproof.history.records import ScenarioVerdict, StepResult
from busproof.vocabulary.values import RuleId

__all__ = ["ScenarioFailure", "as_pytest_says_it", "failure", "verdict_lines"]

_SKIPPED: Final = (ScenarioVerdict.NOT_APPLICABLE, ScenarioVerdict.INCONCLUSIVE)
_OURS: Final = Path(__file__).parent.parent
_HARNESS: Final = ("_pytest", "pluggy", "pytest_bdd", "contextlib.py")
_NAMED: Final = 12
"""How many rules of one verdict are named in the summary."""


def as_pytest_says_it(
    item: pytest.Item,
    call: pytest.CallInfo[None],
    verdict: ScenarioVerdict,
    detail: str,
    steps: Sequence[StepResult],
) -> None:
    """Turn the exception of a scenario of ours into what pytest is to make of it.

    What was not judged becomes a skip of pytest's own, with its reason; what failed is told in the
    scenario's words. An exception that is a fault of ours keeps its whole traceback.
    """
    error = call.excinfo.value if call.excinfo is not None else None
    if error is None or isinstance(error, pytest.skip.Exception):
        return
    if verdict in _SKIPPED:
        call.excinfo = _skip(f"{verdict.value}: {detail}")
    elif type(error).__module__.startswith("busproof.") or isinstance(error, AssertionError):
        told = failure(item, error, detail, steps)
        item.repr_failure = lambda *_, **__: told  # type: ignore[method-assign,assignment]


def _skip(reason: str) -> pytest.ExceptionInfo[BaseException]:
    try:
        # Raised, for pytest looks where it comes from.
        raise pytest.skip.Exception(reason, _use_item_location=True)  # noqa: TRY301
    except pytest.skip.Exception:
        return pytest.ExceptionInfo.from_current()


@attrs.frozen
class _Place:
    """Where a scenario is, and the first line of what went wrong: pytest's short summary."""

    path: str
    lineno: int
    message: str


@attrs.frozen
class ScenarioFailure:
    """A scenario that failed, in the words of its steps."""

    reprcrash: _Place
    lines: tuple[str, ...]

    def toterminal(self, tw: Any) -> None:
        """Print it as pytest prints a failure."""
        for line in self.lines:
            tw.line(line)

    def __str__(self) -> str:
        return "\n".join(self.lines)


def failure(
    item: pytest.Item, error: BaseException, detail: str, steps: Sequence[StepResult]
) -> ScenarioFailure:
    """The steps up to the one that failed, what went wrong, and the frames of foreign code."""
    path, line, _ = item.reportinfo()
    said = detail.splitlines() or [type(error).__name__]
    marked = [
        f"{'  ' if step.result == 'passed' else '> '}{step.keyword} {step.text}" for step in steps
    ]
    lines = (*marked, *([""] if marked else []), *(f"E   {each}" for each in said))
    return ScenarioFailure(
        reprcrash=_Place(path=str(path), lineno=(line or 0) + 1, message=said[0]),
        lines=(*lines, *_foreign(error)),
    )


def _foreign(error: BaseException) -> Iterator[str]:
    """The frames of whoever's code raised: the adapter's, without the harness around it."""
    cause = error.__cause__
    if cause is None:
        return
    every = traceback.extract_tb(cause.__traceback__)
    foreign = [frame for frame in every if not _is_harness(frame.filename)]
    # An adapter of ours that breaks has no other frames.
    told = (*traceback.format_list(foreign or every), *traceback.format_exception_only(cause))
    yield ""
    yield from "".join(told).splitlines()


def _is_harness(filename: str) -> bool:
    path = Path(filename)
    return _OURS in path.parents or any(each in path.parts for each in _HARNESS)


def verdict_lines(found: Conformance, rules: frozenset[RuleId], adapter: str) -> Iterator[str]:
    """The verdicts on the rules whose scenarios were run, and on any other that was broken."""
    told = [rule for rule in found.rules if rule.id in rules or rule.verdict is Verdict.VIOLATED]
    counted = Counter(rule.verdict for rule in told)
    counts = (f"{counted[each]} {each.value}" for each in Verdict if counted[each])
    noun = "rule" if len(told) == 1 else "rules"
    yield f"{len(told)} {noun}: {', '.join(counts) or 'none was run'}"
    for verdict in (Verdict.VIOLATED, Verdict.ERRORED, Verdict.INCONCLUSIVE, Verdict.NOT_SHOWN):
        named = [rule for rule in told if rule.verdict is verdict]
        for rule in named[:_NAMED]:
            cause = f" ({rule.cause})" if rule.cause and verdict is not Verdict.VIOLATED else ""
            yield f"  {verdict.value} {rule.id}: {rule.title}{cause}"
        if named[_NAMED:]:
            yield f"  and {len(named) - _NAMED} more {verdict.value}"
    # The address of a service has a key in it.
    public = "env:NAME" if is_address(adapter) else adapter
    yield f"Every rule with its evidence: busproof run --adapter {shlex.quote(public)}"
