"""Which states of the model answer alike from now on, whatever their history was.

The model counts receives, arrivals and sends for evidence and for caches; two states that differ in
such counts only are the same state to a spec. What is left out here and matters shows as a
disagreement on one of the ways to a state, or where a state that is known is asked again
(`busproof.tla.answering`).
"""

from collections.abc import Iterator
from typing import Final

from busproof.oracle.calendar import Waiting
from busproof.oracle.expiry import is_mortal
from busproof.oracle.lifetimes import lifetime
from busproof.oracle.state import NEVER, Namespace, Queue, Staged, Transaction
from busproof.oracle.stored import SessionLock, Stored
from busproof.oracle.window import Window
from busproof.vocabulary.messages import Message
from busproof.vocabulary.paths import is_dead_letter_queue

__all__ = ["sameness"]

NEAR: Final = 10**7
"""Bytes below which nothing is near to being full: of what has arrived, at the most it can be."""


def sameness(namespace: Namespace, *, alone: bool) -> object:
    """A value that is equal for states that answer alike.

    Args:
        namespace: the state.
        alone: whether one connection alone will ever receive: then no cache but its own matters.
    """
    now = namespace.now.earliest
    queues = tuple(
        (name, _queue(namespace, queue, now, alone=alone))
        for name, queue in sorted(namespace.queues.items())
        # The model makes a dead-letter queue when it first needs it.
        if queue.messages or not is_dead_letter_queue(name)
    )
    if not namespace.transactions:
        return queues
    transactions = tuple(
        (name, _transaction(namespace, transaction))
        for name, transaction in sorted(namespace.transactions.items())
    )
    return (queues, transactions)


def _queue(namespace: Namespace, queue: Queue, now: int, *, alone: bool) -> object:
    return (
        queue.outages.down,
        queue.outages.doubt,
        tuple(_message(queue, stored, now) for _, stored in sorted(queue.messages.items())),
        tuple(
            (number, _life(namespace, queue, stored))
            for number, stored in enumerate(each for _, each in sorted(queue.messages.items()))
            if is_mortal(stored)
        ),
        None if alone or queue.settings.requires_session else _caches(queue, now),
        _strict_turn(namespace, queue),
        tuple(_copies(queue, now)) if queue.copies else (),
        tuple((name, _session(queue, queue.sessions[name], now)) for name in sorted(queue.sessions))
        if queue.sessions
        else (),
        tuple((name, each.state, each.late) for name, each in sorted(queue.states.items())),
        tuple(_waiting(each, now) for _, each in sorted(queue.calendar.entries.items())),
        tuple((body, len(each)) for body, each in sorted(queue.passed.items())),
        _room(queue),
    )


def _room(queue: Queue) -> object:
    """What of its size is taken, once that may come to matter.

    A spec's messages do not say how large they are. Of the few bytes that each may take besides,
    a gigabyte is not filled within its bounds.
    """
    room = queue.room
    if room.taken < NEAR:
        return None
    maps = (room.arrived, room.held, room.apart, room.keys)
    refused = sorted((str(key), freed) for key, freed in room.refused.items())
    mortal, planned = room.mortal + queue.calendar.mortal, queue.calendar.size
    held = [sorted(each.items()) for each in maps]
    return (room.largest, room.full, refused, mortal, planned, held)


def _strict_turn(namespace: Namespace, queue: Queue) -> int | None:
    """The partition of the last turn; `None` once that is unknown for good."""
    strict = namespace.profile.readings.get("ROUND-ROBIN") == "strict"
    if not strict:
        return -1
    return None if queue.spread.turns_unknown else queue.spread.last


def _message(queue: Queue, stored: Stored, now: int) -> object:
    # Beyond the greatest number of deliveries, and among the dead, their count makes no difference.
    most = queue.settings.max_delivery_count
    most = 0 if most == NEVER else most
    return (
        stored.message.body,
        _keys(stored.message),
        stored.key,
        stored.line,
        sum(number in queue.messages for number in range(stored.sent, stored.number)),
        stored.where,
        stored.certain,
        stored.deliveries > 0,
        min(stored.counted, most),
        min(stored.uncounted, most),
        stored.spent,
        stored.deferred,
        None if stored.came is None else _came_before(queue, stored),
        None if stored.lock is None else _left(stored.lock.expiry, now),
    )


