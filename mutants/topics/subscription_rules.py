"""Mutants of FILTER and FEAT: changes of rules, the copies that rules make, actions, and names."""

import re
from contextlib import suppress
from itertools import takewhile
from typing import Final

import attrs

from busproof import vocabulary as v
from busproof.model.answers import Answer
from busproof.model.rules import Namespace
from busproof.model.state import Entity, Transaction
from busproof.model.subscription_rules import RuleChange
from busproof.model.values import EntityKind, InTransit, Refusal
from busproof.mutants.management.management import empty
from busproof.mutants.mutant import memory, mutant, run
from busproof.mutants.own_rules import RULES
from busproof.mutants.runs import PARTITIONS, Run, receive, send
from busproof.mutants.topics.filters import LABEL, ONE, SUBSCRIBED, TAKE, TOPIC, add, remove, taking
from busproof.mutants.wrappers import (
    afterwards,
    alters,
    beforehand,
    instead_of,
    only_where,
    refuses,
    refuses_yet,
)

Messages = tuple[v.Message, ...]
Rules = tuple[v.SubscriptionRule, ...]
USUAL: Final = RULES.subscription_rules
COPIES: Final = "subscription_rules.copies"
CHANGE: Final = "subscription_rules.change"
CHECK: Final = "subscription_rules.check"
ASK: Final = "subscription_rules.ask_change"
NONE: Final = v.FalseFilter()
SECOND: Final = v.CreateSubscription(topic="q", subscription="two")
NO_SQL: Final[Run] = (*SUBSCRIBED, add(v.SqlFilter(expression="color =")))
BEGUN: Final[Run] = (*SUBSCRIBED, v.BeginTransaction(transaction="t"))
ON_REGULAR: Final[Run] = (
    *(v.CreateTopic(topic="q", partitioned=False), *SUBSCRIBED[1:]),
    v.BeginTransaction(transaction="t"),
)
LIST: Final = v.ListRules(**ONE)
SPREAD: Final[Run] = tuple(send(f"m{number}", subject="x") for number in range(PARTITIONS))
SEND: Final = send("m1", properties={"size": 1})


@mutant("FILTER-01", "topics.create_subscription", (TOPIC, SECOND, *SUBSCRIBED[1:], SEND, TAKE))
def no_default_rule(namespace: Namespace, command: v.CreateSubscription, connection: str) -> Answer:
    """A second subscription of a topic begins without rules."""
    answer = RULES.topics.create_subscription(namespace, command, connection)
    path = v.subscription_path(command.topic, command.subscription)
    subscription = namespace.entities[path]
    if len(subscription.base.subscriptions or ()) > 1:
        subscription.rules = ()
    return answer


@mutant("FILTER-05", COPIES, (*SUBSCRIBED, add(v.TrueFilter()), SEND, TAKE, TAKE))
def copy_for_each_rule(subscription: Entity, message: v.Message) -> Messages:
    """A subscription gets a copy for each matching rule."""
    taking = [rule for rule in subscription.rules if USUAL.takes(rule.filter, message)]
    return tuple(message if rule.action is None else USUAL.act(rule, message) for rule in taking)


@mutant("FILTER-05", COPIES, (*SUBSCRIBED, add(NONE), SEND, TAKE))
def all_rules_must_match(
    namespace: Namespace, subscription: Entity, message: v.Message
) -> Messages:
    """A subscription gets a message only if all of its rules match."""
    taken = (USUAL.takes(rule.filter, message) for rule in subscription.rules)
    return USUAL.copies(namespace, subscription, message) if all(taken) else ()


@mutant("FILTER-06", COPIES, (*SUBSCRIBED, remove(), SEND, TAKE))
def without_rules_everything(
    namespace: Namespace, subscription: Entity, message: v.Message
) -> Messages:
    """A subscription without rules gets every message."""
    copies = USUAL.copies(namespace, subscription, message)
    return copies if subscription.rules else (message,)


@mutant("FILTER-06", CHANGE, (*SUBSCRIBED, SEND, remove(), TAKE), afterwards, deep=True)
def without_rules_emptied(namespace: Namespace, subscription: Entity) -> None:
    """A subscription loses its messages with its last rule."""
    if not subscription.rules:
        empty(namespace, subscription)


def _note_removed(namespace: Namespace, entity: Entity, command: RuleChange) -> None:
    before = entity.rules
    USUAL.change(namespace, entity, command)
    if isinstance(command, v.RemoveRule):
        memory(namespace, dict[Entity, Rules])[entity] = tuple(set(before) - set(entity.rules))


