"""Mutants of LOCK: settlements in a transaction."""

from typing import Final

import attrs

from busproof import vocabulary as v
from busproof.model.answers import DONE, Answer
from busproof.model.life_cycle import Action
from busproof.model.rules import Namespace
from busproof.model.state import EnlistedSettlement, Entity, QueuedMessage, Transaction
from busproof.mutants.entities import message_of
from busproof.mutants.locks import LOCKED, TWO
from busproof.mutants.mutant import beside, mutant, run
from busproof.mutants.own_rules import RULES
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


@mutant("LOCK-11", "transactions.settle", (*SETTLED, ROLL_BACK, complete(0)))
def settled_before_the_commit(
    namespace: Namespace, entity: Entity, command: v.Settlement, name: str
) -> Answer:
    """A settlement in a transaction takes effect at once, even if the transaction rolls back."""
    namespace.rules.transactions.running(name)
    return RULES.locks.settle(namespace, attrs.evolve(command, transaction=None), "")


@mutant("LOCK-11", "transactions.settle", ABANDONED_WITHIN, deep=True)
def abandoned_before_the_commit(
    namespace: Namespace, entity: Entity, command: v.Settlement, name: str
) -> Answer:
    """A message abandoned in a transaction can be received before the commit."""
    abandoned = isinstance(command, v.Abandon)
    settle = settled_before_the_commit if abandoned else RULES.transactions.settle
    return settle(namespace, entity, command, name)


def _commit(
    namespace: Namespace, transaction: Transaction, settlements: tuple[EnlistedSettlement, ...]
) -> None:
    """Commit a transaction with these settlements instead of its own."""
    namespace.journal.touch(transaction)
    transaction.settlements = settlements
    RULES.transactions.apply(namespace, transaction)


@mutant("LOCK-11", "transactions.apply", (*SETTLED, COMMIT, wait(61), receive()))
def commit_settles_nothing(namespace: Namespace, transaction: Transaction) -> None:
    """A commit applies the sends, and no settlements."""
    _commit(namespace, transaction, ())


@mutant("LOCK-11", "transactions.apply", BOTH_SETTLED, deep=True)
def commit_forgets_the_last_settlement(namespace: Namespace, transaction: Transaction) -> None:
    """The last of several settlements in a transaction is lost."""
    settlements = transaction.settlements
    _commit(namespace, transaction, settlements[: max(1, len(settlements) - 1)])


def _still_locked(transaction: Transaction) -> list[tuple[EnlistedSettlement, QueuedMessage]]:
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


@mutant("LOCK-12", "transactions.roll_back", (*SETTLED, ROLL_BACK, complete(0)), beforehand)
def rollback_settles(namespace: Namespace, command: v.RollBackTransaction) -> None:
    """A rollback applies the settlements of its transaction."""
    transaction = namespace.rules.transactions.running(command.transaction)
    for settlement, queued in _still_locked(transaction):
        namespace.rules.locks.apply(queued, settlement.action, settlement.reason)


@mutant("LOCK-12", "transactions.roll_back", (*SETTLED, ROLL_BACK, receive()), beforehand)
def rollback_unlocks(namespace: Namespace, command: v.RollBackTransaction) -> None:
    """A rollback ends the locks of the messages settled in its transaction."""
    for _, queued in _still_locked(namespace.rules.transactions.running(command.transaction)):
        namespace.rules.locks.release(queued, Action.LOCK_ENDS)


@mutant("LOCK-12", "transactions.roll_back", GIVEN_BACK, beforehand, deep=True)
def rollback_counts_a_delivery(namespace: Namespace, command: v.RollBackTransaction) -> None:
    """A rollback counts one more delivery of the messages settled in its transaction."""
    for _, queued in _still_locked(namespace.rules.transactions.running(command.transaction)):
        namespace.journal.touch(queued)
        queued.failed += 1


@beside("transactions.apply")
def _commit_what_is_locked(namespace: Namespace, transaction: Transaction) -> None:
    settlements = tuple(settlement for settlement, _ in _still_locked(transaction))
    _commit(namespace, transaction, settlements)


@mutant("LOCK-13", "transactions.settle", how=alters, also=_commit_what_is_locked)
@run(*LOST)
def lost_lock_enlisted(usual: Answer) -> Answer:
    """A settlement with a lost lock succeeds without effect, and so does its commit."""
    return Answer(DONE) if usual.outcome == v.Refused(error=v.Error.LOCK_LOST) else usual


@mutant("LOCK-13", "transactions.apply", (*SETTLED, *TAKEN_BY_ANOTHER, COMMIT), deep=True)
def commit_settles_what_another_holds(namespace: Namespace, transaction: Transaction) -> None:
    """A commit completes its messages even if another receiver has locked them."""
    current = [
        attrs.evolve(enlisted, token=queued.token) if queued and queued.token else enlisted
        for enlisted in transaction.settlements
        for queued in (message_of(enlisted.entity, enlisted.token),)
    ]
    _commit(namespace, transaction, tuple(current))


@mutant("LOCK-13", "transactions.commit", SENT_AND_LOST, alters, deep=True)
def refused_commit_sends(
    usual: Answer, namespace: Namespace, command: v.CommitTransaction
) -> Answer:
    """A commit that is refused for a lost lock still delivers its sends."""
    lost = usual.outcome == v.Refused(error=v.Error.LOCK_LOST)
    for buffered in namespace.transactions[command.transaction].sends if lost else ():
        if buffered.scheduled is None:
            RULES.transactions.deliver(namespace, buffered)
        else:
            namespace.rules.scheduling.plan(buffered.scheduled)
    return usual
