"""TXN: transactions, whose requests take effect together or not at all.

A transaction begins under a name, and ends by a commit or a rollback. Sends, scheduled messages,
settlements and changes of subscription rules can be part of it. Each is checked when it is
requested, and then *waits*: nobody sees anything of it before the commit. Only two things are so at
once. A message whose settlement waits stays locked, and a scheduled message has its number.

The commit applies all that waits, or nothing: what was possible at the request may not be any more.
A lock may be lost (LOCK-13), a partition may be down (TXN-OUTAGE) or full (SIZE-14), an entity may
be deleted (MGMT-15). Settlements are applied before sends, so that the room that they free is there
for these. A commit that fails ends the transaction as a rollback does.

On a partitioned entity all messages of a transaction have one partition key, because one broker
has to handle them (TXN-02); a message without a key cannot be sent in one (TXN-03). So the first
send to an entity binds the transaction to its key.

What the documents leave open:

- *When* a wrong request is refused: at once, or only by the commit (TXN-REFUSAL for sends,
  SETTLEMENT-REFUSAL for settlements). In the second case the request is answered as if it were
  right, and the transaction is `doomed`: it cannot commit.
- What a refusal leaves behind: a transaction that goes on without the refused request, or a doomed
  one (TXN-AFTER-REFUSAL). That is why `within` returns refusals and does not raise them.
- Whether other requests than sends are bound to the key (TXN-OTHER-OPERATIONS), and whether a
  transaction may send to a second entity (TXN-ENTITIES).
- Whether a lock can end while its settlement waits (LOCK-IN-TRANSACTION), and when the time to live
  of a message that waits begins (LIFETIME-IN-TRANSACTION).
"""

from collections.abc import Callable
from contextlib import suppress
from typing import Final

from busproof import vocabulary as v
from busproof.model.ambiguities import (
    KeyProperties,
    LifetimeInTransaction,
    LockInTransaction,
    SettlementRefusal,
    TxnAfterRefusal,
    TxnEntities,
    TxnMessageId,
    TxnOtherOperations,
    TxnOutage,
    TxnRefusal,
)
from busproof.model.answers import DONE, Answer
from busproof.model.family import Family, handles
from busproof.model.locks import ACTIONS
from busproof.model.state import (
    BufferedSend,
    EnlistedSettlement,
    Entity,
    QueuedMessage,
    Transaction,
)
from busproof.model.values import DIRECT, Key, Refusal, stated_again

__all__ = ["KEYS_OF_TOPICS", "LIMITS_IN_TRANSACTION", "PLENTY", "Transactions", "keys_of_sends"]

LIMITS_IN_TRANSACTION: Final[dict[v.RuleId, v.RuleId]] = {
    "LIMIT-02": "LIMIT-21",
    "LIMIT-04": "LIMIT-21",
}
KEYS_OF_TOPICS: Final[dict[v.RuleId, v.RuleId]] = dict.fromkeys(
    ("TXN-03", "TXN-04", "TXN-08"), "TOPIC-16"
)
KEYS_WITH_SESSIONS: Final[dict[v.RuleId, v.RuleId]] = {"KEY-08": "TXN-07"}

PLENTY: Final = 60 * v.MICROSECONDS
"""A timeout in microseconds that lets a send avoid a partition that is down."""


def keys_of_sends(transaction: Transaction) -> list[tuple[Entity, Key]]:
    """Return the keys that a transaction is bound to by its sends, except scheduled ones."""
    sends = (send for send in transaction.sends if send.scheduled is None)
    return [(send.entity, send.key) for send in sends if send.key is not None]


def rules_stated_again(entity: Entity) -> dict[v.RuleId, v.RuleId]:
    """TXN-07, TOPIC-16, LIMIT-21: return the rules that say the same of sends in transactions."""
    rules = dict(LIMITS_IN_TRANSACTION)
    if entity.subscriptions is not None:
        rules |= KEYS_OF_TOPICS
    if entity.settings.requires_session:
        rules |= KEYS_WITH_SESSIONS
    return rules


