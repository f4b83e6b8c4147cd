"""Fixtures of the tests of the oracle."""

import pytest
from observing import Observer, observing


@pytest.fixture
def observer() -> Observer:
    """A fresh namespace under the default readings."""
    return observing()
