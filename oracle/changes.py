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
    return evolve(namespace, transactions=namespace.transactions.set(name, transaction))


def with_doubt(namespace: Namespace, command: v.Command) -> Namespace:
    """Return the namespace in which the command may have ended the transaction that it names."""
    name: str | None = getattr(command, "transaction", None)
    transaction = None if name is None else namespace.transactions.get(name)
    if name is None or transaction is None:
        return namespace
    return with_transaction(namespace, name, evolve(transaction, doubtful=True))
