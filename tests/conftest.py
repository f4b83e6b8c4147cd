"""Tests that share what takes long to make are run by one process, which makes it once."""

import pytest

SHARED = (
    "spark",
    "broken",
    "recorded",
    "browser",
    "built",
    "outside",
    "site",
    "project",
    "repository",
    "pickles",
)
"""Fixtures of a module or of all tests that take seconds: a Spark, a browser, a whole run."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put each test into the group of the first of these fixtures that it asks for."""
    for item in items:
        asked = getattr(item, "fixturenames", ())
        found = next((name for name in SHARED if name in asked), None)
        if found is not None:
            item.add_marker(pytest.mark.xdist_group(found))
