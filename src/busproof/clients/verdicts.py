"""Verdicts on rules for clients, from what the scenarios found."""

from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from itertools import chain
from typing import Final

import attrs

from busproof.clients.scenario import Finding, Scenario
from busproof.spec.client_rules import ClientRule, load_client_rules

__all__ = ["LEVEL", "Result", "RuleVerdict", "Verdict", "exit_code", "judge_rules", "level_status"]

LEVEL: Final = "client"
"""The conformance level that the rules for clients make up."""


class Verdict(Enum):
    """The verdict on a rule."""

    SHOWN = "shown"
    VIOLATED = "violated"
    NOT_FOLLOWED = "not followed"
    NOT_APPLICABLE = "not applicable"
    NOT_SHOWN = "not shown"
    INCONCLUSIVE = "inconclusive"
    ERRORED = "errored"


@attrs.frozen(kw_only=True)
class Result:
    """The result of a scenario.

    Attributes:
        scenario: the scenario.
        findings: what was found of its rules.
        unsupported: why the program cannot do the task; `None` if it did not say so.
        gave_up: what kept the scenario from its end: the limit of time; empty otherwise.
        errored: how the program failed, if it did.
        seconds: how long the program ran.
    """

    scenario: Scenario
    findings: tuple[Finding, ...] = ()
    unsupported: str | None = None
    gave_up: str = ""
    errored: str = ""
    seconds: float = 0.0

    @property
    def broken_rules(self) -> frozenset[str]:
        """The rules that the client broke."""
        return frozenset(one.rule for one in self.findings if one.is_kept is False)

    def after(self, first: "Result") -> "Result":
        """Return this result of a run by itself, which says what the run before it had broken."""
        findings = tuple(
            attrs.evolve(one, said=f"{one.said} (broken beside other scenarios, kept by itself)")
            if one.is_kept and one.rule in first.broken_rules
            else one
            for one in self.findings
        )
        return attrs.evolve(self, findings=findings)


@attrs.frozen(kw_only=True)
class RuleVerdict:
    """The verdict on a rule, and what explains it."""

    rule: ClientRule
    verdict: Verdict
    said: str
    scenarios: tuple[str, ...]


def judge_rules(rules: Sequence[ClientRule], results: Iterable[Result]) -> list[RuleVerdict]:
    """Return the verdict on each rule that a scenario of the run can show."""
    ran = list(results)
    verdicts = []
    for rule in rules:
        of_rule = [result for result in ran if _concerns(result, rule.id)]
        if of_rule:
            verdict, said = _judge(rule, of_rule)
            names = tuple(result.scenario.name for result in of_rule)
            verdicts.append(RuleVerdict(rule=rule, verdict=verdict, said=said, scenarios=names))
    return verdicts


def _concerns(result: Result, rule: str) -> bool:
    return rule in result.scenario.rules or any(one.rule == rule for one in result.findings)


def _judge(rule: ClientRule, results: Sequence[Result]) -> tuple[Verdict, str]:
    own = [result for result in results if rule.id in result.scenario.rules]
    explained = chain(
        _what_was_broken(rule, results),
        _what_failed(own),
        _what_was_found(rule, results),
        (
            (Verdict.NOT_APPLICABLE, f"{result.scenario.name}: {result.unsupported}")
            for result in own
            if result.unsupported is not None
        ),
        (
            (Verdict.NOT_SHOWN, f"{result.scenario.name}: {finding.said}")
            for result, finding in _findings(rule, results)
        ),
    )
    return next(explained, (Verdict.NOT_SHOWN, "its situation did not arise"))


Explained = Iterator[tuple[Verdict, str]]


def _findings(rule: ClientRule, results: Sequence[Result]) -> Iterator[tuple[Result, Finding]]:
    return (
        (result, finding)
        for result in results
        for finding in result.findings
        if finding.rule == rule.id
    )


def _what_was_broken(rule: ClientRule, results: Sequence[Result]) -> Explained:
    bad = Verdict.NOT_FOLLOWED if rule.modality == "should" else Verdict.VIOLATED
    for result, finding in _findings(rule, results):
        if finding.is_kept is False:
            yield bad, f"{result.scenario.name}: {finding.said}"


def _what_failed(results: Sequence[Result]) -> Explained:
    for result in results:
        if result.errored:
            yield Verdict.ERRORED, f"{result.scenario.name}: {result.errored}"
        elif result.gave_up:
            yield Verdict.INCONCLUSIVE, f"{result.scenario.name}: {result.gave_up}"


def _what_was_found(rule: ClientRule, results: Sequence[Result]) -> Explained:
    """Yield that the rule was kept, or that it does not apply, in this order."""
    for result, finding in _findings(rule, results):
        if finding.is_kept:
            yield Verdict.SHOWN, f"{result.scenario.name}: {finding.said}"
    for result, finding in _findings(rule, results):
        if finding.is_exempt:
            yield Verdict.NOT_APPLICABLE, f"{result.scenario.name}: {finding.said}"


def level_status(verdicts: Sequence[RuleVerdict]) -> str:
    """Return `full`, `partial` or `not claimed`: how much of the level "client" was shown.

    Advice that was not followed leaves the level full; so does what the program cannot do. A run of
    some of the rules shows a part of the level only.
    """
    known = {one.verdict for one in verdicts}
    if Verdict.SHOWN not in known:
        return "not claimed"
    fine = {Verdict.SHOWN, Verdict.NOT_FOLLOWED, Verdict.NOT_APPLICABLE}
    is_whole = len(verdicts) == len(load_client_rules())
    return "full" if is_whole and known <= fine else "partial"


def exit_code(verdicts: Sequence[RuleVerdict]) -> int:
    """Return the exit code: 0 all shown, 1 a violation, 3 something was left open."""
    known = {one.verdict for one in verdicts}
    if Verdict.VIOLATED in known:
        return 1
    left_open = {Verdict.NOT_SHOWN, Verdict.INCONCLUSIVE, Verdict.ERRORED}
    return 3 if known & left_open else 0
