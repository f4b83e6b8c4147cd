"""What a bus of the model's own decides by itself, where the documents leave it open.

A judge keeps such things open until they are seen; a bus has to decide, by a policy:
`round-robin` is a bus at its most regular, `random` takes any allowed answer, and `hostile` takes
those that are hardest to live with.
"""

from collections.abc import Iterator
from itertools import islice
from random import Random
from typing import Final

import attrs

from busproof.errors import UsageError
from busproof.model.commands import Command
from busproof.model.outcomes import Witness
from busproof.model.state import Namespace
from busproof.model.step import transitions
from busproof.model.transition import NOTHING_SEEN, Sighting, Transition
from busproof.model.values import Profile

__all__ = [
    "CHOICES_WEIGHED",
    "POLICIES",
    "at_liberty",
    "checked_policy",
    "decided",
    "in_turn",
    "one_of",
]

POLICIES: Final = ("round-robin", "random", "hostile")
CHOICES_WEIGHED: Final = 64
"""How many allowed answers a policy looks at."""

OWN_CHOICES: Final = {
    "DEAD-LETTER-DELAY": ("unbounded", "at-once"),
    "SCHEDULE-DELAY": ("unbounded", "at-once"),
    "DUPLICATE-PROLONGS": ("either", "first"),
    "DLQ-PARTITIONS": ("either", "same-partition"),
    "DEAD-LETTER-COUNT": ("either", "anew"),
    "CACHE-DELIVERY-COUNT": ("either", "stays"),
    "MAX-DELIVERIES": ("either", "exactly"),
    "CACHE-EXPIRY": ("either", "not-handed-out"),
    "CACHE-DELETE": ("either", "kept"),
    "FORWARD-LIFETIME": ("either", "anew"),
    "FORWARD-FAILED": ("either", "transfer"),
    "LIFETIME-IN-TRANSACTION": ("either", "commit"),
    "LOCK-IN-TRANSACTION": ("either", "ends"),
    "SETTLEMENT-REFUSAL": ("either", "at-once"),
    "BATCH-KEYS": ("either", "refused"),
    "DISABLED-COPIES": ("either", "collected"),
    "MESSAGES-EXPIRE": ("message", "lock"),
    "GB-PARTITIONS": ("either", "sixteen"),
    "FULL-PARTITION": ("either", "per-partition"),
}
"""Where a reading leaves a bus a choice that a client only sees later: it, and what a bus does."""

FREE_CHOICES: Final = {
    "FORWARD-FAILED": ("transfer", "dead-letter"),
    "CACHE-EXPIRY": ("handed-out", "not-handed-out"),
    "LIFETIME-IN-TRANSACTION": ("send", "commit"),
    "LOCK-IN-TRANSACTION": ("lasts", "ends"),
    "SETTLEMENT-REFUSAL": ("at-once", "at-commit"),
    "BATCH-KEYS": ("refused", "split"),
    "DISABLED-COPIES": ("collected", "missed"),
}
"""Of those, what a bus may as well do one way or the other, all the time."""


def checked_policy(policy: str) -> str:
    """The policy, if there is one of this name.

    Raises:
        UsageError: there is none.
    """
    if policy not in POLICIES:
        raise UsageError(f"there is no policy {policy!r}; choose one of {', '.join(POLICIES)}")
    return policy


def decided(profile: Profile) -> Profile:
    """The profile, with a choice made wherever it leaves a bus one of `OWN_CHOICES`."""
    readings = profile.readings
    for name, (left_open, taken) in OWN_CHOICES.items():
        if readings.get(name, left_open) == left_open:
            readings = readings.set(name, taken)
    return attrs.evolve(profile, readings=readings)


def at_liberty(profile: Profile, random: Random) -> Profile:
    """The profile, with choices made at random that are as good one way as the other."""
    readings = profile.readings
    for name, choices in FREE_CHOICES.items():
        if readings.get(name, "either") == "either":
            readings = readings.set(name, random.choice(choices))
    return attrs.evolve(profile, readings=readings)


def one_of(allowed: list[Transition], policy: str, random: Random) -> Transition:
    """One of these answers: any, or every other time the one of the last partition."""
    if policy == "hostile" and random.random() < 0.5:
        return max(allowed, key=lambda each: -1 if each.choice is None else each.choice.partition)
    return random.choice(allowed)


def in_turn(
    namespace: Namespace, command: Command, connection: str, turn: int, partitions: int
) -> Transition | None:
    """The answer by which the partition whose turn it is takes it, or the next that may.

    What only one partition may take is asked of that one; who tried all in turn would pay for
    each.

    Args:
        namespace: the state before.
        command: a request to send.
        connection: on which it came.
        turn: the number of the partition to begin with.
        partitions: how many there are.

    Returns:
        `None` if no partition takes it.
    """

    def taken(seen: Sighting) -> Iterator[Transition]:
        found = transitions(namespace, command, connection, seen)
        return (each for each in found if each.choice is not None)

    def by(partition: int) -> Transition | None:
        return next(taken(Sighting(None, Witness(partition=partition % partitions))), None)

    if (first := by(turn)) is not None:
        return first
    some = list(islice(taken(NOTHING_SEEN), 2))
    if len(some) < 2:
        return some[0] if some else None
    return next(filter(None, map(by, range(turn + 1, turn + partitions))), None)
