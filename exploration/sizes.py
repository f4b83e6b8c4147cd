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
        sequences: how many sequences to run; `None` for as many as the time allows.
        steps: rules in a sequence; a rule may ask several commands.
        seconds: after this time no further sequence begins.
        shrinking: seconds for shrinking one failure.
        rules: how many broken rules end the exploration.
        replays: most replays to shrink a failure, where requests are expensive.
        waiting: seconds to wait in all for timers of a bus on a real clock.
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
    """Return the size of this name.

    Args:
        name: one of `SIZES`.
        minutes: how long a soak lasts; by default ten.

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
"""For the audit, where one broken rule is enough."""

LONGEST: Final = 7 * 24 * 60
"""A week, in minutes."""
