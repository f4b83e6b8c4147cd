"""Requests inside a transaction `t` on a queue `q`."""

from observing import (
    SECOND,
    Observer,
    locked,
    received,
)

from busproof.vocabulary.commands import (
    Abandon,
    BeginTransaction,
    CommitTransaction,
    Complete,
    DeadLetter,
    Defer,
    Receive,
    RollBackTransaction,
    Settlement,
)
from busproof.vocabulary.outcomes import Refused
from busproof.vocabulary.paths import DEAD_LETTERS
from busproof.vocabulary.values import Error

BEGIN = BeginTransaction(transaction="t")

COMMIT = CommitTransaction(transaction="t")

ROLL_BACK = RollBackTransaction(transaction="t")

RECEIVE = Receive(queue="q")

DEAD = "q" + DEAD_LETTERS

LOCK_LOST = Refused(error=Error.LOCK_LOST)

UNKNOWN = Refused(error=Error.NOT_FOUND)

PLAIN = Complete(queue="q", lock_token="l")

KINDS = (Complete, Abandon, DeadLetter, Defer)


def within(kind: type[Settlement] = Complete, token: str = "l", queue: str = "q") -> Settlement:
    return kind(queue=queue, lock_token=token, transaction="t")


def enlisted(
    observer: Observer, kind: type[Settlement] = Complete, end: int | None = 60, **settings: object
) -> Observer:
    """A queue with one message, which is locked and settled in a transaction."""
    locked(observer, until=None if end is None else end * SECOND, **settings)
    observer.has(BEGIN)
    observer.has(within(kind))
    return observer


def again(token: str = "n", **seen: object) -> object:
    return received("m1", 1, lock_token=token, **seen)


def begun(observer: Observer, **settings: object) -> Observer:
    """A queue, and a transaction that has begun."""
    observer.queue(**settings)
    observer.has(BEGIN)
    return observer
