"""Steps that create topics, subscriptions and rules, and that select the entity to use next.

Later steps send to, receive from, settle in or take down the entity that was selected last.
"""

import pytest
from pytest_bdd import given, parsers, then, when

from busproof import vocabulary as v
from busproof.steps.bus import BusUnderTest
from busproof.steps.sentences import TOPIC, name_in, sentence, transaction_of
from busproof.steps.wording import subscription_settings, wanted


@given(
    parsers.re(
        r'subscriptions? "(?P<name>[^"]+)"(?: to "s(?P<last>\d+)")?'
        r"(?: (?P<traits>(?:with|that (?:requires|forwards)) .+))?"
    )
)
def subscribe(bus: BusUnderTest, name: str, last: str | None, traits: str | None) -> None:
    """Create a subscription of the topic with these traits; or several, from "s1" to the last."""
    names = [name] if last is None else [f"s{number}" for number in range(1, int(last) + 1)]
    for each in names:
        bus.expect(bus.do(subscription_settings(TOPIC, each, traits or "")), v.Done)


@given(parsers.re(r'subscription "(?P<name>[^"]+)" that takes (?P<what>.+)'))
def subscribe_to_some(bus: BusUnderTest, name: str, what: str) -> None:
    """Create a subscription with one rule, named `first`."""
    bus.expect(bus.do(v.CreateSubscription(topic=TOPIC, subscription=name)), v.Done)
    removing = v.RemoveRule(topic=TOPIC, subscription=name, rule=v.DEFAULT_RULE)
    bus.expect(bus.do(removing), v.Done)
    adding = v.AddRule(topic=TOPIC, subscription=name, rule="first", filter=wanted(what))
    bus.expect(bus.do(adding), v.Done)


@when(
    parsers.re(
        r'(?P<rule>rule "[^"]+"|a rule with a name of \d+ characters)'
        r' of subscription "(?P<name>[^"]+)" is added(?P<within> in the transaction)?'
        r"(?: that does (?P<action>[^:]+))?: (?P<what>.+)"
    ),
    target_fixture="outcome",
)
def adds_rule(
    request: pytest.FixtureRequest,
    bus: BusUnderTest,
    rule: str,
    name: str,
    within: str | None,
    action: str | None,
    what: str,
) -> v.Outcome:
    """Try to add a rule, which may have an action."""
    command = v.AddRule(
        topic=TOPIC,
        subscription=name,
        rule=name_in(rule),
        filter=wanted(what),
        action=action,
        transaction=transaction_of(request, within),
    )
    return bus.do(command)


@when(
    sentence('rule "{rule}" of subscription "{name}" is removed{within:Within?}'),
    target_fixture="outcome",
)
def removes_rule(
    request: pytest.FixtureRequest, bus: BusUnderTest, rule: str, name: str, within: str | None
) -> v.Outcome:
    """Try to remove a rule."""
    transaction = transaction_of(request, within)
    command = v.RemoveRule(topic=TOPIC, subscription=name, rule=rule, transaction=transaction)
    return bus.do(command)


@then(parsers.parse('the rules of subscription "{name}" are {names}'))
def rules_are(bus: BusUnderTest, name: str, names: str) -> None:
    """Check that exactly these rules are listed, each once."""
    outcome = bus.do(v.ListRules(topic=TOPIC, subscription=name))
    assert isinstance(outcome, v.RulesListed), outcome
    assert sorted(f'"{rule.name}"' for rule in outcome.rules) == sorted(names.split(" and "))
