"""The rules that a scenario is tagged with, the one that it is about first."""

from collections.abc import Collection
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from busproof import vocabulary as v

if TYPE_CHECKING:
    from pytest_bdd.parser import ScenarioTemplate

__all__ = ["order_as_written"]


def order_as_written(
    rules: Collection[v.RuleId], template: "ScenarioTemplate"
) -> tuple[v.RuleId, ...]:
    """Return rules in the order of the tags over a scenario, then the others by their ids.

    pytest-bdd keeps tags as a set. The first one is the rule that a failed step is charged to.
    """
    written: list[str] = []
    for line in reversed(_lines_of(template.feature.filename)[: template.line_number - 1]):
        tags = line.split()
        if not tags or not tags[0].startswith("@"):
            break
        written = [tag.removeprefix("@") for tag in tags] + written
    own = [rule for rule in dict.fromkeys(written) if rule in rules]
    return (*own, *sorted(set(rules) - set(own)))


@cache
def _lines_of(feature: str) -> list[str]:
    return Path(feature).read_text(encoding="utf-8").splitlines()