@mutant("FILTER-07", COPIES, also={CHANGE: _note_removed}, deep=True)
@run(*SUBSCRIBED, add(NONE), remove(), SEND, TAKE)
def rule_lives_on(namespace: Namespace, subscription: Entity, message: v.Message) -> Messages:
    """A removed rule still applies to the next message."""
    removed = memory(namespace, dict[Entity, Rules])
    rules = removed.pop(subscription, ()) if subscription.rules else ()
    lives = any(USUAL.takes(rule.filter, message) for rule in rules)
    copies = USUAL.copies(namespace, subscription, message)
    return copies or ((message,) if lives else ())


@mutant("FILTER-08", CHANGE, (*SUBSCRIBED, add(NONE, v.DEFAULT_RULE)), beforehand)
def rule_replaced(namespace: Namespace, entity: Entity, command: RuleChange) -> None:
    """A rule added under the name of another replaces that one."""
    if isinstance(command, v.AddRule):
        namespace.journal.touch(entity)
        entity.rules = tuple(rule for rule in entity.rules if rule.name != command.rule)


@mutant("FILTER-09", CHANGE, (*SUBSCRIBED, remove("second")), instead_of("FILTER-09"))
def missing_rule_removed() -> None:
    """Removing a rule that does not exist succeeds."""


@mutant("FILTER-10", "subscription_rules.list_rules", (*SUBSCRIBED, add(NONE), v.ListRules(**ONE)))
def default_rule_not_listed(namespace: Namespace, command: v.ListRules) -> Answer:
    """The list of several rules leaves out the first one."""
    rules = namespace.rules.subscription_rules.find(command).rules
    return Answer(v.RulesListed(rules=rules[1:] or rules))


@mutant("FILTER-19", CHECK, NO_SQL, instead_of("FILTER-19"))
def broken_sql_added() -> None:
    """A rule with invalid SQL is added, and matches nothing."""


@mutant("FILTER-19", ASK, (*NO_SQL, v.ListRules(**ONE)), refuses_yet("FILTER-19"), deep=True)
def broken_sql_empties_rules(namespace: Namespace, command: RuleChange) -> None:
    """Adding a rule with invalid SQL is refused, but removes the other rules."""
    subscription = namespace.rules.subscription_rules.find(command)
    namespace.journal.touch(subscription)
    subscription.rules = ()


def _is_last(entity: Entity, partition: int) -> bool:
    """Return whether this is the last partition of several."""
    return 0 < partition == len(entity.partitions) - 1


@mutant("FEAT-01", "messages.arrive", (*taking(NONE), add(LABEL), *SPREAD, *(TAKE,) * PARTITIONS))
def added_rule_misses_partition(
    namespace: Namespace, entity: Entity, message: v.Message, partition: int, transit: InTransit
) -> None:
    """On a partitioned topic an added rule does not apply to the last partition."""
    added = all(rule.name != v.DEFAULT_RULE for rule in entity.rules)
    missed = entity.kind is EntityKind.SUBSCRIPTION and added and _is_last(entity, partition)
    if not missed:
        RULES.messages.arrive(namespace, entity, message, partition, transit)


@mutant("FEAT-01", CHANGE, (*SUBSCRIBED, add(LABEL)), refuses("FEAT-01"))
def rule_refused_when_partitioned(subscription: Entity, command: RuleChange) -> bool:
    """On a partitioned topic no rule can be added."""
    return isinstance(command, v.AddRule) and subscription.settings.partitioned


@mutant("FEAT-02", "topics.distribute", (*SUBSCRIBED, remove(), *SPREAD, TAKE), afterwards)
def removed_rule_stays_in_partition(
    namespace: Namespace, topic: Entity, message: v.Message, partition: int, transit: InTransit
) -> None:
    """On a partitioned topic a removed rule still applies to the last partition."""
    for subscription in topic.subscriptions or () if _is_last(topic, partition) else ():
        if not subscription.rules:
            namespace.rules.messages.arrive(subscription, message, partition, transit)


@mutant("FEAT-03", "subscription_rules.is_outside", (*BEGUN, add(LABEL, within="t")))
def rule_in_transaction() -> bool:
    """On a partitioned topic a rule can be changed in a transaction."""
    return False


@mutant("FEAT-03", ASK, (*BEGUN, remove(within="t"), SEND, TAKE), alters, deep=True)
def rule_refused_yet_changed(usual: Answer, namespace: Namespace, command: RuleChange) -> Answer:
    """On a partitioned topic a change in a transaction is refused, but made anyway."""
    if command.transaction is not None and "FEAT-03" in usual.rules:
        with suppress(Refusal):
            USUAL.change(namespace, namespace.rules.subscription_rules.find(command), command)
    return usual


