"""Steps that check the copies of a message that a subscription gives, as its actions made them."""

from pytest_bdd import parsers, then

from busproof import vocabulary as v
from busproof.steps.bus import BusUnderTest


@then(parsers.parse("{number:d} of them have property {name}"))
def have_property(views: list[v.MessageView], number: int, name: str) -> None:
    """Check the number of copies that have a property with this name, whatever its value."""
    assert sum(name in view.properties for view in views) == number, views


@then("exactly one of them is as it was sent")
def one_is_as_sent(bus: BusUnderTest, views: list[v.MessageView]) -> None:
    """Check that exactly one copy has the sender's properties and subject, unchanged."""
    bus.need(v.Capability.FILTERS)
    sent = bus.sent[-1]
    same = [
        view
        for view in views
        if view.properties == sent.properties and view.subject == sent.subject
    ]
    assert len(same) == 1, views
