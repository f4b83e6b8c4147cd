"""What a run of the features was asked for: the options of the plugin, each looked at closely."""

import math
from contextlib import suppress
from random import SystemRandom
from typing import Any, Protocol

from busproof.errors import HistoryError, UsageError
from busproof.exploration.sizes import Size, size_named
from busproof.history.records import Oracle
from busproof.history.replay import CommandFile, read_commands
from busproof.spec import Catalogue, load
from busproof.vocabulary.profile import Profile, profile_for
from busproof.vocabulary.values import RuleId

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

DEFAULT_PARTITIONS = "16"
FEWEST_PARTITIONS = 2
"""Nothing can go round an outage of the only one."""

MOST_PARTITIONS = 32768
"""As many as a sequence number can tell apart: it is signed, and 48 of its 64 bits only count."""

MOST_DIGITS = 18
"""Of a seed: what 64 bits hold."""

DEFAULT_TIMEOUT = "10"
LONGEST_TIMEOUT = 86400
"""A day, in seconds."""


class Given(Protocol):
    """What was given for the options of the plugin: pytest's configuration, or what becomes it."""

    def getoption(self, name: str) -> Any:
        """What was given for one, such as `--bus-tier`; `None` or nothing where it was not."""


def check(given: Given) -> None:
    """Look at all that can be looked at before the adapter is there.

    Raises:
        UsageError: an option names what does not exist.
    """
    rules_asked_for(given)
    profile_of(given, load(), commands_of(given))
    if size_of(given) is not None:
        seed_of(given)
    oracle_of(option(given, "oracle"))
    timeout_of(given)


def option(given: Given, name: str, default: str | None = None) -> str | None:
    """What was given for an option of the plugin, as text, or else the default."""
    value = given.getoption(f"--bus-{name}")
    return default if value is None else str(value)


def _partitions(given: Given, default: str) -> int:
    text = option(given, "partitions", default) or ""
    number = int(text[:9]) if text.isascii() and text.isdecimal() else 0
    if not FEWEST_PARTITIONS <= number <= MOST_PARTITIONS:
        raise UsageError(
            f"the number of partitions is {text!r}; give a whole number from {FEWEST_PARTITIONS} "
            f"to {MOST_PARTITIONS}"
        )
    return number


def timeout_of(given: Given) -> float:
    """Return how many seconds an answer may take.

    Raises:
        UsageError: it is no such number.
    """
    text = option(given, "timeout", DEFAULT_TIMEOUT) or ""
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
        raise UsageError(f"{wrong[0]!r} is no reading; write AMBIGUITY=READING")
    return {name: reading for name, _, reading in pairs}


def oracle_of(text: str | None) -> Oracle | None:
    """The oracle of this name; `None` where none was named.

    Raises:
        UsageError: there is none of this name.
    """
    try:
        return None if text is None else Oracle(text)
    except ValueError:
        raise UsageError(f"there is no oracle {text!r}; choose strict or client") from None


def profile_of(given: Given, catalogue: Catalogue, commands: CommandFile | None) -> Profile:
    """What was asked for; what was not is as it was where commands to replay were found.

    Raises:
        UsageError: an edition, tier, reading or number of partitions does not exist.
    """
    before = None if commands is None else commands.profile
    readings = _readings(given.getoption("--bus-reading"))
    return profile_for(
        catalogue,
        edition=option(given, "edition", None if before is None else before.edition),
        tier=_tier(option(given, "tier", before.tier.value if before else "standard")),
        readings={**(before.readings if before else {}), **readings},
        partitions=_partitions(given, str(before.partitions) if before else DEFAULT_PARTITIONS),
    )


def commands_of(given: Given) -> CommandFile | None:
    """The commands that are to be replayed; `None` where none are.

    Raises:
        UsageError: the file holds no commands that could be read.
    """
    path = option(given, "replay")
    try:
        return None if path is None else read_commands(path)
    except HistoryError as error:
        raise UsageError(str(error)) from None


def size_of(given: Given) -> Size | None:
    """Return how much is to be explored; `None` where nothing is.

    Raises:
        UsageError: there is no profile of this name, or it takes no minutes.
    """
    name, minutes = option(given, "profile"), option(given, "minutes")
    if name is None and minutes is not None:
        raise UsageError("--minutes is for --profile soak")
    return None if name is None else size_named(name, minutes)


def seed_of(given: Given) -> int:
    """What random choices begin from: the number given, or else any.

    Raises:
        UsageError: it is no number that a seed can be.
    """
    text = option(given, "seed")
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


def rules_asked_for(given: Given) -> frozenset[RuleId]:
    """The rules whose scenarios alone are to run; none for all of them.

    Raises:
        UsageError: there is no such rule, or none that a scenario could show.
    """
    asked = list(given.getoption("--bus-rule") or ())
    if not asked:
        return frozenset()
    catalogue = load()
    families = {each.id for each in catalogue.families}
    for rule in (catalogue.rule(each) for each in asked if each not in families):
        if rule.shown_by == "never":
            raise UsageError(f"no scenario shows {rule.id}: {rule.why_never}")
    return frozenset(
        rule.id for rule in catalogue.rules if {rule.id, rule.id.partition("-")[0]} & {*asked}
    )
