"""Mutants of LOCK: settlements in a transaction."""

from typing import Final

import attrs

from busproof import vocabulary as v
from busproof.model.answers import DONE, Answer
from busproof.model.life_cycle import Action
from busproof.model.rules import Namespace
from busproof.model.state import EnlistedSettlement, Entity, QueuedMessage, Transaction
from busproof.model.transactions import Transactions
from busproof.mutants.entities import message_of
from busproof.mutants.locks import LOCKED, TWO
from busproof.mutants.mutant import mutant, run
from busproof.mutants.runs import Run, abandon, complete, over, receive, send, wait
from busproof.mutants.wrappers import alters, beforehand

BEGIN: Final = v.BeginTransaction(transaction="t")
COMMIT: Final = v.CommitTransaction(transaction="t")
ROLL_BACK: Final = v.RollBackTransaction(transaction="t")
SETTLED: Final[Run] = (*LOCKED, BEGIN, complete(0, within="t"))
TAKEN_BY_ANOTHER: Final[Run] = (wait(61), over("c2", receive()))
ABANDONED_WITHIN: Final[Run] = (*LOCKED, BEGIN, abandon(0, within="t"), receive())
BOTH_SETTLED: Final[Run] = (
    *(*TWO, BEGIN, complete(0, within="t"), complete(1, within="t"), COMMIT, wait(61), receive()),
)
GIVEN_BACK: Final[Run] = (*SETTLED, ROLL_BACK, abandon(0), receive())
LOST: Final[Run] = (*LOCKED, wait(61), BEGIN, complete(0, within="t"), COMMIT)
SENT_AND_LOST: Final[Run] = (
    *(*SETTLED, send("m2", within="t", partition_key="a"), *TAKEN_BY_ANOTHER, COMMIT, receive()),
)


@mutant("LOCK-11", (*SETTLED, ROLL_BACK, complete(0)))
class SettledBeforeTheCommit(Transactions):
    """A settlement in a transaction takes effect at once, even if the transaction rolls back."""

    def settle(self, entity: Entity, command: v.Settlement, name: str) -> Answer:
        self.running(name)
        return self.rules.locks.settle(attrs.evolve(command, transaction=None), "")


@mutant("LOCK-11", ABANDONED_WITHIN, deep=True)
class AbandonedBeforeTheCommit(SettledBeforeTheCommit):
    """A message abandoned in a transaction can be received before the commit."""

    def settle(self, entity: Entity, command: v.Settlement, name: str) -> Answer:
        if isinstance(command, v.Abandon):
            return super().settle(entity, command, name)
        return Transactions.settle(self, entity, command, name)


def _commit(
    namespace: Namespace, transaction: Transaction, settlements: tuple[EnlistedSettlement, ...]
) -> None:
    """Commit a transaction with these settlements instead of its own."""
    namespace.journal.touch(transaction)
    transaction.settlements = settlements
    Transactions.apply(namespace.rules.transactions, transaction)


@mutant("LOCK-11", (*SETTLED, COMMIT, wait(61), receive()))
class CommitSettlesNothing(Transactions):
    """A commit applies the sends, and no settlements."""

    def apply(self, transaction: Transaction) -> None:
        _commit(self.rules.namespace, transaction, ())


@mutant("LOCK-11", BOTH_SETTLED, deep=True)
class CommitForgetsTheLastSettlement(Transactions):
    """The last of several settlements in a transaction is lost."""

    def apply(self, transaction: Transaction) -> None:
        settlements = transaction.settlements
        _commit(self.rules.namespace, transaction, settlements[: max(1, len(settlements) - 1)])


def _find_locked(transaction: Transaction) -> list[tuple[EnlistedSettlement, QueuedMessage]]:
    """Return the settlements of a transaction whose locks are valid."""
    messages = [
        (enlisted, message_of(enlisted.entity, enlisted.token))
        for enlisted in transaction.settlements
    ]
    return [
        (enlisted, queued)
        for enlisted, queued in messages
        if queued and queued.token == enlisted.token
    ]


@mutant("LOCK-12", (*SETTLED, ROLL_BACK, complete(0)))
class RollbackSettles(Transactions):
    """A rollback applies the settlements of its transaction."""

    @beforehand
    def roll_back(self, command: v.RollBackTransaction) -> None:
        transaction = self.running(command.transaction)
        for settlement, queued in _find_locked(transaction):
            self.rules.locks.apply(queued, settlement.action, settlement.reason)


@mutant("LOCK-12", (*SETTLED, ROLL_BACK, receive()))
class RollbackUnlocks(Transactions):
    """A rollback ends the locks of the messages settled in its transaction."""

    @beforehand
    def roll_back(self, command: v.RollBackTransaction) -> None:
        for _, queued in _find_locked(self.running(command.transaction)):
            self.rules.locks.release(queued, Action.LOCK_ENDS)


@mutant("LOCK-12", GIVEN_BACK, deep=True)
class RollbackCountsADelivery(Transactions):
    """A rollback counts one more delivery of the messages settled in its transaction."""

    @beforehand
    def roll_back(self, command: v.RollBackTransaction) -> None:
        for _, queued in _find_locked(self.running(command.transaction)):
            self.namespace.journal.touch(queued)
            queued.failed += 1


class _CommitWhatIsLocked(Transactions):
    def apply(self, transaction: Transaction) -> None:
        settlements = tuple(settlement for settlement, _ in _find_locked(transaction))
        _commit(self.rules.namespace, transaction, settlements)


@mutant("LOCK-13", also=(_CommitWhatIsLocked,))
@run(*LOST)
class LostLockEnlisted(Transactions):
    """A settlement with a lost lock succeeds without effect, and so does its commit."""

    @alters
    def settle(self, usual: Answer) -> Answer:
        return Answer(DONE) if usual.outcome == v.Refused(error=v.Error.LOCK_LOST) else usual


@mutant("LOCK-13", (*SETTLED, *TAKEN_BY_ANOTHER, COMMIT), deep=True)
class CommitSettlesWhatAnotherHolds(Transactions):
    """A commit completes its messages even if another receiver has locked them."""

    def apply(self, transaction: Transaction) -> None:
        current = [
            attrs.evolve(enlisted, token=queued.token) if queued and queued.token else enlisted
            for enlisted in transaction.settlements
            for queued in (message_of(enlisted.entity, enlisted.token),)
        ]
        _commit(self.rules.namespace, transaction, tuple(current))


@mutant("LOCK-13", SENT_AND_LOST, deep=True)
class RefusedCommitSends(Transactions):
    """A commit that is refused for a lost lock still delivers its sends."""

    @alters
    def commit(self, usual: Answer, command: v.CommitTransaction) -> Answer:
        lost = usual.outcome == v.Refused(error=v.Error.LOCK_LOST)
        for buffered in self.namespace.transactions[command.transaction].sends if lost else ():
            if buffered.scheduled is None:
                self.deliver(buffered)
            else:
                self.rules.scheduling.plan(buffered.scheduled)
        return usual
