"""Steps that create topics, subscriptions and rules, and select the entity for later steps.

The entity selected last is the one that later steps send to, receive from, settle in or take down.
"""

from pytest_bdd import given, parsers, then, when

from busproof.judging.scenario_outcome import NotApplicable
from busproof.steps.bus import Bus
from busproof.steps.definitions.setup import refuse_missing_kind
from busproof.steps.wording import subscription_settings, topic_settings, wanted
from busproof.vocabulary.commands import (
    AddRule,
    CreateSubscription,
    CreateTopic,
    ListRules,
    RemoveRule,
)
from busproof.vocabulary.messages import MessageView
from busproof.vocabulary.outcomes import Done, Outcome, RulesListed
from busproof.vocabulary.subscription_rules import DEFAULT_RULE, Filter, TrueFilter
from busproof.vocabulary.values import Tier

TOPIC = "news"


def _basic_has_none(bus: Bus) -> None:
    """Leave the scenario in Basic, which has no topics; its rules may also apply there."""
    if bus.profile.tier is Tier.BASIC:
        raise NotApplicable("tier: basic has no topics")


@given(
    parsers.re(r"a (?P<kind>partitioned|regular) topic(?: (?P<traits>.+))?"),
    target_fixture="queue",
)
def created_topic(bus: Bus, kind: str, traits: str | None) -> str:
    """Create a topic of this kind with these traits, and defaults for the other settings."""
    _basic_has_none(bus)
    settings: CreateTopic = topic_settings(TOPIC, kind, traits or "")
    refuse_missing_kind(bus, settings)
    bus.expect(bus.do(settings), Done)
    return TOPIC


@given("a topic", target_fixture="queue")
def created_any_topic(bus: Bus) -> str:
    """Create a topic, partitioned except in Premium; the scenario does not depend on that."""
    _basic_has_none(bus)
    partitioned = bus.profile.may_partition
    bus.expect(bus.do(CreateTopic(topic=TOPIC, partitioned=partitioned)), Done)
    return TOPIC


@given(parsers.re(r'subscription "(?P<name>[^"]+)"(?: (?P<traits>(?:with|that requires) .+))?'))
def subscribed(bus: Bus, name: str, traits: str | None) -> None:
    """Create a subscription of the topic with these traits."""
    bus.expect(bus.do(subscription_settings(TOPIC, name, traits or "")), Done)


@given(parsers.parse('subscriptions "s1" to "s{last:d}"'))
def subscribed_often(bus: Bus, last: int) -> None:
    """Create several subscriptions of the topic."""
    for number in range(1, last + 1):
        bus.expect(bus.do(CreateSubscription(topic=TOPIC, subscription=f"s{number}")), Done)


@when("a subscription of a topic that does not exist is created", target_fixture="outcome")
def subscribed_to_nothing(bus: Bus) -> Outcome:
    """Try to create a subscription of a topic that does not exist."""
    return bus.do(CreateSubscription(topic="nowhere", subscription="one"))


@when(parsers.parse('receivers turn to subscription "{name}"'), target_fixture="queue")
def turned_to_subscription(views: list[MessageView], name: str) -> str:
    """Use this subscription in the next steps, and forget the messages received before."""
    views.clear()
    return f"{TOPIC}/subscriptions/{name}"


@when("senders turn to the topic", target_fixture="queue")
def turned_to_topic() -> str:
    """Use the topic in the next steps."""
    return TOPIC


def _add(
    bus: Bus, name: str, rule: str, selecting: Filter, transaction: str | None = None
) -> Outcome:
    command = AddRule(
        topic=TOPIC, subscription=name, rule=rule, filter=selecting, transaction=transaction
    )
    return bus.do(command)


def _remove(bus: Bus, name: str, rule: str, transaction: str | None = None) -> Outcome:
    command = RemoveRule(topic=TOPIC, subscription=name, rule=rule, transaction=transaction)
    return bus.do(command)


@given(parsers.re(r'subscription "(?P<name>[^"]+)" that takes (?P<what>.+)'))
def subscribed_to_some(bus: Bus, name: str, what: str) -> None:
    """Create a subscription with one rule, named `first`."""
    bus.expect(bus.do(CreateSubscription(topic=TOPIC, subscription=name)), Done)
    bus.expect(_remove(bus, name, DEFAULT_RULE), Done)
    bus.expect(_add(bus, name, "first", wanted(what)), Done)


@when(
    parsers.re(r'rule "(?P<rule>[^"]+)" of subscription "(?P<name>[^"]+)" is added: (?P<what>.+)'),
    target_fixture="outcome",
)
def adds_rule(bus: Bus, rule: str, name: str, what: str) -> Outcome:
    """Try to add a rule."""
    return _add(bus, name, rule, wanted(what))


@when(parsers.parse('rule "{rule}" of subscription "{name}" is removed'), target_fixture="outcome")
def removes_rule(bus: Bus, rule: str, name: str) -> Outcome:
    """Try to remove a rule."""
    return _remove(bus, name, rule)


@when(
    parsers.parse(
        'a rule of subscription "{name}" that takes everything is added in the transaction'
    ),
    target_fixture="outcome",
)
def adds_rule_in_transaction(bus: Bus, name: str, transaction: str) -> Outcome:
    """Try to add a rule in the transaction."""
    return _add(bus, name, "in-transaction", TrueFilter(), transaction)


@when(
    parsers.parse('the rule of subscription "{name}" is removed in the transaction'),
    target_fixture="outcome",
)
def removes_rule_in_transaction(bus: Bus, name: str, transaction: str) -> Outcome:
    """Try to remove the only rule in the transaction."""
    return _remove(bus, name, DEFAULT_RULE, transaction)


@then(parsers.parse('the rules of subscription "{name}" are {names}'))
def rules_are(bus: Bus, name: str, names: str) -> None:
    """Check that exactly these rules are listed, each once."""
    outcome = bus.do(ListRules(topic=TOPIC, subscription=name))
    assert isinstance(outcome, RulesListed), outcome
    assert sorted(f'"{rule.name}"' for rule in outcome.rules) == sorted(names.split(" and "))
