"""Every way in which the model could go is accepted by the oracles, strict and client."""

import datetime
import os
from random import Random

import pytest
from every_way import played
from random_commands import Commands, any_profile

from busproof.model import new_namespace

FULL = os.environ.get("BUSPROOF_SIZE") == "full"
RUNS = 4_000 if FULL else 100
"""Of 60 commands for each oracle: 25,000 ways, and a million at full size."""
NIGHT = datetime.datetime.now(tz=datetime.UTC).toordinal() if FULL else 0
"""Each night draws new runs."""
PARTS = 4
LENGTH = 60


@pytest.mark.slow
@pytest.mark.parametrize("oracle", ["strict", "client"])
@pytest.mark.parametrize("part", range(PARTS))
def test_oracle_accepts_every_way_of_the_model(part: int, oracle: str) -> None:
    """Any edition, tier and readings; a few ways of each command, and one of them at random."""
    first = NIGHT * RUNS
    for seed in range(first, first + RUNS // PARTS):
        name = f"{oracle}/{part}/{seed}"
        random = Random(name)
        namespace = new_namespace(any_profile(random))
        commands = Commands(random, namespace)
        for event, accepted in played(commands, namespace, oracle, random, LENGTH):
            assert accepted, (name, event)
