"""How long a transaction may last and how much it may hold (from outside the five documents)."""

from typing import Final

import attrs

from busproof import vocabulary as v
from busproof.oracle.sizes.entity_size import weight
from busproof.oracle.state import Namespace, Queue, Staged, Topic, Transaction
from busproof.oracle.storage_used import filled
from busproof.oracle.unjudged import given_up, is_unknowable

__all__ = [
    "SIZE_LIMIT",
    "in_order",
    "is_there",
    "may_be_full",
    "may_be_over",
    "occupied",
    "unless_ending",
    "vacated",
    "with_staged",
    "with_transaction",
    "without_deleted",
]

TIME_LIMIT: Final = 120 * v.MICROSECONDS
"""A transaction may be ended by the service this long after it began."""
SIZE_LIMIT: Final = 100
"""LIMIT-15, LIMIT-16: a transaction takes so many messages and no more."""


def with_transaction(namespace: Namespace, name: str, transaction: Transaction | None) -> Namespace:
    """The namespace with one transaction changed; `None` is one that has ended."""
    return attrs.evolve(namespace, transactions=namespace.transactions.set(name, transaction))


def with_staged(transaction: Transaction, queue: Queue, staged: Staged) -> Transaction:
    """The transaction with one more message, of this queue."""
    return attrs.evolve(
        transaction,
        staged=(staged, transaction.staged),
        size=transaction.size + 1,
        queues=transaction.queues.set(staged.queue, queue.managed.born),
    )


def in_order(transaction: Transaction) -> list[Staged]:
    """What was sent in the transaction, oldest first."""
    staged: list[Staged] = []
    rest = transaction.staged
    while rest is not None:
        staged.append(rest[0])
        rest = rest[1]  # type: ignore[assignment]  # the nested pairs have no finite type
    return staged[::-1]


def occupied(queue: Queue, staged: Staged) -> Queue:
    """The queue, of whose room a message that waits in a transaction may take some."""
    room = filled(queue.room, staged.where, weight(queue, staged.message))
    return attrs.evolve(queue, room=room)


def vacated(queue: Queue, staged: Staged) -> Queue:
    """The queue, in which the message is about to arrive for which room was taken.

    A topic may have other subscriptions by now, and gives nothing back.
    """
    if isinstance(queue.role, Topic):
        return queue
    room = filled(queue.room, staged.where, -weight(queue, staged.message))
    return attrs.evolve(queue, room=room)


def unless_ending(namespace: Namespace, transaction: Transaction, name: str) -> Namespace:
    """The namespace, which tells nothing of a queue that a late commit may bring something."""
    return given_up(namespace, v.owner_of(name)) if transaction.ending else namespace


def is_there(namespace: Namespace, name: str, born: int) -> bool:
    """Whether a queue is surely the one that was sent to, and no later one of its name."""
    queue = namespace.queues.get(name)
    if queue is None or is_unknowable(namespace, name):
        return False
    return queue.managed.born == born


def without_deleted(namespace: Namespace, transaction: Transaction) -> Transaction:
    """The transaction, in doubt once a queue was deleted that was sent to in it.

    The documents do not cover this. Nor do they say whether a queue that was created again is bound
    to the key of what was sent to the one before.
    """
    gone = [
        name for name, born in transaction.queues.items() if not is_there(namespace, name, born)
    ]
    keys, queues = transaction.keys, transaction.queues
    for name in gone:
        queues = queues.delete(name)
        keys = keys.delete(name) if name in keys else keys
    return attrs.evolve(
        transaction, keys=keys, queues=queues, doubtful=transaction.doubtful or bool(gone)
    )


def may_be_full(transaction: Transaction) -> bool:
    """Whether a transaction holds as much as it may, if what is settled in it counts as well."""
    return transaction.size + len(transaction.settlements) >= SIZE_LIMIT


def may_be_over(namespace: Namespace, transaction: Transaction) -> bool:
    """Whether the service may have ended the transaction by itself."""
    elapsed = namespace.now.latest - transaction.begun.earliest
    held = transaction.size + len(transaction.settlements)
    return elapsed + namespace.vantage.slack >= TIME_LIMIT or held > SIZE_LIMIT
