"""Mutants of FILTER and FEAT: changes of rules, the copies that rules make, actions, and names."""

import re
from contextlib import suppress
from itertools import takewhile
from typing import Final

import attrs

from busproof import vocabulary as v
from busproof.filters.facts import Arrival
from busproof.model.answers import Answer
from busproof.model.limits import Limits
from busproof.model.messages import Messages
from busproof.model.rules import Namespace
from busproof.model.state import Entity, Transaction
from busproof.model.subscription_rules import RuleChange, SubscriptionRules
from busproof.model.topics import Topics
from busproof.model.transactions import Transactions
from busproof.model.values import EntityKind, InTransit, Refusal
from busproof.mutants.management.management import empty
from busproof.mutants.mutant import memory, mutant, run
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

Copies = tuple[v.Message, ...]
Rules = tuple[v.SubscriptionRule, ...]
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


@mutant("FILTER-01", (TOPIC, SECOND, *SUBSCRIBED[1:], SEND, TAKE))
class NoDefaultRule(Topics):
    """A second subscription of a topic begins without rules."""

    def create_subscription(self, command: v.CreateSubscription, connection: str) -> Answer:
        answer = super().create_subscription(command, connection)
        path = v.subscription_path(command.topic, command.subscription)
        subscription = self.namespace.entities[path]
        if len(subscription.base.subscriptions or ()) > 1:
            subscription.rules = ()
        return answer


@mutant("FILTER-05", (*SUBSCRIBED, add(v.TrueFilter()), SEND, TAKE, TAKE))
class CopyForEachRule(SubscriptionRules):
    """A subscription gets a copy for each matching rule."""

    def copies(
        self, subscription: Entity, message: v.Message, arrival: Arrival | None = None
    ) -> tuple[v.Message, ...]:
        taking = [rule for rule in subscription.rules if self.takes(rule.filter, message)]
        return tuple(message if rule.action is None else self.act(rule, message) for rule in taking)


@mutant("FILTER-05", (*SUBSCRIBED, add(NONE), SEND, TAKE))
class AllRulesMustMatch(SubscriptionRules):
    """A subscription gets a message only if all of its rules match."""

    def copies(
        self, subscription: Entity, message: v.Message, arrival: Arrival | None = None
    ) -> tuple[v.Message, ...]:
        taken = (self.takes(rule.filter, message) for rule in subscription.rules)
        return super().copies(subscription, message) if all(taken) else ()


@mutant("FILTER-06", (*SUBSCRIBED, remove(), SEND, TAKE))
class WithoutRulesEverything(SubscriptionRules):
    """A subscription without rules gets every message."""

    def copies(
        self, subscription: Entity, message: v.Message, arrival: Arrival | None = None
    ) -> tuple[v.Message, ...]:
        copies = super().copies(subscription, message)
        return copies if subscription.rules else (message,)


@mutant("FILTER-06", (*SUBSCRIBED, SEND, remove(), TAKE), deep=True)
class WithoutRulesEmptied(SubscriptionRules):
    """A subscription loses its messages with its last rule."""

    @afterwards
    def change(self, subscription: Entity) -> None:
        if not subscription.rules:
            empty(self.rules.namespace, subscription)


class _NoteRemoved(SubscriptionRules):
    def change(self, subscription: Entity, command: RuleChange) -> None:
        before = subscription.rules
        super().change(subscription, command)
        if isinstance(command, v.RemoveRule):
            memory(self.rules.namespace, dict[Entity, Rules])[subscription] = tuple(
                set(before) - set(subscription.rules)
            )


@mutant("FILTER-07", also=(_NoteRemoved,), deep=True)
@run(*SUBSCRIBED, add(NONE), remove(), SEND, TAKE)
class RuleLivesOn(SubscriptionRules):
    """A removed rule still applies to the next message."""

    def copies(
        self, subscription: Entity, message: v.Message, arrival: Arrival | None = None
    ) -> tuple[v.Message, ...]:
        removed = memory(self.rules.namespace, dict[Entity, Rules])
        rules = removed.pop(subscription, ()) if subscription.rules else ()
        lives = any(self.takes(rule.filter, message) for rule in rules)
        copies = super().copies(subscription, message)
        return copies or ((message,) if lives else ())


