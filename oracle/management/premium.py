"""Premium: namespaces with and without partitions, and partitioned entities from before."""

from collections.abc import Iterator
from typing import Final

from busproof import vocabulary as v
from busproof.oracle.state import Namespace, Queue, Transaction
from busproof.oracle.transactions.limits import in_order

_ON_MESSAGES: Final = v.Send | v.Receive | v.Peek | v.Complete


def _is_stated(profile: v.Profile) -> bool:
    """PREM-01: return whether the edition says that Premium has no partitioning."""
    oldest = "PREM-01" in profile.silent
    return not oldest or profile.readings.get("PREMIUM-OLDEST") == "not-supported"


def options_in_premium(profile: v.Profile, options: tuple[bool, ...]) -> tuple[bool, ...]:
    """Return whether a queue or topic may become partitioned, not partitioned, or either.

    Args:
        profile: the profile of a Premium namespace.
        options: the options in another tier.
    """
    if profile.is_partitioned:
        return (True,)
    if _is_stated(profile):
        return (profile.readings.get("PREMIUM-CHECKBOX") == "always-on",)
    supported = profile.readings.get("PREMIUM-OLDEST") == "supported"
    return options if supported or True not in options else (False, True)


def partitioning_refused(
    profile: v.Profile, wanted: bool | None, asked: tuple[bool, ...]
) -> tuple[bool, bool]:
    """PREM-01, PREM-15: return whether Premium may refuse what a request asks, and whether it must.

    Args:
        profile: the profile of a Premium namespace.
        wanted: the partitioning option of the request, if it has one.
        asked: what the request may mean by it in another tier.
    """
    if profile.is_partitioned:
        reading = profile.readings.get("PREMIUM-UNASKED", "either") if wanted is None else ""
        return wanted is False or reading in ("either", "refused"), (
            wanted is False or reading == "refused"
        )
    may, must = _partitions_refused(profile)
    return True in asked and may, must and False not in asked


def _partitions_refused(profile: v.Profile) -> tuple[bool, bool]:
    """Return whether a request for a partitioned entity may be refused, and whether it must be."""
    reading = "either"
    if _is_stated(profile):
        reading = profile.readings.get("PREMIUM-CHECKBOX", "either")
    elif profile.readings.get("PREMIUM-OLDEST") == "supported":
        reading = "supported"
    return reading in ("either", "refused"), reading == "refused"


def is_distinct(profile: v.Profile, command: v.SendBatch) -> bool:
    """PREM-17: return whether a partitioned namespace refuses a batch for its keys.

    It has distinct SessionIds, or distinct PartitionKeys; BATCH-KEYS is about messages without any.
    """
    return profile.is_partitioned and any(
        len({getattr(each, name) for each in command.messages} - {None}) > 1
        for name in ("session_id", "partition_key")
    )


def may_keep_as_it_is(namespace: Namespace, queue: Queue) -> bool:
    """PREM-05: return whether a queue from before may refuse updates (PREMIUM-EXISTING)."""
    everything = namespace.profile.readings.get("PREMIUM-EXISTING") == "everything"
    return _is_from_before(namespace, queue) and not everything


def _is_from_before(namespace: Namespace, queue: Queue) -> bool:
    return queue.managed.restored and namespace.profile.tier is v.Tier.PREMIUM


def shown_in_premium(
    namespace: Namespace, queue: Queue | None, command: v.Command, outcome: v.Outcome
) -> Iterator[v.RuleId]:
    """Return the rules on Premium that an answer exercises.

    Args:
        namespace: the state after it.
        queue: the queue concerned, if there is one.
        command: the request.
        outcome: the answer.
    """
    if namespace.profile.tier is not v.Tier.PREMIUM or isinstance(outcome, v.Refused):
        return
    if isinstance(command, v.ListQueues) and namespace.entity_counts.restored.earliest:
        yield "PREM-04"
    if queue is None:
        return
    worked = isinstance(outcome, v.Received | v.Done | v.Peeked) and outcome != v.Peeked()
    if _is_from_before(namespace, queue) and isinstance(command, _ON_MESSAGES) and worked:
        yield "PREM-03"
    if queue.settings.partitioned:
        return
    if isinstance(outcome, v.Received):
        yield from _shown_by_message(queue, outcome)
    within = command.transaction if isinstance(command, v.Send) else None
    if within is not None and _need_no_key(namespace.transactions.get(within)):
        yield "PREM-13"


def _shown_by_message(queue: Queue, outcome: v.Received) -> Iterator[v.RuleId]:
    if queue.settings.requires_session:
        yield "PREM-11"
    if outcome.message.partition_key is not None:
        yield "PREM-12"


def _need_no_key(transaction: Transaction | None) -> bool:
    """PREM-13: return whether a transaction's latest message has no key, or a different one."""
    staged = [] if transaction is None else in_order(transaction)[-2:]
    keys = {_key(each.message) for each in staged}
    return None in keys or len(keys) > 1


def _key(message: v.Message) -> str | None:
    return message.session_id if message.session_id is not None else message.partition_key


def blamed_in_premium(
    namespace: Namespace, queue: Queue | None, command: v.Command, outcome: v.Outcome
) -> Iterator[v.RuleId]:
    """Return further rules on Premium that a violation may break."""
    if namespace.profile.tier is not v.Tier.PREMIUM:
        return
    refused = isinstance(outcome, v.Refused)
    if isinstance(command, v.ListQueues) and namespace.entity_counts.restored.latest:
        yield "PREM-04"
    if isinstance(command, v.SendBatch) and is_distinct(namespace.profile, command):
        yield "PREM-17"
    if isinstance(command, v.CreateQueue | v.CreateTopic) and namespace.profile.is_partitioned:
        yield "PREM-14" if refused else "PREM-15"
    if isinstance(command, v.CreateQueue | v.CreateTopic) and refused:
        if isinstance(command, v.CreateQueue) and command.requires_session:
            yield "PREM-11"
        if command.max_size is not None:
            yield "PREM-07"
    if queue is None:
        return
    if _is_from_before(namespace, queue):
        yield "PREM-04" if isinstance(command, v.GetQueue | v.DeleteQueue) else "PREM-03"
    if queue.settings.requires_session:
        yield "PREM-11"
    if not queue.settings.partitioned:
        yield from _blamed_for_keys(command, outcome)


def _blamed_for_keys(command: v.Command, outcome: v.Outcome) -> Iterator[v.RuleId]:
    if isinstance(command, v.Send) and isinstance(outcome, v.Refused):
        if command.transaction is not None:
            yield "PREM-13"
        if command.message.partition_key is not None:
            yield "PREM-12"
    if isinstance(outcome, v.Received):
        yield "PREM-12"
