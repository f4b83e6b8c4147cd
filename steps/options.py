"""Options of a run of the features, and their validation."""

import math
from contextlib import suppress
from random import SystemRandom
from typing import Any, Protocol

from busproof import vocabulary as v
from busproof.errors import HistoryError, UsageError
from busproof.exploration.sizes import Size, size_named
from busproof.history.records import Oracle
from busproof.history.replay import CommandFile, read_commands
from busproof.spec import Catalogue, load

__all__ = [
    "Given",
    "check",
    "commands_of",
    "option",
    "oracle_of",
    "profile_of",
    "rules_asked_for",
    "seed_of",
    "size_of",
    "timeout_of",
]

FEWEST_PARTITIONS = 2
"""Minimum number of partitions; with only one, no message could avoid an outage."""

MOST_PARTITIONS = 32768
"""Maximum number of partitions that a sequence number can encode.

It is a signed number of 64 bits, and its lower 48 bits are the counter.
"""

MOST_DIGITS = 18
"""Maximum number of digits of a seed; any such number fits into 64 bits."""

DEFAULT_TIMEOUT = "10"
PATIENCE = "300"
"""Time for each answer of an adapter in Python, in seconds, if no timeout is given."""
LONGEST_TIMEOUT = 86400
"""Maximum timeout of an answer, in seconds: a day."""


class Given(Protocol):
    """A source of the plugin's options: pytest's configuration, or options to be passed to it."""

    def getoption(self, name: str) -> Any:
        """Return the value of an option such as `--bus-tier`; `None` or empty if it is not set."""


def check(config: Given) -> None:
    """Check all options that can be checked without the adapter.

    Raises:
        UsageError: the value of an option is invalid.
    """
    rules_asked_for(config)
    profile_of(config, load(), commands_of(config))
    if size_of(config) is not None:
        seed_of(config)
    oracle_of(option(config, "oracle"))
    timeout_of(config)


def option(config: Given, name: str, default: str | None = None) -> str | None:
    """Return an option of the plugin as text, or the default if it is not set."""
    value = config.getoption(f"--bus-{name}")
    return default if value is None else str(value)


def _number(text: str) -> int:
    """Return a text as a whole number; 0 if it is not one."""
    # Nine digits exceed every maximum; `int` refuses texts of thousands of digits.
    return int(text[:9]) if text.isascii() and text.isdecimal() else 0


def _partitions(config: Given, before: v.Profile | None) -> int | None:
    # In a partitioned namespace, the namespace determines an entity's partitions.
    same = before is not None and not before.is_partitioned
    text = option(config, "partitions", str(before.partitions) if before and same else None)
    if text is None:
        return None
    number = _number(text)
    if not FEWEST_PARTITIONS <= number <= MOST_PARTITIONS:
        raise UsageError(
            f"the number of partitions is {text!r}; give a whole number from {FEWEST_PARTITIONS} "
            f"to {MOST_PARTITIONS}"
        )
    return number


def _of_premium(config: Given, name: str, before: int | None) -> int | None:
    """Return the namespace's partitions or messaging units; `None` if they are not set."""
    text = option(config, name, None if before is None else str(before))
    if text is None:
        return None
    number = _number(text)
    if not number:
        raise UsageError(f"--{name} is {text!r}; give a whole number, at least 1")
    return number


def timeout_of(config: Given, default: str = DEFAULT_TIMEOUT) -> float:
    """Return how long to wait for an answer, in seconds.

    Raises:
        UsageError: the value is not a valid number of seconds.
    """
    text = option(config, "timeout", default) or ""
    seconds = math.nan
    with suppress(ValueError):
        seconds = float(text)
    if not 0 < seconds <= LONGEST_TIMEOUT:
        raise UsageError(
            f"the timeout is {text!r}; give a number of seconds above 0, and at most "
            f"{LONGEST_TIMEOUT}"
        )
    return seconds


def _readings(texts: list[str]) -> dict[str, str]:
    pairs = [text.partition("=") for text in texts]
    wrong = [text for text, pair in zip(texts, pairs, strict=True) if not pair[2]]
    if wrong:
        raise UsageError(f"{wrong[0]!r} is not a reading; write AMBIGUITY=READING")
    return {name: reading for name, _, reading in pairs}


def oracle_of(text: str | None) -> Oracle | None:
    """Return the oracle with this name; `None` without a name.

    Raises:
        UsageError: no oracle has this name.
    """
    try:
        return None if text is None else Oracle(text)
    except ValueError:
        raise UsageError(f"there is no oracle {text!r}; choose strict or client") from None


def profile_of(config: Given, catalogue: Catalogue, commands: CommandFile | None) -> v.Profile:
    """Return the profile of the run; options that are not set default to those of a replayed file.

    Raises:
        UsageError: an edition, tier, reading or number of partitions does not exist.
    """
    before = None if commands is None else commands.profile
    readings = _readings(config.getoption("--bus-reading"))
    premium = before if before is not None and before.tier is v.Tier.PREMIUM else None
    parts, units = (premium.namespace_partitions, premium.messaging_units) if premium else (1, None)
    return v.profile_for(
        catalogue,
        edition=option(config, "edition", None if before is None else before.edition),
        tier=_tier(option(config, "tier", before.tier.value if before else "standard")),
        readings={**(before.readings if before else {}), **readings},
        partitions=_partitions(config, before),
        namespace_partitions=_of_premium(config, "namespace-partitions", parts) or 1,
        messaging_units=_of_premium(config, "messaging-units", units),
    )


def commands_of(config: Given) -> CommandFile | None:
    """Return the commands to replay; `None` if the run is not a replay.

    Raises:
        UsageError: the file cannot be read as commands.
    """
    path = option(config, "replay")
    try:
        return None if path is None else read_commands(path)
    except HistoryError as error:
        raise UsageError(str(error)) from None


def size_of(config: Given) -> Size | None:
    """Return the size of the exploration; `None` if the run does not explore.

    Raises:
        UsageError: no profile has this name, or the profile takes no minutes.
    """
    name, minutes = option(config, "profile"), option(config, "minutes")
    if name is None and minutes is not None:
        raise UsageError("--minutes is for --profile soak")
    return None if name is None else size_named(name, minutes)


def seed_of(config: Given) -> int:
    """Return the seed of random choices; a random one if none is set.

    Raises:
        UsageError: the value is not a valid seed.
    """
    text = option(config, "seed")
    if text is None:
        return SystemRandom().getrandbits(32)
    if not (text.isascii() and text.isdecimal() and len(text) <= MOST_DIGITS):
        raise UsageError(
            f"the seed is {text!r}; give a whole number of at most {MOST_DIGITS} digits"
        )
    return int(text)


def _tier(text: str | None) -> str:
    if text not in ("basic", "standard", "premium"):
        raise UsageError(f"there is no tier {text!r}; choose basic, standard or premium")
    return text


def rules_asked_for(config: Given) -> frozenset[v.RuleId]:
    """Return the ids of the selected rules; the empty set selects all.

    Raises:
        UsageError: a rule does not exist, or no scenario can show it.
    """
    wanted = list(config.getoption("--bus-rule") or ())
    if not wanted:
        return frozenset()
    catalogue = load()
    families = {family.id for family in catalogue.families}
    for rule in (catalogue.rule(name) for name in wanted if name not in families):
        if rule.shown_by == "never":
            raise UsageError(f"no scenario shows {rule.id}: {rule.why_never}")
    return frozenset(
        rule.id for rule in catalogue.rules if {rule.id, rule.id.partition("-")[0]} & {*wanted}
    )
