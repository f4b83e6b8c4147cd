"""FILTER: rules of subscriptions, which select messages and may change their copies.

A subscription has rules; each has a filter, and optionally an action. All matching rules without an
action make one copy together, and each matching rule with an action makes one of its own, with
changed properties. A change of the rules applies to messages that are sent later. Filters and
actions are evaluated by `busproof.filters`, with what the bus gives a message when it arrives.
"""

import attrs

from busproof import vocabulary as v
from busproof.filters.actions import RULE_NAME, fresh_ids, made_by, sets_a_key
from busproof.filters.facts import Arrival
from busproof.filters.matching import takes
from busproof.filters.nodes import Statement
from busproof.filters.objections import objection_to_action, objection_to_filter
from busproof.filters.parser import Outside, parsed_action
from busproof.filters.readings import OURS
from busproof.model.ambiguities import ActionKeys, RuleInTransaction
from busproof.model.answers import DONE, Answer
from busproof.model.family import Family, handles
from busproof.model.state import BufferedRuleChange, Entity, Transaction
from busproof.model.values import EntityKind, Refusal

__all__ = ["SubscriptionRules"]

RuleChange = v.AddRule | v.RemoveRule


class SubscriptionRules(Family):
    """The rules of FILTER."""

    def find(self, command: RuleChange | v.ListRules) -> Entity:
        """MGMT-10: return the subscription that a command about rules names."""
        path = v.subscription_path(command.topic, command.subscription)
        subscription = self.namespace.entities.get(path) or self.rules.topics.find_alike(path)
        if subscription.kind is not EntityKind.SUBSCRIPTION:
            raise Refusal(v.Error.NOT_FOUND, "MGMT-10")
        self.rules.topics.check_serves(subscription, "served", "refused")
        return subscription

    @handles(v.AddRule, v.RemoveRule)
    def ask_change(self, command: RuleChange, connection: str) -> Answer:
        """FILTER-07, FEAT-01 to FEAT-04, FEAT-18: change the rules, now or with a commit."""
        subscription = self.find(command)
        if command.transaction is not None:

            def attempt(transaction: Transaction) -> Answer:
                return self.buffer(subscription, command, transaction)

            transaction = self.rules.transactions.running(command.transaction)
            return self.rules.transactions.within(transaction, attempt)
        self.change(subscription, command)
        return Answer(DONE, rules=("FILTER-07",))

    def buffer(self, subscription: Entity, command: RuleChange, transaction: Transaction) -> Answer:
        """FEAT-03, FEAT-18, FEAT-19: keep a change, if it is possible, until the commit."""
        mark = self.namespace.journal.mark()
        outside = self.is_outside(subscription)
        self.change(subscription, command)
        if not outside:
            self.namespace.journal.undo(mark)
            self.namespace.journal.touch(transaction)
            transaction.rule_changes += (BufferedRuleChange(subscription, command),)
        return Answer(DONE, rules=("FEAT-18",))

    def is_outside(self, subscription: Entity) -> bool:
        """FEAT-03: return whether a change in a transaction is made at once, outside of it.

        On a partitioned topic it is refused or made at once (RULE-IN-TRANSACTION), elsewhere it
        waits.
        """
        if not subscription.settings.partitioned:
            return False
        refused = self.namespace.reading(RuleInTransaction) is RuleInTransaction.REFUSED
        if refused and not self.namespace.states("FEAT-03"):
            refused = not self.namespace.prefers("FEAT-03", "ignored", to="refused")
        if refused:
            raise Refusal(v.Error.INVALID_OPERATION, "FEAT-03")
        return True

    def change(self, subscription: Entity, command: RuleChange) -> None:
        """FILTER-07 to FILTER-09: add or remove a rule."""
        others = tuple(rule for rule in subscription.rules if rule.name != command.rule)
        exists = len(others) < len(subscription.rules)
        if isinstance(command, v.AddRule):
            self.check(command)
            if exists:
                raise Refusal(v.Error.ALREADY_EXISTS, "FILTER-08")
            rule = v.SubscriptionRule(
                name=command.rule, filter=command.filter, action=command.action
            )
            others = (*others, rule)
        elif not exists:
            raise Refusal(v.Error.NOT_FOUND, "FILTER-09")
        self.namespace.journal.touch(subscription)
        subscription.rules = others

    def check(self, command: v.AddRule) -> None:
        """FILTER-19, FILTER-21, FILTER-25, FILTER-27: check that a rule can be added.

        Whether an action may set a key is open (ACTION-KEYS).
        """
        self.rules.limits.check_short_name(command.rule, "FILTER-27")
        if objection_to_filter(command.filter) is not None:
            raise Refusal(v.Error.INVALID_OPERATION, "FILTER-19")
        if command.action is None:
            return
        if objection_to_action(command.action) is not None:
            raise Refusal(v.Error.INVALID_OPERATION, "FILTER-25")
        sets = sets_a_key(_statements(command.action))
        if sets and self.namespace.reading(ActionKeys) is ActionKeys.REFUSED:
            raise Refusal(v.Error.INVALID_OPERATION, "FILTER-21")

    def copies(
        self, subscription: Entity, message: v.Message, arrival: Arrival | None = None
    ) -> tuple[v.Message, ...]:
        """FILTER-01 to FILTER-06, FILTER-20, FILTER-22: return the copies for a subscription."""
        taking = [rule for rule in subscription.rules if self.takes(rule.filter, message, arrival)]
        plain = any(rule.action is None for rule in taking)
        acting = [rule for rule in taking if rule.action is not None]
        copies = [
            *((message,) if plain else ()),
            *(self.act(rule, message, arrival) for rule in acting),
        ]
        return self.in_any_order(copies) if len(copies) > 1 else tuple(copies)

    def in_any_order(self, copies: list[v.Message]) -> tuple[v.Message, ...]:
        """FILTER-22: return the copies of one message in any order."""
        places = list(range(len(copies)))
        order = []
        while places:
            place = self.namespace.choices.pick("FILTER-22", tuple(places))
            places.remove(place)
            order.append(copies[place])
        return tuple(order)

    def takes(self, wanted: v.Filter, message: v.Message, arrival: Arrival | None = None) -> bool:
        """FILTER-02 to FILTER-04, FILTER-11 to FILTER-18: whether a filter matches a message."""
        readings = OURS if arrival is None else arrival.readings
        return takes(wanted, message, readings=readings, arrival=arrival) is True

    def act(
        self, rule: v.SubscriptionRule, message: v.Message, arrival: Arrival | None = None
    ) -> v.Message:
        """FILTER-21, FILTER-23, FILTER-24: return the copy that a rule with an action makes."""
        statements = _statements(rule.action or "")
        # The rule and the number in the topic make an id of an action's own.
        after = made_by(statements, message, arrival, fresh_ids(f"{rule.name} {arrival}"))
        return attrs.evolve(after, properties=after.properties.set(RULE_NAME, rule.name))

    @handles(v.ListRules)
    def list_rules(self, command: v.ListRules, connection: str) -> Answer:
        """FILTER-10: return each rule of a subscription with its filter and its action."""
        return Answer(v.RulesListed(rules=self.find(command).rules), rules=("FILTER-10",))


def _statements(action: str) -> tuple[Statement, ...]:
    statements = parsed_action(action)
    if isinstance(statements, Outside):
        raise AssertionError("only SQL is added")  # noqa: TRY004 - no input gets here
    return statements