@mutant(
    "FEAT-18",
    "subscription_rules.is_outside",
    how=refuses("FEAT-18"),
    readings={"REGULAR-RULES": "supported"},
)
@run(*ON_REGULAR, add(LABEL, within="t"))
def rule_refused_in_transaction_on_regular(subscription: Entity) -> bool:
    """On a regular topic no rule can be changed in a transaction."""
    return not subscription.settings.partitioned


@mutant("FEAT-19", "subscription_rules.is_outside")
@run(*ON_REGULAR, add(LABEL, within="t"), v.RollBackTransaction(transaction="t"), LIST)
def rule_outlives_roll_back(namespace: Namespace, subscription: Entity) -> bool:
    """On a regular topic a change of a rule in a transaction is made at once."""
    return not subscription.settings.partitioned or USUAL.is_outside(namespace, subscription)


@mutant("FEAT-19", "transactions.apply")
@run(*ON_REGULAR, add(LABEL, within="t"), v.CommitTransaction(transaction="t"), LIST)
def rule_lost_at_commit(namespace: Namespace, transaction: Transaction) -> None:
    """A commit does not make the changes of rules in its transaction."""
    namespace.journal.touch(transaction)
    transaction.rule_changes = ()
    RULES.transactions.apply(namespace, transaction)


ACT: Final = "subscription_rules.act"
RULE_NAME: Final = "RuleName"
DELIMITED: Final = v.SqlFilter(expression="[size-of] = 5")
SCIENTIFIC: Final = v.SqlFilter(expression="size > 0.5E-2")
NAMESAKE: Final = v.CreateSubscription(topic="q", subscription="ONE")
TAKE_SECOND: Final = receive(delete=True, queue=v.subscription_path("q", "two"))


def act(action: str | None, rule: str = "r") -> v.AddRule:
    """Return a request that adds a rule with this action, which matches every message."""
    return v.AddRule(rule=rule, filter=v.TrueFilter(), action=action, **ONE)


ACTING: Final[Run] = (*SUBSCRIBED, act("SET size = 2"))
INVALID_ACTION: Final[Run] = (*SUBSCRIBED, act("SET size"))
BOTH: Final[Run] = (*ACTING, SEND, TAKE, TAKE)


@mutant("FILTER-21", ACT, BOTH)
def actions_do_nothing(rule: v.SubscriptionRule, message: v.Message) -> v.Message:
    """An action does not change the copy of its rule."""
    return attrs.evolve(message, properties=message.properties.set(RULE_NAME, rule.name))


@mutant("FILTER-21", ACT, (*SUBSCRIBED, act("REMOVE size"), SEND, TAKE, TAKE))
def removed_property_stays(rule: v.SubscriptionRule, message: v.Message) -> v.Message:
    """REMOVE does not remove a property."""
    after = USUAL.act(rule, message)
    return attrs.evolve(after, properties=message.properties.update(after.properties))


def _statements(rule: v.SubscriptionRule) -> list[str]:
    """Return the statements of an action that separates them by semicolons."""
    return [each for each in (rule.action or "").split(";") if each.strip()]


@mutant("FILTER-29", ACT, (*SUBSCRIBED, act("SET size = 2; SET size = size + 1"), SEND, TAKE, TAKE))
def statements_read_what_was_sent(rule: v.SubscriptionRule, message: v.Message) -> v.Message:
    """Each statement of an action reads the message as it was sent."""
    after = message.properties.set(RULE_NAME, rule.name)
    for statement in _statements(rule):
        alone = USUAL.act(attrs.evolve(rule, action=statement), message)
        new = {n: own for n, own in alone.properties.items() if message.properties.get(n) != own}
        after = after.update(new)
    return attrs.evolve(USUAL.act(rule, message), properties=after)


@mutant("FILTER-29", ACT, (*SUBSCRIBED, act("SET size = 2; SET size = 3"), SEND, TAKE, TAKE))
def statements_run_backwards(rule: v.SubscriptionRule, message: v.Message) -> v.Message:
    """The last statement of an action runs first."""
    backwards = ";".join(reversed(_statements(rule)))
    return USUAL.act(attrs.evolve(rule, action=backwards or rule.action), message)


@mutant("FILTER-32", CHECK, (*SUBSCRIBED, add(DELIMITED)), refuses("FILTER-19"))
def names_in_brackets_refused(command: v.AddRule) -> bool:
    """A filter with a name in brackets is refused."""
    return isinstance(command.filter, v.SqlFilter) and "[" in command.filter.expression


@mutant("FILTER-32", CHECK, (*SUBSCRIBED, add(SCIENTIFIC)), refuses("FILTER-19"), deep=True)
def functions_and_exponents_refused(command: v.AddRule) -> bool:
    """A filter with a function, or with a number in scientific notation, is refused."""
    sql = command.filter.expression if isinstance(command.filter, v.SqlFilter) else ""
    return re.search(r"\b(newid|p|property)\(|\d[eE]", sql) is not None


