"""Premium: namespaces with and without partitions, and partitioned entities from before."""

from typing import Final

from busproof import vocabulary as v
from busproof.oracle.rule_lists import rules_if
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
        reading = "refused" if wanted is False else reading
        return reading in ("either", "refused"), reading == "refused"
    reading = "either"
    if _is_stated(profile):
        reading = profile.readings.get("PREMIUM-CHECKBOX", "either")
    elif profile.readings.get("PREMIUM-OLDEST") == "supported":
        reading = "supported"
    may, must = reading in ("either", "refused"), reading == "refused"
    return True in asked and may, must and False not in asked


def is_distinct(profile: v.Profile, command: v.SendBatch) -> bool:
    """PREM-17: return whether a partitioned namespace refuses a batch for its keys.

    Its messages have different SessionIds or PartitionKeys; BATCH-KEYS is about messages without.
    """
    return profile.is_partitioned and any(
        len({getattr(message, name) for message in command.messages} - {None}) > 1
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
) -> tuple[v.RuleId, ...]:
    """Return the rules on Premium that an answer exercises.

    Args:
        namespace: the state after it.
        queue: the queue concerned, if there is one.
        command: the request.
        outcome: the answer.
    """
    if namespace.profile.tier is not v.Tier.PREMIUM or isinstance(outcome, v.Refused):
        return ()
    if queue is None:
        restored = namespace.entity_counts.restored.earliest
        return rules_if((isinstance(command, v.ListQueues) and restored, "PREM-04"))
    worked = isinstance(outcome, v.Received | v.Done | v.Peeked) and outcome != v.Peeked()
    before = _is_from_before(namespace, queue) and isinstance(command, _ON_MESSAGES)
    regular = not queue.settings.partitioned
    view = outcome.message if regular and isinstance(outcome, v.Received) else None
    within = command.transaction if regular and isinstance(command, v.Send) else None
    keyless = within is not None and _need_no_key(namespace.transactions.get(within))
    return rules_if(
        (worked and before, "PREM-03"),
        (view is not None and queue.settings.requires_session, "PREM-11"),
        (view is not None and view.partition_key is not None, "PREM-12"),
        (keyless, "PREM-13"),
    )


def _need_no_key(transaction: Transaction | None) -> bool:
    """PREM-13: return whether a transaction's latest message has no key, or a different one."""
    staged = [] if transaction is None else in_order(transaction)[-2:]
    keys = {_key(each.message) for each in staged}
    return None in keys or len(keys) > 1


def _key(message: v.Message) -> str | None:
    return message.session_id if message.session_id is not None else message.partition_key


def blamed_in_premium(
    namespace: Namespace, queue: Queue | None, command: v.Command, outcome: v.Outcome
) -> tuple[v.RuleId, ...]:
    """Return further rules on Premium that a violation may break."""
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
        (_is_from_before(namespace, queue), "PREM-04" if seen_whole else "PREM-03"),
        (queue.settings.requires_session, "PREM-11"),
        (sent is not None and sent.transaction is not None, "PREM-13"),
        (by_key or (regular and isinstance(outcome, v.Received)), "PREM-12"),
    )
