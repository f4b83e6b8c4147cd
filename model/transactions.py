"""Transactions beginning and ending: all that was sent in one takes effect together, or nothing."""

from collections.abc import Iterator

import attrs

from busproof.model.commands import BeginTransaction, CommitTransaction, RollBackTransaction
from busproof.model.duplicates import Fate, fate, noted
from busproof.model.keys import effective_key
from busproof.model.ledger import never_arrives, store
from busproof.model.limits import may_be_over, with_transaction
from busproof.model.state import Namespace, Queue, Staged, Transaction, with_queue
from busproof.model.transition import Transition, done, refusal
from busproof.model.values import Error, Tier

__all__ = ["begin", "commit", "lost_begin", "lost_commit", "lost_roll_back", "roll_back"]


def begin(namespace: Namespace, command: BeginTransaction) -> Iterator[Transition]:
    """A transaction begins; Basic may have none (from outside the five)."""
    if command.transaction in namespace.transactions:
        yield refusal(namespace, Error.ALREADY_EXISTS, any_error=True)
    if namespace.transactions.get(command.transaction) is not None:
        return
    began = Transaction(begun=namespace.now)
    yield done(with_transaction(namespace, command.transaction, began))
    if namespace.profile.tier is Tier.BASIC:
        yield refusal(namespace, Error.INVALID_OPERATION, any_error=True)


def commit(namespace: Namespace, command: CommitTransaction) -> Iterator[Transition]:
    """TXN-12: all that was sent becomes receivable, or nothing of it does."""
    transaction = namespace.transactions.get(command.transaction)
    if transaction is None:
        yield refusal(namespace, Error.NOT_FOUND, any_error=True)
        return
    ended = with_transaction(namespace, command.transaction, None)
    hit, must_hit = _outage(namespace, transaction)
    reading = namespace.profile.readings.get("TXN-OUTAGE")
    if not transaction.doomed and not (must_hit and reading == "refused"):
        rules = ("SESS-26", "TXN-12") if _spans_sessions(namespace, transaction) else ("TXN-12",)
        yield done(_committed(ended, transaction, certain=True), *rules)
    if transaction.doomed or transaction.doubtful or hit or may_be_over(namespace, transaction):
        yield refusal(_forgotten(ended, transaction), Error.INVALID_OPERATION, any_error=True)


def _outage(namespace: Namespace, transaction: Transaction) -> tuple[bool, bool]:
    """Whether a partition concerned may be down, and whether one certainly is."""
    staged = _in_order(transaction)
    outages = [(namespace.queues[each.queue].outages, each.where) for each in staged]
    return (
        any(outage.may_hit(where) for outage, where in outages),
        any(outage.told and outage.must_hit(where) for outage, where in outages),
    )


def _spans_sessions(namespace: Namespace, transaction: Transaction) -> bool:
    """SESS-26: whether several sessions of one regular queue were sent to."""
    sessions: dict[str, set[str]] = {}
    for staged in _in_order(transaction):
        if staged.message.session_id is not None:
            sessions.setdefault(staged.queue, set()).add(staged.message.session_id)
    return any(
        len(names) > 1 and not namespace.queues[queue].settings.partitioned
        for queue, names in sessions.items()
    )


def _in_order(transaction: Transaction) -> list[Staged]:
    staged: list[Staged] = []
    rest = transaction.staged
    while rest is not None:
        staged.append(rest[0])
        rest = rest[1]  # type: ignore[assignment]  # the nested pairs have no finite type
    return staged[::-1]


def _committed(namespace: Namespace, transaction: Transaction, *, certain: bool) -> Namespace:
    """KEY-06, KEY-17: order is owed to what had arrived before a message was sent.

    Of what arrived between a send and its commit the documents do not say which comes first.
    """
    arrivals = {name: queue.arrivals for name, queue in namespace.queues.items()}
    for staged in _in_order(transaction):
        queue = namespace.queues[staged.queue]
        body = staged.message.body
        if isinstance(queue.bodies.get(body), str):
            queue = attrs.evolve(queue, bodies=queue.bodies.delete(body))
        arrived = _arrived(namespace, queue, staged, certain=certain)
        if arrivals[staged.queue] > staged.arrivals:
            arrived = _sent_before(arrived, queue.arrivals, staged.arrivals)
        namespace = with_queue(namespace, arrived)
    return namespace


def _sent_before(queue: Queue, number: int, arrivals: int) -> Queue:
    """The message with this number, if it has arrived, was sent when so many others had."""
    stored = queue.messages.get(number)
    if stored is None:
        return queue
    earlier = attrs.evolve(stored, sent=arrivals)
    return attrs.evolve(queue, messages=queue.messages.set(number, earlier))


def _arrived(namespace: Namespace, queue: Queue, staged: Staged, *, certain: bool) -> Queue:
    becomes = fate(namespace, queue, staged.message, staged.key)
    if becomes is Fate.DROPPED:
        return never_arrives(queue, staged.message.body, "KEY-11")
    kept = certain and becomes is Fate.KEPT
    copies = noted(namespace, queue, staged.message, staged.key, certain=kept, answered=certain)
    return store(
        queue,
        staged.message,
        effective_key(namespace, queue.settings, staged.message),
        staged.where,
        namespace.now,
        certain=kept,
        also={"copies": copies},
    )


def roll_back(namespace: Namespace, command: RollBackTransaction) -> Iterator[Transition]:
    """TXN-13: nothing that was sent in the transaction is ever receivable."""
    transaction = namespace.transactions.get(command.transaction)
    if transaction is None:
        yield refusal(namespace, Error.NOT_FOUND, any_error=True)
        return
    ended = with_transaction(namespace, command.transaction, None)
    rules = ("TXN-13",) if transaction.size else ()
    yield done(_forgotten(ended, transaction), *rules)
    if transaction.doubtful or transaction.doomed or may_be_over(namespace, transaction):
        yield refusal(_forgotten(ended, transaction), Error.NOT_FOUND, any_error=True)


def _forgotten(namespace: Namespace, transaction: Transaction) -> Namespace:
    for staged in _in_order(transaction):
        queue = namespace.queues[staged.queue]
        bodies = queue.bodies.set(staged.message.body, "TXN-13")
        if isinstance(queue.bodies.get(staged.message.body), str):
            namespace = with_queue(namespace, attrs.evolve(queue, bodies=bodies))
    return namespace


def lost_begin(namespace: Namespace, command: BeginTransaction) -> Namespace:
    """The transaction may or may not have begun."""
    doubtful = Transaction(begun=namespace.now, doubtful=True)
    return with_transaction(namespace, command.transaction, doubtful)


def lost_commit(namespace: Namespace, command: CommitTransaction) -> Namespace:
    """All that was sent may have become receivable, or nothing."""
    transaction = namespace.transactions.get(command.transaction)
    if transaction is None:
        return namespace
    doubtful = attrs.evolve(transaction, doubtful=True, staged=None, size=0)
    namespace = _committed(namespace, transaction, certain=False)
    return with_transaction(namespace, command.transaction, doubtful)


def lost_roll_back(namespace: Namespace, command: RollBackTransaction) -> Namespace:
    """The transaction may have ended; a later commit may still find it."""
    transaction = namespace.transactions.get(command.transaction)
    if transaction is None:
        return namespace
    doubtful = attrs.evolve(transaction, doubtful=True)
    return with_transaction(namespace, command.transaction, doubtful)
