"""Any two readings of different ambiguities go together: the judge accuses no bus that keeps both.

Each reading by itself is tried in `test_soundness.py`, and with all features in
`tests/cli/test_terms.py`. Here every ambiguity is read in one way or another at once, in so few
sets of readings that any two occur together in one: all sets at full size, some in the gate.
"""

import os
from functools import cache

import pytest
from covering import Readings, couples, covering
from exploring import accusation, explored

from busproof.adapters.model import ModelAdapter
from busproof.history.records import Oracle
from busproof.spec import load
from busproof.vocabulary.profile import profile_for
from busproof.vocabulary.values import Tier

FULL = os.environ.get("BUSPROOF_SIZE") == "full"
AT_GATE = 3
SEQUENCES = 60 if FULL else 4
EDITION = "cs-2020-12"
"""The edition that states the most."""

CATALOGUE = load()
CHOICES = {each.id: each.choices for each in CATALOGUE.ambiguities}
MOST_SETS = 50
GAVE_UP = "too many executions of the model"
MOST_GIVEN_UP = 2
"""With many ambiguities open at once, the judge may give up on a sequence, once for each oracle.

It does on one or two of a hundred.
"""
TIERS = tuple(Tier) if FULL else (Tier.STANDARD,)


@cache
def sets() -> list[Readings]:
    """The sets, which take a second: no process that only collects the tests makes them."""
    return covering(CHOICES)


def test_any_two_readings_are_together_in_a_set() -> None:
    """And the sets are few, or nobody would try them all."""
    together = set().union(*(couples(each) for each in sets()))
    for one, mine in CHOICES.items():
        for other, yours in CHOICES.items():
            if one < other:
                expected = {frozenset(((one, a), (other, b))) for a in mine for b in yours}
                assert set() == expected - together
    assert AT_GATE < len(sets()) <= MOST_SETS


@pytest.mark.slow
@pytest.mark.parametrize("tier", TIERS)
@pytest.mark.parametrize("number", range(len(sets()) if FULL else AT_GATE))
def test_readings_go_together(number: int, tier: Tier) -> None:
    """A bus that keeps all of them is asked what neither oracle may object to."""
    readings = sets()[number]
    profile = profile_for(CATALOGUE, edition=EDITION, tier=tier, readings=readings, partitions=3)
    adapter = ModelAdapter(policy="random", seed=1)
    found = explored(adapter, profile=profile, sequences=SEQUENCES, rules=99)
    assert SEQUENCES == len(found.sequences)
    said = [accusation(found, each, oracle) for each in found.sequences for oracle in Oracle]
    accused = [each for each in said if each and not each.startswith(GAVE_UP)]
    assert [] == accused, readings
    assert len([each for each in said if each]) <= MOST_GIVEN_UP
