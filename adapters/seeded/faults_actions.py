"""Faults of actions of rules, and of names: FILTER-21 to FILTER-27, TOPIC-17, -18, -21."""

from typing import Final

import attrs

from busproof.adapters.seeded.acting import RULE_NAME
from busproof.adapters.seeded.bus import SeededBus
from busproof.adapters.seeded.fault import Faults
from busproof.adapters.seeded.queues import Queue
from busproof.vocabulary.messages import Message
from busproof.vocabulary.values import Error

__all__ = ["FAULTS"]

faulty = Faults()


@faulty("actions-do-nothing", "FILTER-21", "A copy of a rule with an action is as it was sent.")
class _ActionsDoNothing(SeededBus):
    def acted_on(self, subscription: Queue, message: Message, rule: str) -> Message:  # noqa: ARG002
        return attrs.evolve(message, properties={**message.properties, RULE_NAME: rule})


@faulty("removed-property-stays", "FILTER-21", "REMOVE leaves a property where it is.")
class _RemovedStays(SeededBus):
    def acted_on(self, subscription: Queue, message: Message, rule: str) -> Message:
        after = super().acted_on(subscription, message, rule)
        return attrs.evolve(after, properties={**message.properties, **after.properties})


@faulty("first-action-only", "FILTER-22", "Of several rules with actions only the first copies.")
class _FirstActionOnly(SeededBus):
    def copies_of(self, subscription: Queue, message: Message) -> list[Message]:
        found = super().copies_of(subscription, message)
        acted = [each for each in found if RULE_NAME in each.properties]
        return [each for each in found if each not in acted[1:]]


@faulty("no-copy-beside-actions", "FILTER-22", "Where a rule has an action, others copy nothing.")
class _NoCopyBeside(SeededBus):
    def copies_of(self, subscription: Queue, message: Message) -> list[Message]:
        found = super().copies_of(subscription, message)
        return [each for each in found if RULE_NAME in each.properties] or found


@faulty("rule-not-named", "FILTER-23", "A copy does not tell the rule that has made it.")
class _RuleNotNamed(SeededBus):
    def acted_on(self, subscription: Queue, message: Message, rule: str) -> Message:
        after = super().acted_on(subscription, message, rule)
        rest = {name: value for name, value in after.properties.items() if name != RULE_NAME}
        return attrs.evolve(after, properties=rest)


@faulty("actions-change-all", "FILTER-24", "An action changes the copy of the other rules as well.")
class _ActionsChangeAll(SeededBus):
    def copies_of(self, subscription: Queue, message: Message) -> list[Message]:
        found = super().copies_of(subscription, message)
        acted = [each for each in found if RULE_NAME in each.properties]
        changed = [{**acted[0].properties}] if acted else []
        for properties in changed:
            del properties[RULE_NAME]
        return [
            attrs.evolve(each, properties=changed[0]) if changed and each not in acted else each
            for each in found
        ]


@faulty("actions-change-what-is-sent", "FILTER-24", "Later subscriptions get what an action made.")
class _ActionsChangeSent(SeededBus):
    def append(self, queue: Queue, message: Message, partition: int) -> None:
        if queue.subscriptions is None:
            super().append(queue, message, partition)
            return
        for subscription in self.subscribers(queue, message):
            for copy in self.copies_of(subscription, message):
                self.copy(subscription, copy, partition)
                message = copy


@faulty("any-action", "FILTER-25", "An action that is no SQL is taken, and does nothing.")
class _AnyAction(SeededBus):
    def is_valid_action(self, action: str | None) -> bool:  # noqa: ARG002
        return True

    def acted_on(self, subscription: Queue, message: Message, rule: str) -> Message:
        if super().is_valid_action(subscription.actions[rule]):
            return super().acted_on(subscription, message, rule)
        return message


@faulty("short-rule-names-only", "FILTER-26", "A rule's name may have 32 characters.")
class _ShortRuleNames(SeededBus):
    def longest_short_name(self, kind: str) -> int:
        return 32 if kind == "rule" else super().longest_short_name(kind)


@faulty("any-rule-name", "FILTER-27", "A rule's name may have any length.")
class _AnyRuleName(SeededBus):
    def longest_short_name(self, kind: str) -> int:
        return 1000 if kind == "rule" else super().longest_short_name(kind)


@faulty(
    "short-subscription-names-only", "TOPIC-17", "A subscription's name may have 32 characters."
)
class _ShortSubscriptionNames(SeededBus):
    def longest_short_name(self, kind: str) -> int:
        return 32 if kind == "subscription" else super().longest_short_name(kind)


@faulty("any-subscription-name", "TOPIC-18", "A subscription's name may have any length.")
class _AnySubscriptionName(SeededBus):
    def longest_short_name(self, kind: str) -> int:
        return 1000 if kind == "subscription" else super().longest_short_name(kind)


@faulty("case-of-names-counts", "TOPIC-21", "Names of subscriptions that differ in case are two.")
class _CaseCounts(SeededBus):
    def objection_to_name(self, topic: Queue, name: str) -> Error | None:
        error = super().objection_to_name(topic, name)
        there = f"{topic.name}/subscriptions/{name}" in self.queues
        return error if there or error is not Error.ALREADY_EXISTS else None


FAULTS: Final = faulty.all()
