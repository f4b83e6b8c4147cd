"""Faults of settling in transactions: LOCK-11 to LOCK-13."""

from typing import Final

from busproof.adapters.seeded.bus import SeededBus
from busproof.adapters.seeded.fault import Faults
from busproof.adapters.seeded.queues import Held, Queue, Transaction
from busproof.vocabulary.commands import Abandon, Settlement
from busproof.vocabulary.outcomes import Outcome

__all__ = ["FAULTS"]

faulty = Faults()

Enlisted = list[tuple[Queue, Settlement]]


@faulty(
    "settled-before-the-commit",
    "LOCK-11",
    "What is settled in a transaction is settled at once, whatever becomes of the transaction.",
)
class _SettledBeforeTheCommit(SeededBus):
    def enlist(self, transaction: Transaction, queue: Queue, command: Settlement) -> Outcome:  # noqa: ARG002
        return self.settle_at_once(queue, command)


@faulty(
    "abandoned-before-the-commit",
    "LOCK-11",
    "What is abandoned in a transaction can be received before it commits.",
    deep=True,
)
class _AbandonedBeforeTheCommit(SeededBus):
    def enlist(self, transaction: Transaction, queue: Queue, command: Settlement) -> Outcome:
        if isinstance(command, Abandon):
            return self.settle_at_once(queue, command)
        return super().enlist(transaction, queue, command)


@faulty("commit-settles-nothing", "LOCK-11", "A commit sends what was sent, and settles nothing.")
class _CommitSettlesNothing(SeededBus):
    def enlisted(self, transaction: Transaction) -> Enlisted:  # noqa: ARG002 - none
        return []


@faulty(
    "commit-forgets-the-last-settlement",
    "LOCK-11",
    "Of several settlements in a transaction the last one is lost.",
    deep=True,
)
class _CommitForgetsTheLastSettlement(SeededBus):
    def enlisted(self, transaction: Transaction) -> Enlisted:
        settlements = super().enlisted(transaction)
        return settlements[: max(1, len(settlements) - 1)]


def _held(bus: SeededBus, transaction: Transaction | None) -> list[tuple[Queue, Held]]:
    """What is locked and was settled in the transaction."""
    settlements = [] if transaction is None else transaction.settlements
    found = ((queue, bus.locked(queue, command.lock_token)) for queue, command in settlements)
    return [(queue, held) for queue, held in found if held is not None]


@faulty(
    "rollback-settles", "LOCK-12", "What was settled in a transaction is settled by its rollback."
)
class _RollbackSettles(SeededBus):
    def roll_back(self, name: str) -> Outcome:
        transaction = self.transactions.get(name)
        for queue, command in [] if transaction is None else transaction.settlements:
            self.settle_at_once(queue, command)
        return super().roll_back(name)


@faulty(
    "rollback-unlocks",
    "LOCK-12",
    "A rollback takes what was settled in the transaction from its receiver.",
)
class _RollbackUnlocks(SeededBus):
    def roll_back(self, name: str) -> Outcome:
        for queue, held in _held(self, self.transactions.get(name)):
            self.give_back(queue, held)
        return super().roll_back(name)


@faulty(
    "rollback-counts-a-delivery",
    "LOCK-12",
    "A rollback counts a delivery of what was settled in the transaction.",
    deep=True,
)
class _RollbackCountsADelivery(SeededBus):
    def roll_back(self, name: str) -> Outcome:
        for _, held in _held(self, self.transactions.get(name)):
            held.deliveries += 1
        return super().roll_back(name)


@faulty(
    "lost-lock-enlisted",
    "LOCK-13",
    "A lost lock settles in a transaction: it is accepted, and the commit is, to no effect.",
)
class _LostLockEnlisted(SeededBus):
    def may_enlist(self, queue: Queue, command: Settlement) -> bool:  # noqa: ARG002 - always
        return True

    def has_lost(self, transaction: Transaction) -> bool:  # noqa: ARG002 - never
        return False


@faulty(
    "commit-settles-what-another-holds",
    "LOCK-13",
    "A commit completes what was completed in it, even if somebody else has it by now.",
    deep=True,
)
class _CommitSettlesWhatAnotherHolds(SeededBus):
    def has_lost(self, transaction: Transaction) -> bool:
        if super().has_lost(transaction):
            for queue, command in transaction.settlements:
                number = command.lock_token.partition("/")[0]
                for held in [
                    each for each in queue.messages if str(each.sequence_number) == number
                ]:
                    self.complete(queue, held)
        return False


@faulty(
    "refused-commit-sends",
    "LOCK-13",
    "A commit that is refused for a lost lock lets arrive what was sent in the transaction.",
    deep=True,
)
class _RefusedCommitSends(SeededBus):
    def has_lost(self, transaction: Transaction) -> bool:
        lost = super().has_lost(transaction)
        for staged in transaction.staged if lost else ():
            self.store_staged(staged)
        return lost


FAULTS: Final = faulty.all()
