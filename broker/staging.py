"""Settlements in transactions: they take effect with the commit, together with what was sent.

The model knows what is sent in a transaction, and nothing of settlements in one. So they wait here,
and are asked for one after another with the commit: all that has no effect unless all of it has.
"""

from collections.abc import Callable

import attrs

from busproof.broker.answers import Answer
from busproof.broker.bus import Bus
from busproof.model.commands import CommitTransaction, Operation, RollBackTransaction
from busproof.model.outcomes import Done, Refused
from busproof.model.values import Error

__all__ = ["Stage"]


@attrs.frozen
class Waiting:
    """A settlement that waits for its transaction's end, who asked for it, and what follows it."""

    command: Operation
    connection: str
    effect: Callable[[], None]


class Stage:
    """What waits for the ends of transactions.

    Args:
        bus: what decides.
    """

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self._waiting: dict[str, list[Waiting]] = {}

    def settle(
        self, transaction: str, command: Operation, connection: str, effect: Callable[[], None]
    ) -> Answer:
        """Let a settlement wait; it is refused at once if it would be refused now."""
        if not self._bus.has_begun(transaction):
            return Answer(Refused(error=Error.NOT_FOUND, detail="there is no such transaction"))
        waiting = self._waiting.setdefault(transaction, [])
        before = [(each.command, each.connection) for each in waiting]
        answer = self._bus.foreseen([*before, (command, connection)])
        if answer.refused is not None:
            return answer
        waiting.append(Waiting(command, connection, effect))
        return Answer(Done())

    def commit(self, transaction: str, connection: str) -> Answer:
        """End a transaction with effect; if it is refused, it has ended without any."""
        waiting = self._waiting.pop(transaction, [])
        requests = [
            (CommitTransaction(transaction=transaction), connection),
            *((each.command, each.connection) for each in waiting),
        ]
        last = self._bus.ask_each(requests)[-1]
        if last.refused is not None:
            self._bus.ask(RollBackTransaction(transaction=transaction), connection)
            return last
        for each in waiting:
            each.effect()
        return last

    def roll_back(self, transaction: str, connection: str) -> Answer:
        """End a transaction without effect."""
        self._waiting.pop(transaction, None)
        return self._bus.ask(RollBackTransaction(transaction=transaction), connection)