@mutant("FILTER-08", (*SUBSCRIBED, add(NONE, v.DEFAULT_RULE)))
class RuleReplaced(SubscriptionRules):
    """A rule added under the name of another replaces that one."""

    @beforehand
    def change(self, subscription: Entity, command: RuleChange) -> None:
        if isinstance(command, v.AddRule):
            self.namespace.journal.touch(subscription)
            subscription.rules = tuple(
                rule for rule in subscription.rules if rule.name != command.rule
            )


@mutant("FILTER-09", (*SUBSCRIBED, remove("second")))
class MissingRuleRemoved(SubscriptionRules):
    """Removing a rule that does not exist succeeds."""

    @instead_of("FILTER-09")
    def change(self) -> None:
        pass


@mutant("FILTER-10", (*SUBSCRIBED, add(NONE), v.ListRules(**ONE)))
class DefaultRuleNotListed(SubscriptionRules):
    """The list of several rules leaves out the first one."""

    def list_rules(self, command: v.ListRules, connection: str) -> Answer:
        rules = self.find(command).rules
        return Answer(v.RulesListed(rules=rules[1:] or rules))


@mutant("FILTER-19", NO_SQL)
class BrokenSqlAdded(SubscriptionRules):
    """A rule with invalid SQL is added, and matches nothing."""

    @instead_of("FILTER-19")
    def check(self) -> None:
        pass


@mutant("FILTER-19", (*NO_SQL, v.ListRules(**ONE)), deep=True)
class BrokenSqlEmptiesRules(SubscriptionRules):
    """Adding a rule with invalid SQL is refused, but removes the other rules."""

    @refuses_yet("FILTER-19")
    def ask_change(self, command: RuleChange) -> None:
        subscription = self.find(command)
        self.namespace.journal.touch(subscription)
        subscription.rules = ()


def _is_last(entity: Entity, partition: int) -> bool:
    """Return whether this is the last partition of several."""
    return 0 < partition == len(entity.partitions) - 1


@mutant("FEAT-01", (*taking(NONE), add(LABEL), *SPREAD, *(TAKE,) * PARTITIONS))
class AddedRuleMissesPartition(Messages):
    """On a partitioned topic an added rule does not apply to the last partition."""

    def arrive(
        self, entity: Entity, message: v.Message, partition: int, transit: InTransit
    ) -> None:
        added = all(rule.name != v.DEFAULT_RULE for rule in entity.rules)
        missed = entity.kind is EntityKind.SUBSCRIPTION and added and _is_last(entity, partition)
        if not missed:
            super().arrive(entity, message, partition, transit)


@mutant("FEAT-01", (*SUBSCRIBED, add(LABEL)))
class RuleRefusedWhenPartitioned(SubscriptionRules):
    """On a partitioned topic no rule can be added."""

    @refuses("FEAT-01")
    def change(self, subscription: Entity, command: RuleChange) -> bool:
        return isinstance(command, v.AddRule) and subscription.settings.partitioned


@mutant("FEAT-02", (*SUBSCRIBED, remove(), *SPREAD, TAKE))
class RemovedRuleStaysInPartition(Topics):
    """On a partitioned topic a removed rule still applies to the last partition."""

    @afterwards
    def distribute(
        self, topic: Entity, message: v.Message, partition: int, transit: InTransit
    ) -> None:
        for subscription in topic.subscriptions or () if _is_last(topic, partition) else ():
            if not subscription.rules:
                self.rules.messages.arrive(subscription, message, partition, transit)


@mutant("FEAT-03", (*BEGUN, add(LABEL, within="t")))
class RuleInTransaction(SubscriptionRules):
    """On a partitioned topic a rule can be changed in a transaction."""

    def is_outside(self, subscription: Entity) -> bool:
        return False


