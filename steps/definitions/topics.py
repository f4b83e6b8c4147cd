"""Steps that create topics, subscriptions and rules, and that select the entity to use next.

Later steps send to, receive from, settle in or take down the entity that was selected last.
"""

from pytest_bdd import given, parsers, then, when

from busproof import vocabulary as v
from busproof.steps.bus import Bus
from busproof.steps.definitions.setup import basic_has_no_topics, refuse_missing_kind
from busproof.steps.wording import subscription_settings, topic_settings, wanted

TOPIC = "news"


@given(
    parsers.re(r"a (?P<kind>partitioned|regular) topic(?: (?P<traits>.+))?"),
    target_fixture="queue",
)
def create_topic(bus: Bus, kind: str, traits: str | None) -> str:
    """Create a topic of this kind with these traits, and defaults for the other settings."""
    basic_has_no_topics(bus)
    settings: v.CreateTopic = topic_settings(TOPIC, kind, traits or "")
    refuse_missing_kind(bus, settings)
    bus.expect(bus.do(settings), v.Done)
    return TOPIC


@given("a topic", target_fixture="queue")
def create_any_topic(bus: Bus) -> str:
    """Create a topic, partitioned except in Premium; the scenario does not depend on that."""
    basic_has_no_topics(bus)
    partitioned = bus.profile.may_partition
    bus.expect(bus.do(v.CreateTopic(topic=TOPIC, partitioned=partitioned)), v.Done)
    return TOPIC


@given(parsers.re(r'subscription "(?P<name>[^"]+)"(?: (?P<traits>(?:with|that requires) .+))?'))
def subscribe(bus: Bus, name: str, traits: str | None) -> None:
    """Create a subscription of the topic with these traits."""
    bus.expect(bus.do(subscription_settings(TOPIC, name, traits or "")), v.Done)


@given(parsers.parse('subscriptions "s1" to "s{last:d}"'))
def subscribe_often(bus: Bus, last: int) -> None:
    """Create several subscriptions of the topic."""
    for number in range(1, last + 1):
        bus.expect(bus.do(v.CreateSubscription(topic=TOPIC, subscription=f"s{number}")), v.Done)


@when("a subscription of a topic that does not exist is created", target_fixture="outcome")
def subscribe_to_nothing(bus: Bus) -> v.Outcome:
    """Try to create a subscription of a topic that does not exist."""
    return bus.do(v.CreateSubscription(topic="nowhere", subscription="one"))


@when("a subscription of the queue is created", target_fixture="outcome")
def subscribe_to_queue(bus: Bus, queue: str) -> v.Outcome:
    """Try to create a subscription of a topic with the name of a queue."""
    bus.need(v.Capability.TOPICS)
    return bus.do(v.CreateSubscription(topic=queue, subscription="one"))


@when(parsers.parse('receivers turn to subscription "{name}"'), target_fixture="queue")
def turn_to_subscription(views: list[v.MessageView], name: str) -> str:
    """Use this subscription in the next steps, and forget the messages received before."""
    views.clear()
    return f"{TOPIC}/subscriptions/{name}"


@when(
    parsers.parse('receivers turn to subscription "{name}" and remember what came'),
    target_fixture="queue",
)
def turn_back_to_subscription(name: str) -> str:
    """Use this subscription in the next steps, and count what was received from it before."""
    return f"{TOPIC}/subscriptions/{name}"


@when("senders turn to the topic", target_fixture="queue")
def turn_to_topic() -> str:
    """Use the topic in the next steps."""
    return TOPIC


def _add(
    bus: Bus, name: str, rule: str, selecting: v.Filter, transaction: str | None = None
) -> v.Outcome:
    command = v.AddRule(
        topic=TOPIC, subscription=name, rule=rule, filter=selecting, transaction=transaction
    )
    return bus.do(command)


def _remove(bus: Bus, name: str, rule: str, transaction: str | None = None) -> v.Outcome:
    command = v.RemoveRule(topic=TOPIC, subscription=name, rule=rule, transaction=transaction)
    return bus.do(command)


@given(parsers.re(r'subscription "(?P<name>[^"]+)" that takes (?P<what>.+)'))
def subscribe_to_some(bus: Bus, name: str, what: str) -> None:
    """Create a subscription with one rule, named `first`."""
    bus.expect(bus.do(v.CreateSubscription(topic=TOPIC, subscription=name)), v.Done)
    bus.expect(_remove(bus, name, v.DEFAULT_RULE), v.Done)
    bus.expect(_add(bus, name, "first", wanted(what)), v.Done)


@when(
    parsers.re(r'rule "(?P<rule>[^"]+)" of subscription "(?P<name>[^"]+)" is added: (?P<what>.+)'),
    target_fixture="outcome",
)
def adds_rule(bus: Bus, rule: str, name: str, what: str) -> v.Outcome:
    """Try to add a rule."""
    return _add(bus, name, rule, wanted(what))


@when(parsers.parse('rule "{rule}" of subscription "{name}" is removed'), target_fixture="outcome")
def removes_rule(bus: Bus, rule: str, name: str) -> v.Outcome:
    """Try to remove a rule."""
    return _remove(bus, name, rule)


@when(
    parsers.parse(
        'a rule of subscription "{name}" that takes everything is added in the transaction'
    ),
    target_fixture="outcome",
)
def adds_rule_in_transaction(bus: Bus, name: str, transaction: str) -> v.Outcome:
    """Try to add a rule in the transaction."""
    return _add(bus, name, "in-transaction", v.TrueFilter(), transaction)


@when(
    parsers.parse('the rule of subscription "{name}" is removed in the transaction'),
    target_fixture="outcome",
)
def removes_rule_in_transaction(bus: Bus, name: str, transaction: str) -> v.Outcome:
    """Try to remove the only rule in the transaction."""
    return _remove(bus, name, v.DEFAULT_RULE, transaction)


@then(parsers.parse('the rules of subscription "{name}" are {names}'))
def rules_are(bus: Bus, name: str, names: str) -> None:
    """Check that exactly these rules are listed, each once."""
    outcome = bus.do(v.ListRules(topic=TOPIC, subscription=name))
    assert isinstance(outcome, v.RulesListed), outcome
    assert sorted(f'"{rule.name}"' for rule in outcome.rules) == sorted(names.split(" and "))
