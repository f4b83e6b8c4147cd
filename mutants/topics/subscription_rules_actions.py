"""Mutants of FILTER and TOPIC: actions of rules, and names."""

from itertools import takewhile
from typing import Final

import attrs

from busproof import vocabulary as v
from busproof.model.rules import RULES
from busproof.model.state import Entity, Namespace
from busproof.model.values import Refusal
from busproof.mutants.mutant import mutant
from busproof.mutants.runs import Run, receive
from busproof.mutants.topics.filters import ONE, SUBSCRIBED, TAKE, TOPIC
from busproof.mutants.topics.subscription_rules import CHECK, COPIES, SECOND, SEND, USUAL, Messages
from busproof.mutants.wrappers import alters, instead_of, only_where

ACT: Final = "subscription_rules.act"
RULE_NAME: Final = "RuleName"
NAMESAKE: Final = v.CreateSubscription(topic="q", subscription="ONE")
TAKE_SECOND: Final = receive(delete=True, queue=v.subscription_path("q", "two"))


def act(action: str | None, rule: str = "r") -> v.AddRule:
    """Add a rule that takes everything and has this action."""
    return v.AddRule(rule=rule, filter=v.TrueFilter(), action=action, **ONE)


ACTING: Final[Run] = (*SUBSCRIBED, act("SET size = 2"))
INVALID_ACTION: Final[Run] = (*SUBSCRIBED, act("SET size"))
BOTH: Final[Run] = (*ACTING, SEND, TAKE, TAKE)


@mutant("FILTER-21", ACT, BOTH)
def actions_do_nothing(rule: v.SubscriptionRule, message: v.Message) -> v.Message:
    """A copy of a rule with an action is as it was sent."""
    return attrs.evolve(message, properties=message.properties.set(RULE_NAME, rule.name))


@mutant("FILTER-21", ACT, (*SUBSCRIBED, act("REMOVE size"), SEND, TAKE, TAKE))
def removed_property_stays(rule: v.SubscriptionRule, message: v.Message) -> v.Message:
    """REMOVE leaves a property where it is."""
    after = USUAL.act(rule, message)
    return attrs.evolve(after, properties=message.properties.update(after.properties))


def _copies(namespace: Namespace, entity: Entity, message: v.Message) -> tuple[Messages, Messages]:
    """The copies that a subscription gets: all, and those that actions have made."""
    copies = USUAL.copies(namespace, entity, message)
    return copies, tuple(copy for copy in copies if RULE_NAME in copy.properties)


@mutant("FILTER-22", COPIES, (*ACTING, act("SET size = 3", "s"), SEND, *(TAKE,) * 3))
def first_action_only(namespace: Namespace, entity: Entity, message: v.Message) -> Messages:
    """Only the first of several rules with actions makes a copy."""
    copies, acted = _copies(namespace, entity, message)
    return tuple(copy for copy in copies if copy not in acted[1:])


@mutant("FILTER-22", COPIES, BOTH)
def no_copy_beside_actions(namespace: Namespace, entity: Entity, message: v.Message) -> Messages:
    """No other rule makes a copy beside a rule with an action."""
    copies, acted = _copies(namespace, entity, message)
    return acted or copies


@mutant("FILTER-23", ACT, BOTH, alters)
def rule_not_named(usual: v.Message) -> v.Message:
    """A copy does not name the rule that made it."""
    return attrs.evolve(usual, properties=usual.properties.delete(RULE_NAME))


@mutant("FILTER-24", COPIES, BOTH)
def actions_change_all(namespace: Namespace, entity: Entity, message: v.Message) -> Messages:
    """An action changes the copy of the other rules as well."""
    copies, acted = _copies(namespace, entity, message)
    changed = [attrs.evolve(copy, properties=copy.properties.delete(RULE_NAME)) for copy in acted]
    return tuple(copy if copy in acted or not acted else changed[0] for copy in copies)


@mutant("FILTER-24", COPIES, (*ACTING, SECOND, SEND, TAKE_SECOND))
def actions_change_what_is_sent(
    namespace: Namespace, entity: Entity, message: v.Message
) -> Messages:
    """Later subscriptions get what an action made."""
    siblings = entity.base.subscriptions or ()
    for earlier in takewhile(lambda sibling: sibling is not entity, siblings):
        copies = USUAL.copies(namespace, earlier, message)
        message = copies[-1] if copies else message
    return USUAL.copies(namespace, entity, message)


def _act_if_valid(rule: v.SubscriptionRule, message: v.Message) -> v.Message:
    try:
        return USUAL.act(rule, message)
    except AssertionError:
        return message


@mutant("FILTER-25", CHECK, INVALID_ACTION, instead_of("FILTER-25"), also={ACT: _act_if_valid})
def any_action() -> None:
    """An action that is invalid SQL is accepted, and does nothing."""


def _check_short(namespace: Namespace, name: str, rule: v.RuleId, limited: v.RuleId) -> None:
    """Take no name of more than 32 characters where this rule limits it."""
    if rule == limited and len(name) > 32:
        raise Refusal(v.Error.INVALID_OPERATION, rule)
    RULES.limits.check_short_name(namespace, name, rule)


def named(length: int) -> Run:
    """A subscription whose name has this many characters."""
    return (TOPIC, v.CreateSubscription(topic="q", subscription="x" * length))


@mutant("FILTER-26", "limits.check_short_name", (*SUBSCRIBED, act(None, "x" * 50)))
def short_rule_names_only(namespace: Namespace, name: str, rule: v.RuleId) -> None:
    """A rule's name may have 32 characters."""
    _check_short(namespace, name, rule, "FILTER-27")


@mutant("FILTER-27", "limits.check_short_name", (*SUBSCRIBED, act(None, "x" * 51)), only_where)
def any_rule_name(rule: v.RuleId) -> bool:
    """A rule's name may have any length."""
    return rule != "FILTER-27"


@mutant("TOPIC-17", "limits.check_short_name", named(50))
def short_subscription_names_only(namespace: Namespace, name: str, rule: v.RuleId) -> None:
    """A subscription's name may have 32 characters."""
    _check_short(namespace, name, rule, "TOPIC-18")


@mutant("TOPIC-18", "limits.check_short_name", named(51), only_where)
def any_subscription_name(rule: v.RuleId) -> bool:
    """A subscription's name may have any length."""
    return rule != "TOPIC-18"


@mutant("TOPIC-21", "topics.folded", (*SUBSCRIBED, NAMESAKE))
def case_of_names_counts(name: str) -> str:
    """Names of subscriptions that differ only in case are distinct."""
    return name
