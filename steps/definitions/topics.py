"""Steps on topics and subscriptions: creating them, and turning from the one to the other.

Whatever is sent, received, settled or disturbed concerns the entity that was turned to last.
"""

from pytest_bdd import given, parsers, then, when

from busproof.judging.scenario_outcome import NotApplicable
from busproof.steps.bus import Bus
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
    """Leave a scenario of a rule that holds in Basic too, where topics are not."""
    if bus.profile.tier is Tier.BASIC:
        raise NotApplicable("tier: basic has no topics")


@given(
    parsers.re(r"a (?P<kind>partitioned|regular) topic(?: (?P<traits>.+))?"),
    target_fixture="queue",
)
def created_topic(bus: Bus, kind: str, traits: str | None) -> str:
    """A topic of its kind with these traits, all else left as it is by default."""
    _basic_has_none(bus)
    settings: CreateTopic = topic_settings(TOPIC, kind, traits or "")
    if settings.partitioned and bus.profile.tier is Tier.PREMIUM:
        raise NotApplicable("tier: premium need not have partitioned topics")
    bus.expect(bus.do(settings), Done)
    return TOPIC


@given("a topic", target_fixture="queue")
def created_any_topic(bus: Bus) -> str:
    """A topic, partitioned where the tier has such; what is tried does not depend on it."""
    _basic_has_none(bus)
    partitioned = bus.profile.tier is not Tier.PREMIUM
    bus.expect(bus.do(CreateTopic(topic=TOPIC, partitioned=partitioned)), Done)
    return TOPIC


@given(parsers.re(r'subscription "(?P<name>[^"]+)"(?: (?P<traits>(?:with|that requires) .+))?'))
def subscribed(bus: Bus, name: str, traits: str | None) -> None:
    """A subscription of the topic, with these traits."""
    bus.expect(bus.do(subscription_settings(TOPIC, name, traits or "")), Done)


@given(parsers.parse('subscriptions "s1" to "s{last:d}"'))
def subscribed_often(bus: Bus, last: int) -> None:
    """Several subscriptions of the topic."""
    for number in range(1, last + 1):
        bus.expect(bus.do(CreateSubscription(topic=TOPIC, subscription=f"s{number}")), Done)


@when("a subscription of a topic that does not exist is created", target_fixture="outcome")
def subscribed_to_nothing(bus: Bus) -> Outcome:
    """Create a subscription where there is no topic, whatever becomes of it."""
    return bus.do(CreateSubscription(topic="nowhere", subscription="one"))


@when(parsers.parse('receivers turn to subscription "{name}"'), target_fixture="queue")
def turned_to_subscription(views: list[MessageView], name: str) -> str:
    """What follows concerns this subscription; what was received before is not counted on."""
    views.clear()
    return f"{TOPIC}/subscriptions/{name}"


@when("senders turn to the topic", target_fixture="queue")
def turned_to_topic() -> str:
    """What follows concerns the topic."""
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
    """A subscription with one rule, called `first`."""
    bus.expect(bus.do(CreateSubscription(topic=TOPIC, subscription=name)), Done)
    bus.expect(_remove(bus, name, DEFAULT_RULE), Done)
    bus.expect(_add(bus, name, "first", wanted(what)), Done)


@when(
    parsers.re(r'rule "(?P<rule>[^"]+)" of subscription "(?P<name>[^"]+)" is added: (?P<what>.+)'),
    target_fixture="outcome",
)
def adds_rule(bus: Bus, rule: str, name: str, what: str) -> Outcome:
    """Add a rule, whatever becomes of it."""
    return _add(bus, name, rule, wanted(what))


@when(parsers.parse('rule "{rule}" of subscription "{name}" is removed'), target_fixture="outcome")
def removes_rule(bus: Bus, rule: str, name: str) -> Outcome:
    """Remove a rule, whatever becomes of it."""
    return _remove(bus, name, rule)


@when(
    parsers.parse(
        'a rule of subscription "{name}" that takes everything is added in the transaction'
    ),
    target_fixture="outcome",
)
def adds_rule_in_transaction(bus: Bus, name: str, transaction: str) -> Outcome:
    """Add a rule in the transaction, whatever becomes of it."""
    return _add(bus, name, "in-transaction", TrueFilter(), transaction)


@when(
    parsers.parse('the rule of subscription "{name}" is removed in the transaction'),
    target_fixture="outcome",
)
def removes_rule_in_transaction(bus: Bus, name: str, transaction: str) -> Outcome:
    """Remove the only rule in the transaction, whatever becomes of it."""
    return _remove(bus, name, DEFAULT_RULE, transaction)


@then(parsers.parse('the rules of subscription "{name}" are {names}'))
def rules_are(bus: Bus, name: str, names: str) -> None:
    """Each rule is listed, once."""
    outcome = bus.do(ListRules(topic=TOPIC, subscription=name))
    assert isinstance(outcome, RulesListed), outcome
    assert sorted(f'"{rule.name}"' for rule in outcome.rules) == sorted(names.split(" and "))
