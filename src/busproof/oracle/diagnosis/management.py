"""Diagnosis of events that break rules on the management of entities (MGMT, QUOTA)."""

from typing import Final

from busproof import vocabulary as v
from busproof.oracle.coverage.management import is_reached, own_rule
from busproof.oracle.entity_counts import MOST_PARTITIONED, Kind
from busproof.oracle.management.descriptions import wrongly_told
from busproof.oracle.management.validation import version_shown
from busproof.oracle.rule_lists import rules_if
from busproof.oracle.sizes.message_limits import is_longest_name
from busproof.oracle.sizes.quotas import MOST_ENTITIES, Wanted
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


_DEMANDED_IN_PREMIUM: Final[dict[str, tuple[v.RuleId, ...]]] = {
    "counting": ("QUOTA-12",),
    "quota": ("QUOTA-13",),
}
"""Reading of QUOTA-PREMIUM to the rule broken by refusing one more entity."""


def is_management(command: v.Command) -> bool:
    """Return whether the request creates, deletes, changes, describes or lists entities."""
    return isinstance(command, Management)


def blamed_in_management(
    namespace: Namespace, command: v.Command, outcome: v.Outcome, allowed: tuple[Transition, ...]
) -> tuple[v.RuleId, ...]:
    """Return the rules that the event breaks, besides those of the allowed answers."""
    queue = namespace.queues.get(getattr(command, "queue", getattr(command, "topic", "")))
    rules: tuple[v.RuleId, ...] = ()
    match command, outcome:
        case ((v.ListQueues() | v.ListTopics() | v.ListSubscriptions()), _):
            missing = isinstance(command, v.ListSubscriptions) and queue is None
            rules = rules_if((not missing, "MGMT-16"))
        case ((v.CreateQueue() | v.CreateTopic() | v.CreateSubscription()), v.Refused()):
            denied = _denied(namespace, command, outcome)
            rules = (*denied, *_wrongly_not_created(namespace, command, queue))
        case (v.GetQueue(), v.Described(description=reported)) | (
            v.GetTopic(),
            v.TopicDescribed(description=reported),
        ) if queue is not None:
            rules = wrongly_told(namespace, queue, reported)
        case v.GetQueue(), _ if queue is not None:
            rules = ("MGMT-20", "MGMT-11")
        case ((v.UpdateQueue(max_size=int()) | v.UpdateTopic(max_size=int())), v.Done()):
            rules = rules_if((namespace.reading("SIZE-UPDATE") == "refused", "SIZE-17"))
        case (
            (v.UpdateQueue() | v.DeleteQueue() | v.UpdateTopic() | v.DeleteTopic()),
            v.Refused(),
        ) if queue is not None:
            rules = _wrongly_kept(command, allowed)
    return rules


def _quota_denied(namespace: Namespace, wanted: Wanted) -> tuple[v.RuleId, ...]:
    """Return the rules that are broken by refusing one more entity below the quota."""
    counts = namespace.entity_counts
    if namespace.profile.tier is v.Tier.PREMIUM:
        reading = namespace.reading("QUOTA-PREMIUM")
        return (*_DEMANDED_IN_PREMIUM.get(reading or "", ()), "QUOTA-14", "QUOTA-07")
    of_partitions = wanted.kind in (Kind.QUEUE, Kind.TOPIC)
    heavy = counts.stores.earliest + wanted.partitions > MOST_ENTITIES
    return rules_if(
        (of_partitions and counts.quota_reached, "QUOTA-05"),
        (of_partitions, own_rule(wanted)),
        (is_reached(counts.regular if of_partitions else counts.partitioned), "QUOTA-06"),
        (heavy, "QUOTA-09"),
        (True, "QUOTA-07"),
    )


def _denied(
    namespace: Namespace,
    command: v.CreateQueue | v.CreateTopic | v.CreateSubscription,
    outcome: v.Refused,
) -> tuple[v.RuleId, ...]:
    """Return the rules on quotas that the refusal of a creation breaks."""
    many = namespace.entity_counts.entities.earliest + 1 >= MOST_PARTITIONED
    if outcome.error is not v.Error.QUOTA_EXCEEDED and not many:
        return ()
    if isinstance(command, v.CreateSubscription):
        return _quota_denied(namespace, Wanted(Kind.SUBSCRIPTION))
    if not command.partitioned:
        return _quota_denied(namespace, Wanted(Kind.REGULAR))
    kind = Kind.TOPIC if isinstance(command, v.CreateTopic) else Kind.QUEUE
    return _quota_denied(namespace, Wanted(kind, namespace.profile.partitions))


def _wrongly_not_created(
    namespace: Namespace,
    command: v.CreateQueue | v.CreateTopic | v.CreateSubscription,
    queue: Queue | None,
) -> tuple[v.RuleId, ...]:
    tombstone = namespace.registry.tombstones.get(v.created_path(command))
    again = rules_if(
        (tombstone is not None and tombstone.with_topic, "TOPIC-22"), (tombstone, "MGMT-15")
    )
    if isinstance(command, v.CreateSubscription):
        return again
    shown = None if command.api_version is None else version_shown(command.api_version)
    sized = command.max_size is not None and namespace.profile.tier is v.Tier.STANDARD
    granted = rules_if((shown, shown or ""), (sized, "SIZE-01"))
    if isinstance(command, v.CreateTopic):
        return (*again, *granted)
    if queue is not None:
        return ("MGMT-19",) if is_unsure(queue) else ("MGMT-09",)
    return (
        *rules_if((is_longest_name(command.queue), "LIMIT-17")),
        *granted,
        *rules_if((tombstone, "MGMT-05")),
        "MGMT-02" if command.partitioned else "MGMT-03",
    )


def _wrongly_kept(command: v.Command, allowed: tuple[Transition, ...]) -> tuple[v.RuleId, ...]:
    """Return the rule broken by refusing a change or a deletion that must be made."""
    if any("MGMT-19" in transition.rules for transition in allowed):
        return ("MGMT-19",)
    if isinstance(command, v.UpdateQueue | v.UpdateTopic):
        return rules_if((command.max_size is not None, "SIZE-16"), (True, "MGMT-12"))
    return ("MGMT-15",)
