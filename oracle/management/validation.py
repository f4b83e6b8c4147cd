"""Validation of entity options by tier and api-version, and reasons for refusals.

An api-version is a year and a month and is compared as a date: as text, "2013-9" would be later
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
"""MGMT-06: the first api-version with partitioned entities."""


def _is_malformed(version: str) -> bool:
    return version != "" and _FORM.fullmatch(version) is None


def version_shown(version: str) -> v.RuleId | None:
    """Return the rule about this api-version; "" means none at all, which MGMT-08 covers."""
    if _is_malformed(version):
        return None
    # In this form, text order equals date order.
    return "MGMT-08" if version < _FIRST else "MGMT-06" if version == _FIRST else "MGMT-07"


def knows_partitions(profile: v.Profile, version: str | None) -> bool:
    """MGMT-06, MGMT-07: return whether this api-version must support partitioned entities.

    `None` is the version in the implementation's own requests.
    """
    if version is None:
        return True
    rule = version_shown(version)
    return rule in ("MGMT-06", "MGMT-07") and rule not in profile.silent


def _is_old(version: str | None) -> bool:
    """MGMT-08: return whether no edition says that requests of this api-version work."""
    return version is not None and version_shown(version) in ("MGMT-08", None)


def _must_refuse_version(profile: v.Profile, version: str | None) -> bool:
    """Return whether the reading of API-VERSION-FORM refuses a malformed api-version."""
    malformed = version is not None and _is_malformed(version)
    return malformed and profile.readings.get("API-VERSION-FORM") == "refused"


def is_beyond_basic(command: v.CreateQueue) -> bool:
    """Return whether public documentation excludes such a queue from Basic."""
    return command.requires_session or command.duplicate_detection


def windows_of(
    namespace: Namespace, command: v.CreateQueue
) -> tuple[tuple[int, tuple[v.RuleId, ...]], ...]:
    """DUP-03: return the possible duplicate windows of a request, each with its rules."""
    detects, window = command.duplicate_detection, command.duplicate_window
    return lawful_windows(namespace, detects=detects, wanted=window)


def objections(namespace: Namespace, command: v.CreateQueue) -> tuple[tuple[Transition, ...], bool]:
    """Return the refusals of a request for its options, and whether one of them has to come."""
    profile, wanted, version = namespace.profile, command.partitioned, command.api_version
    limits = with_lawful_locks(command)[1]
    may, must = partitioning_refused(profile, wanted, _asked_for(profile, wanted))
    premium, basic = profile.tier is v.Tier.PREMIUM, profile.tier is v.Tier.BASIC
    # MGMT-08: an old version may ignore the option, so that nothing is to be refused.
    must = must and (profile.is_partitioned or not _is_old(version))
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
    """PREM-01, PREM-06, PREM-15: return the rules by which Premium refuses a new entity."""
    if namespace.profile.is_partitioned:
        return () if command.partitioned is None else ("PREM-15",)
    tombstone = namespace.registry.tombstones.get(command.queue)
    again = tombstone is not None and tombstone.restored
    return ("PREM-06", "PREM-01") if again else ("PREM-01",)


def options_of(namespace: Namespace, command: v.CreateQueue) -> tuple[bool, ...]:
    """Return whether the queue may become partitioned, not partitioned, or either."""
    profile = namespace.profile
    options = _asked_for(profile, command.partitioned)
    if profile.tier is v.Tier.PREMIUM:
        return options_in_premium(profile, options)
    known = knows_partitions(profile, command.api_version)
    # A request of a version that need not know partitions may have its option ignored.
    return with_basic(profile, options) if known or True not in options else (False, True)


def _asked_for(profile: v.Profile, wanted: bool | None) -> tuple[bool, ...]:
    """Return the requested option, with its default if it is left out (PARTITIONING-DEFAULT)."""
    if wanted is not None:
        return (wanted,)
    reading = profile.readings.get("PARTITIONING-DEFAULT", "regular")
    return {"partitioned": (True,), "either": (False, True)}.get(reading, (False,))


def with_basic(profile: v.Profile, options: tuple[bool, ...]) -> tuple[bool, ...]:
    """Return the options; Basic may have only partitioned entities (BASIC-REGULAR)."""
    if profile.tier is not v.Tier.BASIC or False not in options:
        return options
    reading = profile.readings.get("BASIC-REGULAR", "either")
    return {"never": (True,), "as-asked": options}.get(reading, (False, True))
