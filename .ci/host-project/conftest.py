"""The host's own option, under a name that busproof must leave alone."""

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the host's option."""
    parser.addoption("--adapter", default="none", help="the host's own")


@pytest.fixture
def adapter(request: pytest.FixtureRequest) -> str:
    return str(request.config.getoption("--adapter"))


@pytest.fixture
def bus() -> str:
    """A fixture that has the name of one of busproof's."""
    return "double-decker"
