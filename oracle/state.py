"""The state of a namespace, as far as what was seen tells it.

Where something is not known, the state says so instead of splitting into many states: a partition
is a set of partitions that it may be (a bit mask), a moment is a window, and a message whose
request was never answered is *uncertain*, present in some continuations and absent in others.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import TypeVar

import attrs
from immutables import Map

from busproof import vocabulary as v
from busproof.oracle.entity import Queue, Subscription, Topic, is_unsure
from busproof.oracle.entity_counts import NOBODY, Census, Counted, Kind
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
    "forgotten",
    "fresh_namespace",
    "is_unknowable",
    "is_unsure",
    "partition_count",
    "with_queue",
    "without_queue",
]

_Value = TypeVar("_Value")


@attrs.frozen
class Staged:
    """A message sent in a transaction that has not ended, to the queue that was there then.

    `arrivals` says how many messages its queue, or each of its topic's subscriptions, had by then;
    `revision` is the topic's; `waiting` says when it is due if it is scheduled; `sent` is when it
    was sent.
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
    """A settlement in a transaction that has not ended, as it would be asked for outside of it.

    `key` is the message's, and `certain` says whether the settlement surely takes effect with the
    commit.
    """

    command: v.Settlement
    key: Key | None
    certain: bool = True


@attrs.frozen(kw_only=True)
class Transaction:
    """A transaction that has begun and not ended.

    Attributes:
        begun: when, at the earliest and latest.
        staged: what was sent in it, newest first, as nested pairs (a persistent stack).
        size: how many messages that is.
        keys: queue to the key of its first message in this transaction.
        settlements: what was settled in it, oldest first.
        queues: name to `born` of each queue that it concerns.
        changes: changes of rules that are to take effect with it, oldest first.
        doubtful: whether it may have been ended by a refusal or by an answer that never came.
        keyed: whether what was scheduled in it may have given it a key, which what comes after
            need not have; that makes it doubtful.
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
    """All queues and transactions, what they are held to, and the time.

    So that nobody has to look at all queues, `census` counts them, `forwarding` has where those
    send their messages on that forward, and `planning` those in which some are scheduled, or were.
    """

    profile: v.Profile
    vantage: v.Observability
    now: Window = Window(0, 0)
    queues: Map[str, Queue] = Map()
    transactions: Map[str, Transaction | None] = Map()
    registry: Registry = UNREGISTERED
    census: Census = NOBODY
    forwarding: Map[str, str] = Map()
    planning: Map[str, None] = Map()


def fresh_namespace(profile: v.Profile, vantage: v.Observability) -> Namespace:
    """An empty namespace at time 0."""
    return Namespace(profile=profile, vantage=vantage)


def everywhere(namespace: Namespace, settings: v.CreateQueue) -> Partitions:
    """All partitions of a queue with these settings; a regular one is kept in a single store."""
    return (1 << partition_count(namespace, settings)) - 1


def partition_count(namespace: Namespace, settings: v.CreateQueue) -> int:
    """How many partitions a queue with these settings has, or may have (GB-PARTITIONS)."""
    if not settings.partitioned:
        return 1
    reading = namespace.profile.readings.get("GB-PARTITIONS", "sixteen")
    each = 1 if reading == "sixteen" else settings.max_size or 1
    return namespace.profile.partitions * each


def with_queue(namespace: Namespace, queue: Queue) -> Namespace:
    """The namespace with one queue changed or added."""
    name, queues = queue.settings.queue, namespace.queues
    before = queues.get(name)
    if len(queue.calendar.entries) and name not in namespace.planning:
        namespace = evolve(namespace, planning=namespace.planning.set(name, None))
    if before is not None and _counts_alike(before, queue):
        return evolve(namespace, queues=queues.set(name, queue))
    return evolve(
        namespace,
        queues=queues.set(name, queue),
        census=_recounted(namespace, before, queue),
        forwarding=_with_destination(namespace.forwarding, name, queue.settings.forward_to),
    )


def without_queue(namespace: Namespace, name: str) -> Namespace:
    """The namespace without a queue, and without its dead letters."""
    queues = namespace.queues
    census = _recounted(namespace, queues.get(name), None)
    forwarding = namespace.forwarding
    for each in (name, *(name + suffix for suffix in v.DEAD_LETTER_SUFFIXES)):
        if each in queues:
            queues = queues.delete(each)
        forwarding = _without(forwarding, each)
    return evolve(
        namespace,
        queues=queues,
        census=census,
        forwarding=forwarding,
        planning=_without(namespace.planning, name),
    )


def _with_destination(
    forwarding: Map[str, str], name: str, destination: str | None
) -> Map[str, str]:
    """What forwards where to, once this queue forwards there, or nowhere."""
    if destination is not None:
        return forwarding.set(name, destination)
    return _without(forwarding, name)


def _without(named: Map[str, _Value], name: str) -> Map[str, _Value]:
    return named.delete(name) if name in named else named


@lru_cache(maxsize=64)
def _graves_among(forwarding: Map[str, str]) -> tuple[str, ...]:
    """The dead-letter queues that forward, to wherever (FWD-35).

    They are looked for once for each state of forwarding: most requests ask, and few change it.
    """
    return tuple(source for source in forwarding if source.endswith(v.DEAD_LETTERS))


def feeding(namespace: Namespace, name: str) -> Iterator[str]:
    """The dead-letter queues that forward to this entity (FWD-35)."""
    if not namespace.forwarding:
        return iter(())
    forwarding = namespace.forwarding
    return (each for each in _graves_among(forwarding) if forwarding[each] == name)


def forgotten(namespace: Namespace, name: str) -> Namespace:
    """The namespace of which nothing is told under this name any more, nor of its subscriptions."""
    queue, census = namespace.queues.get(name), namespace.census
    subscriptions = queue.role.subscriptions if queue and isinstance(queue.role, Topic) else ()
    for each in (name, *subscriptions):
        known = namespace.queues.get(each)
        census = _recounted(evolve(namespace, census=census), known, None).with_unknown(1)
    unknowable = namespace.registry.unknowable.set(name, None)
    registry = evolve(namespace.registry, unknowable=unknowable)
    return evolve(namespace, registry=registry, census=census)


def is_unknowable(namespace: Namespace, name: str) -> bool:
    """Whether nothing is told of this entity any more, or of the topic that it belongs to."""
    unknowable = namespace.registry.unknowable
    return name in unknowable or name.partition(v.SUBSCRIPTIONS)[0] in unknowable


def _counts_alike(before: Queue, after: Queue) -> bool:
    """Whether a queue counts as before; most often nothing has changed that decides it."""
    same = before.settings is after.settings and before.managed is after.managed
    if same and before.role is after.role and before.doubtful is after.doubtful:
        return True
    return _counts_as(before) == _counts_as(after)


def _counts_as(queue: Queue) -> tuple[object, ...]:
    """What decides how a queue counts, and where it forwards to."""
    settings = queue.settings
    restored = queue.managed.restored
    kind = (type(queue.role), settings.partitioned, settings.max_size, restored)
    return (is_unsure(queue), *kind, settings.forward_to)


def _recounted(namespace: Namespace, before: Queue | None, after: Queue | None) -> Census:
    """The census once one queue has become another; of what is unknowable nothing is counted."""
    census = namespace.census
    known = before or after
    if known is None or is_unknowable(namespace, known.settings.queue):
        return census
    if before is not None and (entity := _counted(namespace, before)) is not None:
        census = census.without_one(entity)
    if after is not None and (entity := _counted(namespace, after)) is not None:
        census = census.with_one(entity)
    return census


def _counted(namespace: Namespace, queue: Queue) -> Counted | None:
    """What a queue counts as; dead letters count as nothing."""
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
