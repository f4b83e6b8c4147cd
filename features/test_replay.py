"""Commands that are asked again; pytest looks at them only where they are given (--bus-replay)."""

import pytest

from busproof.steps.running import RUN


def test_replay(request: pytest.FixtureRequest) -> None:
    """The commands of a file."""
    request.config.stash[RUN].replay()