class Transactions(Family):
    """The rules of TXN."""

    @handles(v.BeginTransaction)
    def begin(self, command: v.BeginTransaction, connection: str) -> Answer:
        """TXN-02, MGMT-24: begin a transaction under a new name."""
        if command.transaction in self.namespace.transactions:
            raise Refusal(v.Error.ALREADY_EXISTS)
        self.rules.management.check_basic()
        self.namespace.journal.put(self.namespace.transactions, command.transaction, Transaction())
        return Answer(DONE, rules=("TXN-02",))

    def running(self, name: str) -> Transaction:
        """Return the transaction with this name, if it is running."""
        transaction: Transaction | None = self.namespace.transactions.get(name)
        if transaction is None or transaction.ended:
            raise Refusal(v.Error.NOT_FOUND)
        return transaction

    def send(self, entity: Entity, messages: tuple[v.Message, ...], name: str) -> Answer:
        """TXN-01, TXN-02, TXN-05, TXN-10: keep all messages until the commit, or refuse them."""

        def attempt(transaction: Transaction) -> Answer:
            with stated_again(again):
                self.rules.batches.check(entity, messages)
            rules = self.rules_of_send(entity, transaction, messages)
            partitions = set()
            for message in messages:
                with stated_again(again):
                    key = self.key_of(entity, transaction, message)
                partition = self.place(entity, transaction, message, key)
                buffered = BufferedSend(entity, message, key, partition, self.namespace.now)
                self.buffer(transaction, buffered)
                partitions.add(partition)
            return Answer(DONE, partitions.pop() if len(partitions) == 1 else None, rules)

        again = rules_stated_again(entity)
        transaction = self.running(name)
        at_once = self.namespace.reading(TxnRefusal) is TxnRefusal.AT_SEND
        if transaction.doomed and at_once:
            # A transaction that a refusal has ended accepts nothing more (TXN-AFTER-REFUSAL).
            raise Refusal(v.Error.INVALID_OPERATION)
        return self.within(transaction, attempt, at_once=at_once)

    def rules_of_send(
        self, entity: Entity, transaction: Transaction, messages: tuple[v.Message, ...]
    ) -> tuple[v.RuleId, ...]:
        """TXN-01, TXN-02, TXN-05, TXN-10, TXN-11, TXN-14: return the rules that accept a send."""
        if not entity.settings.partitioned:
            return ("TXN-01", "TXN-14")
        earlier = any(send.entity is entity for send in transaction.sends)
        rules: tuple[v.RuleId, ...] = ("TXN-02", "TXN-10") if earlier else ("TXN-01", "TXN-05")
        has_partition_key = any(
            message.session_id is None and message.partition_key is not None for message in messages
        )
        # An entity that requires sessions refuses such a message (TXN-06).
        return (*rules, "TXN-11") if has_partition_key else rules

    def within(
        self,
        transaction: Transaction,
        attempt: Callable[[Transaction], Answer],
        *,
        at_once: bool = True,
    ) -> Answer:
        """TXN-REFUSAL, TXN-AFTER-REFUSAL: make a request that may doom its transaction.

        An invalid send may be refused only by the commit, except a batch whose own keys differ. The
        refusal is returned, because raising it would undo the transaction's new state.
        """
        mark = self.namespace.journal.mark()
        try:
            return attempt(transaction)
        except Refusal as refusal:
            self.namespace.journal.refuse(mark)
            invalid = refusal.error is v.Error.INVALID_OPERATION
            at_once = (
                at_once or not invalid or not {"BATCH-05", "PREM-17"}.isdisjoint(refusal.rules)
            )
            if not at_once or self.namespace.reading(TxnAfterRefusal) is TxnAfterRefusal.DEAD:
                self.namespace.journal.touch(transaction)
                transaction.doomed = True
            return Answer(v.Refused(error=refusal.error) if at_once else DONE, rules=refusal.rules)

    def buffer(self, transaction: Transaction, buffered: BufferedSend) -> None:
        """TXN-12: keep a message until the commit."""
        self.namespace.journal.touch(transaction)
        transaction.sends += (buffered,)

    def key_of(self, entity: Entity, transaction: Transaction, message: v.Message) -> Key | None:
        """TXN-03, TXN-06, TXN-07, TXN-14, LIMIT-16: return the key of a message."""
        self.rules.limits.check_count(len(transaction.sends))
        if message.session_id is None and entity.settings.requires_session:
            raise Refusal(v.Error.INVALID_OPERATION, "TXN-06")
        key = self.rules.messages.key_of(entity, message)
        if not entity.settings.partitioned:
            self.check_other_entities(entity, transaction)
            return key
        if key is None and message.message_id is not None:
            always = self.namespace.reading(TxnMessageId) is TxnMessageId.ALWAYS
            key = Key("MessageId", message.message_id) if always else None
        if key is None:
            raise Refusal(v.Error.INVALID_OPERATION, "TXN-03")
        self.check_other_sends(entity, transaction, key)
        return key

    def check_other_sends(self, entity: Entity, transaction: Transaction, key: Key) -> None:
        """TXN-04, TXN-08: check that a key equals those of the other sends to its entity."""
        alike = [earlier for other, earlier in keys_of_sends(transaction) if other is entity]
        for earlier in alike:
            self.check_same_key(earlier, key)
        self.check_other_entities(entity, transaction)

    def check_other_entities(self, entity: Entity, transaction: Transaction) -> None:
        """TXN-15: refuse a send to a second entity if TXN-ENTITIES is read as `refused`."""
        sent_to = {send.entity for send in transaction.sends if send.scheduled is None}
        if sent_to and entity not in sent_to:
            if self.namespace.reading(TxnEntities) is TxnEntities.REFUSED:
                raise Refusal(v.Error.INVALID_OPERATION, "TXN-15")
            return
        self.check_second_entity(entity, transaction)

    def check_second_entity(self, entity: Entity, transaction: Transaction) -> None:
        """TXN-ENTITIES: refuse an operation on a second entity, or not.

        The documents speak of sends; whether what is scheduled, settled or changed counts, too, is
        open each time.
        """
        others = {send.entity for send in transaction.sends}
        others |= {settled.entity for settled in transaction.settlements}
        others |= {change.subscription for change in transaction.rule_changes}
        if not others - {entity}:
            return
        if self.namespace.known_reading(TxnEntities) is TxnEntities.ACCEPTED:
            return
        if self.namespace.prefers("TXN-OTHER-OPERATIONS", "refused", to="accepted"):
            raise Refusal(v.Error.INVALID_OPERATION, "TXN-15")

    def check_same_key(self, earlier: Key, key: Key) -> None:
        """TXN-02, TXN-04, TXN-08: check that two messages of one transaction have the same key.

        KEY-PROPERTIES decides whether a SessionId equals the same text as a PartitionKey.
        """
        if earlier == key:
            return
        if earlier.value != key.value:
            sessions = earlier.source == key.source == "SessionId"
            raise Refusal(v.Error.INVALID_OPERATION, "TXN-08" if sessions else "TXN-04")
        if self.namespace.reading(KeyProperties) is KeyProperties.TWO_KEYS:
            raise Refusal(v.Error.INVALID_OPERATION, "TXN-04")

    def place(
        self,
        entity: Entity,
        transaction: Transaction,
        message: v.Message,
        key: Key | None,
    ) -> int:
        """TXN-05, TXN-10, SIZE-14: return the message's partition, with room for all in it."""
        earlier = (send.message.size or 0 for send in transaction.sends if send.entity is entity)
        size = (message.size or 0) + sum(earlier)
        return self.rules.keys.place(entity, key, size, PLENTY)

    def settle(self, entity: Entity, command: v.Settlement, name: str) -> Answer:
        """LOCK-11, LOCK-13: let a settlement wait for the commit, its message locked.

        A lost lock is refused now or by the commit (SETTLEMENT-REFUSAL).
        """

        def attempt(transaction: Transaction) -> Answer:
            token, key = command.lock_token, None
            self.rules.topics.check_serves(entity, "served", "refused")
            try:
                if isinstance(command, v.DeadLetter):
                    self.rules.dead_letters.check_source(entity)
                queued = self.rules.locks.locked_under(entity, token, ACTIONS[type(command)])
            except Refusal:
                if self.namespace.reading(SettlementRefusal) is SettlementRefusal.AT_ONCE:
                    raise
                token = ""  # a later lock may have the same token, and does not make this one valid
            else:
                key = self.check_settled(transaction, queued)
                self.check_second_entity(entity, transaction)
                self.namespace.journal.touch(queued)
                queued.enlisted = transaction
            reason = command.reason if isinstance(command, v.DeadLetter) else ""
            enlisted = EnlistedSettlement(entity, token, ACTIONS[type(command)], reason, key)
            self.namespace.journal.touch(transaction)
            transaction.settlements += (enlisted,)
            return Answer(DONE, rules=("LOCK-11",))

        return self.within(self.running(name), attempt)

    def check_settled(self, transaction: Transaction, queued: QueuedMessage) -> Key | None:
        """TXN-OTHER-OPERATIONS: return the key of a settled message, checked if it has to be."""
        if self.namespace.reading(TxnOtherOperations) is TxnOtherOperations.SENDS_ONLY:
            return None
        entity = queued.entity
        key = self.rules.keys.effective_key(entity, queued.message)
        alike = [earlier for other, earlier in keys_of_sends(transaction) if other is entity]
        for earlier in alike if key is not None else ():
            self.check_same_key(earlier, key or earlier)
        settled = {one.key for one in transaction.settlements if one.entity is entity}
        if key is not None and settled - {key, None} and self.binds_settlements():
            raise Refusal(v.Error.INVALID_OPERATION, "TXN-04")
        return key

    def binds_settlements(self) -> bool:
        """TXN-OTHER-OPERATIONS: return whether settled messages must have the same key, too."""
        return self.namespace.prefers("TXN-OTHER-OPERATIONS", "refused", to="accepted")

    @handles(v.CommitTransaction)
    def commit(self, command: v.CommitTransaction, connection: str) -> Answer:
        """TXN-12, LOCK-11, LOCK-13, FWD-33: apply all requests of the transaction, or none."""
        transaction = self.running(command.transaction)
        self.namespace.journal.touch(transaction)
        transaction.ended = True  # whatever becomes of its requests
        mark = self.namespace.journal.mark()
        try:
            self.apply(transaction)
        except Refusal as refusal:
            self.namespace.journal.refuse(mark)
            self.release(transaction)
            return Answer(v.Refused(error=refusal.error), rules=refusal.rules)
        return Answer(DONE, rules=("TXN-12",))

    def holds(self, queued: QueuedMessage) -> bool:
        """LOCK-IN-TRANSACTION: return whether a lock lasts until its message is committed."""
        transaction: Transaction | None = queued.enlisted
        if transaction is None or transaction.ended:
            return False
        return self.namespace.reading(LockInTransaction) is LockInTransaction.LASTS

    def release(self, transaction: Transaction) -> None:
        """LOCK-12: end the locks that lasted only because of their transaction."""
        for enlisted in transaction.settlements:
            # A lock that has been lost meanwhile has nothing left to end.
            with suppress(Refusal):
                self.rules.locks.end(self.rules.locks.locked_under(enlisted.entity, enlisted.token))

    def apply(self, transaction: Transaction) -> None:
        """TXN-12, SIZE-14, SESS-26: apply all requests of the transaction, in order."""
        if transaction.doomed:
            raise Refusal(v.Error.INVALID_OPERATION)
        # First, because a message that is removed makes room for one that is sent.
        for enlisted in transaction.settlements:
            self.check_settlement(enlisted)
            try:
                queued = self.rules.locks.locked_under(
                    enlisted.entity, enlisted.token, enlisted.action
                )
            except Refusal as refusal:
                raise Refusal(refusal.error, "LOCK-13", *refusal.rules) from None
            self.rules.locks.apply(queued, enlisted.action, enlisted.reason)
        for change in transaction.rule_changes:
            # A change that has become impossible has no effect (FEAT-19).
            with suppress(Refusal):
                self.rules.subscription_rules.change(change.subscription, change.command)
        for buffered in transaction.sends:
            if self.is_lost(buffered):
                continue
            self.check_commit(buffered)
            if buffered.scheduled is None:
                self.deliver(buffered)
            else:
                self.rules.scheduling.plan(buffered.scheduled)

    def check_settlement(self, enlisted: EnlistedSettlement) -> None:
        """MGMT-15, MGMT-27: refuse the commit of a settlement, or not.

        Both are right if its entity was deleted or disabled meanwhile.
        """
        entity = enlisted.entity
        self.rules.topics.check_serves(entity, "served", "refused")
        if self.namespace.entities.get(entity.path) is entity:
            return
        if self.namespace.prefers("MGMT-15", "refused", to="settled"):
            raise Refusal(v.Error.NOT_FOUND, "MGMT-15")

    def is_lost(self, buffered: BufferedSend) -> bool:
        """MGMT-15: return whether a message is dropped because its entity was deleted meanwhile."""
        entity = buffered.entity
        if self.namespace.entities.get(entity.path) is entity:
            return False
        return self.namespace.prefers("MGMT-15", "dropped", to="refused")

    def check_commit(self, buffered: BufferedSend) -> None:
        """TXN-OUTAGE, SIZE-14: check that entity, partition and room are still there."""
        entity = buffered.entity
        if self.namespace.entities.get(entity.path) is not entity:
            raise Refusal(v.Error.NOT_FOUND, "MGMT-15")
        if buffered.partition in entity.base.down and self.is_stopped():
            raise self.rules.partitions.outage("KEY-03")
        if not self.rules.sizes.has_room(entity, buffered.partition, buffered.message.size or 0):
            raise Refusal(v.Error.QUOTA_EXCEEDED, "SIZE-14")

    def is_stopped(self) -> bool:
        """TXN-OUTAGE: return whether the outage of a partition refuses the commit of a send."""
        if self.namespace.reading(TxnOutage) is TxnOutage.REFUSED:
            return True
        return not self.namespace.prefers("TXN-OUTAGE", "accepted", to="refused")

    def deliver(self, buffered: BufferedSend) -> None:
        """TXN-12: accept a message with the commit.

        LIFETIME-IN-TRANSACTION decides whether its time to live starts now or started with its
        send.
        """
        lives_since = self.namespace.reading(LifetimeInTransaction)
        from_commit = lives_since is LifetimeInTransaction.COMMIT
        transit = DIRECT if from_commit else DIRECT._replace(since=buffered.sent)
        self.rules.messages.accept(
            buffered.entity, buffered.message, buffered.key, buffered.partition, transit
        )

    @handles(v.RollBackTransaction)
    def roll_back(self, command: v.RollBackTransaction, connection: str) -> Answer:
        """TXN-13, LOCK-12, DUP-10: discard all requests of the transaction."""
        transaction = self.running(command.transaction)
        self.namespace.journal.touch(transaction)
        transaction.ended = True
        self.release(transaction)
        rules = ("TXN-13", "LOCK-12") if transaction.settlements else ("TXN-13",)
        return Answer(DONE, rules=rules)