@mutant("FEAT-03", (*BEGUN, remove(within="t"), SEND, TAKE), deep=True)
class RuleRefusedYetChanged(SubscriptionRules):
    """On a partitioned topic a change in a transaction is refused, but made anyway."""

    @alters
    def ask_change(self, usual: Answer, command: RuleChange) -> Answer:
        if command.transaction is not None and "FEAT-03" in usual.rules:
            with suppress(Refusal):
                self.change(self.find(command), command)
        return usual


@mutant("FEAT-18", readings={"REGULAR-RULES": "supported"})
@run(*ON_REGULAR, add(LABEL, within="t"))
class RuleRefusedInTransactionOnRegular(SubscriptionRules):
    """On a regular topic no rule can be changed in a transaction."""

    @refuses("FEAT-18")
    def is_outside(self, subscription: Entity) -> bool:
        return not subscription.settings.partitioned


@mutant("FEAT-19")
@run(*ON_REGULAR, add(LABEL, within="t"), v.RollBackTransaction(transaction="t"), LIST)
class RuleOutlivesRollBack(SubscriptionRules):
    """On a regular topic a change of a rule in a transaction is made at once."""

    def is_outside(self, subscription: Entity) -> bool:
        return not subscription.settings.partitioned or super().is_outside(subscription)


@mutant("FEAT-19")
@run(*ON_REGULAR, add(LABEL, within="t"), v.CommitTransaction(transaction="t"), LIST)
class RuleLostAtCommit(Transactions):
    """A commit does not make the changes of rules in its transaction."""

    def apply(self, transaction: Transaction) -> None:
        self.namespace.journal.touch(transaction)
        transaction.rule_changes = ()
        super().apply(transaction)


ACT: Final = "subscription_rules.act"
RULE_NAME: Final = "RuleName"
DELIMITED: Final = v.SqlFilter(expression="[size-of] = 5")
SCIENTIFIC: Final = v.SqlFilter(expression="size > 0.5E-2")
LABELLED: Final = send("m1", subject="x")
NAMESAKE: Final = v.CreateSubscription(topic="q", subscription="ONE")
TAKE_SECOND: Final = receive(delete=True, queue=v.subscription_path("q", "two"))


def act(action: str | None, rule: str = "r") -> v.AddRule:
    """Return a request that adds a rule with this action, which matches every message."""
    return v.AddRule(rule=rule, filter=v.TrueFilter(), action=action, **ONE)


ACTING: Final[Run] = (*SUBSCRIBED, act("SET size = 2"))
INVALID_ACTION: Final[Run] = (*SUBSCRIBED, act("SET size"))
BOTH: Final[Run] = (*ACTING, SEND, TAKE, TAKE)


@mutant("FILTER-21", BOTH)
class ActionsDoNothing(SubscriptionRules):
    """An action does not change the copy of its rule."""

    def act(
        self, rule: v.SubscriptionRule, message: v.Message, arrival: Arrival | None = None
    ) -> v.Message:
        return attrs.evolve(message, properties=message.properties.set(RULE_NAME, rule.name))


@mutant("FILTER-21", (*SUBSCRIBED, act("REMOVE size"), SEND, TAKE, TAKE))
class RemovedPropertyStays(SubscriptionRules):
    """REMOVE does not remove a property."""

    def act(
        self, rule: v.SubscriptionRule, message: v.Message, arrival: Arrival | None = None
    ) -> v.Message:
        after = super().act(rule, message)
        return attrs.evolve(after, properties=message.properties.update(after.properties))


def _statements(rule: v.SubscriptionRule) -> list[str]:
    """Return the statements of an action that separates them by semicolons."""
    return [each for each in (rule.action or "").split(";") if each.strip()]


@mutant("FILTER-29", (*SUBSCRIBED, act("SET size = 2; SET size = size + 1"), SEND, TAKE, TAKE))
class StatementsReadWhatWasSent(SubscriptionRules):
    """Each statement of an action reads the message as it was sent."""

    def act(
        self, rule: v.SubscriptionRule, message: v.Message, arrival: Arrival | None = None
    ) -> v.Message:
        after = message.properties.set(RULE_NAME, rule.name)
        for statement in _statements(rule):
            alone = super().act(attrs.evolve(rule, action=statement), message)
            new = {
                n: own for n, own in alone.properties.items() if message.properties.get(n) != own
            }
            after = after.update(new)
        return attrs.evolve(super().act(rule, message), properties=after)


