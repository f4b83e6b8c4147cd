"""Policies for the model's choices on a bus with clients."""

from collections.abc import Collection, Iterable
from random import Random
from typing import Final, TypeVar

from busproof import vocabulary as v
from busproof.errors import UsageError
from busproof.model import Choices, HostileChoices, RandomChoices, RoundRobin
from busproof.model.choices import Fits
from busproof.spec import observed_readings

__all__ = ["POLICIES", "REGULAR", "Regular", "choices_of", "patient", "readings_seen"]

T = TypeVar("T")

EITHER: Final = "either"
"""The reading under which a bus may answer in each permitted way."""

REGULAR: Final = "round-robin"
POLICIES: Final = (REGULAR, "random", "hostile")
WAITED_FOR: Final = {
    *("FWD-15", "LIFE-08", "NEXT-IN-OUTAGE", "RECEIVE-IN-OUTAGE", "TOPIC-05"),
    *("SESS-02", "SESS-06", "SESS-07", "SESS-25"),
}
"""Choices that are not left to a policy while a client waits.

Some of their candidates would be a refusal or an empty receive; others would let one client's front
end withhold messages from another client.
"""


def choices_of(policy: str, random: Random) -> Choices:
    """Return the choices that a policy makes.

    Raises:
        UsageError: there is no such policy.
    """
    if policy not in POLICIES:
        raise UsageError(f"there is no policy {policy!r}; choose one of {', '.join(POLICIES)}")
    if policy == REGULAR:
        return Regular()
    return RandomChoices(random) if policy == "random" else HostileChoices(random)


class Regular(RoundRobin):
    """Regular choices for entities that are created and deleted."""

    def forget(self, paths: Collection[str]) -> None:
        """Forget the turns of deleted entities."""
        for place in [known for known in self._turns if known[1] in paths]:
            del self._turns[place]


def readings_seen(profile: v.Profile) -> dict[str, str]:
    """Return how the real service was seen to read what the profile leaves open.

    They decide only what the profile leaves to the bus each time.
    """
    seen = observed_readings(profile.edition)
    return {name: seen[name] for name in seen if profile.readings.get(name) == EITHER}


def patient(choices: Choices) -> Choices:
    """Return the choices for requests of a client that waits."""
    # A regular bus always makes the regular choice, so it never refuses a waiting client.
    return choices if isinstance(choices, RoundRobin) else Patient(choices)


class Patient(Choices):
    """Choices for a client that waits: it gets available messages and no refusal."""

    def __init__(self, choices: Choices) -> None:
        self._choices = choices

    def pick(self, name: str, candidates: Iterable[T]) -> T:
        """Return the regular candidate if another would end the waiting."""
        if name in WAITED_FOR:
            return next(iter(candidates))
        return self._choices.pick(name, candidates)

    def partition(self, name: str, path: str, count: int, fits: Fits) -> int | None:
        """Delegate to the policy."""
        return self._choices.partition(name, path, count, fits)

    def home(self, value: str, partitions: int) -> int | None:
        """Delegate to the policy."""
        return self._choices.home(value, partitions)
