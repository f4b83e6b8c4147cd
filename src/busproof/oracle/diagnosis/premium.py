"""Diagnosis of events that break rules on Premium (PREM)."""

from busproof import vocabulary as v
from busproof.oracle.management.premium import is_distinct, is_from_before
from busproof.oracle.rule_lists import rules_if
from busproof.oracle.state import Namespace, Queue


def blamed_in_premium(
    namespace: Namespace, queue: Queue | None, command: v.Command, outcome: v.Outcome
) -> tuple[v.RuleId, ...]:
    """Return further rules on Premium that the event may break."""
    if namespace.profile.tier is not v.Tier.PREMIUM:
        return ()
    return (
        *_blamed_for_creation(namespace, command, refused=isinstance(outcome, v.Refused)),
        *(() if queue is None else _blamed_of_queue(namespace, queue, command, outcome)),
    )


def _blamed_for_creation(
    namespace: Namespace, command: v.Command, *, refused: bool
) -> tuple[v.RuleId, ...]:
    whole = namespace.profile.is_partitioned
    listed = isinstance(command, v.ListQueues) and namespace.entity_counts.restored.latest
    distinct = isinstance(command, v.SendBatch) and is_distinct(namespace.profile, command)
    created = command if isinstance(command, v.CreateQueue | v.CreateTopic) else None
    sized = created is not None and created.max_size is not None
    in_session = refused and isinstance(command, v.CreateQueue) and command.requires_session
    return rules_if(
        (listed, "PREM-04"),
        (distinct, "PREM-17"),
        (created and whole, "PREM-14" if refused else "PREM-15"),
        (in_session, "PREM-11"),
        (refused and sized, "PREM-07"),
    )


def _blamed_of_queue(
    namespace: Namespace, queue: Queue, command: v.Command, outcome: v.Outcome
) -> tuple[v.RuleId, ...]:
    seen_whole = isinstance(command, v.GetQueue | v.DeleteQueue)
    regular = not queue.settings.partitioned
    refused = regular and isinstance(outcome, v.Refused)
    sent = command if refused and isinstance(command, v.Send) else None
    by_key = sent is not None and sent.message.partition_key is not None
    return rules_if(
        # Get and delete are promised by a rule of their own (PREM-04), all other requests by
        # PREM-03.
        (is_from_before(namespace, queue), "PREM-04" if seen_whole else "PREM-03"),
        (queue.settings.requires_session, "PREM-11"),
        (sent is not None and sent.transaction is not None, "PREM-13"),
        (by_key or (regular and isinstance(outcome, v.Received)), "PREM-12"),
    )
