"""Updates of the size of an entity (SIZE-UPDATE).

The page on quotas says that a size can be changed after the creation; whether to a smaller one,
no document says.
"""

from collections.abc import Iterator
from typing import Final

import attrs

from busproof import vocabulary as v
from busproof.oracle.changes import with_managed
from busproof.oracle.sizes.entity_size import granted_sizes, may_refuse_size
from busproof.oracle.state import Namespace, Queue, Topic, with_queue
from busproof.oracle.transition import Transition, refusal
from busproof.oracle.unjudged import stop_judging

__all__ = ["RESIZED", "refused_size", "with_size_in_doubt", "with_sizes"]

RESIZED: Final = "resized"
"""Among what was tried with an entity: another size than that of its creation."""


def _is_resized(queue: Queue, command: v.UpdateQueue) -> bool:
    return command.max_size not in (None, queue.settings.max_size)


def refused_size(
    namespace: Namespace, queue: Queue, command: v.UpdateQueue
) -> Iterator[Transition]:
    """SIZE-02, SIZE-17, PREM-08: yield the refusal of a new size, where a bus may refuse it."""
    if not _is_resized(queue, command):
        return
    profile = namespace.profile
    before = queue.settings.max_size
    wanted = attrs.evolve(queue.settings, max_size=command.max_size)
    grown = before is not None and (command.max_size or 0) > before
    if namespace.reading("SIZE-UPDATE") == "refused":
        yield refusal(namespace, v.Error.INVALID_OPERATION, "SIZE-17", any_error=True)
    elif (
        not grown
        or may_refuse_size(profile, wanted)
        or profile.is_partitioned
        or _may_have_others(namespace, queue)
    ):
        yield refusal(namespace, v.Error.INVALID_OPERATION, any_error=True)


def _may_have_others(namespace: Namespace, queue: Queue) -> bool:
    """Return whether the number of partitions may depend on the size (GB-PARTITIONS)."""
    sixteen = namespace.reading("GB-PARTITIONS", "sixteen") == "sixteen"
    return queue.settings.partitioned is not False and not sixteen


def with_sizes(namespace: Namespace, command: v.UpdateQueue) -> Iterator[Namespace]:
    """SIZE-16: yield the namespace with each size that the entity may have after the update.

    It is the namespace as it was if the update names no other size, and none if none is granted.
    """
    queue = namespace.queues[command.queue]
    if not _is_resized(queue, command):
        yield namespace
        return
    if namespace.reading("SIZE-UPDATE") == "refused":
        return
    wanted = attrs.evolve(queue.settings, max_size=command.max_size)
    tried = queue.managed.tried | {RESIZED}
    for size in granted_sizes(namespace.profile, wanted):
        other = tried if size == command.max_size else tried | {"max_size"}
        after = _with_size(namespace, queue, size)
        after = with_managed(after, after.queues[command.queue], tried=other)
        yield stop_judging(after, command.queue) if _may_have_others(namespace, queue) else after


def with_size_in_doubt(namespace: Namespace, command: v.UpdateQueue) -> Namespace:
    """Return the namespace after an update that may be in force, in part, later or never."""
    queue = namespace.queues[command.queue]
    if not _is_resized(queue, command) or namespace.reading("SIZE-UPDATE") == "refused":
        return namespace
    return stop_judging(_with_size(namespace, queue, None), command.queue)


def _with_size(namespace: Namespace, queue: Queue, size: int | None) -> Namespace:
    """Return the namespace with another size of an entity, and of its subscriptions."""
    subscriptions = queue.role.subscriptions if isinstance(queue.role, Topic) else ()
    for path in (queue.settings.queue, *subscriptions):
        part = namespace.queues[path]
        settings = attrs.evolve(part.settings, max_size=size)
        namespace = with_queue(namespace, attrs.evolve(part, settings=settings))
    return namespace
