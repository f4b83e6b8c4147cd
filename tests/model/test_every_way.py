"""Every way in which the model could go is explained by its replay, for either observer."""

import datetime
import os
from random import Random

import pytest
from every_way import played
from random_commands import Commands, any_profile

from busproof import vocabulary as v
from busproof.judging.replay.explanation import Ended, explain
from busproof.model import new_namespace

FULL = os.environ.get("BUSPROOF_SIZE") == "full"
RUNS = 8_000 if FULL else 100
"""Of 60 commands for each observer."""
NIGHT = datetime.datetime.now(tz=datetime.UTC).toordinal() if FULL else 0
"""Each night draws new runs."""
PARTS = 4
LENGTH = 60
MOST_UNDECIDED = 0.04
"""The share of runs that the replay may give up, which is not a pass."""


@pytest.mark.slow
@pytest.mark.parametrize("partitions", [True, False], ids=["strict", "client"])
@pytest.mark.parametrize("part", range(PARTS))
def test_replay_explains_every_way_of_the_model(part: int, partitions: bool) -> None:
    """Any edition, tier and readings; of each command one of its ways."""
    seen = v.Observability(partitions=partitions, limits=True)
    first = NIGHT * RUNS
    undecided = 0
    for seed in range(first, first + RUNS // PARTS):
        name = f"{partitions}/{part}/{seed}"
        random = Random(name)
        namespace = new_namespace(any_profile(random))
        commands = Commands(random, namespace)
        events = list(played(commands, namespace, random, LENGTH))
        found = explain(events, namespace.profile, seen)
        assert found.ended is not Ended.IMPOSSIBLE, (name, found.stuck_at)
        undecided += found.ended is Ended.GAVE_UP
    assert undecided <= max(1, MOST_UNDECIDED * RUNS / PARTS)
