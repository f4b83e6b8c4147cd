"""Whatever the strict oracle allows on a fully observed run is a way of the model, or is listed."""

import os
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import attrs
import pytest
import yaml
from beyond import Beyond, Run

FULL = os.environ.get("BUSPROOF_SIZE") == "full"
RUNS = 4_000 if FULL else 80
"""Of 60 commands, before each of which some tens of outcomes are put to the oracle."""
MOST_UNJUDGED = 0.08
"""The share of commands for whose entity the oracle has given up knowing: a hole, not a pass."""
MOST_UNCOUNTED = 0.001
"""The share of commands with too many ways to be compared."""
LISTED = Path(__file__).with_name("beyond_the_model.yaml")


@attrs.frozen
class Difference:
    """Kinds of outcome that may be allowed although the model never gives them.

    Attributes:
        commands: the names of the commands' classes.
        outcomes: in the words of `beyond`.
        where: what has to be so of the entity, the command or the run, for this to be the reason.
        reason: why it stands in the list.
    """

    commands: frozenset[str]
    outcomes: frozenset[str]
    where: frozenset[str] = frozenset()
    reason: str = ""

    def explains(self, found: Beyond) -> bool:
        alike = found.command in self.commands and found.outcome in self.outcomes
        return alike and self.where <= found.where


@cache
def listed() -> tuple[Difference, ...]:
    """What the list allows; of several that explain a difference the first counts."""
    return tuple(
        Difference(reason=entry["reason"], **{name: frozenset(each[name]) for name in each})
        for entry in yaml.safe_load(LISTED.read_text(encoding="utf-8"))
        for each in entry["differences"]
    )


def explained(
    found: Iterable[Beyond], by: tuple[Difference, ...], occurred: set[Difference]
) -> list[Beyond]:
    """Return what nothing explains, and note the entries that explain the rest."""
    left = []
    for each in found:
        entry = next((entry for entry in by if entry.explains(each)), None)
        if entry is None:
            left.append(each)
        else:
            occurred.add(entry)
    return left


def stale(by: tuple[Difference, ...], occurred: set[Difference]) -> list[Difference]:
    """Return the entries that do not explain anything any more.

    One of several commands or outcomes may be too rare to occur each time.
    """
    return [entry for entry in by if entry not in occurred]


@pytest.mark.slow
def test_oracle_allows_nothing_beyond_the_model_but_what_is_listed() -> None:
    """Any edition, tier and readings; at full size all that is listed has to occur."""
    commands = unjudged = uncounted = 0
    occurred: set[Difference] = set()
    for seed in range(RUNS):
        run = Run(str(seed))
        assert [] == explained(run.play(), listed(), occurred), seed
        commands += run.commands
        unjudged += run.unjudged
        uncounted += run.uncounted
    assert unjudged / commands < MOST_UNJUDGED
    assert uncounted / commands < MOST_UNCOUNTED
    if FULL:
        assert [] == stale(listed(), occurred)


OUTAGE = Difference(
    commands=frozenset({"Peek", "Receive"}),
    outcomes=frozenset({"refused with any error"}),
    where=frozenset({"outage"}),
)
ALWAYS = Difference(
    commands=frozenset({"Peek"}), outcomes=frozenset({"refused with any error", "Peeked: more"})
)
REFUSED = Beyond("Peek", "refused with any error", frozenset({"outage", "queue"}))


def test_difference_counts_for_the_first_entry_that_explains_it() -> None:
    """Unless that needs more than was so; what no entry explains is left."""
    upright = Beyond("Peek", "refused with any error", frozenset({"queue"}))
    unknown = Beyond("Peek", "Peeked: state", frozenset({"queue"}))
    occurred: set[Difference] = set()
    assert [unknown] == explained((REFUSED, upright, unknown), (OUTAGE, ALWAYS), occurred)
    assert {OUTAGE, ALWAYS} == occurred


def test_entry_that_explains_nothing_is_stale() -> None:
    assert [OUTAGE] == stale((OUTAGE, ALWAYS), {ALWAYS})
