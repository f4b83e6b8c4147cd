"""Whether the tests of a rule would notice a fault: each seeded fault against the suite."""

from collections.abc import Sequence
from enum import StrEnum

import attrs

from busproof.history.conformance import Conformance, Verdict
from busproof.vocabulary.values import RuleId

__all__ = ["Audited", "Result", "audited", "explored", "unnoticed"]


class Result(StrEnum):
    """What became of a seeded fault."""

    KILLED = "killed"
    SILENT = "silent"
    EQUIVALENT = "equivalent"


@attrs.frozen(kw_only=True)
class Audited:
    """One fault against the suite.

    Attributes:
        id: of the fault.
        rule: the rule whose own tests must catch it.
        result: whether they did.
        killed_by: the scenarios in which they did.
        commands: how many commands the shortest counterexample has.
        violated: every rule that the run found violated.
        why: for `equivalent` the argument, for `silent` what the rule's verdict was instead.
    """

    id: str
    rule: RuleId
    result: Result
    killed_by: tuple[str, ...] = ()
    commands: int = 0
    violated: tuple[RuleId, ...] = ()
    why: str = ""


def audited(fault: str, rule: RuleId, equivalent: str, found: Conformance) -> Audited:
    """What a run on a faulty implementation says of the fault."""
    told = next(each for each in found.rules if each.id == rule)
    violated = _violated(found)
    if told.verdict is not Verdict.VIOLATED or told.counterexample is None:
        result = Result.EQUIVALENT if equivalent else Result.SILENT
        why = equivalent or f"{rule} was {told.verdict.value} {told.cause}".strip()
        return Audited(id=fault, rule=rule, result=result, violated=violated, why=why)
    return Audited(
        id=fault,
        rule=rule,
        result=Result.KILLED,
        killed_by=told.scenarios,
        commands=len(told.counterexample.events),
        violated=violated,
    )


def unnoticed(fault: str, rule: RuleId, equivalent: str) -> Audited:
    """A fault with which every scenario is answered as it is without."""
    result = Result.EQUIVALENT if equivalent else Result.SILENT
    why = equivalent or "no scenario is answered otherwise than without it"
    return Audited(id=fault, rule=rule, result=result, why=why)


def explored(fault: str, rule: RuleId, equivalent: str, found: Conformance) -> Audited:
    """What an exploration of a faulty implementation says of the fault.

    It knows no scenario of the rule, so whichever rule it finds broken tells of the fault.
    """
    violated = _violated(found)
    examples = [each.counterexample for each in found.rules if each.counterexample is not None]
    if not examples:
        result = Result.EQUIVALENT if equivalent else Result.SILENT
        why = equivalent or "no sequence came to it"
        return Audited(id=fault, rule=rule, result=result, why=why)
    return Audited(
        id=fault,
        rule=rule,
        result=Result.KILLED,
        killed_by=violated,
        commands=min(len(example.events) for example in examples),
        violated=violated,
    )


def _violated(found: Conformance) -> tuple[RuleId, ...]:
    rules: Sequence[RuleId] = [each.id for each in found.rules if each.verdict is Verdict.VIOLATED]
    return tuple(rules)
