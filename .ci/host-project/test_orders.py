"""The host's scenarios and one plain test."""

import pytest
from pytest_bdd import given, parsers, scenarios, then

scenarios("orders.feature")


@given(parsers.parse('the adapter "{name}"'), target_fixture="wanted")
def _the_adapter(name: str) -> str:
    return name


@then("it is the one that was asked for")
def _asked_for(wanted: str, adapter: str) -> None:
    assert wanted == adapter


@then("the bus is the host's")
def _own_bus(bus: str) -> None:
    assert bus == "double-decker"


def test_no_mark_of_busproof_is_on_the_hosts_tests(request: pytest.FixtureRequest) -> None:
    ours = [item for item in request.session.items if item.path == request.path]
    assert [] == [item.name for item in ours if item.get_closest_marker("rule")]
