"""The distilled situations: sequences found by machine, which the judge judges as they go."""

import pytest

from busproof.steps.distilled import Situation, situations
from busproof.steps.running import RUN


@pytest.mark.parametrize(
    "situation",
    [pytest.param(each, id=each.name, marks=pytest.mark.rule(each.rule)) for each in situations()],
)
def test_situation(request: pytest.FixtureRequest, situation: Situation) -> None:
    """The bus is asked what the situation asks, if its rule applies."""
    asking = request.getfixturevalue("asking")
    run = request.config.stash[RUN]
    run.show_nothing()
    situation.play(asking, run.steps)
    run.look_at_everything()
