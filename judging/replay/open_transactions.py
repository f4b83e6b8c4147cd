"""Transactions where the documents leave open what a commit does.

A message may be for a queue that was deleted since: its commit may be refused, leave the message
out, or send it to the queue that has the name now. One for a topic may be taken by the rules of its
send or by those of its commit.
"""

from typing import TYPE_CHECKING

from busproof import vocabulary as v
from busproof.judging.replay.guide import Guide
from busproof.model.family import Family
from busproof.model.state import (
    NO_PARTITIONS,
    BufferedSend,
    Entity,
    NamespaceState,
    Transaction,
)
from busproof.model.transactions import Transactions
from busproof.model.values import DIRECT, Refusal

if TYPE_CHECKING:
    from busproof.model.rules import Rules

__all__ = ["OpenTransactions"]

Subscribed = tuple[tuple[Entity, tuple[v.SubscriptionRule, ...]], ...]
"""The subscriptions of a topic with their rules."""


def guide_of(family: Family) -> Guide:
    """Return the guide of a replay, which is the policy of the model."""
    guide = family.namespace.choices
    assert isinstance(guide, Guide)  # noqa: S101 - a replay has no other policy
    return guide


def subscribed(topic: Entity) -> Subscribed:
    """Return the subscriptions of a topic with their rules, as they are now."""
    return tuple((one, one.rules) for one in topic.subscriptions or ())


class OpenTransactions(Transactions):
    """Transactions with all answers that the documents permit."""

    def __init__(self, namespace: NamespaceState, rules: "Rules") -> None:
        super().__init__(namespace, rules)
        self._subscribed: dict[BufferedSend, Subscribed] = {}

    def buffer(self, transaction: Transaction, buffered: BufferedSend) -> None:
        """TXN-12: note which rules there were when a message was sent."""
        super().buffer(transaction, buffered)
        if buffered.entity.subscriptions is not None:
            known = subscribed(buffered.entity)
            self.namespace.journal.put(self._subscribed, buffered, known)

    def check_commit(self, buffered: BufferedSend) -> None:
        """MGMT-15: let a message pass whose queue is gone, or refuse its commit."""
        try:
            super().check_commit(buffered)
        except Refusal as refusal:
            if "MGMT-15" not in refusal.rules or guide_of(self).choose_refusal("MGMT-15"):
                raise

    def deliver(self, buffered: BufferedSend) -> None:
        """TXN-12: deliver a message by the rules of its send or its commit, if it has a queue."""
        entity = buffered.entity
        if self.namespace.entities.get(entity.path) is not entity:
            self._deliver_to_successor(buffered)
            return
        before = self._subscribed.get(buffered)
        now = subscribed(entity)
        if before is None or before == now:
            super().deliver(buffered)
            return
        whose = guide_of(self).take("TXN-12", ("commit", "send"), entity.path)
        if whose == "commit":
            super().deliver(buffered)
            return
        left = entity.subscriptions or ()
        self._subscribe(entity, tuple(pair for pair in before if pair[0] in left))
        super().deliver(buffered)
        self._subscribe(entity, now)

    def _subscribe(self, topic: Entity, pairs: Subscribed) -> None:
        journal = self.namespace.journal
        journal.touch(topic)
        topic.subscriptions = tuple(one for one, _ in pairs)
        for subscription, rules in pairs:
            journal.touch(subscription)
            subscription.rules = rules

    def _deliver_to_successor(self, buffered: BufferedSend) -> None:
        successor = self.namespace.entities.get(buffered.entity.path)
        if successor is None or successor.kind is not buffered.entity.kind:
            return
        if guide_of(self).take("MGMT-15", ("sent", "left out"), successor.path) == "left out":
            return
        message = buffered.message
        keys = self.rules.keys
        key = keys.effective_key(successor, message)
        down = NO_PARTITIONS
        chosen = keys.home(successor, key) if key else keys.any_partition(successor, down)
        if chosen is not None:
            self.rules.messages.accept(successor, message, key, chosen, DIRECT)
