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
from busproof.oracle.keys import effective_key
from busproof.oracle.state import Namespace, partition_count
from busproof.oracle.step import transitions
from busproof.oracle.transition import NOTHING_SEEN, Sighting, Transition
from busproof.vocabulary.commands import Command, Schedule, Send, SendBatch
from busproof.vocabulary.outcomes import Witness
from busproof.vocabulary.profile import Profile

__all__ = [
    "CHOICES_WEIGHED",
    "POLICIES",
    "Turns",
    "at_liberty",
    "checked_policy",
    "decided",
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


class Turns:
    """Whose turn it is among the partitions of each queue, on a bus at its most regular.

    Messages without a key and keys that are new take turns each by themselves: a key that is sent
    to often leaves the turn of what has none where it was (KEY-14).
    """

    def __init__(self) -> None:
        self._next: dict[tuple[str, bool], int] = {}

    def taken(self, namespace: Namespace, command: Command, connection: str) -> Transition | None:
        """The answer by which the partition whose turn it is takes it, or the next that may.

        What only one partition may take is asked of that one, and is nobody's turn; who tried all
        would pay for each.

        Args:
            namespace: the state before.
            command: a request, of which only sends take turns.
            connection: on which it came.

        Returns:
            `None` if no partition takes it.
        """
        if not isinstance(command, Send | SendBatch | Schedule):
            return None
        whose = (command.queue, _has_key(namespace, command))
        turn, partitions = self._next.get(whose, 0), _partitions(namespace, command.queue)

        def answers(seen: Sighting) -> Iterator[Transition]:
            found = transitions(namespace, command, connection, seen)
            return (each for each in found if each.choice is not None)

        def by(number: int) -> tuple[int, Transition | None] | None:
            """Whose turn it is once this one has taken it."""
            seen = Sighting(None, Witness(partition=number % partitions))
            found = next(answers(seen), None)
            return None if found is None else (number + 1, found)

        took = by(turn)
        if took is None:
            some = list(islice(answers(NOTHING_SEEN), 2))
            if len(some) < 2:
                return some[0] if some else None
            took = next(filter(None, map(by, range(turn + 1, turn + partitions))), (turn, None))
        self._next[whose], chosen = took
        return chosen


def _has_key(namespace: Namespace, command: Send | SendBatch | Schedule) -> bool:
    """Whether what is sent has a key, of several the first."""
    queue = namespace.queues.get(command.queue)
    messages = command.messages[:1] if isinstance(command, SendBatch) else (command.message,)
    return queue is not None and any(
        effective_key(namespace, queue.settings, each) is not None for each in messages
    )


def _partitions(namespace: Namespace, name: str) -> int:
    """How many may take it: of a queue that is not there, as many as any has at least."""
    queue, least = namespace.queues.get(name), namespace.profile.partitions
    return least if queue is None else max(least, partition_count(namespace, queue.settings))
