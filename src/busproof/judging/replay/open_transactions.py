"""Transactions where the documents leave open what a commit does, and how long one lasts.

A message may be for a queue that was deleted since: its commit may be refused, leave the message
out, or send it to the queue that has the name now. One for a topic may be taken by the rules of its
send or by those of its commit.

No document says how long a transaction may last, nor what becomes of one with more requests than
are promised, of one in which a request was refused, or of a message that is settled twice. So a
transaction may be over then: its requests are refused, and what it holds is given up.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from busproof import vocabulary as v
from busproof.judging.floor import Floor
from busproof.judging.replay.guide import Guide
from busproof.judging.replay.open_duplicates import OpenDuplicates
from busproof.judging.replay.tolerance import TolerantSizes
from busproof.model.ambiguities import (
    LockInTransaction,
    TxnAfterRefusal,
    TxnEntities,
    TxnMessageId,
    TxnOtherOperations,
    TxnRefusal,
)
from busproof.model.answers import DONE, Answer
from busproof.model.family import Family
from busproof.model.life_cycle import Action, State
from busproof.model.locks import Locks
from busproof.model.scheduling import Scheduling
from busproof.model.state import (
    NO_PARTITIONS,
    BufferedSend,
    Entity,
    NamespaceState,
    QueuedMessage,
    Transaction,
)
from busproof.model.transactions import Transactions
from busproof.model.values import DIRECT, Key, Refusal

if TYPE_CHECKING:
    from busproof.model.rules import Rules

__all__ = ["LocksInTransactions", "OpenTransactions", "SchedulesInTransactions"]

LONGEST: Final = 120 * v.MICROSECONDS
"""How long a transaction surely lasts, in microseconds."""
MOST: Final = 100
"""LIMIT-15: how many messages a transaction surely holds."""
SENDS: Final = (v.Send, v.SendBatch, v.Schedule)

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
        self._begun: dict[Transaction, int] = {}
        self._outlasting: dict[QueuedMessage, Transaction] = {}

    def forget_behind(self, floor: Floor) -> None:
        """Forget what transactions had that are over."""
        floor.drop(self._subscribed, lambda buffered, _: buffered not in floor.sends)
        floor.drop(self._outlasting, lambda queued, _: floor.is_gone(queued))
        for transaction in self.namespace.transactions.values():
            if transaction.ended and floor.is_gone(transaction):
                transaction.sends = ()
                transaction.settlements = ()
                transaction.rule_changes = ()
        floor.drop(self._begun, lambda one, _: one.ended and floor.is_gone(one))

    # Whether it goes on -----------------------------------------------------------------------

    def begin(self, command: v.BeginTransaction, connection: str) -> Answer:
        """TXN-02: begin a transaction; whether the name of one that is over is free is not said."""
        journal = self.namespace.journal
        name = command.transaction
        known = self.namespace.transactions.get(name)
        if known is not None and known.ended and not guide_of(self).is_refused():
            journal.drop(self.namespace.transactions, name)
        answer = super().begin(command, connection)
        journal.put(self._begun, self.namespace.transactions[name], self.namespace.now)
        return answer

    def running(self, name: str) -> Transaction:
        """Return the transaction with this name, unless it is over."""
        transaction = super().running(name)
        if self._may_be_over(transaction) and guide_of(self).refuses("TXN-02"):
            raise Refusal(v.Error.NOT_FOUND)
        return transaction

    def _may_be_over(self, transaction: Transaction) -> bool:
        """Return whether nothing promises that a transaction goes on."""
        guide = guide_of(self)
        held = (*transaction.sends, *transaction.settlements, *transaction.rule_changes)
        is_long = len(held) >= MOST and not guide.keeps_limits
        return transaction.doomed or is_long or self._is_late(transaction)

    def _is_late(self, transaction: Transaction) -> bool:
        guide = guide_of(self)
        latest = max(self.namespace.now, guide.window[1]) + guide.slack
        return self._begun.get(transaction, latest) + LONGEST <= latest

    def within(
        self,
        transaction: Transaction,
        attempt: Callable[[Transaction], Answer],
        *,
        at_once: bool = True,
    ) -> Answer:
        """TXN-REFUSAL, TXN-AFTER-REFUSAL: make a request that may doom its transaction.

        The readings speak of what is sent. Whether a transaction goes on after the refusal of what
        is scheduled is not said; and where a commit may be what is refused, it may be for anything.
        """
        was_doomed = transaction.doomed
        answer = super().within(transaction, attempt, at_once=at_once)
        guide = guide_of(self)
        journal = self.namespace.journal
        if answer.refused is None:
            return answer
        event = guide.event
        is_scheduled = event is not None and isinstance(event.command, v.Schedule)
        known = self.namespace.known_reading(TxnRefusal)
        if (
            known is not TxnRefusal.AT_SEND
            and not guide.is_refused()
            and event is not None
            and isinstance(event.command, SENDS)
        ):
            journal.touch(transaction)
            transaction.doomed = True
            return Answer(v.Scheduled() if is_scheduled else DONE, rules=answer.rules)
        is_new = transaction.doomed and not was_doomed
        if is_new and is_scheduled and guide.take("TXN-AFTER-REFUSAL", (False, True), guide.place):
            journal.touch(transaction)
            transaction.doomed = False
        return answer

    def lapse(self, queued: QueuedMessage) -> None:
        """LOCK-IN-TRANSACTION: give up a transaction that has lasted too long."""
        transaction = queued.enlisted
        if transaction is None or transaction.ended:
            return
        self.namespace.journal.touch(transaction)
        transaction.ended = True
        self.release(transaction)

    # Messages ---------------------------------------------------------------------------------

    def key_of(self, entity: Entity, transaction: Transaction, message: v.Message) -> Key | None:
        """KEY-13, TXN-MESSAGE-ID: let an id that a client library assigns be the key."""
        try:
            return super().key_of(entity, transaction, message)
        except Refusal as refusal:
            guide = guide_of(self)
            reading = self.namespace.known_reading(TxnMessageId)
            is_assigned = guide.assigns_message_ids and message.message_id is None
            if (
                not is_assigned
                or "TXN-03" not in refusal.rules
                or reading is TxnMessageId.WITH_DUPLICATE_DETECTION
            ):
                raise
            if guide.is_refused() and guide.take("TXN-MESSAGE-ID", (True, False), guide.place):
                raise
            key = Key("MessageId", f"assigned to {len(transaction.sends)}")
            self.check_other_sends(entity, transaction, key)
            return key

    def check_other_sends(self, entity: Entity, transaction: Transaction, key: Key) -> None:
        """TXN-OTHER-OPERATIONS: refuse another key than that of a settled message, or not."""
        super().check_other_sends(entity, transaction, key)
        reading = self.namespace.known_reading(TxnOtherOperations)
        keys = {self._key_of_settlement(one.entity, one.token) for one in transaction.settlements}
        is_open = reading is not TxnOtherOperations.SENDS_ONLY and keys - {key, None}
        if is_open and guide_of(self).refuses("TXN-OTHER-OPERATIONS"):
            raise Refusal(v.Error.INVALID_OPERATION, "TXN-04")

    def _key_of_settlement(self, entity: Entity, token: str) -> Key | None:
        number = token.partition("/")[0]
        queued = entity.messages.get(int(number)) if number.isdecimal() else None
        return None if queued is None else self.rules.keys.effective_key(entity, queued.message)

    def check_second_entity(self, entity: Entity, transaction: Transaction) -> None:
        """TXN-ENTITIES: refuse a second entity beside what is scheduled, or not."""
        super().check_second_entity(entity, transaction)
        others = {send.entity for send in transaction.sends if send.scheduled is not None}
        if others - {entity} and guide_of(self).refuses("TXN-OTHER-OPERATIONS"):
            raise Refusal(v.Error.INVALID_OPERATION, "TXN-15")

    # Settlements ------------------------------------------------------------------------------

    def settle(self, entity: Entity, command: v.Settlement, name: str) -> Answer:
        """SETTLEMENT-REFUSAL: let a lost lock that is not refused at once doom its transaction."""
        answer = super().settle(entity, command, name)
        transaction = self.namespace.transactions[name]
        is_lost = bool(transaction.settlements) and not transaction.settlements[-1].token
        if answer.refused is not None or not is_lost or transaction.doomed:
            return answer
        guide = guide_of(self)
        goes_on = self.namespace.known_reading(TxnAfterRefusal) is TxnAfterRefusal.CONTINUES
        if not goes_on and guide.take("TXN-AFTER-REFUSAL", (False, True), guide.place):
            self.namespace.journal.touch(transaction)
            transaction.doomed = True
        return answer

    def forget(self, queued: QueuedMessage) -> None:
        """Take back the settlement of a message that waits for a commit."""
        transaction = queued.enlisted
        if transaction is None or transaction.ended:
            return
        self.namespace.journal.touch(transaction)
        transaction.settlements = tuple(
            one for one in transaction.settlements if one.token != queued.token
        )
        self.namespace.journal.touch(queued)
        queued.enlisted = None

    def holds(self, queued: QueuedMessage) -> bool:
        """LOCK-IN-TRANSACTION: let a lock last, at most as long as its transaction."""
        is_held = super().holds(queued)
        transaction = queued.enlisted
        if is_held and transaction is not None:
            begun = self._begun.get(transaction, self.namespace.now)
            queued.entity.look_at("transactions.lapse", begun + LONGEST, queued, queued.number)
        return is_held

    def outlasts(self, queued: QueuedMessage) -> bool:
        """LOCK-11: choose whether a message stays locked for a commit although its session ends."""
        transaction = queued.enlisted
        guide = guide_of(self)
        reading = self.namespace.known_reading(LockInTransaction)
        if transaction is None or transaction.ended or reading is LockInTransaction.ENDS:
            return False
        if not guide.take("LOCK-IN-TRANSACTION", (False, True), queued.entity.base.path):
            return False
        self.namespace.journal.put(self._outlasting, queued, transaction)
        return True

    def release(self, transaction: Transaction) -> None:
        """LOCK-12: end the locks that lasted only because of their transaction."""
        super().release(transaction)
        for queued, holder in list(self._outlasting.items()):
            if holder is transaction and queued.is_there and queued.enlisted is transaction:
                self.rules.locks.release(queued, Action.LOCK_ENDS)

    # The commit -------------------------------------------------------------------------------

    def buffer(self, transaction: Transaction, buffered: BufferedSend) -> None:
        """TXN-12, SEQ-07: note which rules and messages there were when a message was sent."""
        super().buffer(transaction, buffered)
        guide_of(self).bindings.note_buffered(buffered)
        duplicates = self.rules.duplicates
        if isinstance(duplicates, OpenDuplicates):
            duplicates.note_sent(buffered)
        sizes = self.rules.sizes
        if isinstance(sizes, TolerantSizes):
            sizes.reserve(buffered.entity, buffered.partition, buffered.message.size or 0)
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
        """SEQ-07: tell which message is delivered; it may go on before the next one is."""
        guide = guide_of(self)
        since = self.namespace.timers.serial
        guide.delivered = buffered
        try:
            self._deliver(buffered)
        finally:
            guide.delivered = None
        sends = self.namespace.transactions[guide.commit or ""].sends
        behind = sends[sends.index(buffered) + 1 :]
        guide.ways.hop_ahead(since, [(one.entity.path, one.message.body) for one in behind])

    def _deliver(self, buffered: BufferedSend) -> None:
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


class LocksInTransactions(Locks):
    """Locks of messages whose settlement waits for a commit.

    Nothing is said of such a message that is settled once more, or whose lock is renewed.
    """

    def settle(self, command: v.Settlement, connection: str) -> Answer:
        """LOCK-11: settle a message again, which is refused or takes the place of the first.

        Whether a dead letter can be deferred is not said.
        """
        is_dead = isinstance(command, v.Defer) and v.is_dead_letter_queue(command.queue)
        if is_dead and guide_of(self).refuses("DEFER-01"):
            raise Refusal(v.Error.INVALID_OPERATION)
        self._check_again(command)
        return super().settle(command, connection)

    def release(self, queued: QueuedMessage, action: Action) -> None:
        """DLQ-02: let a deferred message become a dead letter that has used up its deliveries.

        Nothing is said of whether it does, or is deferred as before.
        """
        super().release(queued, action)
        dead_letters = self.rules.dead_letters
        if (
            queued.state is State.DEFERRED
            and dead_letters.has_failed_too_often(queued)
            and guide_of(self).take("DLQ-02", (False, True), queued.entity.base.path)
        ):
            dead_letters.dead_letter(queued, "MaxDeliveryCountExceeded")

    def renew(self, command: v.RenewLock, connection: str) -> Answer:
        """LOCK-04: renew the lock of a message that waits for a commit, or refuse it."""
        self._check_again(command)
        return super().renew(command, connection)

    def _check_again(self, command: v.Settlement | v.RenewLock) -> None:
        entity = self.namespace.entities.get(command.queue)
        number = command.lock_token.partition("/")[0]
        if entity is None or not number.isdecimal():
            return
        queued = entity.messages.get(int(number))
        if queued is None or queued.token != command.lock_token or queued.enlisted is None:
            return
        guide = guide_of(self)
        transactions = self.rules.transactions
        if queued.enlisted.ended:
            return
        if guide.refuses("LOCK-11"):
            raise Refusal(v.Error.OTHER)
        if isinstance(command, v.RenewLock) or not isinstance(transactions, OpenTransactions):
            return
        if guide.take("LOCK-11", (False, True), guide.place):
            transactions.forget(queued)


class SchedulesInTransactions(Scheduling):
    """Messages that are scheduled in a transaction."""

    def schedule_in(self, entity: Entity, message: v.Message, due: int, name: str) -> Answer:
        """SCHED-15, TXN-AFTER-REFUSAL: let different keys end the transaction, as other refusals.

        A transaction that is over refuses what is scheduled, too.
        """
        transactions = self.rules.transactions
        running = transactions.running(name)
        try:
            return super().schedule_in(entity, message, due, name)
        except Refusal as refusal:
            refused = refusal

        def refuse(_: Transaction) -> Answer:
            raise refused

        return transactions.within(running, refuse)

    def key_in(self, entity: Entity, transaction: Transaction, message: v.Message) -> Key | None:
        """SCHED-15, TXN-ENTITIES: let a second entity be named where a send may name one."""
        try:
            return super().key_in(entity, transaction, message)
        except Refusal as refusal:
            reading = self.namespace.known_reading(TxnEntities)
            is_refused = guide_of(self).is_refused() or reading is TxnEntities.REFUSED
            if is_refused or "SCHED-15" not in refusal.rules:
                raise
            return self.rules.transactions.key_of(entity, transaction, message)
