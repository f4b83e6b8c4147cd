"""Steps for the order of sequence numbers, if the adapter reports them."""

from pytest_bdd import then

from busproof import vocabulary as v
from busproof.steps.bus import Bus


def _rise(bus: Bus, views: list[v.MessageView]) -> None:
    """Check that the sequence numbers of these messages rise in the order of sending."""
    order = {message.body: place for place, message in enumerate(bus.sent)}
    numbers = [view.sequence_number for view in sorted(views, key=lambda view: order[view.body])]
    known = [number for number in numbers if number is not None]
    assert known == numbers, "a sequence number is missing"
    assert known == sorted(set(known)), known


def _rise_by_key(bus: Bus, views: list[v.MessageView]) -> None:
    bus.need(v.Capability.SEQUENCE_NUMBERS)
    assert views
    for key in {(view.session_id, view.partition_key) for view in views}:
        _rise(bus, [view for view in views if (view.session_id, view.partition_key) == key])


@then("the sequence numbers of each key rise in the order of sending")
def rise_by_key(bus: Bus, views: list[v.MessageView]) -> None:
    """Check that within each key, sequence numbers rise in the order of sending."""
    _rise_by_key(bus, views)


@then("the sequence numbers shown of each key rise in the order of sending")
def shown_rise_by_key(bus: Bus, peeked: tuple[v.MessageView, ...]) -> None:
    """Check that within each key, the numbers that a peek shows rise in the order of sending."""
    _rise_by_key(bus, list(peeked))


@then("the sequence numbers of all messages rise in the order of sending")
def rise(bus: Bus, views: list[v.MessageView]) -> None:
    """Check that sequence numbers rise in the order of sending across all keys."""
    bus.need(v.Capability.SEQUENCE_NUMBERS)
    assert views
    _rise(bus, views)


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
