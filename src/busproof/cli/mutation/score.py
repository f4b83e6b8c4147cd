"""The score of an audit of generated mutants: the share that was noticed, and how sure it is."""

from collections.abc import Mapping
from typing import Final

import attrs

__all__ = ["Counted", "Score", "score_of"]

Z: Final = 1.96
"""Standard deviations of a confidence of 95 %."""


@attrs.frozen(kw_only=True)
class Counted:
    """Fate of the mutants of a family.

    Attributes:
        made: how many there are.
        tried: how many of them were audited.
        noticed: how many of those were noticed.
        apart: how many of those the judge can distinguish from the model.
    """

    made: int
    tried: int
    noticed: int
    apart: int


@attrs.frozen(kw_only=True)
class Score:
    """A share in per cent, with its confidence interval of 95 %; both ends equal if all counted."""

    share: float
    low: float
    high: float


def score_of(families: Mapping[str, Counted]) -> Score | None:
    """Return the share of the mutants noticed among those that can be distinguished.

    In a sample, each family is weighed by the number of its mutants. The interval is that of
    Wilson, for as many equally weighed mutants as carry the same information (Kish).

    Args:
        families: counts of each.

    Returns:
        The score; `None` if no mutant can be distinguished.
    """
    weighed = [(family.made / family.tried, family) for family in families.values() if family.apart]
    if not weighed:
        return None
    total = sum(weight * family.apart for weight, family in weighed)
    share = sum(weight * family.noticed for weight, family in weighed) / total
    if all(family.made == family.tried for family in families.values()):
        return Score(share=_percent(share), low=_percent(share), high=_percent(share))
    number = total**2 / sum(weight**2 * family.apart for weight, family in weighed)
    centre = (share + Z**2 / (2 * number)) / (1 + Z**2 / number)
    spread = (share * (1 - share) / number + Z**2 / (4 * number**2)) ** 0.5
    half = Z * spread / (1 + Z**2 / number)
    return Score(share=_percent(share), low=_percent(centre - half), high=_percent(centre + half))


def _percent(share: float) -> float:
    return round(100 * share, 1)
