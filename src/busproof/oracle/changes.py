"""Shorthands for changes of a namespace that many rules make."""

from typing import Any

from busproof import vocabulary as v
from busproof.oracle.evolve import evolve
from busproof.oracle.state import Namespace, Queue, Transaction, with_queue


def with_managed(namespace: Namespace, queue: Queue, **changes: Any) -> Namespace:
    """Return the namespace with this queue, whose management history has these changes."""
    return with_queue(namespace, evolve(queue, managed=evolve(queue.managed, **changes)))


def with_registry(namespace: Namespace, **changes: Any) -> Namespace:
    """Return the namespace whose registry has these changes."""
    return evolve(namespace, registry=evolve(namespace.registry, **changes))


def with_transaction(namespace: Namespace, name: str, transaction: Transaction | None) -> Namespace:
    """Return the namespace with one transaction changed; `None` means it has ended."""
    before = namespace.transactions.get(name)
    left = evolve(namespace, transactions=namespace.transactions.set(name, transaction))
    is_in_doubt = transaction is not None and transaction.doubtful
    if before is None or before.doubtful or not is_in_doubt:
        return left
    for settlement in before.settlements:
        left = _with_lock_that_may_end(left, settlement.command)
    return left


def _with_lock_that_may_end(namespace: Namespace, command: v.Settlement) -> Namespace:
    """LOCK-12: the transaction may have been rolled back, so the lock may end in its time."""
    queue = namespace.queues.get(command.queue)
    number = None if queue is None else queue.locks.get(command.lock_token)
    stored = None if queue is None or number is None else queue.messages.get(number)
    if queue is None or stored is None or stored.lock is None or stored.lock.pledge is None:
        return namespace
    pledge = stored.lock.pledge
    pledge = pledge._replace(over=min(pledge.over, namespace.now.earliest))
    lock = evolve(stored.lock, pledge=pledge, expiry=pledge.bounds())
    messages = queue.messages.set(stored.number, evolve(stored, lock=lock))
    return with_queue(namespace, evolve(queue, messages=messages))


def with_doubt(namespace: Namespace, command: v.Command) -> Namespace:
    """Return the namespace in which the command may have ended the transaction that it names."""
    name: str | None = getattr(command, "transaction", None)
    transaction = None if name is None else namespace.transactions.get(name)
    if name is None or transaction is None:
        return namespace
    return with_transaction(namespace, name, evolve(transaction, doubtful=True))
