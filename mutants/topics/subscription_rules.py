"""Mutants of FILTER and FEAT: changes of rules, their copies, actions, and names."""

from contextlib import suppress
from typing import Final

from busproof import vocabulary as v
from busproof.model.answers import Answer
from busproof.model.rules import RULES
from busproof.model.state import Entity, Namespace, Transaction
from busproof.model.subscription_rules import RuleChange, find
from busproof.model.values import EntityKind, InTransit, Refusal
from busproof.mutants.management.management import empty
from busproof.mutants.mutant import memory, mutant
from busproof.mutants.runs import PARTITIONS, Run, send
from busproof.mutants.topics.filters import LABEL, ONE, SUBSCRIBED, TAKE, TOPIC, add, remove, taking
from busproof.mutants.wrappers import (
    afterwards,
    alters,
    beforehand,
    instead_of,
    refuses,
    refuses_yet,
)

__all__ = ["CHECK", "COPIES", "SECOND", "SEND", "USUAL", "Messages"]

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
    """A message is there once for each rule that takes it."""
    taking = [rule for rule in subscription.rules if USUAL.takes(rule.filter, message)]
    return tuple(message if rule.action is None else USUAL.act(rule, message) for rule in taking)


@mutant("FILTER-05", COPIES, (*SUBSCRIBED, add(NONE), SEND, TAKE))
def all_rules_must_match(namespace: Namespace, entity: Entity, message: v.Message) -> Messages:
    """A message is taken only if every rule takes it."""
    taken = (USUAL.takes(rule.filter, message) for rule in entity.rules)
    return USUAL.copies(namespace, entity, message) if all(taken) else ()


@mutant("FILTER-06", COPIES, (*SUBSCRIBED, remove(), SEND, TAKE))
def without_rules_everything(namespace: Namespace, entity: Entity, message: v.Message) -> Messages:
    """A subscription without rules takes everything."""
    copies = USUAL.copies(namespace, entity, message)
    return copies if entity.rules else (message,)


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


@mutant(
    "FILTER-07",
    COPIES,
    (*SUBSCRIBED, add(NONE), remove(), SEND, TAKE),
    also={CHANGE: _note_removed},
    deep=True,
)
def rule_lives_on(namespace: Namespace, entity: Entity, message: v.Message) -> Messages:
    """A rule that was removed still takes the next message."""
    removed = memory(namespace, dict[Entity, Rules])
    rules = removed.pop(entity, ()) if entity.rules else ()
    lives = any(USUAL.takes(rule.filter, message) for rule in rules)
    copies = USUAL.copies(namespace, entity, message)
    return copies or ((message,) if lives else ())


@mutant("FILTER-08", CHANGE, (*SUBSCRIBED, add(NONE, v.DEFAULT_RULE)), beforehand)
def rule_replaced(namespace: Namespace, entity: Entity, command: RuleChange) -> None:
    """A rule that is added under a name in use replaces the other."""
    if isinstance(command, v.AddRule):
        namespace.journal.touch(entity)
        entity.rules = tuple(rule for rule in entity.rules if rule.name != command.rule)


@mutant("FILTER-09", CHANGE, (*SUBSCRIBED, remove("second")), instead_of("FILTER-09"))
def missing_rule_removed() -> None:
    """Removing a rule that is not there succeeds."""


@mutant("FILTER-10", "subscription_rules.list_rules", (*SUBSCRIBED, add(NONE), v.ListRules(**ONE)))
def default_rule_not_listed(namespace: Namespace, command: v.ListRules) -> Answer:
    """The first rule of several is not listed."""
    rules = find(namespace, command).rules
    return Answer(v.RulesListed(rules=rules[1:] or rules))


@mutant("FILTER-19", CHECK, NO_SQL, instead_of("FILTER-19"))
def broken_sql_added() -> None:
    """Invalid SQL is accepted, and matches nothing."""


