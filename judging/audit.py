"""Mutation testing: whether the tests of a rule notice each of its mutants."""

from collections.abc import Sequence
from enum import StrEnum

import attrs

from busproof import vocabulary as v
from busproof.history.conformance import Conformance, Verdict

__all__ = ["Audited", "Result", "audited", "explored", "unnoticed"]


class Result(StrEnum):
    """The result of testing a mutant."""

    KILLED = "killed"
    SILENT = "silent"
    EQUIVALENT = "equivalent"


@attrs.frozen(kw_only=True)
class Audited:
    """The result of testing one mutant with the suite.

    Attributes:
        id: of the mutant.
        rule: the rule whose own tests must kill it.
        result: whether they did.
        killed_by: the scenarios that did.
        commands: the length of the shortest counterexample.
        violated: every rule that the run found violated.
        why: for `equivalent` the argument, for `silent` the rule's verdict.
    """

    id: str
    rule: v.RuleId
    result: Result
    killed_by: tuple[str, ...] = ()
    commands: int = 0
    violated: tuple[v.RuleId, ...] = ()
    why: str = ""


def audited(fault: str, rule: v.RuleId, equivalent: str, conformance: Conformance) -> Audited:
    """Return the result of a run on a mutant."""
    rule_verdict = next(judged for judged in conformance.rules if judged.id == rule)
    violated = _violated(conformance)
    if rule_verdict.verdict is not Verdict.VIOLATED or rule_verdict.counterexample is None:
        result = Result.EQUIVALENT if equivalent else Result.SILENT
        why = equivalent or f"{rule} was {rule_verdict.verdict.value} {rule_verdict.cause}".strip()
        return Audited(id=fault, rule=rule, result=result, violated=violated, why=why)
    return Audited(
        id=fault,
        rule=rule,
        result=Result.KILLED,
        killed_by=rule_verdict.scenarios,
        commands=len(rule_verdict.counterexample.events),
        violated=violated,
    )


def unnoticed(fault: str, rule: v.RuleId, equivalent: str) -> Audited:
    """Return the result for a mutant with the original answers in every scenario."""
    result = Result.EQUIVALENT if equivalent else Result.SILENT
    why = equivalent or "every scenario has the same answers as without it"
    return Audited(id=fault, rule=rule, result=result, why=why)


def explored(fault: str, rule: v.RuleId, equivalent: str, conformance: Conformance) -> Audited:
    """Return the result of exploring a mutant.

    An exploration has no scenario of the rule, so a violation of any rule kills the mutant.
    """
    violated = _violated(conformance)
    examples = [
        judged.counterexample for judged in conformance.rules if judged.counterexample is not None
    ]
    if not examples:
        result = Result.EQUIVALENT if equivalent else Result.SILENT
        why = equivalent or "no sequence reached it"
        return Audited(id=fault, rule=rule, result=result, why=why)
    return Audited(
        id=fault,
        rule=rule,
        result=Result.KILLED,
        killed_by=violated,
        commands=min(len(example.events) for example in examples),
        violated=violated,
    )


def _violated(conformance: Conformance) -> tuple[v.RuleId, ...]:
    rules: Sequence[v.RuleId] = [
        rule.id for rule in conformance.rules if rule.verdict is Verdict.VIOLATED
    ]
    return tuple(rules)
