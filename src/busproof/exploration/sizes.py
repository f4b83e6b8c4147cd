"""Sizes of an exploration, by name."""

from typing import Final

import attrs

from busproof.errors import UsageError

__all__ = ["SIZES", "Size", "size_named"]


@attrs.frozen(kw_only=True)
class Size:
    """Limits of an exploration, and of the shrinking of a failure.

    They are numbers of sequences, commands and replays, and never seconds of a clock, so that a
    seed leads to the same commands on a fast and on a slow machine.

    Attributes:
        name: the value of `--profile`.
        sequences: number of sequences to run; `None` for as many as fit into `minutes`.
        steps: number of steps in a sequence; a step may send several commands.
        metamorphic: maximum number of sequences of scenarios that are transformed and sent again.
        combinations: maximum number of operations that are tried in two circumstances each.
        times: how many times each operation is repeated on one queue; 0 for none.
        shrinking: maximum number of commands sent to shrink one failure.
        rules: number of broken rules that end the exploration.
        replays: maximum number of replays to shrink a failure if requests are expensive.
        waiting: total time to wait for timers of a bus on a real clock, in seconds.
        dear: whether each request is expensive: failures are then first shrunk without requests.
        minutes: duration of a soak, the only size that a clock ends; `None` for all others.
        waits: whether scenarios that let time pass are played, and distilled sequences.
    """

    name: str
    sequences: int | None
    steps: int
    metamorphic: int
    combinations: int
    times: int
    shrinking: int
    rules: int = 3
    replays: int = 60
    waiting: float = 30.0
    dear: bool = False
    minutes: float | None = None
    waits: bool = True

    @property
    def explores(self) -> bool:
        """Whether there are sequences besides the scenarios."""
        return self.sequences != 0


EVERY_CELL: Final = 100_000
"""More combinations than there are."""

SIZES: Final = {
    size.name: size
    for size in (
        Size(
            name="smoke",
            sequences=0,
            steps=0,
            metamorphic=0,
            combinations=0,
            times=0,
            shrinking=1_000,
            rules=2,
            waiting=0,
            dear=True,
            waits=False,
        ),
        Size(
            name="quick",
            sequences=80,
            steps=40,
            metamorphic=400,
            combinations=100,
            times=13,
            shrinking=10_000,
            waiting=20,
        ),
        Size(
            name="ci",
            sequences=1000,
            steps=50,
            metamorphic=4_000,
            combinations=2_000,
            times=101,
            shrinking=30_000,
            rules=5,
        ),
        Size(
            name="thorough",
            sequences=5_000,
            steps=60,
            metamorphic=4_000,
            combinations=EVERY_CELL,
            times=1_001,
            shrinking=100_000,
            rules=20,
        ),
        Size(
            name="network",
            sequences=12,
            steps=40,
            metamorphic=0,
            combinations=0,
            times=0,
            shrinking=3_000,
            rules=2,
            waiting=120,
            dear=True,
        ),
        Size(
            name="soak",
            sequences=None,
            steps=60,
            metamorphic=4_000,
            combinations=EVERY_CELL,
            times=1_001,
            shrinking=30_000,
            rules=20,
            waiting=1e9,
            minutes=10,
        ),
    )
}


def size_named(name: str, minutes: str | None = None) -> Size:
    """Return the size with this name.

    Args:
        name: one of `SIZES`.
        minutes: duration of a soak, in minutes; by default ten.

    Raises:
        UsageError: the name is unknown, or the minutes are invalid or not allowed for this size.
    """
    if name not in SIZES:
        raise UsageError(f"there is no profile {name!r}; choose one of {', '.join(PROFILES)}")
    if minutes is None:
        return SIZES[name]
    if SIZES[name].sequences is not None:
        raise UsageError(f"--minutes is for --profile soak, and the profile is {name}")
    try:
        number = float(minutes)
    except ValueError:
        number = 0.0
    if not 0 < number <= LONGEST:
        raise UsageError(f"--minutes is {minutes!r}; give a number above 0, and at most {LONGEST}")
    return attrs.evolve(SIZES[name], minutes=number)


PROFILES: Final = tuple(SIZES)
"""The names that a user may choose."""
SIZES["audit"] = attrs.evolve(SIZES["ci"], name="audit", rules=1, shrinking=1_000)
"""The size for the audit, where one broken rule is enough."""

LONGEST: Final = 7 * 24 * 60
"""Maximum duration of a soak, in minutes: a week."""
