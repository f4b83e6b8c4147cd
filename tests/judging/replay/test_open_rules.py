"""Rules of subscriptions: whatever the documents leave open, and nothing else, is explained."""

import pytest
from immutables import Map
from told import Told

from busproof import vocabulary as v

PATH = v.subscription_path("t", "s")
TAKE = v.Receive(queue=PATH, mode=v.ReceiveMode.RECEIVE_AND_DELETE)
INVALID = v.Refused(error=v.Error.INVALID_OPERATION)
EMPTY = v.Empty()


def add(expression: str, action: str | None = None) -> v.AddRule:
    condition = v.SqlFilter(expression=expression)
    return v.AddRule(topic="t", subscription="s", rule="r", filter=condition, action=action)


def subscribed(**readings: str) -> Told:
    """There is a subscription without rules."""
    told = Told(**readings).of(v.CreateTopic(topic="t"))  # type: ignore[arg-type]
    told.of(v.CreateSubscription(topic="t", subscription="s"))
    return told.of(v.RemoveRule(topic="t", subscription="s", rule=v.DEFAULT_RULE))


def sent(told: Told, body: str = "m", **properties: object) -> Told:
    message = v.Message(body=body, properties=Map(properties))  # type: ignore[arg-type]
    return told.of(v.Send(queue="t", message=message))


def got(body: str = "m", number: int = 1, **fields: object) -> v.Outcome:
    properties = Map(fields.pop("properties", {}))  # type: ignore[call-overload]
    view = v.MessageView(body=body, sequence_number=number, properties=properties, **fields)  # type: ignore[arg-type]
    return v.Received(message=view)


@pytest.mark.parametrize(
    ("expression", "outcomes"),
    [
        ("a = 1", [True, False]),
        ("a =", [False, True]),
        ("a = @p", [True, True]),
        ("sys.Nothing = 1", [True, True]),
        ("a = .5", [True, True]),
    ],
)
def test_only_doubtful_filters_may_be_added_or_refused(
    expression: str, outcomes: list[bool]
) -> None:
    told = subscribed()
    assert [told.may_be(add(expression)), told.may_be(add(expression), INVALID)] == outcomes


@pytest.mark.parametrize(
    ("readings", "expression", "outcomes"),
    [
        ({}, "a < 'b'", [True, True]),
        ({}, "a LIKE 'X'", [True, True]),
        ({"SQL_TYPES": "unknown"}, "a < 'b'", [True, False]),
        ({"LIKE_CASE": "sensitive"}, "a LIKE 'X'", [True, False]),
        ({}, "a = 'x'", [False, True]),
    ],
)
def test_a_condition_that_is_open_takes_a_message_or_not(
    readings: dict[str, str], expression: str, outcomes: list[bool]
) -> None:
    told = sent(subscribed(**readings).of(add(expression)), a="x")
    taken = got(properties={"a": "x"})
    assert [told.may_be(TAKE, EMPTY), told.may_be(TAKE, taken)] == outcomes


def test_messages_that_differ_in_their_bodies_only_are_taken_alike() -> None:
    told = sent(subscribed().of(add("a < 'b'")), "m", a="x")
    told = sent(told.of(TAKE, EMPTY), "n", a="x")
    assert told.may_be(TAKE, EMPTY)
    assert not told.may_be(TAKE, got("n", properties={"a": "x"}))


@pytest.mark.parametrize(("value", "allowed"), [(1, True), (2, False)])
def test_a_new_id_may_be_any_and_other_values_are_as_said(value: int, allowed: bool) -> None:
    told = sent(subscribed().of(add("1=1", "SET a = newid(); SET b = 1")))
    fresh = "7c9e6679-7425-40de-944b-e07fc1f90ae7"
    properties = {"a": fresh, "b": value, "RuleName": "r"}
    assert told.may_be(TAKE, got(properties=properties)) is allowed


@pytest.mark.parametrize(
    ("listed", "allowed"),
    [
        (v.SqlFilter(expression="1  =  1"), True),
        (v.TrueFilter(), True),
        (v.FalseFilter(), False),
        (v.SqlFilter(expression="1 = 2"), False),
    ],
)
def test_a_list_may_write_a_filter_differently(listed: v.Filter, allowed: bool) -> None:
    told = subscribed().of(add("1 = 1", "SET a = 1"))
    rules = v.ListRules(topic="t", subscription="s")
    rule = v.SubscriptionRule(name="r", filter=listed)
    assert told.may_be(rules, v.RulesListed(rules=(rule,))) is allowed
    assert not told.may_be(rules, v.RulesListed(rules=(rule, rule)))


def test_a_lost_change_may_be_made_later() -> None:
    told = subscribed().lost(add("1 = 1"))
    assert sent(told).may_be(TAKE, EMPTY)
    assert told.may_be(TAKE, got())


def test_a_lost_send_may_come_once_its_queue_exists() -> None:
    told = Told().lost(v.Send(queue="q", message=v.Message(body="m"))).of(v.CreateQueue(queue="q"))
    take = v.Receive(queue="q", mode=v.ReceiveMode.RECEIVE_AND_DELETE)
    assert told.may_be(take, got())
    assert told.may_be(take, EMPTY)
