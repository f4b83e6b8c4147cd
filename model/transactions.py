"""TXN: transactions, whose requests take effect together or not at all.

Requests in a transaction wait for its commit, which applies all of them or none. On a partitioned
entity all messages of a transaction have the same partition key, because one broker has to handle
them; a message without a key cannot be sent in one. TXN-REFUSAL and TXN-AFTER-REFUSAL decide when a
wrong message is refused, and in what state the transaction then is.
"""

from collections.abc import Callable
from contextlib import suppress
from typing import Final

import attrs

from busproof import vocabulary as v
from busproof.model.answers import DONE, Answer
from busproof.model.locks import ACTIONS
from busproof.model.state import (
    BufferedSend,
    EnlistedSettlement,
    Entity,
    Namespace,
    QueuedMessage,
    Transaction,
)
from busproof.model.values import DIRECT, Key, Refusal

__all__ = ["PLENTY", "Transactions", "buffer", "keys_of_sends", "running"]

PLENTY: Final = 60 * v.MICROSECONDS
"""A timeout in microseconds that lets a send avoid a partition that is down."""


def begin(namespace: Namespace, command: v.BeginTransaction, connection: str) -> Answer:
    """TXN-02, MGMT-24: begin a transaction under a new name."""
    if command.transaction in namespace.transactions:
        raise Refusal(v.Error.ALREADY_EXISTS)
    namespace.rules.management.check_basic(namespace)
    namespace.journal.put(namespace.transactions, command.transaction, Transaction())
    return Answer(DONE, rules=("TXN-02",))


def running(namespace: Namespace, name: str) -> Transaction:
    """Return the transaction with this name, if it is running."""
    transaction: Transaction | None = namespace.transactions.get(name)
    if transaction is None or transaction.ended:
        raise Refusal(v.Error.NOT_FOUND)
    return transaction


def send(
    namespace: Namespace, entity: Entity, messages: tuple[v.Message, ...], name: str
) -> Answer:
    """TXN-01, TXN-02, TXN-05, TXN-10: keep all of the messages until the commit, or refuse them."""
    rules = namespace.rules

    def attempt(transaction: Transaction) -> Answer:
        rules.batches.check(namespace, entity, messages)
        partitions = set()
        for message in messages:
            key = rules.transactions.key_of(namespace, entity, transaction, message)
            partition = rules.transactions.place(namespace, entity, transaction, message, key)
            buffered = BufferedSend(entity, message, key, partition, namespace.now)
            buffer(namespace, transaction, buffered)
            partitions.add(partition)
        return Answer(DONE, partitions.pop() if len(partitions) == 1 else None, ("TXN-01",))

    transaction = running(namespace, name)
    at_once = namespace.reading("TXN-REFUSAL", "at-send", "at-commit") == "at-send"
    if transaction.doomed and at_once:
        # A transaction that a refusal has ended accepts nothing more (TXN-AFTER-REFUSAL).
        raise Refusal(v.Error.INVALID_OPERATION)
    return rules.transactions.within(namespace, transaction, attempt, at_once=at_once)


def within(
    namespace: Namespace,
    transaction: Transaction,
    attempt: Callable[[Transaction], Answer],
    *,
    at_once: bool = True,
) -> Answer:
    """TXN-REFUSAL, TXN-AFTER-REFUSAL: make a request in a transaction, which a refusal may doom.

    An invalid send may be refused only by the commit, except a batch whose own keys differ. The
    refusal is returned, because raising it would undo the transaction's new state.
    """
    mark = namespace.journal.mark()
    try:
        return attempt(transaction)
    except Refusal as refusal:
        namespace.journal.refuse(mark)
        invalid = refusal.error is v.Error.INVALID_OPERATION
        at_once = at_once or not invalid or not {"BATCH-05", "PREM-17"}.isdisjoint(refusal.rules)
        if not at_once or namespace.reading("TXN-AFTER-REFUSAL", "continues", "dead") == "dead":
            namespace.journal.touch(transaction)
            transaction.doomed = True
        return Answer(v.Refused(error=refusal.error) if at_once else DONE, rules=refusal.rules)


def buffer(namespace: Namespace, transaction: Transaction, buffered: BufferedSend) -> None:
    """TXN-12: keep a message until the commit."""
    namespace.journal.touch(transaction)
    transaction.sends += (buffered,)


def key_of(
    namespace: Namespace, entity: Entity, transaction: Transaction, message: v.Message
) -> Key | None:
    """TXN-03, TXN-06, TXN-07, TXN-14, LIMIT-16: return the key of a message in a transaction."""
    rules = namespace.rules
    rules.limits.check_count(namespace, len(transaction.sends))
    if message.session_id is None and entity.settings.requires_session:
        raise Refusal(v.Error.INVALID_OPERATION, "TXN-06")
    key = rules.messages.key_of(namespace, entity, message)
    if not entity.settings.partitioned:
        rules.transactions.check_other_entities(namespace, entity, transaction)
        return key
    if key is None and message.message_id is not None:
        reading = namespace.reading("TXN-MESSAGE-ID", "with-duplicate-detection", "always")
        key = Key("MessageId", message.message_id) if reading == "always" else None
    if key is None:
        raise Refusal(v.Error.INVALID_OPERATION, "TXN-03")
    rules.transactions.check_other_sends(namespace, entity, transaction, key)
    return key


