"""Answers for entities that do not exist, may not exist, or were created only in part."""

from typing import Final

from busproof import vocabulary as v
from busproof.oracle.changes import with_doubt, with_managed, with_registry
from busproof.oracle.evolve import evolve
from busproof.oracle.forwarding.forwarding_setup import with_lawful_locks
from busproof.oracle.management.deletion import delete_entity
from busproof.oracle.management.test_controls import in_outage
from busproof.oracle.outages import Outages, partition_set
from busproof.oracle.rule_lists import rules_if
from busproof.oracle.sizes.message_limits import beyond_limits, is_long_name, is_long_short_name
from busproof.oracle.state import Namespace, Queue, everywhere
from busproof.oracle.transition import Observation, Transition, Transitions, done, refusal
from busproof.oracle.unjudged import LOOKING, named, stop_judging

_USING: Final = v.Send | v.Receive | v.Peek | v.GetQueue | v.UpdateQueue | v.DeleteQueue
"""Requests that the documents answer with an error if the entity does not exist."""


def absent(namespace: Namespace, command: v.Command, name: str) -> Transitions:
    """MGMT-10, MGMT-15, TOPIC-22: return the answers for an entity that does not exist."""
    # An outage may begin before the entity exists, and then concerns the one that is created later.
    if isinstance(command, v.TakePartitionDown | v.BringPartitionUp):
        yield from _answered(namespace, command, _switched(namespace, command))
        return
    # A transaction that names this entity may have failed with the refusal.
    namespace = with_doubt(namespace, command)
    if isinstance(command, _USING | v.TopicManagement):
        # Basic has no topics, and need not answer that one is not found (MGMT-24).
        unheard_of = namespace.profile.tier is v.Tier.BASIC and isinstance(
            command, v.TopicManagement
        )
        tombstone = namespace.registry.tombstones.get(name)
        why = rules_if(
            (tombstone is not None and tombstone.with_topic, "TOPIC-22"),
            (tombstone is not None, "MGMT-15"),
            (True, "MGMT-10"),
        )
        yield refusal(
            namespace, v.Error.NOT_FOUND, *why, any_error=unheard_of or _has_long_name(name)
        )
        if isinstance(command, v.Send):
            # If the message is also over a limit, either error may come first (ERROR-PRECEDENCE).
            beyond = beyond_limits(namespace, command)
            yield from (evolve(transition, rules=()) for transition in beyond)
    elif isinstance(command, v.CreateSubscription):
        # No document says which error comes first if something else is wrong as well.
        otherwise = (
            _has_long_name(name)
            or is_long_short_name(command.subscription)
            or bool(v.destinations(command))
            or bool(with_lawful_locks(command)[1])
        )
        yield refusal(namespace, v.Error.NOT_FOUND, "TOPIC-19", any_error=otherwise)
    else:
        yield refusal(namespace, v.Error.NOT_FOUND, any_error=True)


def _has_long_name(name: str) -> bool:
    return is_long_name(name.partition(v.SUBSCRIPTIONS)[0])


def _switched(namespace: Namespace, command: v.TakePartitionDown | v.BringPartitionUp) -> Namespace:
    """Record that a partition of a queue that does not exist goes down or up.

    A queue that is created later starts with these outages.
    """
    registry, identified = namespace.registry, namespace.observability.partitions
    name = v.owner_of(command.queue)
    outages = registry.outages.get(name, Outages(identified))
    down = isinstance(command, v.TakePartitionDown)
    changed = registry.outages.set(name, outages.switched(command.partition, down=down))
    return with_registry(namespace, outages=changed)


def maybe_absent(namespace: Namespace, command: v.Command, queue: Queue) -> Transitions:
    """Return the answers for a queue that may not exist, or exist in part.

    MGMT-19: if a deletion is repeated while all partitions are up, it succeeds, or finds that the
    entity is gone already.
    """
    if isinstance(command, v.TakePartitionDown | v.BringPartitionUp):
        # The partition belongs to the queue, if that exists, and to one created later.
        switched = namespace
        if partition_set(command.partition) & everywhere(namespace, queue.settings):
            down = isinstance(command, v.TakePartitionDown)
            outages = queue.outages.switched(command.partition, down=down)
            switched = in_outage(namespace, queue.settings.queue, outages)
        yield from _answered(namespace, command, _switched(switched, command))
        return
    # A refused deletion may have been made in some partitions, and its repetition completes it.
    repeated = queue.managed.partially_applied == "delete" and not queue.outages.any
    if repeated and isinstance(command, v.DeleteQueue | v.DeleteTopic):
        yield refusal(delete_entity(namespace, queue), v.Error.NOT_FOUND, "MGMT-19")
    else:
        left = with_doubt(namespace, command)
        yield refusal(left, v.Error.NOT_FOUND, any_error=True)


