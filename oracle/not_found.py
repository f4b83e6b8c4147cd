"""What is answered under a name of no queue, or of one that may be there, or be there in part."""

from collections.abc import Iterator
from typing import Final

import attrs

from busproof import vocabulary as v
from busproof.oracle.management.deletion import buried
from busproof.oracle.management.test_controls import in_outage
from busproof.oracle.outages import Outages
from busproof.oracle.sizes.message_limits import beyond_limits
from busproof.oracle.state import Namespace, Queue, everywhere, with_queue
from busproof.oracle.transactions.limits import with_transaction
from busproof.oracle.transition import Sighting, Transition, done, refusal
from busproof.oracle.unjudged import LOOKING, given_up, named

__all__ = [
    "absent",
    "in_part",
    "maybe_absent",
    "of_no_queue",
    "touched",
    "under_a_topic",
    "unknowable",
    "with_doubt",
]


_USING: Final = v.Send | v.Receive | v.Peek | v.GetQueue | v.UpdateQueue | v.DeleteQueue
"""Requests of which it is said what they are answered where there is nothing of the name."""


def absent(namespace: Namespace, command: v.Command, name: str) -> Iterator[Transition]:
    """MGMT-10: what a queue answers that does not exist."""
    if isinstance(command, v.TakePartitionDown | v.BringPartitionUp):
        yield from _answered(namespace, command, _switched(namespace, command))
        return
    namespace = with_doubt(namespace, command)
    if isinstance(command, _USING | v.TopicManagement):
        # Basic has no topics, and need not say of one that it is not found (MGMT-24).
        unheard_of = namespace.profile.tier is v.Tier.BASIC and isinstance(
            command, v.TopicManagement
        )
        why = _why_missing(namespace, name)
        yield refusal(namespace, v.Error.NOT_FOUND, *why, any_error=unheard_of)
        if isinstance(command, v.Send):
            # Which of two things it is refused for is not said (ERROR-PRECEDENCE).
            beyond = beyond_limits(namespace, command)
            yield from (attrs.evolve(each, rules=()) for each in beyond)
    elif isinstance(command, v.CreateSubscription):
        yield refusal(namespace, v.Error.NOT_FOUND, "TOPIC-19")
    else:
        yield refusal(namespace, v.Error.NOT_FOUND, any_error=True)


def _why_missing(namespace: Namespace, name: str) -> tuple[v.RuleId, ...]:
    """MGMT-10, MGMT-15, TOPIC-22: why there is nothing of this name."""
    buried = namespace.registry.buried.get(name)
    if buried is None:
        return ("MGMT-10",)
    return ("TOPIC-22", "MGMT-15", "MGMT-10") if buried.with_topic else ("MGMT-15", "MGMT-10")


def _switched(namespace: Namespace, command: v.TakePartitionDown | v.BringPartitionUp) -> Namespace:
    """The outages of a queue that is not there: it is created with them."""
    registry, told = namespace.registry, namespace.vantage.partitions
    name = v.owner_of(command.queue)
    outages = registry.outages.get(name, Outages(told))
    down = isinstance(command, v.TakePartitionDown)
    changed = registry.outages.set(name, outages.switched(command.partition, down=down))
    return attrs.evolve(namespace, registry=attrs.evolve(registry, outages=changed))


def maybe_absent(namespace: Namespace, command: v.Command, queue: Queue) -> Iterator[Transition]:
    """What a queue may answer of which it is not known whether it is there, or whole.

    MGMT-19: a deletion that is repeated with every partition up finds at worst that it was done.
    """
    if isinstance(command, v.TakePartitionDown | v.BringPartitionUp):
        yield from _switched_if_there(namespace, command, queue)
        return
    repeated = queue.managed.frayed == "delete" and not queue.outages.any
    if repeated and isinstance(command, v.DeleteQueue | v.DeleteTopic):
        yield refusal(buried(namespace, queue), v.Error.NOT_FOUND, "MGMT-19")
    else:
        left = with_doubt(namespace, command)
        yield refusal(left, v.Error.NOT_FOUND, any_error=True)


