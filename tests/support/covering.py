"""Few sets of readings in which any two readings of different ambiguities occur together."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from random import Random

__all__ = ["Readings", "couples", "covering"]

Readings = dict[str, str]
Choices = Mapping[str, Sequence[str]]
Couple = frozenset[tuple[str, str]]


def couples(readings: Mapping[str, str]) -> set[Couple]:
    """Each two of these readings."""
    return {frozenset(each) for each in combinations(readings.items(), 2)}


def covering(choices: Choices, seed: int = 1) -> list[Readings]:
    """Sets of one reading for each ambiguity; every couple of readings is in at least one.

    Each set begins with a couple that none has yet, and then takes, ambiguity by ambiguity, the
    reading that makes the most new couples with those taken before.
    """
    random = Random(seed)
    missing = {
        frozenset(((one, mine), (other, yours)))
        for one, other in combinations(choices, 2)
        for mine in choices[one]
        for yours in choices[other]
    }
    found: list[Readings] = []
    while missing:
        taken = dict(min(missing, key=sorted))
        rest = [name for name in choices if name not in taken]
        random.shuffle(rest)
        for name in rest:
            taken[name] = max(choices[name], key=lambda each: _gain(missing, taken, name, each))
        missing -= couples(taken)
        found.append({name: taken[name] for name in choices})
    return found


def _gain(missing: set[Couple], taken: Readings, name: str, reading: str) -> int:
    return sum(frozenset((each, (name, reading))) in missing for each in taken.items())
