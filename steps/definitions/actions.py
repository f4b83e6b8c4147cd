"""Steps on actions of rules and the copies that they make, and on names of both."""

from pytest_bdd import parsers, then, when

from busproof.steps.bus import Bus
from busproof.steps.definitions.sending import READ
from busproof.steps.definitions.topics import TOPIC
from busproof.steps.wording import Properties, wanted
from busproof.vocabulary.capabilities import Capability
from busproof.vocabulary.commands import AddRule, CreateSubscription, Receive
from busproof.vocabulary.messages import MessageView
from busproof.vocabulary.outcomes import Outcome
from busproof.vocabulary.subscription_rules import TrueFilter
from busproof.vocabulary.values import ReceiveMode

LETTER = "x"


@when(
    parsers.re(
        r'rule "(?P<rule>[^"]+)" of subscription "(?P<name>[^"]+)" is added that does '
        r"(?P<action>[^:]+): (?P<what>.+)"
    ),
    target_fixture="outcome",
)
def adds_acting_rule(bus: Bus, rule: str, name: str, action: str, what: str) -> Outcome:
    """Add a rule with an action, whatever becomes of it."""
    selecting = wanted(what)
    command = AddRule(topic=TOPIC, subscription=name, rule=rule, filter=selecting, action=action)
    return bus.do(command)


@when(
    parsers.parse('a rule of subscription "{name}" with a name of {number:d} characters is added'),
    target_fixture="outcome",
)
def adds_long_named_rule(bus: Bus, name: str, number: int) -> Outcome:
    """Add a rule with a name of this length, whatever becomes of it."""
    rule = LETTER * number
    return bus.do(AddRule(topic=TOPIC, subscription=name, rule=rule, filter=TrueFilter()))


@when(
    parsers.parse("a subscription with a name of {number:d} characters is created"),
    target_fixture="outcome",
)
def subscribes_by_long_name(bus: Bus, number: int) -> Outcome:
    """Create a subscription with a name of this length, whatever becomes of it."""
    return bus.do(CreateSubscription(topic=TOPIC, subscription=LETTER * number))


@when(parsers.parse('a subscription "{name}" is tried'), target_fixture="outcome")
def subscribes(bus: Bus, name: str) -> Outcome:
    """Create a subscription, whatever becomes of it."""
    return bus.do(CreateSubscription(topic=TOPIC, subscription=name))


@when(
    parsers.parse("a message is asked for from the subscription with {number:d} characters"),
    target_fixture="outcome",
)
def asks_long_named(bus: Bus, number: int) -> Outcome:
    """Receive from a subscription with a name of this length, whether there is one or not."""
    queue = f"{TOPIC}/subscriptions/{LETTER * number}"
    return bus.do(Receive(queue=queue, mode=ReceiveMode.RECEIVE_AND_DELETE))


@then(parsers.parse("exactly {number:d} copies were received"))
@then(parsers.parse("exactly {number:d} copy was received"))
def so_many_copies(bus: Bus, views: list[MessageView], number: int) -> None:
    """So many copies came of the last message that was sent, with its body."""
    assert [view.body for view in views] == [bus.sent[-1].body] * number, views


@then(parsers.parse("exactly one of them has {carried}"), converters=READ)
def one_has(views: list[MessageView], carried: Properties) -> None:
    """One copy has these properties, and no other one."""
    assert sum(carried.fit(view) for view in views) == 1, views


@then(parsers.parse("{number:d} of them have property {name}"))
def have_property(views: list[MessageView], number: int, name: str) -> None:
    """So many copies have a property of this name, whatever its value."""
    assert sum(name in view.properties for view in views) == number, views


@then("exactly one of them is as it was sent")
def one_is_as_sent(bus: Bus, views: list[MessageView]) -> None:
    """One copy has what its sender set, and nothing else of the application's own."""
    bus.need(Capability.FILTERS)
    sent = bus.sent[-1]
    same = [
        view
        for view in views
        if view.properties == sent.properties and view.subject == sent.subject
    ]
    assert len(same) == 1, views
