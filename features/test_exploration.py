"""The exploration; pytest looks at it only where it is asked for (--bus-profile)."""

import pytest

from busproof.steps.running import RUN


def test_exploration(request: pytest.FixtureRequest) -> None:
    """Random commands, judged as they go."""
    request.config.stash[RUN].explore()
