"""Settlements in transactions, whose effects outside the model wait for the commit.

The model applies a transaction's settlements together with its sends. Parts of a message that the
model does not have, such as properties added by a settlement, wait here for the same commit.
"""

from collections.abc import Callable

import attrs

from busproof import vocabulary as v
from busproof.broker.bus import Bus
from busproof.model import Answer

__all__ = ["Stage"]

Effect = Callable[[], None]


class Stage:
    """The effects that wait for the end of their transactions.

    Args:
        bus: the bus that decides requests.
    """

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self._waiting: dict[str, list[Effect]] = {}

    def settle(
        self, transaction: str, command: v.Settlement, connection: str, effect: Effect
    ) -> Answer:
        """Settle a message in a transaction; `effect` waits for the commit."""
        within = attrs.evolve(command, transaction=transaction)
        answer = self._bus.ask(within, connection)
        if answer.refused is None:
            self._waiting.setdefault(transaction, []).append(effect)
        return answer

    def commit(self, transaction: str, connection: str) -> Answer:
        """Commit a transaction and apply its effects; a refused commit ends it without effect."""
        # Remove the effects before the commit: the transaction ends even if the commit is refused.
        waiting = self._waiting.pop(transaction, [])
        answer = self._bus.ask(v.CommitTransaction(transaction=transaction), connection)
        # After a refused commit, messages keep the properties that they had.
        for effect in waiting if answer.refused is None else ():
            effect()
        return answer

    def roll_back(self, transaction: str, connection: str) -> Answer:
        """Roll back a transaction, and discard its effects."""
        self._waiting.pop(transaction, None)
        return self._bus.ask(v.RollBackTransaction(transaction=transaction), connection)