@mutant("FILTER-29", (*SUBSCRIBED, act("SET size = 2; SET size = 3"), SEND, TAKE, TAKE))
class StatementsRunBackwards(SubscriptionRules):
    """The last statement of an action runs first."""

    def act(
        self, rule: v.SubscriptionRule, message: v.Message, arrival: Arrival | None = None
    ) -> v.Message:
        backwards = ";".join(reversed(_statements(rule)))
        return super().act(attrs.evolve(rule, action=backwards or rule.action), message)


@mutant("FILTER-29", (*SUBSCRIBED, act("SET size = 2, SET size = 3"), SEND, TAKE, TAKE), deep=True)
class CommaEndsAnAction(SubscriptionRules):
    """What stands behind a comma in an action is not done."""

    def act(
        self, rule: v.SubscriptionRule, message: v.Message, arrival: Arrival | None = None
    ) -> v.Message:
        before = (rule.action or "").partition(",")[0]
        return super().act(attrs.evolve(rule, action=before), message)


@mutant("FILTER-21", (*SUBSCRIBED, act("REMOVE sys.Label"), LABELLED, TAKE, TAKE), deep=True)
class SystemPropertiesStay(SubscriptionRules):
    """REMOVE does not remove a property of the system."""

    def act(
        self, rule: v.SubscriptionRule, message: v.Message, arrival: Arrival | None = None
    ) -> v.Message:
        after = super().act(rule, message)
        return after if after.subject else attrs.evolve(after, subject=message.subject)


@mutant("FILTER-21", (*SUBSCRIBED, act("SET id = newid()"), SEND, TAKE, TAKE), deep=True)
class NewIdsAreEmpty(SubscriptionRules):
    """In an action, newid() gives an empty text."""

    def act(
        self, rule: v.SubscriptionRule, message: v.Message, arrival: Arrival | None = None
    ) -> v.Message:
        without = (rule.action or "").replace("newid()", "''")
        return super().act(attrs.evolve(rule, action=without), message)


@mutant("FILTER-32", (*SUBSCRIBED, add(DELIMITED)))
class NamesInBracketsRefused(SubscriptionRules):
    """A filter with a name in brackets is refused."""

    @refuses("FILTER-19")
    def check(self, command: v.AddRule) -> bool:
        return isinstance(command.filter, v.SqlFilter) and "[" in command.filter.expression


@mutant("FILTER-32", (*SUBSCRIBED, add(SCIENTIFIC)), deep=True)
class FunctionsAndExponentsRefused(SubscriptionRules):
    """A filter with a function, or with a number in scientific notation, is refused."""

    @refuses("FILTER-19")
    def check(self, command: v.AddRule) -> bool:
        sql = command.filter.expression if isinstance(command.filter, v.SqlFilter) else ""
        return re.search(r"\b(newid|p|property)\(|\d[eE]", sql) is not None


def _copies(namespace: Namespace, entity: Entity, message: v.Message) -> tuple[Copies, Copies]:
    """Return the copies that a subscription gets: all, and those made by rules with actions."""
    copies = SubscriptionRules.copies(namespace.rules.subscription_rules, entity, message)
    return copies, tuple(copy for copy in copies if RULE_NAME in copy.properties)


@mutant("FILTER-22", (*ACTING, act("SET size = 3", "s"), SEND, *(TAKE,) * 3))
class FirstActionOnly(SubscriptionRules):
    """Only the first of several rules with actions makes a copy."""

    def copies(
        self, subscription: Entity, message: v.Message, arrival: Arrival | None = None
    ) -> tuple[v.Message, ...]:
        copies, acted = _copies(self.rules.namespace, subscription, message)
        return tuple(copy for copy in copies if copy not in acted[1:])


@mutant("FILTER-22", BOTH)
class NoCopyBesideActions(SubscriptionRules):
    """Rules without an action make no copy if a rule with one matches, too."""

    def copies(
        self, subscription: Entity, message: v.Message, arrival: Arrival | None = None
    ) -> tuple[v.Message, ...]:
        copies, acted = _copies(self.rules.namespace, subscription, message)
        return acted or copies


