"""The policies of a bus with clients."""

from collections.abc import Collection, Iterable
from random import Random
from typing import Final, TypeVar

from busproof.errors import UsageError
from busproof.model import Choices, HostileChoices, RandomChoices, RoundRobin
from busproof.model.choices import Fits

__all__ = ["POLICIES", "Regular", "choices_of", "patient"]

T = TypeVar("T")

POLICIES: Final = ("round-robin", "random", "hostile")
WAITED_FOR: Final = {
    *("LIFE-08", "NEXT-IN-OUTAGE", "RECEIVE-IN-OUTAGE"),
    *("SESS-06", "SESS-07", "SESS-25"),
}
"""Choices that, for a waiting client, would end in a refusal or an empty receive, or that would let
another client's front end withhold available messages from it.
"""


def choices_of(policy: str, random: Random) -> Choices:
    """Return the choices of a policy.

    Raises:
        UsageError: there is no such policy.
    """
    if policy not in POLICIES:
        raise UsageError(f"there is no policy {policy!r}; choose one of {', '.join(POLICIES)}")
    if policy == "round-robin":
        return Regular()
    return RandomChoices(random) if policy == "random" else HostileChoices(random)


class Regular(RoundRobin):
    """The choices of a regular bus whose entities come and go."""

    def forget(self, paths: Collection[str]) -> None:
        """Forget the turns of entities that were deleted."""
        for place in [known for known in self._turns if known[1] in paths]:
            del self._turns[place]


def patient(choices: Choices) -> Choices:
    """Return the choices for a client that waits."""
    # A regular bus always makes the regular choice.
    return choices if isinstance(choices, RoundRobin) else Patient(choices)


class Patient(Choices):
    """The choices for a client that waits: available messages are delivered, nothing is refused."""

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
