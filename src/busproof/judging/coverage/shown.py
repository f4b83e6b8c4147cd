"""The rules that an answer of an execution shows: those that decided it, and those it implies."""

from typing import Final

from busproof import vocabulary as v
from busproof.judging.coverage import (
    added_later,
    batches,
    dead_letters,
    deferral,
    expiry,
    filters,
    forwarding,
    locks,
    management,
    messages,
    partitions,
    premium,
    scheduling,
    sessions,
    topics,
    transactions,
)
from busproof.judging.coverage.answers import ANSWERS
from busproof.judging.coverage.duplicates import SeenDuplicates
from busproof.judging.coverage.notes import Coverage, Rules
from busproof.judging.coverage.refusals import of_refusal, said_of
from busproof.model.answers import Answer
from busproof.model.family import Family
from busproof.model.values import EntityKind

__all__ = ["OBSERVERS", "shown_by"]

OBSERVERS: Final[dict[str, type[Family]]] = {
    "batches": batches.SeenBatches,
    "dead_letters": dead_letters.SeenDeadLetters,
    "deferral": deferral.SeenDeferral,
    "duplicates": SeenDuplicates,
    "expiry": expiry.SeenExpiry,
    "forwarding": forwarding.SeenForwarding,
    "locks": locks.SeenLocks,
    "management": management.SeenManagement,
    "messages": messages.SeenMessages,
    "partitions": partitions.SeenPartitions,
    "scheduling": scheduling.SeenScheduling,
    "sessions": sessions.SeenSessions,
    "subscription_rules": filters.SeenSubscriptionRules,
    "topics": topics.SeenTopics,
    "transactions": transactions.SeenTransactions,
}
"""Name of a family of the model to its observer."""

OF_TOPICS: Final = (EntityKind.TOPIC, EntityKind.SUBSCRIPTION)
PROMISED: Final = frozenset(
    (
        *("BATCH-01", "BATCH-04", "BATCH-09", "DEFER-01", "DLQ-12", "FEAT-18", "FILTER-07"),
        *("FWD-01", "FWD-02", "FWD-03", "FWD-04", "FWD-06", "FWD-20"),
        *("KEY-04", "KEY-05", "KEY-07", "KEY-10", "KEY-14", "KEY-24", "LOCK-01"),
        *("PART-02", "PART-04", "PREM-10", "SCHED-01", "SCHED-02", "SIZE-04", "SIZE-06"),
        *("LIFE-01", "LIFE-08", "LOCK-11", "MGMT-01", "MGMT-02", "MGMT-11", "MGMT-12", "MGMT-15"),
        *("PART-05", "PREM-03", "SCHED-03", "SCHED-04", "SESS-03", "SESS-08", "SESS-13"),
        *("SESS-17", "TOPIC-03", "TOPIC-22", "TXN-01", "TXN-02", "TXN-12", "TXN-13"),
    )
)
"""Rules by which a request succeeds, which only later answers show, or a detail of this one."""


def shown_by(coverage: Coverage, answer: Answer) -> Rules:
    """Return the rules that the present event shows, the one that decided it first.

    Args:
        coverage: the coverage, after `begin` and the model's step.
        answer: the model's answer, which agrees with the recorded one.
    """
    command, outcome, entity = coverage.event.command, coverage.event.outcome, coverage.entity
    if isinstance(outcome, v.Refused):
        coverage.show(*said_of(coverage, answer.rules))
        of_refusal(coverage, outcome.error, answer.rules)
    else:
        for rule in answer.rules:
            if rule not in PROMISED:
                coverage.show(rule)
        see = ANSWERS.get(type(command))
        if see is not None:
            see(coverage, coverage.command)
        if entity is not None:
            added_later.of_answer(coverage, entity, command, outcome)
        if coverage.namespace.profile.is_premium:
            premium.of_answer(coverage, entity, command, outcome)
    if entity is None or entity.kind not in OF_TOPICS:
        return coverage.rules
    return topics.with_rules_of_topics(entity, coverage.rules)
