"""Refusals of a message because of its keys: they differ, or their partition is down."""

from collections.abc import Iterator

from busproof import vocabulary as v
from busproof.oracle.evolve import evolve
from busproof.oracle.messages.partitioning import narrowed
from busproof.oracle.outages import Partitions
from busproof.oracle.queued_messages import Key
from busproof.oracle.rule_lists import rules_if
from busproof.oracle.sizes.entity_size import perhaps_full
from busproof.oracle.state import Namespace, Queue, with_queue
from busproof.oracle.transition import Transition, refusal


def conflicting(
    namespace: Namespace, queue: Queue, message: v.Message, rule: v.RuleId
) -> Iterator[Transition]:
    """KEY-08, TXN-07, SCHED-12: refuse a message whose SessionId and PartitionKey differ.

    If a partition is down as well, either error may come first (ERROR-PRECEDENCE).
    """
    readings, partitioned = namespace.profile.readings, bool(queue.settings.partitioned)
    # The rule is about partitioned entities; for others, readings differ (REGULAR-KEYS).
    if not partitioned and readings.get("REGULAR-KEYS") == "accepted":
        return
    either_first = queue.outages.any and readings.get("ERROR-PRECEDENCE") != "key-first"
    rules, any_error = rules_if((partitioned, rule)), partitioned and either_first
    yield refusal(namespace, v.Error.INVALID_OPERATION, *rules, any_error=any_error)
    yield from perhaps_full(namespace, queue, message)


def regular_accepts(namespace: Namespace) -> bool:
    """Return whether a regular queue may take a PartitionKey that differs from the SessionId."""
    return namespace.profile.readings.get("REGULAR-KEYS") != "refused"


def unavailable(
    namespace: Namespace, queue: Queue, key: Key, home: Partitions, *rules: v.RuleId
) -> Transition:
    """KEY-03, KEY-20: refuse a message because its key's partition is down (OUTAGE-ERROR)."""
    outages = queue.outages
    if outages.identified:
        # The refusal shows that the key's partition is among those that are down.
        hit = home & (outages.down | outages.doubt)
        queue = evolve(queue, homes=narrowed(namespace, queue, key, hit))
        namespace = with_queue(namespace, queue)
        if outages.must_hit(home) and home.bit_count() == 1:
            rules = (*rules, "KEY-20")
    error_is_free = namespace.profile.readings.get("OUTAGE-ERROR") != "unavailable"
    return refusal(namespace, v.Error.UNAVAILABLE, *rules, any_error=error_is_free)
