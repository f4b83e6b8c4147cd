"""Validation of the options in a creation, by tier and api-version.

An api-version is a year and a month, and is compared as a date: as text, "2013-9" would be later
than "2013-10". The answer to a malformed version is open (API-VERSION-FORM).
"""

import re
from typing import Final

from busproof import vocabulary as v
from busproof.oracle.forwarding.forwarding_setup import with_lawful_locks
from busproof.oracle.management.premium import options_in_premium, partitioning_refused
from busproof.oracle.messages.duplicates import lawful_windows
from busproof.oracle.sizes.entity_size import may_refuse_size
from busproof.oracle.sizes.message_limits import is_long_name, must_refuse_beyond
from busproof.oracle.state import Namespace
from busproof.oracle.transition import Transition, refusal

_FORM: Final = re.compile(r"[0-9]{4}-(0[1-9]|1[0-2])")
_FIRST: Final = "2013-10"
"""MGMT-06: the first api-version that has partitioned entities."""


def _is_malformed(version: str) -> bool:
    return version != "" and _FORM.fullmatch(version) is None


def version_shown(version: str) -> v.RuleId | None:
    """Return the rule about an api-version; the version is empty if the request names none.

    The result is `None` if the version is malformed.
    """
    if _is_malformed(version):
        return None
    # Versions of this form have the same order as text and as dates.
    return "MGMT-08" if version < _FIRST else "MGMT-06" if version == _FIRST else "MGMT-07"


def knows_partitions(profile: v.Profile, version: str | None) -> bool:
    """MGMT-06, MGMT-07: return whether the bus must support partitions for this api-version.

    `None` stands for the version that the adapter uses itself.
    """
    if version is None:
        return True
    rule = version_shown(version)
    return rule in ("MGMT-06", "MGMT-07") and rule not in profile.silent


def _is_old(version: str | None) -> bool:
    """MGMT-08: return whether this api-version is so old that no edition promises it works."""
    return version is not None and version_shown(version) in ("MGMT-08", None)


def _must_refuse_version(profile: v.Profile, version: str | None) -> bool:
    """Return whether this api-version must be refused as malformed (API-VERSION-FORM)."""
    malformed = version is not None and _is_malformed(version)
    return malformed and profile.readings.get("API-VERSION-FORM") == "refused"


def is_beyond_basic(command: v.CreateQueue) -> bool:
    """Return whether public documentation says that Basic has no such queue."""
    return command.requires_session or command.duplicate_detection


def windows_of(
    namespace: Namespace, command: v.CreateQueue
) -> tuple[tuple[int, tuple[v.RuleId, ...]], ...]:
    """DUP-03: return the duplicate windows that the entity may get, and the rules behind each."""
    detects, window = command.duplicate_detection, command.duplicate_window
    return lawful_windows(namespace, detects=detects, wanted=window)


def objections(namespace: Namespace, command: v.CreateQueue) -> tuple[tuple[Transition, ...], bool]:
    """Return the refusals that a queue's options permit, and whether one of them must follow."""
    profile, wanted, version = namespace.profile, command.partitioned, command.api_version
    limits = with_lawful_locks(command)[1]
    may, must = partitioning_refused(profile, wanted, _asked_for(profile, wanted))
    premium, basic = profile.tier is v.Tier.PREMIUM, profile.tier is v.Tier.BASIC
    # MGMT-08: an old version may ignore the option, and then there is nothing to refuse.
    must = must and (profile.is_partitioned or not _is_old(version))
    # A version without partitions may refuse the option, or ignore it.
    unversioned = _is_old(version) or (wanted and not knows_partitions(profile, version))
    ignored = ("MGMT-08",) if wanted and version_shown(version or "") else ()
    reading = profile.readings.get("BASIC-FEATURES")
    lacking = basic and is_beyond_basic(command) and reading != "offered"
    of_size = {v.Tier.STANDARD: ("SIZE-02",), v.Tier.PREMIUM: ("PREM-08",)}.get(profile.tier, ())
    cases: tuple[tuple[object, tuple[v.RuleId, ...], bool], ...] = (
        (is_long_name(command.queue), ("LIMIT-18",), must_refuse_beyond(namespace)),
        (limits, limits, False),
        (windows_of(namespace, command)[0][1], ("DUP-03",), False),
        (premium and may, _of_premium(namespace, command), must),
        (unversioned, ignored, _must_refuse_version(profile, version)),
        (lacking, ("MGMT-24",), reading == "refused"),
        (may_refuse_size(profile, command), of_size, False),
    )
    refusals = tuple(
        refusal(namespace, v.Error.INVALID_OPERATION, *rules, any_error=True)
        for holds, rules, _ in cases
        if holds
    )
    return refusals, any(holds and surely for holds, _, surely in cases)


def _of_premium(namespace: Namespace, command: v.CreateQueue) -> tuple[v.RuleId, ...]:
    """PREM-01, PREM-06, PREM-15: return the rules that let Premium refuse the entity."""
    if namespace.profile.is_partitioned:
        return () if command.partitioned is None else ("PREM-15",)
    tombstone = namespace.registry.tombstones.get(command.queue)
    again = tombstone is not None and tombstone.restored
    return ("PREM-06", "PREM-01") if again else ("PREM-01",)


def options_of(namespace: Namespace, command: v.CreateQueue) -> tuple[bool, ...]:
    """Return the partitioning options that the queue may get: true, false or both."""
    profile = namespace.profile
    options = _asked_for(profile, command.partitioned)
    # A version that need not support partitions may ignore the option.
    if True in options and not knows_partitions(profile, command.api_version):
        options = (False, True)
    premium = profile.tier is v.Tier.PREMIUM
    return options_in_premium(profile, options) if premium else with_basic(profile, options)


def _asked_for(profile: v.Profile, wanted: bool | None) -> tuple[bool, ...]:
    """Return the requested option; if none was requested, each default (PARTITIONING-DEFAULT)."""
    if wanted is not None:
        return (wanted,)
    reading = profile.readings.get("PARTITIONING-DEFAULT", "regular")
    return {"partitioned": (True,), "either": (False, True)}.get(reading, (False,))


def with_basic(profile: v.Profile, options: tuple[bool, ...]) -> tuple[bool, ...]:
    """Return the options that Basic allows: perhaps partitioned entities only (BASIC-REGULAR)."""
    if profile.tier is not v.Tier.BASIC or False not in options:
        return options
    reading = profile.readings.get("BASIC-REGULAR", "either")
    return {"never": (True,), "as-asked": options}.get(reading, (False, True))
