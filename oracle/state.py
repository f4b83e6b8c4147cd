"""The belief about a namespace: its state, as far as the observations reveal it.

Uncertainty is part of the state and does not split it into many: a partition is a set of possible
partitions (a bit mask), a time is a window, and a message of an unanswered request is *uncertain*,
present in some continuations and absent in others.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import TypeVar

import attrs
from immutables import Map

from busproof import vocabulary as v
from busproof.oracle.entity import Queue, Subscription, Topic, is_unsure
from busproof.oracle.entity_counts import NO_ENTITIES, Counted, EntityCounts, Kind
from busproof.oracle.evolve import evolve
from busproof.oracle.outages import Partitions
from busproof.oracle.queued_messages import Key
from busproof.oracle.registry import UNREGISTERED, Registry
from busproof.oracle.schedule import NEVER, Waiting
from busproof.oracle.window import Window

__all__ = [
    "NEVER",
    "Enlisted",
    "Namespace",
    "Queue",
    "Staged",
    "Subscription",
    "Topic",
    "Transaction",
    "everywhere",
    "feeding",
    "fresh_namespace",
    "is_unjudged",
    "is_unsure",
    "partition_count",
    "stop_judging_name",
    "with_queue",
    "without_queue",
]

_Value = TypeVar("_Value")


@attrs.frozen
class Staged:
    """A message sent in a running transaction, to the queue that existed then.

    `arrivals` is the number of messages in its queue, or each of its topic's subscriptions, at that
    time; `revision` is the topic's; `waiting` is when it is due if it is scheduled; `sent` is when
    it was sent.
    """

    queue: str
    born: int
    message: v.Message
    key: Key | None
    where: Partitions
    arrivals: Map[str, int] = Map()
    revision: int = 0
    waiting: Waiting | None = None
    sent: Window = Window(0, 0)


@attrs.frozen
class Enlisted:
    """A settlement in a running transaction, as it would be requested outside of one.

    `key` is the message's, `born` the queue's (a later queue of its name has another), and
    `certain` means that the settlement surely takes effect with the commit.
    """

    command: v.Settlement
    key: Key | None
    born: int
    certain: bool = True


@attrs.frozen(kw_only=True)
class Transaction:
    """A running transaction.

    Attributes:
        begun: when, at the earliest and latest.
        staged: its sends, newest first, as nested pairs (a persistent stack).
        size: how many messages that is.
        keys: queue to the key of its first message in this transaction.
        settlements: its settlements, oldest first.
        queues: name to `born` of each queue that it concerns.
        changes: its changes of rules, oldest first.
        doubtful: whether it may have been ended by a refusal or an unanswered request.
        keyed: whether its scheduled messages may have given it a key, which later ones need not
            have; this makes it doubtful.
        doomed: whether its commit must be refused.
        ending: whether a commit was never answered, so that it may end at any time.
    """

    begun: Window
    staged: "tuple[Staged, object] | None" = None
    size: int = 0
    keys: Map[str, Key] = Map()
    settlements: tuple[Enlisted, ...] = ()
    queues: Map[str, int] = Map()
    changes: tuple[v.AddRule | v.RemoveRule, ...] = ()
    doubtful: bool = False
    keyed: bool = False
    doomed: bool = False
    ending: bool = False


@attrs.frozen(kw_only=True, slots=False)
class Namespace:
    """All queues and transactions, their profile, and the time.

    To avoid visiting all queues, `entity_counts` counts them, `forwarding` has the destinations of
    those that forward, and `planning` those that have, or had, scheduled messages.
    """

    profile: v.Profile
    observability: v.Observability
    now: Window = Window(0, 0)
    queues: Map[str, Queue] = Map()
    transactions: Map[str, Transaction | None] = Map()
    registry: Registry = UNREGISTERED
    entity_counts: EntityCounts = NO_ENTITIES
    forwarding: Map[str, str] = Map()
    planning: Map[str, None] = Map()

    def reading(self, ambiguity: str, default: str | None = None) -> str | None:
        """Return the reading of an ambiguity to which the bus is held."""
        return self.profile.readings.get(ambiguity, default)


def fresh_namespace(profile: v.Profile, observability: v.Observability) -> Namespace:
    """Return an empty namespace at time 0."""
    return Namespace(profile=profile, observability=observability)


def everywhere(namespace: Namespace, settings: v.CreateQueue) -> Partitions:
    """Return all partitions of a queue with these settings; a regular one has one."""
    return (1 << partition_count(namespace, settings)) - 1


def partition_count(namespace: Namespace, settings: v.CreateQueue) -> int:
    """Return how many partitions a queue with these settings has, or may have (GB-PARTITIONS)."""
    if not settings.partitioned:
        return 1
    if namespace.profile.is_partitioned:
        return namespace.profile.partitions
    one_each = namespace.reading("GB-PARTITIONS", "sixteen") == "sixteen"
    gigabytes = 1 if one_each else settings.max_size or 1
    return namespace.profile.partitions * gigabytes


def with_queue(namespace: Namespace, queue: Queue) -> Namespace:
    """Return the namespace with one queue changed or added."""
    name, queues = queue.settings.queue, namespace.queues
    before = queues.get(name)
    if len(queue.calendar.entries) and name not in namespace.planning:
        namespace = evolve(namespace, planning=namespace.planning.set(name, None))
    if before is not None and _counts_alike(before, queue):
        return evolve(namespace, queues=queues.set(name, queue))
    forwarding, destination = _without(namespace.forwarding, name), queue.settings.forward_to
    return evolve(
        namespace,
        queues=queues.set(name, queue),
        entity_counts=_recounted(namespace, before, queue),
        forwarding=forwarding if destination is None else forwarding.set(name, destination),
    )


def without_queue(namespace: Namespace, name: str) -> Namespace:
    """Return the namespace without a queue and its dead-letter queues."""
    queues = namespace.queues
    entity_counts = _recounted(namespace, queues.get(name), None)
    forwarding = namespace.forwarding
    for path in (name, *(name + suffix for suffix in v.DEAD_LETTER_SUFFIXES)):
        if path in queues:
            queues = queues.delete(path)
        forwarding = _without(forwarding, path)
    return evolve(
        namespace,
        queues=queues,
        entity_counts=entity_counts,
        forwarding=forwarding,
        planning=_without(namespace.planning, name),
    )


def _without(named: Map[str, _Value], name: str) -> Map[str, _Value]:
    return named.delete(name) if name in named else named


@lru_cache(maxsize=64)
def _forwarding_dlqs(forwarding: Map[str, str]) -> tuple[str, ...]:
    """Return the dead-letter queues that forward, with any destination (FWD-35).

    Computed once for each forwarding table: most requests need it, and few change it.
    """
    return tuple(source for source in forwarding if source.endswith(v.DEAD_LETTERS))


def feeding(namespace: Namespace, name: str) -> Iterator[str]:
    """Return the dead-letter queues that forward to this entity (FWD-35)."""
    if not namespace.forwarding:
        return iter(())
    forwarding = namespace.forwarding
    return (
        forwarding_dlq
        for forwarding_dlq in _forwarding_dlqs(forwarding)
        if forwarding[forwarding_dlq] == name
    )


def stop_judging_name(namespace: Namespace, name: str) -> Namespace:
    """Return the namespace that stops judging this name and its subscriptions."""
    queue, entity_counts = namespace.queues.get(name), namespace.entity_counts
    subscriptions = queue.role.subscriptions if queue and isinstance(queue.role, Topic) else ()
    for path in (name, *subscriptions):
        known = namespace.queues.get(path)
        # It no longer counts as what it was: the name may be of anything now, or of nothing.
        entity_counts = _recounted(
            evolve(namespace, entity_counts=entity_counts), known, None
        ).with_unknown(1)
    unjudged = namespace.registry.unjudged.set(name, None)
    registry = evolve(namespace.registry, unjudged=unjudged)
    return evolve(namespace, registry=registry, entity_counts=entity_counts)


def is_unjudged(namespace: Namespace, name: str) -> bool:
    """Return whether this entity, or its topic, is no longer judged."""
    unjudged = namespace.registry.unjudged
    return name in unjudged or name.partition(v.SUBSCRIPTIONS)[0] in unjudged


def _counts_alike(before: Queue, after: Queue) -> bool:
    """Return whether a queue counts as before; usually nothing relevant has changed."""
    same = before.settings is after.settings and before.managed is after.managed
    if same and before.role is after.role and before.doubtful is after.doubtful:
        return True
    return _counts_as(before) == _counts_as(after)


def _counts_as(queue: Queue) -> tuple[object, ...]:
    """Return the properties that decide how a queue counts, and where it forwards."""
    settings = queue.settings
    restored = queue.managed.restored
    kind = (type(queue.role), settings.partitioned, settings.max_size, restored)
    return (is_unsure(queue), *kind, settings.forward_to)


def _recounted(namespace: Namespace, before: Queue | None, after: Queue | None) -> EntityCounts:
    """Return the counts after a queue has changed; entities no longer judged do not count."""
    entity_counts = namespace.entity_counts
    known = before or after
    if known is None or is_unjudged(namespace, known.settings.queue):
        return entity_counts
    if before is not None and (entity := _counted(namespace, before)) is not None:
        entity_counts = entity_counts.without_one(entity)
    if after is not None and (entity := _counted(namespace, after)) is not None:
        entity_counts = entity_counts.with_one(entity)
    return entity_counts


def _counted(namespace: Namespace, queue: Queue) -> Counted | None:
    """Return how a queue counts; dead-letter queues do not count."""
    settings = queue.settings
    if settings.queue.endswith(v.DEAD_LETTERS):
        return None
    kind = Kind.TOPIC if isinstance(queue.role, Topic) else Kind.QUEUE
    if isinstance(queue.role, Subscription):
        kind = Kind.SUBSCRIPTION
    elif not settings.partitioned:
        kind = Kind.REGULAR
    elif queue.managed.restored and namespace.profile.tier is v.Tier.PREMIUM:
        kind = Kind.RESTORED
    return Counted(kind, not is_unsure(queue), partition_count(namespace, settings))
