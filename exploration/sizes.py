"""Sizes of an exploration, by name."""

from typing import Final

import attrs

from busproof.errors import UsageError

__all__ = ["SIZES", "Size", "size_named"]


@attrs.frozen(kw_only=True)
class Size:
    """Limits of an exploration, and of the shrinking of a failure.

    Attributes:
        name: the value of `--profile`.
        sequences: number of sequences to run; `None` for as many as the time allows.
        steps: number of steps in a sequence; a step may send several commands.
        seconds: time after the start when no further sequence begins, in seconds.
        shrinking: time for shrinking one failure, in seconds.
        rules: number of broken rules that end the exploration.
        replays: maximum number of replays to shrink a failure if requests are expensive.
        waiting: total time to wait for timers of a bus on a real clock, in seconds.
        dear: whether each request is expensive: failures are then first shrunk without requests.
        elsewhere: how often the sequence of a scenario is sent again elsewhere.
    """

    name: str
    sequences: int | None
    steps: int
    seconds: float
    shrinking: float
    rules: int = 3
    replays: int = 60
    waiting: float = 30.0
    dear: bool = False
    elsewhere: int = 1


SIZES: Final = {
    size.name: size
    for size in (
        Size(name="quick", sequences=80, steps=40, seconds=20, shrinking=10, waiting=20),
        Size(
            name="ci",
            sequences=1000,
            steps=50,
            seconds=300,
            shrinking=30,
            rules=5,
            elsewhere=5,
        ),
        Size(
            name="network",
            sequences=12,
            steps=40,
            seconds=900,
            shrinking=300,
            rules=2,
            waiting=120,
            dear=True,
        ),
        Size(
            name="soak", sequences=None, steps=60, seconds=600, shrinking=30, rules=20, waiting=1e9
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
        raise UsageError(f"there is no profile {name!r}; choose one of {', '.join(SIZES)}")
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
    return attrs.evolve(SIZES[name], seconds=60 * number)


SIZES["audit"] = attrs.evolve(SIZES["ci"], name="audit", rules=1)
"""The size for the audit, where one broken rule is enough."""

LONGEST: Final = 7 * 24 * 60
"""Maximum duration of a soak, in minutes: a week."""
