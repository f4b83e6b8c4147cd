"""Steps for the order of sequence numbers, if the adapter reports them."""

from collections.abc import Callable
from typing import Final

import pytest
from pytest_bdd import parsers, then

from busproof import vocabulary as v
from busproof.steps.bus import BusUnderTest


@then(
    parsers.re(
        "the sequence numbers (?P<shown>shown )?of (?P<which>each key|all messages) "
        "(?P<how>rise in the order of sending|differ|name the partitions that took them)"
    )
)
def compare_numbers(
    request: pytest.FixtureRequest, bus: BusUnderTest, shown: str | None, which: str, how: str
) -> None:
    """Check the sequence numbers, within each key or across all of them."""
    views = list(request.getfixturevalue("peeked" if shown else "views"))
    check = CHECKS[how]
    if which == "all messages":
        check(bus, views)
        return
    assert views
    for key in {(view.session_id, view.partition_key) for view in views}:
        check(bus, [view for view in views if (view.session_id, view.partition_key) == key])


def _rise(bus: BusUnderTest, views: list[v.MessageView]) -> None:
    """Check that the sequence numbers of these messages rise in the order of sending."""
    bus.need(v.Capability.SEQUENCE_NUMBERS)
    assert views
    order = {message.body: place for place, message in enumerate(bus.sent)}
    numbers = [view.sequence_number for view in sorted(views, key=lambda view: order[view.body])]
    known = [number for number in numbers if number is not None]
    assert known == numbers, "a sequence number is missing"
    assert known == sorted(set(known)), known


def _differ(_: BusUnderTest, views: list[v.MessageView]) -> None:
    """Check that sequence numbers are unique, where they are reported."""
    numbers = [view.sequence_number for view in views if view.sequence_number is not None]
    assert len(set(numbers)) == len(numbers), numbers


def _name_partitions(bus: BusUnderTest, views: list[v.MessageView]) -> None:
    """Check that the upper bits of each sequence number are the witnessed partition."""
    named = {view.body: (view.sequence_number or 0) >> v.SEQUENCE_BITS for view in views}
    assert named == {body: bus.partition_of[body] for body in named}


CHECKS: Final[dict[str, Callable[[BusUnderTest, list[v.MessageView]], None]]] = {
    "rise in the order of sending": _rise,
    "differ": _differ,
    "name the partitions that took them": _name_partitions,
}
"""What may be said of sequence numbers."""


@then(
    parsers.re(
        "each message received has (?P<how>the same|another) sequence number (?:as|than) "
        "when it was (?P<when>peeked|kept|deferred|scheduled)"
    )
)
def compare_with_earlier(
    request: pytest.FixtureRequest, views: list[v.MessageView], how: str, when: str
) -> None:
    """Check whether each message received that was seen before has the number that it had then."""
    earlier = _earlier_numbers(request, when)
    now = {view.body: view.sequence_number for view in views if view.body in earlier}
    assert now, "no message came"
    if how == "the same":
        assert now == {body: earlier[body] for body in now}, now
    else:
        assert None not in now.values(), now
        assert not now.items() & earlier.items(), now


def _earlier_numbers(request: pytest.FixtureRequest, when: str) -> dict[str, int | None]:
    """Return the sequence numbers that messages had when they were seen before, by body."""
    if when == "scheduled":
        bus = request.getfixturevalue("bus")
        scheduled = request.getfixturevalue("scheduled")
        numbers = [outcome.sequence_number for outcome in scheduled]
        return {message.body: number for message, number in zip(bus.sent, numbers, strict=True)}
    views = {"peeked": "peeked", "kept": "kept", "deferred": "aside"}
    seen = request.getfixturevalue(views[when])
    return {view.body: view.sequence_number for view in ([seen] if when == "kept" else seen)}
