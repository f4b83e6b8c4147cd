"""Fixtures for who tests code of their own on partitioned entities.

A project has them by `pytest_plugins = ["busproof.broker.fixtures"]` in its outermost
`conftest.py`.
"""

from collections.abc import Iterator
from typing import Any

import pytest

from busproof.broker.embedding import Embedded, embedded

__all__ = ["bus", "bus_broker", "bus_options"]


@pytest.fixture(scope="session")
def bus_options() -> dict[str, Any]:
    """What `embedded` is called with; a project that wants something else has its own."""
    return {}


@pytest.fixture(scope="session")
def bus_broker(bus_options: dict[str, Any]) -> Iterator[Embedded]:
    """One broker for all tests of a process."""
    with embedded(**bus_options) as broker:
        yield broker


@pytest.fixture
def bus(bus_broker: Embedded) -> Embedded:
    """The broker, with a fresh namespace: what is configured, no messages, time 0."""
    bus_broker.begin()
    return bus_broker
