"""Filters of a subscription: which messages its rules take, and the rules exercised (FILTER)."""

from typing import Final, assert_never

import attrs
from immutables import Map

from busproof import vocabulary as v
from busproof.filters.actions import RULE_NAME, changed, parsed_action
from busproof.filters.matching import takes
from busproof.filters.parser import (
    And,
    Arithmetic,
    Compare,
    Condition,
    Exists,
    In,
    IsNull,
    Like,
    Negative,
    Not,
    Or,
    Outside,
    Property,
    parsed,
    walked,
)
from busproof.oracle.rule_lists import rules_if
from busproof.oracle.state import Subscription

_OF_NODES: Final[dict[type, v.RuleId]] = {
    Compare: "FILTER-11",
    And: "FILTER-12",
    Or: "FILTER-12",
    IsNull: "FILTER-13",
    Exists: "FILTER-13",
    In: "FILTER-14",
    Like: "FILTER-15",
    Arithmetic: "FILTER-16",
    Negative: "FILTER-16",
}
"""Rule exercised by each part of a condition."""

_OF_ACTIONS: Final[tuple[v.RuleId, ...]] = ("FILTER-21", "FILTER-22", "FILTER-23")
"""Rules exercised by a copy that a rule with an action made."""


@attrs.frozen
class Verdict:
    """The decision whether a message matches (`None`: perhaps), and the rules that decide it."""

    taken: bool | None
    rules: tuple[v.RuleId, ...]


@attrs.frozen
class Copied:
    """A copy for a subscription: its message, and the verdict that produced it.

    If the result of an action is open, `message` is `None`.
    """

    message: v.Message | None
    verdict: Verdict


def copies(role: Subscription, message: v.Message, *, assigned: bool) -> tuple[Copied, ...]:
    """FILTER-05, FILTER-22: return one copy for all rules without action, one for each with one.

    The first is that of the former, whether they take the message or not. `assigned` is whether a
    missing MessageId is assigned on the way (KEY-13).
    """
    if not role.acted:
        return (Copied(message, judged(role, message, assigned=assigned)),)
    plain = {name: condition for name, condition in role.rules.items() if name not in role.actions}
    verdict = judged(attrs.evolve(role, rules=Map(plain)), message, assigned=assigned)
    if verdict.taken:
        verdict = attrs.evolve(verdict, rules=("FILTER-24", *verdict.rules))
    acting = [
        (
            name,
            action,
            _takes(role.rules[name], message, assigned=assigned)
            and (name not in removable(role) or None),
        )
        for name, action in sorted(role.actions.items())
    ]
    made = [
        Copied(_acted_on(name, action, message), Verdict(taken, _OF_ACTIONS))
        for name, action, taken in acting
        if taken is not False
    ]
    return (Copied(message, verdict), *made)


def removable(role: Subscription) -> set[str]:
    """Return the names of rules whose removal was never answered."""
    return {change.rule for change in role.pending if isinstance(change, v.RemoveRule)}


def _acted_on(name: str, action: str, message: v.Message) -> v.Message | None:
    """FILTER-21, FILTER-23: return the copy that a rule makes, which contains the rule's name."""
    statements = parsed_action(action)
    after = None if isinstance(statements, Outside) else changed(statements, message)
    named = any(own.lower() == RULE_NAME.lower() for own in message.properties)
    if after is None or named:
        return None
    return attrs.evolve(after, properties=after.properties.set(RULE_NAME, name))


def _takes(wanted: v.Filter, message: v.Message, *, assigned: bool) -> bool | None:
    """KEY-13: return whether a filter matches a message, which may get a MessageId on the way."""
    if assigned and message.message_id is None and _reads_message_id(wanted):
        return None
    return takes(wanted, message)


def _reads_message_id(wanted: v.Filter) -> bool:
    if isinstance(wanted, v.CorrelationFilter):
        return wanted.message_id is not None
    if not isinstance(wanted, v.SqlFilter):
        return False
    condition = parsed(wanted.expression)
    return not isinstance(condition, Outside) and any(
        isinstance(node, Property) and node.scope == "sys" and node.name.lower() == "messageid"
        for node in walked(condition)
    )


def judged(role: Subscription, message: v.Message, *, assigned: bool) -> Verdict:
    """FILTER-01 to FILTER-06: return whether any rule takes the message.

    An unanswered change of a rule may have happened, and may still happen.
    """
    if not role.added and not role.removed and not role.pending:
        return Verdict(taken=True, rules=("FILTER-01",))
    added = [change.filter for change in role.pending if isinstance(change, v.AddRule)]
    answers = {
        name: _takes(condition, message, assigned=assigned)
        for name, condition in sorted(role.rules.items())
    }
    surely = [name for name, taken in answers.items() if taken and name not in removable(role)]
    if surely:
        return Verdict(taken=True, rules=_shown_by_taking(role, message, answers, surely))
    later = (_takes(condition, message, assigned=assigned) for condition in added)
    if any(taken is not False for taken in (*answers.values(), *later)):
        return Verdict(taken=None, rules=())
    return Verdict(taken=False, rules=_shown_by_not_taking(role, message))


def _shown_by_taking(
    role: Subscription, message: v.Message, answers: dict[str, bool | None], surely: list[str]
) -> tuple[v.RuleId, ...]:
    if len(surely) > 1:
        return ("FILTER-05",)
    by_default = surely == [v.DEFAULT_RULE]
    return rules_if(
        (len(answers) > 1, "FILTER-05"),
        (by_default, "FILTER-01"),
        (not by_default, *_rules_of(role.rules[surely[0]], message, taken=True)),
        (not by_default, "FILTER-07"),
    )


def _shown_by_not_taking(role: Subscription, message: v.Message) -> tuple[v.RuleId, ...]:
    if not role.rules:
        return ("FILTER-06", "FILTER-07")
    rules = [
        rule
        for _, condition in sorted(role.rules.items())
        for rule in _rules_of(condition, message, taken=False)
    ]
    return tuple(dict.fromkeys((*rules, "FILTER-07")))


def _rules_of(wanted: v.Filter, message: v.Message, *, taken: bool) -> tuple[v.RuleId, ...]:
    """Return the rules that explain why this filter takes this message or does not."""
    match wanted:
        case v.TrueFilter() | v.FalseFilter():
            return ("FILTER-02",)
        case v.CorrelationFilter():
            return ("FILTER-03",) if taken else ("FILTER-04", "FILTER-03")
        case v.SqlFilter(expression=expression):
            condition = parsed(expression)
            return () if isinstance(condition, Outside) else _of_sql(condition, message)
        case _:
            assert_never(wanted)


def _of_sql(condition: Condition, message: v.Message) -> tuple[v.RuleId, ...]:
    """FILTER-11 to FILTER-18: return the language rules that the condition exercises."""
    nodes = list(walked(condition))
    # NOT is an operator unless it is a part of NOT IN, NOT LIKE or IS NOT NULL.
    negates = any(
        isinstance(node, Not) and not isinstance(node.condition, In | Like | IsNull)
        for node in nodes
    )
    named = {node.name for node in nodes if isinstance(node, Property) and node.scope == "user"}
    own = set(message.properties)
    alike = {name.lower() for name in own}
    rules = (
        *rules_if(
            (any(name not in own and name.lower() in alike for name in named), "FILTER-18"),
            (any(name.lower() not in alike for name in named), "FILTER-17"),
        ),
        *(_OF_NODES[type(node)] for node in nodes if type(node) in _OF_NODES),
        *rules_if((negates, "FILTER-12")),
    )
    return tuple(dict.fromkeys(rules))
