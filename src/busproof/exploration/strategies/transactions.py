"""Generators of commands about transactions: begin, fill, commit and roll back."""

from collections.abc import Iterator

from hypothesis import stateful
from hypothesis import strategies as st

from busproof import vocabulary as v
from busproof.exploration.state import Scope, World
from busproof.exploration.strategies.messages import FEW, SHAPES, schedule, send, settle
from busproof.exploration.strategies.row import QUEUES, RECEIPTS, TRANSACTIONS, Generator

__all__ = ["rows_of_transactions"]


def rows_of_transactions(scope: Scope) -> Iterator[Generator]:
    """Yield the rows that begin, fill and end transactions, if the implementation supports them."""
    if v.Capability.TRANSACTIONS not in scope.capabilities:
        return
    over = {"transaction": stateful.consumes(TRANSACTIONS)}
    yield Generator(kind=v.BeginTransaction, draws={}, make=_begin, weight=2, into=(TRANSACTIONS,))
    yield Generator(
        kind=v.Send,
        draws={"queue": QUEUES, "shape": SHAPES, "transaction": TRANSACTIONS},
        make=send,
        weight=4,
        times=FEW,
        name="sendintransaction",
    )
    yield Generator(
        kind=v.Schedule,
        draws={
            "queue": QUEUES,
            "shape": SHAPES,
            "delay": st.sampled_from((0, scope.lock)),
            "transaction": TRANSACTIONS,
        },
        make=schedule,
        name="scheduleintransaction",
    )
    if v.Capability.TRANSACTIONAL_SETTLEMENT in scope.capabilities:
        yield from _settlement_rows()
    yield Generator(
        kind=v.CommitTransaction,
        draws=over,
        make=lambda _world, transaction: v.CommitTransaction(transaction=transaction),
    )
    yield Generator(
        kind=v.RollBackTransaction,
        draws=over,
        make=lambda _world, transaction: v.RollBackTransaction(transaction=transaction),
    )


def _begin(world: World) -> v.BeginTransaction:
    world.transactions += 1
    return v.BeginTransaction(transaction=f"t{world.transactions}")


def _settlement_rows() -> Iterator[Generator]:
    """Yield the rows that settle in a transaction; a lock may also be settled outside of it."""
    for kind in (v.Complete, v.Abandon, v.DeadLetter, v.Defer):
        yield Generator(
            kind=kind,
            draws={"receipt": RECEIPTS, "transaction": TRANSACTIONS},
            make=settle(kind),
            name=f"{kind.__name__.lower()}intransaction",
        )
