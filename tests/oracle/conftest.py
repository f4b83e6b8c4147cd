"""Fixtures of the tests of the oracle."""

import pytest
from telling import Told, telling


@pytest.fixture
def told() -> Told:
    """A fresh namespace under the default readings."""
    return telling()
