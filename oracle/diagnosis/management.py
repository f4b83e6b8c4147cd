"""Diagnosis of events that break rules on the management of entities."""

from collections.abc import Iterator

from busproof import vocabulary as v
from busproof.oracle.entity_counts import MOST_PARTITIONED, Kind
from busproof.oracle.management.queue_description import wrongly_told
from busproof.oracle.management.topic_description import wrongly_told_of_topic
from busproof.oracle.management.validation import version_shown
from busproof.oracle.sizes.entity_quota import Wanted, quota_denied
from busproof.oracle.sizes.message_limits import is_longest_name
from busproof.oracle.state import Namespace, Queue, is_unsure
from busproof.oracle.transition import Transition

Management = (
    v.CreateQueue
    | v.CreateTopic
    | v.CreateSubscription
    | v.GetQueue
    | v.ListQueues
    | v.UpdateQueue
    | v.DeleteQueue
    | v.TopicManagement
    | v.ListTopics
)


def is_management(command: v.Command) -> bool:
    """Return whether the request is about the existence of entities."""
    return isinstance(command, Management)


def blamed_in_management(
    namespace: Namespace, command: v.Command, outcome: v.Outcome, allowed: tuple[Transition, ...]
) -> tuple[v.RuleId, ...]:
    """Return the broken rules beyond those that decided the allowed answers."""
    queue = namespace.queues.get(getattr(command, "queue", getattr(command, "topic", "")))
    match command, outcome:
        case ((v.ListQueues() | v.ListTopics() | v.ListSubscriptions()), _):
            missing = isinstance(command, v.ListSubscriptions) and queue is None
            return () if missing else ("MGMT-16",)
        case ((v.CreateQueue() | v.CreateTopic() | v.CreateSubscription()), v.Refused()):
            denied = _denied(namespace, command, outcome)
            return (*denied, *_wrongly_not_created(namespace, command, queue))
        case v.GetQueue(), _ if queue is not None:
            return _wrongly_got(namespace, queue, outcome)
        case v.GetTopic(), v.TopicDescribed(description=told) if queue is not None:
            return wrongly_told_of_topic(namespace, queue, told)
        case (
            (v.UpdateQueue() | v.DeleteQueue() | v.UpdateTopic() | v.DeleteTopic()),
            v.Refused(),
        ) if queue is not None:
            return _wrongly_kept(command, allowed)
    return ()


def _wrongly_got(namespace: Namespace, queue: Queue, outcome: v.Outcome) -> tuple[v.RuleId, ...]:
    if isinstance(outcome, v.Described):
        return wrongly_told(namespace, queue, outcome.description)
    return ("MGMT-20", "MGMT-11")


def _denied(
    namespace: Namespace,
    command: v.CreateQueue | v.CreateTopic | v.CreateSubscription,
    outcome: v.Refused,
) -> tuple[v.RuleId, ...]:
    """Return the rules broken by refusing one more entity because of a quota."""
    many = namespace.entity_counts.entities.earliest + 1 >= MOST_PARTITIONED
    if outcome.error is not v.Error.QUOTA_EXCEEDED and not many:
        return ()
    if isinstance(command, v.CreateSubscription):
        return quota_denied(namespace, Wanted(Kind.SUBSCRIPTION))
    kind = Kind.TOPIC if isinstance(command, v.CreateTopic) else Kind.QUEUE
    partitions = namespace.profile.partitions if command.partitioned else 1
    return quota_denied(
        namespace, Wanted(kind if command.partitioned else Kind.REGULAR, partitions)
    )


def _wrongly_not_created(
    namespace: Namespace,
    command: v.CreateQueue | v.CreateTopic | v.CreateSubscription,
    queue: Queue | None,
) -> tuple[v.RuleId, ...]:
    if not isinstance(command, v.CreateQueue):
        again = _wrongly_not_again(namespace, v.created_path(command))
        granted = _granted(namespace, command) if isinstance(command, v.CreateTopic) else ()
        return (*again, *granted)
    if queue is not None:
        return ("MGMT-19",) if is_unsure(queue) else ("MGMT-09",)
    rules: tuple[v.RuleId, ...] = ("MGMT-02",) if command.partitioned else ("MGMT-03",)
    if command.queue in namespace.registry.tombstones:
        rules = ("MGMT-05", *rules)
    rules = (*_granted(namespace, command), *rules)
    return ("LIMIT-17", *rules) if is_longest_name(command.queue) else rules


def _granted(namespace: Namespace, command: v.CreateQueue | v.CreateTopic) -> Iterator[v.RuleId]:
    """Return the rules about this api-version and this size."""
    shown = None if command.api_version is None else version_shown(command.api_version)
    if shown is not None:
        yield shown
    if command.max_size is not None and namespace.profile.tier is v.Tier.STANDARD:
        yield "SIZE-01"


def _wrongly_not_again(namespace: Namespace, name: str) -> tuple[v.RuleId, ...]:
    """Diagnose a refused creation, perhaps because of a deleted entity of the same name."""
    tombstone = namespace.registry.tombstones.get(name)
    if tombstone is None:
        return ()
    return ("TOPIC-22", "MGMT-15") if tombstone.with_topic else ("MGMT-15",)


def _wrongly_kept(command: v.Command, allowed: tuple[Transition, ...]) -> tuple[v.RuleId, ...]:
    """Diagnose a refused change that had to be made."""
    if any("MGMT-19" in transition.rules for transition in allowed):
        return ("MGMT-19",)
    return ("MGMT-12",) if isinstance(command, v.UpdateQueue | v.UpdateTopic) else ("MGMT-15",)
