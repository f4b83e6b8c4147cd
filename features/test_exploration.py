"""The exploration; pytest collects it only with `--bus-profile`."""

import pytest

from busproof.steps.running import RUN


def test_exploration(request: pytest.FixtureRequest) -> None:
    """Send random commands, and judge the answers at once."""
    request.config.stash[RUN].explore()