def _switched_if_there(
    namespace: Namespace, command: v.TakePartitionDown | v.BringPartitionUp, queue: Queue
) -> Iterator[Transition]:
    """The outage is that of the queue, if it is there, and of one that is created later."""
    down = isinstance(command, v.TakePartitionDown)
    switched = namespace
    if 1 << command.partition & everywhere(namespace, queue.settings):
        outages = queue.outages.switched(command.partition, down=down)
        switched = in_outage(namespace, queue.settings.queue, outages)
    yield from _answered(namespace, command, _switched(switched, command))


def _answered(
    namespace: Namespace, command: v.TakePartitionDown | v.BringPartitionUp, switched: Namespace
) -> Iterator[Transition]:
    """Done, of a partition that there may be, or refused."""
    if command.partition < namespace.profile.partitions:
        yield done(switched)
    yield refusal(namespace, v.Error.NOT_FOUND, any_error=True)


def unknowable(namespace: Namespace, command: v.Command, seen: Sighting) -> Transition:
    """Whatever was seen of a name of which nothing is told any more, and no rule."""
    answer = v.Refused(error=v.Error.NOT_FOUND) if seen.outcome is None else seen.outcome
    left = with_doubt(namespace, command)
    if isinstance(command, v.UpdateQueue | v.UpdateTopic):
        left = given_up(left, *named(command))
    if isinstance(command, v.Creation):
        # Even where it was refused: in an outage something may be left of it.
        left = given_up(left, v.created_path(command), *named(command)[1:])
    return Transition(outcome=answer, next=left)


def of_no_queue(namespace: Namespace, command: v.Command, seen: Sighting) -> Transition:
    """Outside the documents: whether such an entity is managed as a queue is not said."""
    answer = v.Refused(error=v.Error.INVALID_OPERATION) if seen.outcome is None else seen.outcome
    harmless = isinstance(answer, v.Refused) or isinstance(command, LOOKING)
    return Transition(
        outcome=answer, next=namespace if harmless else given_up(namespace, *named(command))
    )


def under_a_topic(namespace: Namespace, topic: str, seen: Sighting) -> Transition:
    """Outside the documents: a queue or a topic by the name of a subscription is to be created.

    What there is by that name afterwards is not said; of the topic nothing is told any more.
    """
    answer = v.Refused(error=v.Error.INVALID_OPERATION) if seen.outcome is None else seen.outcome
    harmless = isinstance(answer, v.Refused) and not namespace.queues[topic].outages.any
    return Transition(outcome=answer, next=namespace if harmless else given_up(namespace, topic))


def in_part(namespace: Namespace, command: v.Command, queue: Queue, seen: Sighting) -> Transition:
    """Whatever was seen of a queue that may be there in part, until what failed is repeated."""
    left = with_doubt(namespace, command)
    if not isinstance(command, LOOKING):
        left = touched(left, queue)
    if v.destinations(command):
        left = given_up(left, *named(command))
    if seen.outcome is None:
        raise AssertionError("an offer is made of a whole queue, for nothing was seen of it")
    return Transition(outcome=seen.outcome, next=left)


def touched(namespace: Namespace, queue: Queue) -> Namespace:
    """The namespace in which a queue that may not be there was used, or may still be."""
    managed = attrs.evolve(queue.managed, touched=True)
    return with_queue(namespace, attrs.evolve(queue, managed=managed))


def with_doubt(namespace: Namespace, command: v.Command) -> Namespace:
    """The namespace in which a transaction that was sent in may have been ended by a refusal."""
    name: str | None = getattr(command, "transaction", None)
    transaction = None if name is None else namespace.transactions.get(name)
    if name is None or transaction is None:
        return namespace
    return with_transaction(namespace, name, attrs.evolve(transaction, doubtful=True))
