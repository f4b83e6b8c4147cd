"""How long a transaction may last and how much it may hold (from outside the five documents)."""

from typing import Final

import attrs

from busproof.model.state import Namespace, Transaction
from busproof.model.values import MICROSECONDS

__all__ = ["may_be_over", "with_transaction"]

TIME_LIMIT: Final = 120 * MICROSECONDS
"""A transaction may be ended by the service this long after it began."""
SIZE_LIMIT: Final = 100
"""A transaction may be refused more messages than this."""


def with_transaction(namespace: Namespace, name: str, transaction: Transaction | None) -> Namespace:
    """The namespace with one transaction changed; `None` is one that has ended."""
    return attrs.evolve(namespace, transactions=namespace.transactions.set(name, transaction))


def may_be_over(namespace: Namespace, transaction: Transaction) -> bool:
    """Whether the service may have ended the transaction by itself."""
    elapsed = namespace.now.latest - transaction.begun.earliest
    return elapsed + namespace.vantage.slack >= TIME_LIMIT or transaction.size >= SIZE_LIMIT