def _came_before(queue: Queue, stored: Stored) -> tuple[bool, ...]:
    """Of each message, whether it was there before a scheduled one can have come."""
    return tuple(
        each.arrived.latest < stored.arrived.earliest for _, each in sorted(queue.messages.items())
    )


def _waiting(waiting: Waiting, now: int) -> object:
    return (
        waiting.message.body,
        _keys(waiting.message),
        waiting.certain,
        _left(waiting.due, now),
    )


def _life(namespace: Namespace, queue: Queue, stored: Stored) -> object:
    """What is left of a message's time to live, and whether a cache may outlast that."""
    dies, slack = stored.dies, namespace.vantage.slack
    if dies is None:
        raise AssertionError("what is mortal dies")
    over = -queue.managed.lock_durations_ever.latest - slack - 1
    left = [max(moment - namespace.now.earliest, over) for moment in (dies.earliest, dies.latest)]
    cacheable = stored.since < queue.receivers.count and stored.available_at <= dies.latest
    return (*left, stored.gone, cacheable)


def _caches(queue: Queue, now: int) -> object:
    """What other front ends may hold: who received last, until when, what they can have seen."""
    receivers, life = queue.receivers, queue.settings.lock_duration
    latest = receivers.latest_at + life
    return (
        receivers.lost,
        receivers.connection if max(latest, receivers.others_until) >= now else None,
        max(receivers.others_until - now, -1),
        max(latest - now, -1),
        tuple(
            (
                stored.since < receivers.count and latest >= now,
                stored.since < receivers.switched and receivers.others_until >= now,
                min(now - stored.available_at, life + 1),
            )
            for _, stored in sorted(queue.messages.items())
            if stored.lock is None
        ),
    )


def _left(window: Window, now: int) -> tuple[int, int]:
    """What is left of a timer; what is over is over."""
    return max(window.earliest - now, -1), max(window.latest - now, -1)


def _copies(queue: Queue, now: int) -> Iterator[object]:
    window = queue.settings.duplicate_window
    for message_id in sorted(queue.copies):
        for copy in queue.copies[message_id]:
            if now - copy.sent.latest <= window:
                earliest = now - copy.sent.earliest if copy.certain else None
                yield (message_id, copy.key, earliest, now - copy.sent.latest)


def _session(queue: Queue, held: SessionLock, now: int) -> object:
    locked = tuple(
        number
        for number in sorted(held.taken)
        if number in queue.messages and queue.messages[number].lock is not None
    )
    return (held.connection, _left(held.expiry, now), held.doubtful, locked)


def _transaction(namespace: Namespace, transaction: Transaction | None) -> object:
    if transaction is None:
        return None
    staged = []
    rest = transaction.staged
    while rest is not None:
        staged.append(_staged(namespace, rest[0]))
        rest = rest[1]  # type: ignore[assignment]  # the nested pairs have no finite type
    doubts = (transaction.doubtful, transaction.keyed, transaction.doomed, transaction.ending)
    return (tuple(staged), tuple(sorted(transaction.keys.items())), doubts)


def _staged(namespace: Namespace, staged: Staged) -> object:
    message = staged.message
    since = tuple(
        sum(number >= before for number in namespace.queues[name].messages)
        for name, before in sorted(staged.arrivals.items())
    )
    mortal = lifetime(namespace.queues[staged.queue], message) is not None
    age = namespace.now.earliest - staged.sent.earliest if mortal else 0
    return (staged.queue, message.body, _keys(message), staged.key, staged.where, since, age)


def _keys(message: Message) -> tuple[str | None, str | None, str | None]:
    return (message.message_id, message.session_id, message.partition_key)
