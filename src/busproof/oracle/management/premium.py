"""Premium: partitioned namespaces, and partitioned entities that Premium no longer creates."""

from busproof import vocabulary as v
from busproof.oracle.state import Namespace, Queue


def _is_stated(profile: v.Profile) -> bool:
    """PREM-01: return whether the edition says that Premium has no partitioned entities."""
    oldest = "PREM-01" in profile.silent
    return not oldest or profile.readings.get("PREMIUM-OLDEST") == "not-supported"


def options_in_premium(profile: v.Profile, options: tuple[bool, ...]) -> tuple[bool, ...]:
    """Return the partitioning options that a queue or topic may get: true, false or both.

    Args:
        profile: the profile of a Premium namespace.
        options: the options that it might get in another tier.
    """
    # In a partitioned namespace the namespace decides, not the request (PREM-14, PREM-15).
    if profile.is_partitioned:
        return (True,)
    if _is_stated(profile):
        return (profile.readings.get("PREMIUM-CHECKBOX") == "always-on",)
    # The oldest edition neither forbids partitioned entities in Premium nor promises them.
    supported = profile.readings.get("PREMIUM-OLDEST") == "supported"
    return options if supported or True not in options else (False, True)


def partitioning_refused(
    profile: v.Profile, wanted: bool | None, options: tuple[bool, ...]
) -> tuple[bool, bool]:
    """PREM-01, PREM-15: return whether Premium may refuse the request, and whether it must.

    Args:
        profile: the profile of a Premium namespace.
        wanted: the partitioning option of the request, if it has one.
        options: the options that the request may mean in another tier.
    """
    if profile.is_partitioned:
        reading = profile.readings.get("PREMIUM-UNASKED", "either") if wanted is None else ""
        reading = "refused" if wanted is False else reading
        # A request that leaves the option open may get a partitioned entity or a refusal
        # (PREMIUM-UNASKED); one for an entity without partitions is refused.
        return reading in ("either", "refused"), reading == "refused"
    reading = "either"
    if _is_stated(profile):
        reading = profile.readings.get("PREMIUM-CHECKBOX", "either")
    elif profile.readings.get("PREMIUM-OLDEST") == "supported":
        reading = "supported"
    may, must = reading in ("either", "refused"), reading == "refused"
    # A refusal is possible only if the request may mean a partitioned entity, and certain only if
    # it cannot mean another one.
    return True in options and may, must and False not in options


def is_distinct(profile: v.Profile, command: v.SendBatch) -> bool:
    """PREM-17: return whether a partitioned namespace refuses a batch for its keys.

    It does if messages have different SessionIds or PartitionKeys. BATCH-KEYS is about messages
    without one.
    """
    return profile.is_partitioned and any(
        len({getattr(message, name) for message in command.messages} - {None}) > 1
        for name in ("session_id", "partition_key")
    )


def may_keep_as_it_is(namespace: Namespace, queue: Queue) -> bool:
    """PREM-05: return whether an old partitioned queue may refuse updates (PREMIUM-EXISTING)."""
    everything = namespace.reading("PREMIUM-EXISTING") == "everything"
    return is_from_before(namespace, queue) and not everything


def is_from_before(namespace: Namespace, queue: Queue) -> bool:
    """Return whether a queue in Premium was created when the tier still allowed partitions."""
    return queue.managed.restored and namespace.profile.tier is v.Tier.PREMIUM