def _copies(namespace: Namespace, entity: Entity, message: v.Message) -> tuple[Messages, Messages]:
    """Return the copies that a subscription gets: all, and those made by rules with actions."""
    copies = USUAL.copies(namespace, entity, message)
    return copies, tuple(copy for copy in copies if RULE_NAME in copy.properties)


@mutant("FILTER-22", COPIES, (*ACTING, act("SET size = 3", "s"), SEND, *(TAKE,) * 3))
def first_action_only(namespace: Namespace, subscription: Entity, message: v.Message) -> Messages:
    """Only the first of several rules with actions makes a copy."""
    copies, acted = _copies(namespace, subscription, message)
    return tuple(copy for copy in copies if copy not in acted[1:])


@mutant("FILTER-22", COPIES, BOTH)
def no_copy_beside_actions(
    namespace: Namespace, subscription: Entity, message: v.Message
) -> Messages:
    """Rules without an action make no copy if a rule with one matches, too."""
    copies, acted = _copies(namespace, subscription, message)
    return acted or copies


@mutant("FILTER-23", ACT, BOTH, alters)
def rule_not_named(usual: v.Message) -> v.Message:
    """The copy of a rule with an action lacks the rule's name."""
    return attrs.evolve(usual, properties=usual.properties.delete(RULE_NAME))


@mutant("FILTER-24", COPIES, BOTH)
def actions_change_all(namespace: Namespace, subscription: Entity, message: v.Message) -> Messages:
    """An action also changes the copy of rules without an action."""
    copies, acted = _copies(namespace, subscription, message)
    changed = [attrs.evolve(copy, properties=copy.properties.delete(RULE_NAME)) for copy in acted]
    return tuple(copy if copy in acted or not acted else changed[0] for copy in copies)


@mutant("FILTER-24", COPIES, (*ACTING, SECOND, SEND, TAKE_SECOND))
def actions_change_what_is_sent(
    namespace: Namespace, subscription: Entity, message: v.Message
) -> Messages:
    """An action also changes the copies of later subscriptions."""
    siblings = subscription.base.subscriptions or ()
    for earlier in takewhile(lambda sibling: sibling is not subscription, siblings):
        copies = USUAL.copies(namespace, earlier, message)
        message = copies[-1] if copies else message
    return USUAL.copies(namespace, subscription, message)


def _act_if_valid(rule: v.SubscriptionRule, message: v.Message) -> v.Message:
    try:
        return USUAL.act(rule, message)
    except AssertionError:
        return message


@mutant("FILTER-25", CHECK, INVALID_ACTION, instead_of("FILTER-25"), also={ACT: _act_if_valid})
def any_action() -> None:
    """A rule with an invalid action is added, and the action does nothing."""


def _check_short(namespace: Namespace, name: str, rule: v.RuleId, limited: v.RuleId) -> None:
    """Refuse names of more than 32 characters, where this rule has a limit."""
    if rule == limited and len(name) > 32:
        raise Refusal(v.Error.INVALID_OPERATION, rule)
    RULES.limits.check_short_name(namespace, name, rule)


def named(length: int) -> Run:
    """Return the creation of a subscription whose name has this many characters."""
    return (TOPIC, v.CreateSubscription(topic="q", subscription="x" * length))


@mutant("FILTER-26", "limits.check_short_name", (*SUBSCRIBED, act(None, "x" * 50)))
def short_rule_names_only(namespace: Namespace, name: str, rule: v.RuleId) -> None:
    """A rule's name of more than 32 characters is refused."""
    _check_short(namespace, name, rule, "FILTER-27")


@mutant("FILTER-27", "limits.check_short_name", (*SUBSCRIBED, act(None, "x" * 51)), only_where)
def any_rule_name(rule: v.RuleId) -> bool:
    """A rule's name of any length is accepted."""
    return rule != "FILTER-27"


@mutant("TOPIC-17", "limits.check_short_name", named(50))
def short_subscription_names_only(namespace: Namespace, name: str, rule: v.RuleId) -> None:
    """A subscription's name of more than 32 characters is refused."""
    _check_short(namespace, name, rule, "TOPIC-18")


@mutant("TOPIC-18", "limits.check_short_name", named(51), only_where)
def any_subscription_name(rule: v.RuleId) -> bool:
    """A subscription's name of any length is accepted."""
    return rule != "TOPIC-18"


@mutant("TOPIC-21", "topics.folded", (*SUBSCRIBED, NAMESAKE))
def case_of_names_counts(name: str) -> str:
    """Two subscriptions can have names that differ only in case."""
    return name
