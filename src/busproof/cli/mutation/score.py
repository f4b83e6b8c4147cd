"""The score of an audit of generated mutants: the share that was noticed, with its confidence."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import attrs

from busproof.mutants.by_machine.record import Fate, Result

__all__ = ["ALL", "Counted", "Score", "score_families", "score_of"]

ALL: Final = "all"
"""Name of the row with the sums."""

PARTS: Final = ("features", "distilled", "exploration", "search")

SCORES: Final = {
    "_of_features": PARTS[:1],
    "": PARTS[:2],
    "_of_everything": PARTS[:3],
}
"""Parts of the suite that notice a mutant, by the ending of the score's name."""

Z: Final = 1.96
"""Number of standard deviations for a confidence of 95 %."""


@attrs.frozen(kw_only=True)
class Counted:
    """Results for the mutants of a family, in numbers.

    Attributes:
        made: number of mutants.
        tried: number of these that were audited.
        noticed: number of audited mutants that were noticed.
        apart: number of audited mutants that the judge can distinguish from the model.
    """

    made: int
    tried: int
    noticed: int
    apart: int


@attrs.frozen(kw_only=True)
class Score:
    """A share in per cent, with its 95 % confidence interval; a point if every mutant was tried."""

    share: float
    low: float
    high: float


def score_families(made: Mapping[str, int], fates: Iterable[Fate]) -> Iterator[dict[str, Any]]:
    """Yield the figures of each family, and of all families last.

    Args:
        made: number of mutants by family.
        fates: the results of the audited mutants.
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
    """Return the share of distinguishable mutants that were noticed.

    In a sample, each family has the weight of its number of mutants. The interval is Wilson's, for
    as many equally weighted mutants as carry the same information (Kish).

    Args:
        families: the counts of each family.

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
