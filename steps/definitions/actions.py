"""Steps for rule actions and their copies, and for names of rules and subscriptions."""

from pytest_bdd import parsers, then, when

from busproof import vocabulary as v
from busproof.steps.bus import Bus
from busproof.steps.definitions.topics import TOPIC
from busproof.steps.wording import wanted

LETTER = "x"


@when(
    parsers.re(
        r'rule "(?P<rule>[^"]+)" of subscription "(?P<name>[^"]+)" is added that does '
        r"(?P<action>[^:]+): (?P<what>.+)"
    ),
    target_fixture="outcome",
)
def adds_acting_rule(bus: Bus, rule: str, name: str, action: str, what: str) -> v.Outcome:
    """Try to add a rule with an action."""
    selecting = wanted(what)
    command = v.AddRule(topic=TOPIC, subscription=name, rule=rule, filter=selecting, action=action)
    return bus.do(command)


@when(
    parsers.parse('a rule of subscription "{name}" with a name of {number:d} characters is added'),
    target_fixture="outcome",
)
def adds_long_named_rule(bus: Bus, name: str, number: int) -> v.Outcome:
    """Try to add a rule with a name of this length."""
    rule = LETTER * number
    return bus.do(v.AddRule(topic=TOPIC, subscription=name, rule=rule, filter=v.TrueFilter()))


@when(
    parsers.parse("a subscription with a name of {number:d} characters is created"),
    target_fixture="outcome",
)
def subscribes_by_long_name(bus: Bus, number: int) -> v.Outcome:
    """Try to create a subscription with a name of this length."""
    return bus.do(v.CreateSubscription(topic=TOPIC, subscription=LETTER * number))


@when(parsers.parse('a subscription "{name}" is tried'), target_fixture="outcome")
def subscribes(bus: Bus, name: str) -> v.Outcome:
    """Try to create a subscription."""
    return bus.do(v.CreateSubscription(topic=TOPIC, subscription=name))


@when(
    parsers.parse("a message is requested from the subscription with {number:d} characters"),
    target_fixture="outcome",
)
def asks_long_named(bus: Bus, number: int) -> v.Outcome:
    """Try to receive from a subscription with a name of this length, which may not exist."""
    queue = f"{TOPIC}/subscriptions/{LETTER * number}"
    return bus.do(v.Receive(queue=queue, mode=v.ReceiveMode.RECEIVE_AND_DELETE))


@then(parsers.parse("exactly {number:d} copies were received"))
@then(parsers.parse("exactly {number:d} copy was received"))
def so_many_copies(bus: Bus, views: list[v.MessageView], number: int) -> None:
    """Check the number of copies of the latest message, which have its body."""
    assert [view.body for view in views] == [bus.sent[-1].body] * number, views


@then(parsers.parse("{number:d} of them have property {name}"))
def have_property(views: list[v.MessageView], number: int, name: str) -> None:
    """Check the number of copies that have a property with this name, whatever its value."""
    assert sum(name in view.properties for view in views) == number, views


@then("exactly one of them is as it was sent")
def one_is_as_sent(bus: Bus, views: list[v.MessageView]) -> None:
    """Check that exactly one copy has the sender's properties and subject, unchanged."""
    bus.need(v.Capability.FILTERS)
    sent = bus.sent[-1]
    same = [
        view
        for view in views
        if view.properties == sent.properties and view.subject == sent.subject
    ]
    assert len(same) == 1, views
