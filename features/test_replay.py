"""A replay of commands; pytest collects it only with `--bus-replay`."""

import pytest

from busproof.steps.running import RUN


def test_replay(request: pytest.FixtureRequest) -> None:
    """Send the commands in a file again."""
    request.config.stash[RUN].replay()
