"""Answers for entities that do not exist, may not exist, or were created only in part."""

from collections.abc import Iterator
from typing import Final

import attrs

from busproof import vocabulary as v
from busproof.oracle.changes import with_doubt
from busproof.oracle.management.deletion import delete_entity
from busproof.oracle.management.test_controls import in_outage
from busproof.oracle.outages import Outages, partition_set
from busproof.oracle.sizes.message_limits import beyond_limits
from busproof.oracle.state import Namespace, Queue, everywhere, with_queue
from busproof.oracle.transition import Observation, Transition, done, refusal
from busproof.oracle.unjudged import LOOKING, named, stop_judging

__all__ = [
    "absent",
    "in_part",
    "maybe_absent",
    "of_no_queue",
    "touched",
    "under_a_topic",
    "unjudged",
]


_USING: Final = v.Send | v.Receive | v.Peek | v.GetQueue | v.UpdateQueue | v.DeleteQueue
"""Requests with a documented answer for an entity that does not exist."""


def absent(namespace: Namespace, command: v.Command, name: str) -> Iterator[Transition]:
    """MGMT-10: return the answers for a queue that does not exist."""
    if isinstance(command, v.TakePartitionDown | v.BringPartitionUp):
        yield from _answered(namespace, command, _switched(namespace, command))
        return
    namespace = with_doubt(namespace, command)
    if isinstance(command, _USING | v.TopicManagement):
        # Basic has no topics, and need not answer that one is not found (MGMT-24).
        unheard_of = namespace.profile.tier is v.Tier.BASIC and isinstance(
            command, v.TopicManagement
        )
        why = _why_missing(namespace, name)
        yield refusal(namespace, v.Error.NOT_FOUND, *why, any_error=unheard_of)
        if isinstance(command, v.Send):
            # Either of two reasons may be given for the refusal (ERROR-PRECEDENCE).
            beyond = beyond_limits(namespace, command)
            yield from (attrs.evolve(each, rules=()) for each in beyond)
    elif isinstance(command, v.CreateSubscription):
        yield refusal(namespace, v.Error.NOT_FOUND, "TOPIC-19")
    else:
        yield refusal(namespace, v.Error.NOT_FOUND, any_error=True)


def _why_missing(namespace: Namespace, name: str) -> tuple[v.RuleId, ...]:
    """MGMT-10, MGMT-15, TOPIC-22: return the rules exercised by its absence."""
    tombstone = namespace.registry.tombstones.get(name)
    if tombstone is None:
        return ("MGMT-10",)
    return ("TOPIC-22", "MGMT-15", "MGMT-10") if tombstone.with_topic else ("MGMT-15", "MGMT-10")


def _switched(namespace: Namespace, command: v.TakePartitionDown | v.BringPartitionUp) -> Namespace:
    """Return the outages of a queue that does not exist; it is created with them."""
    registry, identified = namespace.registry, namespace.observability.partitions
    name = v.owner_of(command.queue)
    outages = registry.outages.get(name, Outages(identified))
    down = isinstance(command, v.TakePartitionDown)
    changed = registry.outages.set(name, outages.switched(command.partition, down=down))
    return attrs.evolve(namespace, registry=attrs.evolve(registry, outages=changed))


def maybe_absent(namespace: Namespace, command: v.Command, queue: Queue) -> Iterator[Transition]:
    """Return the answers for a queue that may not exist, or exist in part.

    MGMT-19: a deletion that is repeated with every partition up finds at worst that it was done.
    """
    if isinstance(command, v.TakePartitionDown | v.BringPartitionUp):
        yield from _switched_if_there(namespace, command, queue)
        return
    repeated = queue.managed.partially_applied == "delete" and not queue.outages.any
    if repeated and isinstance(command, v.DeleteQueue | v.DeleteTopic):
        yield refusal(delete_entity(namespace, queue), v.Error.NOT_FOUND, "MGMT-19")
    else:
        left = with_doubt(namespace, command)
        yield refusal(left, v.Error.NOT_FOUND, any_error=True)


def _switched_if_there(
    namespace: Namespace, command: v.TakePartitionDown | v.BringPartitionUp, queue: Queue
) -> Iterator[Transition]:
    """Apply the outage to the queue, if it exists, and to one created later."""
    down = isinstance(command, v.TakePartitionDown)
    switched = namespace
    if partition_set(command.partition) & everywhere(namespace, queue.settings):
        outages = queue.outages.switched(command.partition, down=down)
        switched = in_outage(namespace, queue.settings.queue, outages)
    yield from _answered(namespace, command, _switched(switched, command))


def _answered(
    namespace: Namespace, command: v.TakePartitionDown | v.BringPartitionUp, switched: Namespace
) -> Iterator[Transition]:
    """Return the answers about a partition that may exist: done, or refused."""
    if command.partition < namespace.profile.partitions:
        yield done(switched)
    yield refusal(namespace, v.Error.NOT_FOUND, any_error=True)


def unjudged(namespace: Namespace, command: v.Command, seen: Observation) -> Transition:
    """Accept any observation about a name that is no longer judged, without rules."""
    answer = v.Refused(error=v.Error.NOT_FOUND) if seen.outcome is None else seen.outcome
    left = with_doubt(namespace, command)
    if isinstance(command, v.UpdateQueue | v.UpdateTopic):
        left = stop_judging(left, *named(command))
    if isinstance(command, v.Creation):
        # Even if it was refused: in an outage it may have changed some partitions.
        left = stop_judging(left, v.created_path(command), *named(command)[1:])
    return Transition(outcome=answer, next=left)


def of_no_queue(namespace: Namespace, command: v.Command, seen: Observation) -> Transition:
    """Outside the documents: whether such an entity can be managed as a queue."""
    answer = v.Refused(error=v.Error.INVALID_OPERATION) if seen.outcome is None else seen.outcome
    harmless = isinstance(answer, v.Refused) or isinstance(command, LOOKING)
    return Transition(
        outcome=answer, next=namespace if harmless else stop_judging(namespace, *named(command))
    )


def under_a_topic(namespace: Namespace, topic: str, seen: Observation) -> Transition:
    """Outside the documents: a queue or topic is created under a subscription's path.

    The documents do not say what then exists at that path; the topic is no longer judged.
    """
    answer = v.Refused(error=v.Error.INVALID_OPERATION) if seen.outcome is None else seen.outcome
    harmless = isinstance(answer, v.Refused) and not namespace.queues[topic].outages.any
    return Transition(
        outcome=answer, next=namespace if harmless else stop_judging(namespace, topic)
    )


def in_part(
    namespace: Namespace, command: v.Command, queue: Queue, seen: Observation
) -> Transition:
    """Accept any observation about a partly created queue until the request is repeated."""
    left = with_doubt(namespace, command)
    if not isinstance(command, LOOKING):
        left = touched(left, queue)
    if v.destinations(command):
        left = stop_judging(left, *named(command))
    if seen.outcome is None:
        raise AssertionError("answers are listed for complete queues only")
    return Transition(outcome=seen.outcome, next=left)


def touched(namespace: Namespace, queue: Queue) -> Namespace:
    """Record that a queue that may not exist was used, or may still be."""
    managed = attrs.evolve(queue.managed, touched=True)
    return with_queue(namespace, attrs.evolve(queue, managed=managed))
