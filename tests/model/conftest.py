"""Fixtures of the tests of the reference model."""

import pytest
from model_driver import Bus


@pytest.fixture
def bus() -> Bus:
    """An empty namespace under the default readings."""
    return Bus()