def _answered(
    namespace: Namespace, command: v.TakePartitionDown | v.BringPartitionUp, switched: Namespace
) -> Transitions:
    """Yield the answers to a change of a partition that may exist: done, or refused."""
    # The namespace may have fewer partitions than this number.
    if command.partition < namespace.profile.partitions:
        yield done(switched)
    yield refusal(namespace, v.Error.NOT_FOUND, any_error=True)


def unjudged(namespace: Namespace, command: v.Command, observed: Observation) -> Transition:
    """Accept any answer about an entity that is no longer judged, without crediting a rule."""
    # Where nothing was observed, some answer has to stand for all; a refusal changes nothing.
    answer = v.Refused(error=v.Error.NOT_FOUND) if observed.outcome is None else observed.outcome
    left = with_doubt(namespace, command)
    if isinstance(command, v.UpdateQueue | v.UpdateTopic):
        left = stop_judging(left, *named(command))
    if isinstance(command, v.Creation):
        # Even if it was refused: in an outage it may have changed some partitions.
        left = stop_judging(left, v.created_path(command), *named(command)[1:])
    return Transition(outcome=answer, next=left)


def of_no_queue(namespace: Namespace, command: v.Command, observed: Observation) -> Transition:
    """Accept any answer: the documents do not say if this entity can be managed as a queue."""
    answer = (
        v.Refused(error=v.Error.INVALID_OPERATION) if observed.outcome is None else observed.outcome
    )
    harmless = isinstance(answer, v.Refused) or isinstance(command, LOOKING)
    return Transition(
        outcome=answer, next=namespace if harmless else stop_judging(namespace, *named(command))
    )


def of_like_name(
    namespace: Namespace, command: v.Command, like: Queue, observed: Observation
) -> Transition:
    """Accept any answer: the request names a subscription that differs from this one in case only.

    By TOPIC-21 the two names are one when a subscription is created; no document says whether they
    are in other requests.
    """
    answer = v.Refused(error=v.Error.NOT_FOUND) if observed.outcome is None else observed.outcome
    refused = isinstance(observed.outcome, v.Refused)
    left = with_doubt(namespace, command)
    if not refused and not isinstance(command, LOOKING):
        left = stop_judging(left, like.settings.queue, *named(command))
    return Transition(outcome=answer, next=left)


def under_a_topic(namespace: Namespace, topic: str, observed: Observation) -> Transition:
    """Accept any answer to the creation of a queue or topic under a subscription's path.

    The documents do not say what then exists at that path, so the topic is no longer judged.
    """
    answer = (
        v.Refused(error=v.Error.INVALID_OPERATION) if observed.outcome is None else observed.outcome
    )
    # A creation that is refused in an outage may have been made in the partitions that are up.
    harmless = isinstance(answer, v.Refused) and not namespace.queues[topic].outages.any
    return Transition(
        outcome=answer, next=namespace if harmless else stop_judging(namespace, topic)
    )


def in_part(
    namespace: Namespace, command: v.Command, queue: Queue, observed: Observation
) -> Transition:
    """Accept any answer about a partly created queue, until its creation is requested again."""
    left = with_doubt(namespace, command)
    # What else the request changed is unknown, and may show once the queue exists everywhere.
    if not isinstance(command, LOOKING):
        left = touched(left, queue)
    if v.destinations(command):
        left = stop_judging(left, *named(command))
    if observed.outcome is None:
        raise AssertionError("answers are listed for complete queues only")
    return Transition(outcome=observed.outcome, next=left)


def touched(namespace: Namespace, queue: Queue) -> Namespace:
    """Record that a queue that may not exist was used, or may still be used."""
    return with_managed(namespace, queue, touched=True)
