"""Steps that check the copies of a message that a subscription gives, as its actions made them."""

from pytest_bdd import then

from busproof import vocabulary as v
from busproof.steps.bus import BusUnderTest


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
