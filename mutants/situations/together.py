"""Mutants in which two transactions know of each other, or an empty text takes something along."""

from collections import Counter
from typing import Any, Final

from busproof import vocabulary as v
from busproof.model.rules import RULES
from busproof.model.state import Entity, Namespace, Transaction
from busproof.model.transactions import keys_of_sends
from busproof.model.values import Key
from busproof.mutants.mutant import memory, mutant
from busproof.mutants.runs import Run, create, receive, send
from busproof.mutants.wrappers import afterwards

TAKE: Final = receive(delete=True)
BOTH: Final[Run] = (
    create(),
    v.BeginTransaction(transaction="t1"),
    send("m1", within="t1", partition_key="a"),
    v.BeginTransaction(transaction="t2"),
    send("m2", within="t2", partition_key="a"),
)


def _others(namespace: Namespace, transaction: Transaction) -> list[Transaction]:
    """Return the other transactions that run."""
    return [
        other
        for other in namespace.transactions.values()
        if other is not transaction and not other.ended
    ]


@mutant(
    "TXN-12",
    "transactions.roll_back",
    (*BOTH, v.RollBackTransaction(transaction="t1"), v.CommitTransaction(transaction="t2"), TAKE),
    afterwards,
    deep=True,
)
def rollback_empties_other_transactions(
    namespace: Namespace, command: v.RollBackTransaction
) -> None:
    """A rollback discards what other transactions have sent, too."""
    for other in _others(namespace, namespace.transactions[command.transaction]):
        namespace.journal.touch(other)
        other.sends = ()


@mutant(
    "TXN-13",
    "transactions.apply",
    (
        *BOTH,
        v.CommitTransaction(transaction="t1"),
        v.RollBackTransaction(transaction="t2"),
        *(TAKE, TAKE),
    ),
    deep=True,
)
def commit_takes_other_transactions_along(namespace: Namespace, transaction: Transaction) -> None:
    """A commit delivers what other transactions have sent, too."""
    RULES.transactions.apply(namespace, transaction)
    for other in _others(namespace, transaction):
        for buffered in other.sends:
            namespace.rules.transactions.deliver(namespace, buffered)


@mutant(
    "TXN-02",
    "transactions.check_other_sends",
    (
        create(),
        v.BeginTransaction(transaction="t1"),
        send("m1", within="t1", partition_key="a"),
        v.BeginTransaction(transaction="t2"),
        send("m2", within="t2", partition_key="b"),
    ),
    deep=True,
)
def all_transactions_share_one_key(
    namespace: Namespace, entity: Entity, transaction: Transaction, key: Key
) -> None:
    """A message is refused if another transaction has sent one with another key."""
    RULES.transactions.check_other_sends(namespace, entity, transaction, key)
    for other in _others(namespace, transaction):
        for _, earlier in keys_of_sends(other):
            namespace.rules.transactions.check_same_key(namespace, earlier, key)


@mutant(
    "LIFE-09",
    "messages.accept",
    (create(partitioned=False), send("m1", session_id=""), TAKE),
    deep=True,
)
def message_with_an_empty_property_is_lost(
    namespace: Namespace, entity: Entity, message: v.Message, *rest: Any
) -> Any:
    """A message whose SessionId, PartitionKey or MessageId is empty is accepted and lost."""
    if "" in (message.session_id, message.partition_key, message.message_id):
        return None
    return RULES.messages.accept(namespace, entity, message, *rest)


@mutant(
    "LIFE-09",
    "duplicates.is_duplicate",
    (
        create(duplicate_detection=True),
        send("m1", message_id=""),
        send("m2", message_id="y"),
        *(TAKE, TAKE),
    ),
    deep=True,
)
def every_message_is_a_copy_of_an_empty_id(
    namespace: Namespace, entity: Entity, message: v.Message, key: Key | None
) -> bool:
    """After an empty MessageId every message is dropped as its copy."""
    counts = memory(namespace, Counter[str])
    if counts[entity.path] and message.message_id:
        return True
    counts[entity.path] += message.message_id == ""
    return RULES.duplicates.is_duplicate(namespace, entity, message, key)
