"""The score of an audit of generated mutants: the share that was noticed, and how sure it is."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import attrs

from busproof.mutants.by_machine.record import Fate, Result

__all__ = ["ALL", "Counted", "Score", "by_family", "score_of"]

ALL: Final = "all"
"""Name of the row that has the sums."""

PARTS: Final = ("features", "distilled", "exploration", "search")

SCORES: Final = {
    "_of_features": PARTS[:1],
    "": PARTS[:2],
    "_of_everything": PARTS[:3],
}
"""Parts that notice a mutant, by the ending of the score's name."""

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
    """Share in per cent with its 95 % confidence interval, a point if every mutant was tried."""

    share: float
    low: float
    high: float


def by_family(made: Mapping[str, int], fates: Iterable[Fate]) -> Iterator[dict[str, Any]]:
    """Yield the numbers of each family, and of all at the end.

    Args:
        made: how many mutants each family has.
        fates: the results of those that were audited.
    """
    results = {family: Counter[Result]() for family in made}
    parts = {family: Counter[str]() for family in made}
    for fate in fates:
        results[fate.family][fate.result] += 1
        parts[fate.family][fate.part] += 1
    for name, families in (*((family, [family]) for family in made), (ALL, list(made))):
        result = sum((results[family] for family in families), Counter[Result]())
        part = sum((parts[family] for family in families), Counter[str]())
        scores = {
            ending: score_of(
                {
                    family: Counted(
                        made=made[family],
                        tried=results[family].total(),
                        noticed=sum(parts[family][part] for part in noticed),
                        apart=results[family][Result.KILLED] + results[family][Result.FOUND],
                    )
                    for family in families
                }
            )
            for ending, noticed in SCORES.items()
        }
        yield {
            "family": name,
            "made": sum(made[family] for family in families),
            "tried": result.total(),
            **{kind.value.replace(" ", "_"): result[kind] for kind in Result},
            **{part_name: part[part_name] for part_name in PARTS},
            **{f"score{ending}": score and score.share for ending, score in scores.items()},
            "interval": (score := scores[""]) and (score.low, score.high),
        }


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
