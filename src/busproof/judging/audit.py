"""Mutation testing: whether the suite notices each mutant of the model."""

from collections.abc import Sequence
from enum import StrEnum

import attrs

from busproof import vocabulary as v
from busproof.history.conformance import Conformance, Verdict

__all__ = [
    "Audited",
    "Result",
    "result_of_exploration",
    "result_of_scenarios",
    "result_without_difference",
]


class Result(StrEnum):
    """Result of the suite on a mutant."""

    KILLED = "killed"
    SILENT = "silent"
    EQUIVALENT = "equivalent"


@attrs.frozen(kw_only=True)
class Audited:
    """Result of testing one mutant with the suite.

    Attributes:
        id: the id of the mutant.
        rule: the rule that the mutant breaks, whose own scenarios have to kill it.
        result: whether they did.
        killed_by: the names of the scenarios that killed it.
        commands: the number of events in the shortest counterexample.
        content: the number of characters of its commands in their file, without the profile; 0 if
            they do not break the rule alone.
        violated: every rule that the run reported as violated.
        is_judged: whether the judge accuses the shortest counterexample, too; otherwise only a step
            of its scenario does.
        scenarios_by_step: the names of the scenarios that only a step of theirs fails.
        why: for `equivalent`, why no test can notice the mutant; for `silent`, the rule's verdict;
            for one that only a step notices, why the judge does not.
    """

    id: str
    rule: v.RuleId
    result: Result
    killed_by: tuple[str, ...] = ()
    commands: int = 0
    content: int = 0
    violated: tuple[v.RuleId, ...] = ()
    is_judged: bool = True
    scenarios_by_step: tuple[str, ...] = ()
    why: str = ""


def result_of_scenarios(
    fault: str, rule: v.RuleId, equivalent: str, conformance: Conformance, by_step: str = ""
) -> Audited:
    """Return the result of a mutant, from the verdicts of a run on it.

    Args:
        fault: the id of the mutant.
        rule: the rule that it breaks.
        equivalent: why no test can notice it; empty if one can.
        conformance: the verdicts.
        by_step: why only a step of a scenario notices it; empty if the judge does.
    """
    rule_verdict = next(judged for judged in conformance.rules if judged.id == rule)
    violated = _rules_violated(conformance)
    if rule_verdict.verdict is not Verdict.VIOLATED or rule_verdict.counterexample is None:
        result = Result.EQUIVALENT if equivalent else Result.SILENT
        why = equivalent or f"{rule} was {rule_verdict.verdict.value} {rule_verdict.cause}".strip()
        return Audited(id=fault, rule=rule, result=result, violated=violated, why=why)
    is_judged = rule_verdict.counterexample.is_judged
    return Audited(
        id=fault,
        rule=rule,
        result=Result.KILLED,
        killed_by=rule_verdict.scenarios,
        commands=len(rule_verdict.counterexample.events),
        violated=violated,
        is_judged=is_judged,
        why="" if is_judged else by_step,
    )


def result_without_difference(fault: str, rule: v.RuleId, equivalent: str) -> Audited:
    """Return the result of a mutant that answered every scenario as the model does."""
    result = Result.EQUIVALENT if equivalent else Result.SILENT
    why = equivalent or "every scenario has the same answers as without it"
    return Audited(id=fault, rule=rule, result=result, why=why)


def result_of_exploration(
    fault: str, rule: v.RuleId, equivalent: str, conformance: Conformance
) -> Audited:
    """Return the result of a mutant, from the verdicts of an exploration.

    An exploration has no scenarios of the rule, so a violation of any rule kills the mutant.
    """
    violated = _rules_violated(conformance)
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


def _rules_violated(conformance: Conformance) -> tuple[v.RuleId, ...]:
    rules: Sequence[v.RuleId] = [
        rule.id for rule in conformance.rules if rule.verdict is Verdict.VIOLATED
    ]
    return tuple(rules)
