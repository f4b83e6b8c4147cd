"""Limits on the duration and size of a transaction, from pages that belong to no edition."""

from typing import Final

from busproof import vocabulary as v
from busproof.oracle.evolve import evolve
from busproof.oracle.sizes.entity_size import weight
from busproof.oracle.state import Namespace, Queue, Staged, Topic, Transaction, is_unjudged
from busproof.oracle.storage_used import filled
from busproof.oracle.unjudged import stop_judging

TIME_LIMIT: Final = 120 * v.MICROSECONDS
"""The service may end a transaction this many microseconds after it began."""
SIZE_LIMIT: Final = 100
"""LIMIT-15, LIMIT-16: maximum number of messages in a transaction."""


def with_staged(transaction: Transaction, queue: Queue, staged: Staged) -> Transaction:
    """Return the transaction with one more message, sent to this queue."""
    # Nested pairs share their tail; a tuple would be copied with every send.
    return evolve(
        transaction,
        staged=(staged, transaction.staged),
        size=transaction.size + 1,
        queues=transaction.queues.set(staged.queue, queue.managed.born),
    )


def in_order(transaction: Transaction) -> list[Staged]:
    """Return the messages sent in the transaction, oldest first."""
    staged: list[Staged] = []
    rest = transaction.staged
    while rest is not None:
        staged.append(rest[0])
        rest = rest[1]  # type: ignore[assignment]  # the nested pairs have no finite type
    return staged[::-1]


def occupied(queue: Queue, staged: Staged) -> Queue:
    """Return the queue with the storage that a message sent in a transaction may already use."""
    room = filled(queue.room, staged.where, weight(queue, staged.message))
    return evolve(queue, room=room)


def vacated(queue: Queue, staged: Staged) -> Queue:
    """Return the queue without the storage reserved for a message that arrives now.

    A topic keeps its reservation: it may have other subscriptions by now than at the send.
    """
    if isinstance(queue.role, Topic):
        return queue
    room = filled(queue.room, staged.where, -weight(queue, staged.message))
    return evolve(queue, room=room)


def unless_ending(namespace: Namespace, transaction: Transaction, name: str) -> Namespace:
    """Return the namespace, no longer judging an entity that an unanswered commit may change."""
    return stop_judging(namespace, v.owner_of(name)) if transaction.ending else namespace


def is_there(namespace: Namespace, name: str, born: int) -> bool:
    """Return whether the queue with this name surely is the one that existed at the send."""
    queue = namespace.queues.get(name)
    if queue is None or is_unjudged(namespace, name):
        return False
    # A later entity of the same name is not the one to which the message was sent.
    return queue.managed.born == born


def without_deleted(namespace: Namespace, transaction: Transaction) -> Transaction:
    """Return the transaction without entities that are gone; it is in doubt if there are any.

    The documents do not cover this. Nor do they say whether a queue that is created again is bound
    to the key of sends to the earlier one.
    """
    gone = [
        name for name, born in transaction.queues.items() if not is_there(namespace, name, born)
    ]
    keys, queues = transaction.keys, transaction.queues
    for name in gone:
        queues = queues.delete(name)
        keys = keys.delete(name) if name in keys else keys
    return evolve(
        transaction, keys=keys, queues=queues, doubtful=transaction.doubtful or bool(gone)
    )


def is_second_entity(transaction: Transaction, name: str) -> tuple[bool, bool]:
    """TXN-ENTITIES: return whether a send may be to a second entity, and whether it surely is.

    It surely is if the transaction has a send to another entity. The documents do not say whether
    scheduled messages, settlements or changed subscription rules bind a transaction to an entity,
    nor whether sends do of which one is refused by the commit.
    """
    others = {*transaction.queues} - {name}
    # Everything so far concerns this entity, so it is not a second one.
    if not others and all(change.topic == name for change in transaction.changes):
        return False, False
    sent_to = {staged.queue for staged in in_order(transaction) if staged.waiting is None}
    if name in sent_to:
        return False, False
    return True, bool(sent_to & others) and not transaction.doomed


def is_in_transaction(namespace: Namespace, *names: str) -> bool:
    """Return whether a running transaction has requests about one of these entities."""
    running = (
        transaction for transaction in namespace.transactions.values() if transaction is not None
    )
    return any(name in transaction.queues for transaction in running for name in names)


def may_be_full(transaction: Transaction) -> bool:
    """Return whether the transaction may be full; settlements may count as messages."""
    return transaction.size + len(transaction.settlements) >= SIZE_LIMIT


def may_be_over(namespace: Namespace, transaction: Transaction) -> bool:
    """Return whether the service may have ended the transaction for its duration or size."""
    elapsed = namespace.now.latest - transaction.begun.earliest
    # The message that reaches the maximum is accepted, so only one more may have ended it.
    count = transaction.size + len(transaction.settlements)
    return elapsed + namespace.observability.slack >= TIME_LIMIT or count > SIZE_LIMIT
