"""Which rules on the management of entities an event breaks that nothing allowed."""

from collections.abc import Iterator

from busproof.oracle.api_versions import version_shown
from busproof.oracle.census import MOST_PARTITIONED, Kind
from busproof.oracle.describing import wrongly_told
from busproof.oracle.describing_topics import wrongly_told_of_topic
from busproof.oracle.measures import is_longest_name
from busproof.oracle.quotas import Wanted, quota_denied
from busproof.oracle.state import Namespace, Queue, is_unsure
from busproof.oracle.transition import Transition
from busproof.vocabulary.addressing import created_path
from busproof.vocabulary.commands import (
    Command,
    CreateQueue,
    CreateSubscription,
    CreateTopic,
    DeleteQueue,
    DeleteTopic,
    GetQueue,
    GetTopic,
    ListQueues,
    ListSubscriptions,
    ListTopics,
    TopicManagement,
    UpdateQueue,
    UpdateTopic,
)
from busproof.vocabulary.outcomes import Described, Outcome, Refused, TopicDescribed
from busproof.vocabulary.values import Error, RuleId, Tier

__all__ = ["blamed_in_management", "is_management"]

Management = (
    CreateQueue
    | CreateTopic
    | CreateSubscription
    | GetQueue
    | ListQueues
    | UpdateQueue
    | DeleteQueue
    | TopicManagement
    | ListTopics
)


def is_management(command: Command) -> bool:
    """Whether the request is about what queues there are."""
    return isinstance(command, Management)


def blamed_in_management(
    namespace: Namespace, command: Command, outcome: Outcome, allowed: tuple[Transition, ...]
) -> tuple[RuleId, ...]:
    """The rules that the answer breaks besides those that decided what was allowed."""
    queue = namespace.queues.get(getattr(command, "queue", getattr(command, "topic", "")))
    match command, outcome:
        case ((ListQueues() | ListTopics() | ListSubscriptions()), _):
            missing = isinstance(command, ListSubscriptions) and queue is None
            return () if missing else ("MGMT-16",)
        case ((CreateQueue() | CreateTopic() | CreateSubscription()), Refused()):
            denied = _denied(namespace, command, outcome)
            return (*denied, *_wrongly_not_created(namespace, command, queue))
        case GetQueue(), _ if queue is not None:
            return _wrongly_got(namespace, queue, outcome)
        case GetTopic(), TopicDescribed(description=told) if queue is not None:
            return wrongly_told_of_topic(namespace, queue, told)
        case (
            (UpdateQueue() | DeleteQueue() | UpdateTopic() | DeleteTopic()),
            Refused(),
        ) if queue is not None:
            return _wrongly_kept(command, allowed)
    return ()


def _wrongly_got(namespace: Namespace, queue: Queue, outcome: Outcome) -> tuple[RuleId, ...]:
    if isinstance(outcome, Described):
        return wrongly_told(namespace, queue, outcome.description)
    return ("MGMT-20", "MGMT-11")


def _denied(
    namespace: Namespace,
    command: CreateQueue | CreateTopic | CreateSubscription,
    outcome: Refused,
) -> tuple[RuleId, ...]:
    """One more entity was refused, for there being too many it says, or may mean."""
    many = namespace.census.entities.earliest + 1 >= MOST_PARTITIONED
    if outcome.error is not Error.QUOTA_EXCEEDED and not many:
        return ()
    if isinstance(command, CreateSubscription):
        return quota_denied(namespace, Wanted(Kind.SUBSCRIPTION))
    kind = Kind.TOPIC if isinstance(command, CreateTopic) else Kind.QUEUE
    partitions = namespace.profile.partitions if command.partitioned else 1
    return quota_denied(
        namespace, Wanted(kind if command.partitioned else Kind.REGULAR, partitions)
    )


def _wrongly_not_created(
    namespace: Namespace,
    command: CreateQueue | CreateTopic | CreateSubscription,
    queue: Queue | None,
) -> tuple[RuleId, ...]:
    if not isinstance(command, CreateQueue):
        again = _wrongly_not_again(namespace, created_path(command))
        granted = _granted(namespace, command) if isinstance(command, CreateTopic) else ()
        return (*again, *granted)
    if queue is not None:
        return ("MGMT-19",) if is_unsure(queue) else ("MGMT-09",)
    rules: tuple[RuleId, ...] = ("MGMT-02",) if command.partitioned else ("MGMT-03",)
    if command.queue in namespace.registry.buried:
        rules = ("MGMT-05", *rules)
    rules = (*_granted(namespace, command), *rules)
    return ("LIMIT-17", *rules) if is_longest_name(command.queue) else rules


def _granted(namespace: Namespace, command: CreateQueue | CreateTopic) -> Iterator[RuleId]:
    """The rules by which a request of this api-version is heeded, and this size granted."""
    shown = None if command.api_version is None else version_shown(command.api_version)
    if shown is not None:
        yield shown
    if command.max_size is not None and namespace.profile.tier is Tier.STANDARD:
        yield "SIZE-01"


def _wrongly_not_again(namespace: Namespace, name: str) -> tuple[RuleId, ...]:
    """A topic or a subscription was not created, perhaps because of a namesake that is gone."""
    buried = namespace.registry.buried.get(name)
    if buried is None:
        return ()
    return ("TOPIC-22", "MGMT-15") if buried.with_topic else ("MGMT-15",)


def _wrongly_kept(command: Command, allowed: tuple[Transition, ...]) -> tuple[RuleId, ...]:
    """A change was refused that had to be made."""
    if any("MGMT-19" in transition.rules for transition in allowed):
        return ("MGMT-19",)
    return ("MGMT-12",) if isinstance(command, UpdateQueue | UpdateTopic) else ("MGMT-15",)
