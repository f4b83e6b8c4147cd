"""Topics of the seeded bus: a message that arrives at one is copied into its subscriptions."""

from collections.abc import Iterable

import attrs

from busproof.adapters.seeded.acting import acted_on, is_valid_action
from busproof.adapters.seeded.filtering import is_valid, takes
from busproof.adapters.seeded.life import Life
from busproof.adapters.seeded.queues import Change, Queue
from busproof.vocabulary.commands import AddRule, RemoveRule
from busproof.vocabulary.messages import Message
from busproof.vocabulary.outcomes import Done, Outcome, Refused, RulesListed
from busproof.vocabulary.subscription_rules import (
    DEFAULT_RULE,
    Filter,
    SubscriptionRule,
    TrueFilter,
)
from busproof.vocabulary.values import Error

__all__ = ["Publishing"]


class Publishing(Life):
    """Copies what arrives at a topic; every method is a hook."""

    def append(self, queue: Queue, message: Message, partition: int) -> None:
        """Put a message at the end of a queue, or of each subscription of a topic."""
        if queue.subscriptions is None:
            super().append(queue, message, partition)
            return
        message = attrs.evolve(message, time_to_live=self.lifetime(queue, message))
        for subscription in self.subscribers(queue, message):
            for copy in self.copies_of(subscription, message):
                self.copy(subscription, copy, partition)

    def subscribers(self, topic: Queue, message: Message) -> Iterable[Queue]:
        """The subscriptions that get a copy."""
        return [
            subscription
            for subscription in topic.subscriptions or ()
            for _ in range(self.copies(subscription, message))
        ]

    def copies(self, subscription: Queue, message: Message) -> int:
        """How often a subscription gets its copies: once, if any rule of it takes the message."""
        return int(any(self.takes(each, message) for each in subscription.rules.values()))

    def copies_of(self, subscription: Queue, message: Message) -> list[Message]:
        """The copies: one for all rules without action, and one for each that has one."""
        taking = [name for name, each in subscription.rules.items() if self.takes(each, message)]
        acting = [name for name in taking if name in subscription.actions]
        plain = [] if acting and len(acting) == len(taking) else [message]
        return [*plain, *(self.acted_on(subscription, message, name) for name in acting)]

    def acted_on(self, subscription: Queue, message: Message, rule: str) -> Message:
        """The copy of a message that a rule with an action makes."""
        return acted_on(message, rule, subscription.actions[rule])

    def takes(self, wanted: Filter, message: Message) -> bool:
        """Whether a filter takes a message."""
        return takes(wanted, message)

    def copy(self, subscription: Queue, message: Message, partition: int) -> None:
        """Put a copy at the end of a subscription, in the partition that took the message."""
        self.append(subscription, message, partition)

    def change(self, subscription: Queue, command: Change) -> Outcome:
        """Add or remove a rule."""
        if isinstance(command, RemoveRule):
            return self.remove_rule(subscription, command.rule)
        if not self.is_valid(command.filter) or self.objects_to(command):
            return Refused(error=Error.INVALID_OPERATION)
        if command.rule in subscription.rules:
            return Refused(error=Error.ALREADY_EXISTS)
        subscription.rules[command.rule] = command.filter
        if command.action is not None:
            subscription.actions[command.rule] = command.action
        return Done()

    def remove_rule(self, subscription: Queue, rule: str) -> Outcome:
        """Remove a rule with its action."""
        if rule not in subscription.rules:
            return Refused(error=Error.NOT_FOUND)
        del subscription.rules[rule]
        subscription.actions.pop(rule, None)
        return Done()

    def objects_to(self, command: AddRule) -> bool:
        """Whether a rule's name is too long, or its action no SQL."""
        too_long = len(command.rule) > self.longest_short_name("rule")
        return too_long or not self.is_valid_action(command.action)

    def longest_short_name(self, kind: str) -> int:  # noqa: ARG002 - for faults
        """How many characters the name of a rule or a subscription may have."""
        return 50

    def is_valid_action(self, action: str | None) -> bool:
        """Whether an action may be added."""
        return action is None or is_valid_action(action)

    def is_valid(self, wanted: Filter) -> bool:
        """Whether a filter may be added."""
        return is_valid(wanted)

    def listed(self, subscription: Queue) -> RulesListed:
        """The rules of a subscription."""
        rules = subscription.rules.items()
        return RulesListed(
            rules=tuple(
                SubscriptionRule(name=name, filter=each, action=subscription.actions.get(name))
                for name, each in rules
            )
        )

    def subscribe(self, topic: Queue, subscription: Queue) -> None:
        """Let a subscription have what is sent to its topic from now on."""
        subscription.topic = topic
        subscription.down = topic.down
        for grave in (subscription.dead, subscription.transfers):
            if grave is not None:
                grave.down = topic.down
        subscription.rules = {DEFAULT_RULE: TrueFilter()}
        if topic.subscriptions is not None:
            topic.subscriptions.append(subscription)
