"""Filters of a subscription: which messages it takes, and with which changes (FILTER)."""

import attrs
from immutables import Map

from busproof import vocabulary as v
from busproof.filters.actions import RULE_NAME, changed
from busproof.filters.matching import takes
from busproof.filters.nodes import Property, walked
from busproof.filters.parser import Outside, parsed, parsed_action
from busproof.filters.readings import Readings, read
from busproof.oracle.coverage.filters import (
    shown_by_acting,
    shown_by_not_taking,
    shown_by_taking,
)
from busproof.oracle.state import Namespace, Subscription


@attrs.frozen
class Reader:
    """How filters and actions are read.

    Attributes:
        assigns_message_ids: whether a missing MessageId is assigned on the way (KEY-13).
        readings: how open questions about SQL are read.
    """

    assigns_message_ids: bool
    readings: Readings


def reader_of(namespace: Namespace) -> Reader:
    """Return how the filters and actions of a namespace are read."""
    assigns = namespace.observability.assigns_message_ids
    return Reader(assigns, read(namespace.profile.readings))


@attrs.frozen
class Verdict:
    """Decision whether a subscription takes a message (`None`: not known), with its rules."""

    taken: bool | None
    rules: tuple[v.RuleId, ...]


@attrs.frozen
class Copied:
    """A copy that a subscription may get, and the verdict on it.

    `message` is `None` if the result of an action is open.
    """

    message: v.Message | None
    verdict: Verdict


def copies(role: Subscription, message: v.Message, how: Reader) -> tuple[Copied, ...]:
    """FILTER-05, FILTER-22: return the copies that the subscription may get.

    The first is the one for all rules without an action, even if none of them takes the message;
    then comes one for each rule with an action.
    """
    # Without actions there is one copy, for all rules together (FILTER-05).
    if not role.acted:
        return (Copied(message, judged(role, message, how)),)
    plain = {name: condition for name, condition in role.rules.items() if name not in role.actions}
    verdict = judged(attrs.evolve(role, rules=Map(plain)), message, how)
    if verdict.taken:
        verdict = attrs.evolve(verdict, rules=("FILTER-24", *verdict.rules))
    # If the removal of a rule was not answered, the rule may make a copy or not.
    acting = [
        (
            name,
            action,
            _takes(role.rules[name], message, how) and (name not in removable(role) or None),
        )
        for name, action in sorted(role.actions.items())
    ]
    made = [
        Copied(_acted_on(name, action, message, how), Verdict(taken, shown_by_acting(action)))
        for name, action, taken in acting
        if taken is not False
    ]
    return (Copied(message, verdict), *made)


def removable(role: Subscription) -> set[str]:
    """Return the names of rules whose removal was not answered."""
    return {change.rule for change in role.pending if isinstance(change, v.RemoveRule)}


def _acted_on(name: str, action: str, message: v.Message, how: Reader) -> v.Message | None:
    """FILTER-21, FILTER-23: return the copy that a rule makes; a property has the rule's name."""
    statements = parsed_action(action)
    known = () if isinstance(statements, Outside) else statements
    result = changed(known, message, how.readings)
    after = result.message
    # If the sender or the action set a property of that name, it is open which value the copy has.
    named = any(own.lower() == RULE_NAME.lower() for own in after.properties)
    if named or not known or result.open_properties or result.open_fields:
        return None
    return attrs.evolve(after, properties=after.properties.set(RULE_NAME, name))


def _takes(wanted: v.Filter, message: v.Message, how: Reader) -> bool | None:
    """KEY-13: return whether a filter takes a message, whose MessageId may not be known yet."""
    if how.assigns_message_ids and message.message_id is None and _reads_message_id(wanted):
        return None
    return takes(wanted, message, readings=how.readings)


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


def judged(role: Subscription, message: v.Message, how: Reader) -> Verdict:
    """FILTER-01 to FILTER-06: return the verdict of all rules on a message.

    An unanswered change of a rule may have been made, or may yet be.
    """
    # The subscription has only the rule that it was created with, which takes everything.
    if not role.added and not role.removed and not role.pending:
        return Verdict(taken=True, rules=("FILTER-01",))
    added = [change.filter for change in role.pending if isinstance(change, v.AddRule)]
    answers = {
        name: _takes(condition, message, how) for name, condition in sorted(role.rules.items())
    }
    # A rule whose removal was not answered may be gone, so it decides nothing.
    surely = [name for name, taken in answers.items() if taken and name not in removable(role)]
    if surely:
        return Verdict(taken=True, rules=shown_by_taking(role, message, answers, surely))
    later = (_takes(condition, message, how) for condition in added)
    # If any rule may take the message, there may be a copy or none.
    if any(taken is not False for taken in (*answers.values(), *later)):
        return Verdict(taken=None, rules=())
    return Verdict(taken=False, rules=shown_by_not_taking(role, message))
