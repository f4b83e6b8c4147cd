"""Steps for the order of sequence numbers, if the adapter reports them."""

import pytest
from pytest_bdd import parsers, then

from busproof import vocabulary as v
from busproof.steps.bus import BusUnderTest


def _rise(bus: BusUnderTest, views: list[v.MessageView]) -> None:
    """Check that the sequence numbers of these messages rise in the order of sending."""
    order = {message.body: place for place, message in enumerate(bus.sent)}
    numbers = [view.sequence_number for view in sorted(views, key=lambda view: order[view.body])]
    known = [number for number in numbers if number is not None]
    assert known == numbers, "a sequence number is missing"
    assert known == sorted(set(known)), known


@then(
    parsers.re(
        "the sequence numbers (?P<shown>shown )?of (?P<which>each key|all messages) "
        "rise in the order of sending"
    )
)
def rise(request: pytest.FixtureRequest, bus: BusUnderTest, shown: str | None, which: str) -> None:
    """Check that numbers rise in the order of sending, within each key or across all of them."""
    bus.need(v.Capability.SEQUENCE_NUMBERS)
    views = list(request.getfixturevalue("peeked" if shown else "views"))
    assert views
    if which == "all messages":
        _rise(bus, views)
        return
    for key in {(view.session_id, view.partition_key) for view in views}:
        _rise(bus, [view for view in views if (view.session_id, view.partition_key) == key])


@then("those that were peeked have the numbers that the peek showed")
def same_as_peeked(views: list[v.MessageView], peeked: tuple[v.MessageView, ...]) -> None:
    """Check that peek and receive report the same numbers; a peek may show only some messages."""
    received = {view.body: view.sequence_number for view in views}
    shown = {view.body: view.sequence_number for view in peeked}
    assert shown == {body: received[body] for body in shown}


@then("the message kept has the number that it had")
def same_as_kept(views: list[v.MessageView], kept: v.MessageView) -> None:
    """Check that an abandoned message keeps its sequence number."""
    (again,) = [view for view in views if view.body == kept.body]
    assert again.sequence_number == kept.sequence_number
