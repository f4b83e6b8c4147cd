"""Distilled sequences, which were found by machine and are judged while they run."""

import pytest

from busproof.steps.distilled import DistilledSequence, distilled_sequences
from busproof.steps.running import RUN


@pytest.mark.parametrize(
    "sequence",
    [
        pytest.param(each, id=each.name, marks=pytest.mark.rule(each.rule))
        for each in distilled_sequences()
    ],
)
def test_sequence(request: pytest.FixtureRequest, sequence: DistilledSequence) -> None:
    """Send the commands of a sequence to the bus, if its rule applies."""
    asking = request.getfixturevalue("asking")
    run = request.config.stash[RUN]
    run.show_nothing()
    sequence.play(asking, run.steps)
    run.look_at_everything()