@mutant("FILTER-23", BOTH)
class RuleNotNamed(SubscriptionRules):
    """The copy of a rule with an action lacks the rule's name."""

    @alters
    def act(self, usual: v.Message) -> v.Message:
        return attrs.evolve(usual, properties=usual.properties.delete(RULE_NAME))


@mutant("FILTER-24", BOTH)
class ActionsChangeAll(SubscriptionRules):
    """An action also changes the copy of rules without an action."""

    def copies(
        self, subscription: Entity, message: v.Message, arrival: Arrival | None = None
    ) -> tuple[v.Message, ...]:
        copies, acted = _copies(self.rules.namespace, subscription, message)
        changed = [
            attrs.evolve(copy, properties=copy.properties.delete(RULE_NAME)) for copy in acted
        ]
        return tuple(copy if copy in acted or not acted else changed[0] for copy in copies)


@mutant("FILTER-24", (*ACTING, SECOND, SEND, TAKE_SECOND))
class ActionsChangeWhatIsSent(SubscriptionRules):
    """An action also changes the copies of later subscriptions."""

    def copies(
        self, subscription: Entity, message: v.Message, arrival: Arrival | None = None
    ) -> tuple[v.Message, ...]:
        siblings = subscription.base.subscriptions or ()
        for earlier in takewhile(lambda sibling: sibling is not subscription, siblings):
            copies = super().copies(earlier, message)
            message = copies[-1] if copies else message
        return super().copies(subscription, message)


class _ActIfValid(SubscriptionRules):
    def act(
        self, rule: v.SubscriptionRule, message: v.Message, arrival: Arrival | None = None
    ) -> v.Message:
        try:
            return super().act(rule, message)
        except AssertionError:
            return message


@mutant("FILTER-25", INVALID_ACTION, also=(_ActIfValid,))
class AnyAction(SubscriptionRules):
    """A rule with an invalid action is added, and the action does nothing."""

    @instead_of("FILTER-25")
    def check(self) -> None:
        pass


def _check_short(namespace: Namespace, name: str, rule: v.RuleId, limited: v.RuleId) -> None:
    """Refuse names of more than 32 characters, where this rule has a limit."""
    if rule == limited and len(name) > 32:
        raise Refusal(v.Error.INVALID_OPERATION, rule)
    Limits.check_short_name(namespace.rules.limits, name, rule)


def create_named(length: int) -> Run:
    """Return the creation of a subscription whose name has this many characters."""
    return (TOPIC, v.CreateSubscription(topic="q", subscription="x" * length))


@mutant("FILTER-26", (*SUBSCRIBED, act(None, "x" * 50)))
class ShortRuleNamesOnly(Limits):
    """A rule's name of more than 32 characters is refused."""

    def check_short_name(self, name: str, rule: v.RuleId) -> None:
        _check_short(self.rules.namespace, name, rule, "FILTER-27")


@mutant("FILTER-27", (*SUBSCRIBED, act(None, "x" * 51)))
class AnyRuleName(Limits):
    """A rule's name of any length is accepted."""

    @only_where
    def check_short_name(self, rule: v.RuleId) -> bool:
        return rule != "FILTER-27"


@mutant("TOPIC-17", create_named(50))
class ShortSubscriptionNamesOnly(Limits):
    """A subscription's name of more than 32 characters is refused."""

    def check_short_name(self, name: str, rule: v.RuleId) -> None:
        _check_short(self.rules.namespace, name, rule, "TOPIC-18")


@mutant("TOPIC-18", create_named(51))
class AnySubscriptionName(Limits):
    """A subscription's name of any length is accepted."""

    @only_where
    def check_short_name(self, rule: v.RuleId) -> bool:
        return rule != "TOPIC-18"


@mutant("TOPIC-21", (*SUBSCRIBED, NAMESAKE))
class CaseOfNamesCounts(Topics):
    """Two subscriptions can have names that differ only in case."""

    def folded(self, name: str) -> str:
        return name
