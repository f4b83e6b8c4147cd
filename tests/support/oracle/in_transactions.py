"""Requests inside a transaction `t` on a queue `q`."""

from observing import (
    SECOND,
    Observer,
    locked,
    received,
)

from busproof import vocabulary as v

BEGIN = v.BeginTransaction(transaction="t")

COMMIT = v.CommitTransaction(transaction="t")

ROLL_BACK = v.RollBackTransaction(transaction="t")

RECEIVE = v.Receive(queue="q")

DEAD = "q" + v.DEAD_LETTERS

LOCK_LOST = v.Refused(error=v.Error.LOCK_LOST)

UNKNOWN = v.Refused(error=v.Error.NOT_FOUND)

PLAIN = v.Complete(queue="q", lock_token="l")

KINDS = (v.Complete, v.Abandon, v.DeadLetter, v.Defer)


def within(
    kind: type[v.Settlement] = v.Complete, token: str = "l", queue: str = "q"
) -> v.Settlement:
    return kind(queue=queue, lock_token=token, transaction="t")


def enlisted(
    observer: Observer,
    kind: type[v.Settlement] = v.Complete,
    end: int | None = 60,
    **settings: object,
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
