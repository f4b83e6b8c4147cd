"""Deletions of several messages in one request: how many, and which may be gone afterwards."""

from collections.abc import Iterator
from functools import reduce
from itertools import combinations
from math import comb
from typing import Final

from busproof import vocabulary as v
from busproof.oracle.evolve import evolve
from busproof.oracle.messages.message_store import remove, replace
from busproof.oracle.queued_messages import Stored
from busproof.oracle.rule_lists import rules_if
from busproof.oracle.state import Namespace, Queue, Subscription, feeding, with_queue
from busproof.oracle.transition import Observation, Rules, Transition, Transitions, refusal
from busproof.oracle.unjudged import stop_judging

PARTITIONED: Final = "DELETE-PARTITIONED"
MOST_OF_PREMIUM: Final = 4000
MOST_OF_OTHERS: Final = 500
"""BATCH-20: maximum number of messages that one request deletes, by the tier."""
WAYS: Final = 6
"""Maximum number of states that an answer leads to; beyond it, messages become uncertain."""


def delete_batch(
    namespace: Namespace, command: v.DeleteBatch, observed: Observation
) -> Transitions:
    """BATCH-15 to BATCH-20: delete messages that are neither locked nor too new."""
    queue = namespace.queues[command.queue]
    partitioned = bool(queue.settings.partitioned)
    # Under the reading `refused` a partitioned entity refuses every such request.
    if not (partitioned and namespace.reading(PARTITIONED) == "refused"):
        yield from _deleted(namespace, queue, command, observed)
    noted = _noted(namespace, queue)
    if partitioned and namespace.reading(PARTITIONED) != "deleted":
        yield refusal(noted, v.Error.INVALID_OPERATION, "BATCH-19", any_error=True)
    elif _is_too_many(namespace, command):
        yield refusal(noted, v.Error.INVALID_OPERATION, "BATCH-20", any_error=True)
    elif queue.outages.any or _is_silent(queue):
        yield refusal(noted, v.Error.UNAVAILABLE, any_error=True)


def _noted(namespace: Namespace, queue: Queue) -> Namespace:
    """Record that such a request was made, so that later violations can be charged to it."""
    return with_queue(namespace, queue.asked("deletions"))


def _is_too_many(namespace: Namespace, command: v.DeleteBatch) -> bool:
    premium = namespace.profile.tier is v.Tier.PREMIUM
    return command.count > (MOST_OF_PREMIUM if premium else MOST_OF_OTHERS)


def _is_silent(queue: Queue) -> bool:
    """Return whether the entity has sessions or forwarding, where deletions are not documented."""
    onward = v.destinations(queue.settings) or queue.managed.redirected
    return queue.settings.requires_session or bool(onward)


def _deleted(
    namespace: Namespace, queue: Queue, command: v.DeleteBatch, observed: Observation
) -> Transitions:
    """Yield the answers with each possible number of deleted messages."""
    may = [
        message
        for message in queue.messages.values()
        if not (_is_locked(namespace, message) or _is_new(namespace, queue, command, message))
    ]
    most = min(command.count, _most_there(namespace, queue, len(may)))
    counts, outcome = range(most + 1), observed.outcome
    # With the number observed, only the states for it are built.
    if isinstance(outcome, v.Deleted) and outcome.count in counts:
        counts = range(outcome.count, outcome.count + 1)
    elif outcome is not None:
        counts = range(0)
    for count in counts:
        rules = _shown(namespace, queue, command, count)
        for left in _without(namespace, queue, may, count):
            yield Transition(outcome=v.Deleted(count=count), next=left, rules=rules)


def _most_there(namespace: Namespace, queue: Queue, known: int) -> int:
    """Return how many messages may be deleted at most, if that many of them are known.

    Dead letters and forwarded messages may be there unseen, and so may copies of what was scheduled
    at a topic. A message that was scheduled here may be deleted or not.
    """
    name = queue.settings.queue
    if v.is_dead_letter_queue(name) or queue.fed or any(feeding(namespace, name)):
        return MOST_OF_PREMIUM
    if isinstance(queue.role, Subscription):
        scheduled = namespace.queues[queue.role.topic].calendar.entries
        return MOST_OF_PREMIUM if len(scheduled) else known
    return known + len(queue.calendar.entries)


def _is_counted(namespace: Namespace, queue: Queue) -> bool:
    """Return whether every message that may be in the entity is known.

    It is not if messages arrive without a request: dead letters, copies, forwarded and scheduled
    ones.
    """
    name = queue.settings.queue
    is_direct = queue.role is None and not v.is_dead_letter_queue(name) and not queue.fed
    return is_direct and not (queue.calendar.entries or any(feeding(namespace, name)))


def _is_locked(namespace: Namespace, stored: Stored) -> bool:
    lock = stored.lock
    # While a settlement waits for its commit, the lock may have ended (LOCK-IN-TRANSACTION).
    return lock is not None and lock.pledge is None and namespace.now.latest < lock.expiry.earliest


def _is_new(namespace: Namespace, queue: Queue, command: v.DeleteBatch, stored: Stored) -> bool:
    """BATCH-17: return whether a message was surely enqueued too late to be deleted.

    For dead letters, scheduled and forwarded messages the documents do not say which moment counts.
    """
    moved = v.is_dead_letter_queue(queue.settings.queue) or queue.fed or stored.came is not None
    if command.age is None or moved:
        return False
    slack = namespace.observability.slack
    return stored.arrived.earliest + command.age - slack > namespace.now.latest


def _shown(namespace: Namespace, queue: Queue, command: v.DeleteBatch, count: int) -> Rules:
    """Return the rules that the answer exercises."""
    partitioned = queue.settings.partitioned
    there = [message for message in queue.messages.values() if message.certain]
    return rules_if(
        (True, "BATCH-15"),
        (any(_is_locked(namespace, stored) for stored in there), "BATCH-16"),
        (any(_is_new(namespace, queue, command, stored) for stored in there), "BATCH-17"),
        (count < command.count, "BATCH-18"),
        (partitioned, "BATCH-19"),
        (not partitioned and _is_too_many(namespace, command), "BATCH-20"),
    )


def _without(
    namespace: Namespace, queue: Queue, may: list[Stored], count: int
) -> Iterator[Namespace]:
    """Yield the states in which `count` of these messages are deleted."""
    namespace = _noted(namespace, queue)
    if not count:
        yield namespace
        return
    aside = any(stored.deferred is not False or stored.lock is not None for stored in may) or len(
        queue.calendar.entries
    )
    if aside or _is_silent(queue):
        # The documents do not say whether deferred, scheduled or session messages are deleted.
        yield stop_judging(namespace, v.owner_of(queue.settings.queue))
        return
    queue = namespace.queues[queue.settings.queue]
    if _is_counted(namespace, queue) and comb(len(may), count) <= WAYS:
        for gone in combinations(may, count):
            yield with_queue(namespace, reduce(remove, gone, queue))
        return
    # Any of them may be gone, so none has to be given, and none delays later messages of its line.
    for stored in may:
        queue = replace(queue, stored, evolve(stored, certain=False, line=None))
    yield with_queue(namespace, queue)


def lost_delete_batch(namespace: Namespace, command: v.DeleteBatch) -> Namespace:
    """Stop judging the entity, because its messages may be deleted now, later or never."""
    return stop_judging(namespace, v.owner_of(command.queue))