def keys_of_sends(transaction: Transaction) -> list[tuple[Entity, Key]]:
    """Return the keys that a transaction is bound to by its sends, except scheduled ones."""
    sends = (send for send in transaction.sends if send.scheduled is None)
    return [(send.entity, send.key) for send in sends if send.key is not None]


def check_other_sends(
    namespace: Namespace, entity: Entity, transaction: Transaction, key: Key
) -> None:
    """TXN-04, TXN-08: check that a message's key equals those of the other sends to its entity."""
    alike = [earlier for other, earlier in keys_of_sends(transaction) if other is entity]
    for earlier in alike:
        namespace.rules.transactions.check_same_key(namespace, earlier, key)
    namespace.rules.transactions.check_other_entities(namespace, entity, transaction)


def check_other_entities(namespace: Namespace, entity: Entity, transaction: Transaction) -> None:
    """TXN-15: refuse a send to a second entity if the reading of TXN-ENTITIES does."""
    sent_to = {send.entity for send in transaction.sends if send.scheduled is None}
    if not sent_to or entity in sent_to:
        return
    if namespace.reading("TXN-ENTITIES", "accepted", "refused") == "refused":
        raise Refusal(v.Error.INVALID_OPERATION, "TXN-15")


def check_same_key(namespace: Namespace, earlier: Key, key: Key) -> None:
    """TXN-02, TXN-04, TXN-08: check that two messages of one transaction have the same key.

    KEY-PROPERTIES decides whether a SessionId equals the same text as a PartitionKey.
    """
    if earlier == key:
        return
    if earlier.value != key.value:
        sessions = earlier.source == key.source == "SessionId"
        raise Refusal(v.Error.INVALID_OPERATION, "TXN-08" if sessions else "TXN-04")
    if namespace.reading("KEY-PROPERTIES", "one-key", "two-keys") == "two-keys":
        raise Refusal(v.Error.INVALID_OPERATION, "TXN-04")


def place(
    namespace: Namespace,
    entity: Entity,
    transaction: Transaction,
    message: v.Message,
    key: Key | None,
) -> int:
    """TXN-05, TXN-10, SIZE-14: return the message's partition, with room for all in it."""
    earlier = (send.message.size or 0 for send in transaction.sends if send.entity is entity)
    size = (message.size or 0) + sum(earlier)
    return namespace.rules.keys.place(namespace, entity, key, size, PLENTY)


def settle(namespace: Namespace, entity: Entity, command: v.Settlement, name: str) -> Answer:
    """LOCK-11, LOCK-13: let a settlement wait for the commit; its message stays locked until then.

    A lost lock is refused now or by the commit (SETTLEMENT-REFUSAL).
    """
    rules = namespace.rules

    def attempt(transaction: Transaction) -> Answer:
        token = command.lock_token
        try:
            if isinstance(command, v.DeadLetter):
                rules.dead_letters.check_source(namespace, entity)
            queued = rules.locks.locked_under(namespace, entity, token)
        except Refusal:
            if namespace.reading("SETTLEMENT-REFUSAL", "at-once", "at-commit") == "at-once":
                raise
            token = ""  # a later lock may have the same token, and does not make this one valid
        else:
            rules.transactions.check_settled(namespace, transaction, queued)
            namespace.journal.touch(queued)
            queued.enlisted = transaction
        reason = command.reason if isinstance(command, v.DeadLetter) else ""
        enlisted = EnlistedSettlement(entity, token, ACTIONS[type(command)], reason)
        namespace.journal.touch(transaction)
        transaction.settlements += (enlisted,)
        return Answer(DONE, rules=("LOCK-11",))

    return rules.transactions.within(namespace, running(namespace, name), attempt)


def check_settled(namespace: Namespace, transaction: Transaction, queued: QueuedMessage) -> None:
    """TXN-OTHER-OPERATIONS: check the key of a settled message, if the reading requires it."""
    if namespace.reading("TXN-OTHER-OPERATIONS", "sends-only", "all") == "sends-only":
        return
    rules, entity = namespace.rules, queued.entity
    key = rules.keys.effective_key(namespace, entity, queued.message)
    alike = [earlier for other, earlier in keys_of_sends(transaction) if other is entity]
    for earlier in alike if key is not None else ():
        rules.transactions.check_same_key(namespace, earlier, key or earlier)


def commit(namespace: Namespace, command: v.CommitTransaction, connection: str) -> Answer:
    """TXN-12, LOCK-11, LOCK-13, FWD-33: apply all requests of the transaction, or none."""
    rules = namespace.rules
    transaction = running(namespace, command.transaction)
    namespace.journal.touch(transaction)
    transaction.ended = True  # whatever becomes of its requests
    mark = namespace.journal.mark()
    try:
        rules.transactions.apply(namespace, transaction)
    except Refusal as refusal:
        namespace.journal.refuse(mark)
        rules.transactions.release(namespace, transaction)
        return Answer(v.Refused(error=refusal.error), rules=refusal.rules)
    return Answer(DONE, rules=("TXN-12",))