@mutant("FILTER-19", ASK, (*NO_SQL, v.ListRules(**ONE)), refuses_yet("FILTER-19"), deep=True)
def broken_sql_empties_rules(namespace: Namespace, command: RuleChange) -> None:
    """Invalid SQL is refused, and the other rules are gone."""
    subscription = find(namespace, command)
    namespace.journal.touch(subscription)
    subscription.rules = ()


def _is_last(entity: Entity, partition: int) -> bool:
    """Return whether this is the last partition of several."""
    return 0 < partition == len(entity.partitions) - 1


@mutant("FEAT-01", "messages.arrive", (*taking(NONE), add(LABEL), *SPREAD, *(TAKE,) * PARTITIONS))
def added_rule_misses_partition(
    namespace: Namespace, entity: Entity, message: v.Message, partition: int, transit: InTransit
) -> None:
    """On a partitioned topic a rule that was added does not concern the last partition."""
    added = all(rule.name != v.DEFAULT_RULE for rule in entity.rules)
    missed = entity.kind is EntityKind.SUBSCRIPTION and added and _is_last(entity, partition)
    if not missed:
        RULES.messages.arrive(namespace, entity, message, partition, transit)


@mutant("FEAT-01", CHANGE, (*SUBSCRIBED, add(LABEL)), refuses("FEAT-01"))
def rule_refused_when_partitioned(subscription: Entity, command: RuleChange) -> bool:
    """On partitioned topics no rule is added."""
    return isinstance(command, v.AddRule) and subscription.settings.partitioned


@mutant("FEAT-02", "topics.distribute", (*SUBSCRIBED, remove(), *SPREAD, TAKE), afterwards)
def removed_rule_stays_in_partition(
    namespace: Namespace, topic: Entity, message: v.Message, partition: int, transit: InTransit
) -> None:
    """On a partitioned topic a rule that was removed still concerns the last partition."""
    for subscription in topic.subscriptions or () if _is_last(topic, partition) else ():
        if not subscription.rules:
            namespace.rules.messages.arrive(namespace, subscription, message, partition, transit)


@mutant("FEAT-03", "subscription_rules.is_outside", (*BEGUN, add(LABEL, within="t")))
def rule_in_transaction() -> bool:
    """On partitioned topics too, a rule changes in a transaction."""
    return False


@mutant("FEAT-03", ASK, (*BEGUN, remove(within="t"), SEND, TAKE), alters, deep=True)
def rule_refused_yet_changed(usual: Answer, namespace: Namespace, command: RuleChange) -> Answer:
    """On partitioned topics a rule in a transaction is refused, but changes anyway."""
    if command.transaction is not None and "FEAT-03" in usual.rules:
        with suppress(Refusal):
            USUAL.change(namespace, find(namespace, command), command)
    return usual


@mutant(
    "FEAT-18",
    "subscription_rules.is_outside",
    (*ON_REGULAR, add(LABEL, within="t")),
    refuses("FEAT-18"),
    readings={"REGULAR-RULES": "supported"},
)
def rule_refused_in_transaction_on_regular(subscription: Entity) -> bool:
    """On regular topics no rule changes in a transaction."""
    return not subscription.settings.partitioned


@mutant(
    "FEAT-19",
    "subscription_rules.is_outside",
    (*ON_REGULAR, add(LABEL, within="t"), v.RollBackTransaction(transaction="t"), LIST),
)
def rule_outlives_roll_back(namespace: Namespace, subscription: Entity) -> bool:
    """On regular topics a rule that changes in a transaction changes at once."""
    return not subscription.settings.partitioned or USUAL.is_outside(namespace, subscription)


@mutant(
    "FEAT-19",
    "transactions.apply",
    (*ON_REGULAR, add(LABEL, within="t"), v.CommitTransaction(transaction="t"), LIST),
)
def rule_lost_at_commit(namespace: Namespace, transaction: Transaction) -> None:
    """A commit changes no rules."""
    namespace.journal.touch(transaction)
    transaction.rule_changes = ()
    RULES.transactions.apply(namespace, transaction)
