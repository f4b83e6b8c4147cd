"""The belief about a namespace: its state, as far as the observations reveal it.

Uncertainty is part of the state instead of splitting it into many states. A partition is a set of
possible partitions (a bit mask), a time is a window, and the message of an unanswered request is
*uncertain*: it may be there or not.
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
    """A message that was sent in a running transaction.

    `born` identifies the queue that existed then. `arrivals` maps the queue, or each subscription
    of the topic, to the number of messages that it had; `revision` is the topic's. `waiting` is set
    if the message is scheduled, and `sent` is when it was sent.
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
    """A settlement in a running transaction, which takes effect with its commit.

    `key` is the message's. `born` identifies the queue, since a later one of its name has another.
    `certain` is false if the settlement may fail, or was never answered.
    """

    command: v.Settlement
    key: Key | None
    born: int
    certain: bool = True


@attrs.frozen(kw_only=True)
class Transaction:
    """A running transaction.

    Attributes:
        begun: the earliest and the latest moment at which it began.
        staged: its sends, newest first, as nested pairs (a persistent stack).
        size: how many sends that is.
        keys: queue to the key of the first message that the transaction sent there.
        settlements: its settlements, oldest first.
        queues: name of each queue that it concerns, to the queue's `born`.
        changes: its changes of subscription rules, oldest first.
        doubtful: whether a refusal or an unanswered request may have ended it.
        keyed: whether its scheduled messages may have given it a key that later messages have to
            share; the answer is open, so this makes the transaction doubtful.
        doomed: whether its commit must be refused, because it has failed already.
        ending: whether a commit of it was never answered, so that it may commit at any time.
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
    """All queues and transactions, the profile that the bus is judged by, and the time.

    Three tables spare requests a visit to all queues: `entity_counts` counts them, `forwarding`
    maps those that forward to their destinations, and `planning` has those that have or had
    scheduled messages.
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
        """Return the reading of an ambiguity that applies to the bus."""
        return self.profile.readings.get(ambiguity, default)


def fresh_namespace(profile: v.Profile, observability: v.Observability) -> Namespace:
    """Return an empty namespace at time 0."""
    return Namespace(profile=profile, observability=observability)


def everywhere(namespace: Namespace, settings: v.CreateQueue) -> Partitions:
    """Return the set of all partitions that a queue with these settings has."""
    return (1 << partition_count(namespace, settings)) - 1


def partition_count(namespace: Namespace, settings: v.CreateQueue) -> int:
    """Return how many partitions a queue with these settings has, or may have (GB-PARTITIONS)."""
    # A regular entity has one broker and one store (PART-01), which count as a single partition.
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
    """Return the namespace without this queue and its dead-letter queues."""
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
    """Return the dead-letter queues that forward to any destination (FWD-35).

    The result is cached by table: most requests need it, and few change the table.
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
    """Return the namespace that stops judging the entity of this name, and its subscriptions."""
    queue, entity_counts = namespace.queues.get(name), namespace.entity_counts
    # What a request does to a topic, it does to its subscriptions, so none of them is certain any
    # more.
    subscriptions = queue.role.subscriptions if queue and isinstance(queue.role, Topic) else ()
    for path in (name, *subscriptions):
        known = namespace.queues.get(path)
        # The name may be that of any entity now, or of none, so it no longer counts as what it was.
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
    """Return whether a queue counts as it did before the change; it nearly always does."""
    # Comparing identities first is enough for most changes, which concern only messages.
    same = before.settings is after.settings and before.managed is after.managed
    if same and before.role is after.role and before.doubtful is after.doubtful:
        return True
    return _counts_as(before) == _counts_as(after)


def _counts_as(queue: Queue) -> tuple[object, ...]:
    """Return the properties that decide in which counts a queue is, and where it forwards."""
    settings = queue.settings
    restored = queue.managed.restored
    kind = (type(queue.role), settings.partitioned, settings.max_size, restored)
    return (is_unsure(queue), *kind, settings.forward_to)


def _recounted(namespace: Namespace, before: Queue | None, after: Queue | None) -> EntityCounts:
    # Nothing is known about entities that are not judged; they are in the count of unknown ones.
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
    """Return how an entity is counted; `None` for a dead-letter queue, which is not."""
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