def holds(namespace: Namespace, queued: QueuedMessage) -> bool:
    """LOCK-IN-TRANSACTION: return whether a lock lasts until its message is committed."""
    transaction: Transaction | None = queued.enlisted
    if transaction is None or transaction.ended:
        return False
    return namespace.reading("LOCK-IN-TRANSACTION", "ends", "lasts") == "lasts"


def release(namespace: Namespace, transaction: Transaction) -> None:
    """LOCK-12: end the locks that lasted only because of their transaction."""
    locks = namespace.rules.locks
    for enlisted in transaction.settlements:
        # A lock that has been lost meanwhile has nothing left to end.
        with suppress(Refusal):
            locks.end(namespace, locks.locked_under(namespace, enlisted.entity, enlisted.token))


def apply(namespace: Namespace, transaction: Transaction) -> None:
    """TXN-12, SIZE-14, SESS-26: apply all requests of the transaction, in order."""
    rules = namespace.rules
    if transaction.doomed:
        raise Refusal(v.Error.INVALID_OPERATION)
    for enlisted in transaction.settlements:
        queued = rules.locks.locked_under(namespace, enlisted.entity, enlisted.token)
        rules.locks.apply(namespace, queued, enlisted.action, enlisted.reason)
    for change in transaction.rule_changes:
        # A change that has become impossible has no effect (FEAT-19).
        with suppress(Refusal):
            rules.subscription_rules.change(namespace, change.subscription, change.command)
    for buffered in transaction.sends:
        rules.transactions.check_commit(namespace, buffered)
        if buffered.scheduled is None:
            rules.transactions.deliver(namespace, buffered)
        else:
            rules.scheduling.plan(namespace, buffered.scheduled)


def check_commit(namespace: Namespace, buffered: BufferedSend) -> None:
    """TXN-OUTAGE, SIZE-14: check that a message's entity, partition and room are still there."""
    rules, entity = namespace.rules, buffered.entity
    if namespace.entities.get(entity.path) is not entity:
        raise Refusal(v.Error.NOT_FOUND, "MGMT-15")
    if buffered.partition in entity.base.down:
        raise rules.partitions.outage(namespace, "KEY-03")
    if not rules.sizes.has_room(namespace, entity, buffered.partition, buffered.message.size or 0):
        raise Refusal(v.Error.QUOTA_EXCEEDED, "SIZE-14")


def deliver(namespace: Namespace, buffered: BufferedSend) -> None:
    """TXN-12: accept a message with the commit.

    LIFETIME-IN-TRANSACTION decides whether its time to live starts now or started with its send.
    """
    lives_since = namespace.reading("LIFETIME-IN-TRANSACTION", "commit", "send")
    transit = DIRECT if lives_since == "commit" else DIRECT._replace(since=buffered.sent)
    namespace.rules.messages.accept(
        namespace, buffered.entity, buffered.message, buffered.key, buffered.partition, transit
    )


def roll_back(namespace: Namespace, command: v.RollBackTransaction, connection: str) -> Answer:
    """TXN-13, LOCK-12, DUP-10: discard all requests of the transaction."""
    transaction = running(namespace, command.transaction)
    namespace.journal.touch(transaction)
    transaction.ended = True
    namespace.rules.transactions.release(namespace, transaction)
    return Answer(DONE, rules=("TXN-13",))


@attrs.frozen
class Transactions:
    """Functions that decide the TXN rules; a mutant replaces one of them."""

    begin: Callable[[Namespace, v.BeginTransaction, str], Answer] = begin
    send: Callable[[Namespace, Entity, tuple[v.Message, ...], str], Answer] = send
    within: Callable[..., Answer] = within
    key_of: Callable[[Namespace, Entity, Transaction, v.Message], Key | None] = key_of
    check_other_sends: Callable[[Namespace, Entity, Transaction, Key], None] = check_other_sends
    check_other_entities: Callable[[Namespace, Entity, Transaction], None] = check_other_entities
    check_same_key: Callable[[Namespace, Key, Key], None] = check_same_key
    place: Callable[[Namespace, Entity, Transaction, v.Message, Key | None], int] = place
    settle: Callable[[Namespace, Entity, v.Settlement, str], Answer] = settle
    commit: Callable[[Namespace, v.CommitTransaction, str], Answer] = commit
    check_settled: Callable[[Namespace, Transaction, QueuedMessage], None] = check_settled
    holds: Callable[[Namespace, QueuedMessage], bool] = holds
    release: Callable[[Namespace, Transaction], None] = release
    apply: Callable[[Namespace, Transaction], None] = apply
    check_commit: Callable[[Namespace, BufferedSend], None] = check_commit
    deliver: Callable[[Namespace, BufferedSend], None] = deliver
    roll_back: Callable[[Namespace, v.RollBackTransaction, str], Answer] = roll_back
