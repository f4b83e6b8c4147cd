"""Settlements in transactions: what follows them here happens with the commit.

The model lets them wait and take effect together with what was sent. What it is not told of a
message, such as properties that it is given by who settles it, waits here for the same end.
"""

from collections.abc import Callable

import attrs

from busproof.broker.bus import Bus
from busproof.model import Answer
from busproof.vocabulary.commands import CommitTransaction, RollBackTransaction, Settlement

__all__ = ["Stage"]

Effect = Callable[[], None]


class Stage:
    """What waits for the ends of transactions.

    Args:
        bus: what decides.
    """

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self._waiting: dict[str, list[Effect]] = {}

    def settle(
        self, transaction: str, command: Settlement, connection: str, effect: Effect
    ) -> Answer:
        """Settle a message in a transaction; what follows it waits for the commit."""
        within = attrs.evolve(command, transaction=transaction)
        answer = self._bus.ask(within, connection)
        if answer.refused is None:
            self._waiting.setdefault(transaction, []).append(effect)
        return answer

    def commit(self, transaction: str, connection: str) -> Answer:
        """End a transaction with effect; if it is refused, it has ended without any."""
        waiting = self._waiting.pop(transaction, [])
        answer = self._bus.ask(CommitTransaction(transaction=transaction), connection)
        for effect in waiting if answer.refused is None else ():
            effect()
        return answer

    def roll_back(self, transaction: str, connection: str) -> Answer:
        """End a transaction without effect."""
        self._waiting.pop(transaction, None)
        return self._bus.ask(RollBackTransaction(transaction=transaction), connection)
