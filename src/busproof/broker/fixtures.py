"""Fixtures for projects that test their own code on partitioned entities.

A project enables them by `pytest_plugins = ["busproof.broker.fixtures"]` in its top-level
`conftest.py`.
"""

from collections.abc import Iterator
from typing import Any

import pytest

from busproof.broker.embedding import Embedded, embedded

__all__ = ["bus", "bus_broker", "bus_options"]


@pytest.fixture(scope="session")
def bus_options() -> dict[str, Any]:
    """Arguments of `embedded`; a project overrides this fixture to change them."""
    return {}


@pytest.fixture(scope="session")
def bus_broker(bus_options: dict[str, Any]) -> Iterator[Embedded]:
    """One broker for all tests of a process."""
    with embedded(**bus_options) as broker:
        yield broker


@pytest.fixture
def bus(bus_broker: Embedded) -> Embedded:
    """The broker with a fresh namespace: configured entities, no messages, time 0."""
    bus_broker.begin()
    return bus_broker
