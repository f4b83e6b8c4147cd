"""The official administration client: topics, subscriptions and their rules."""

from datetime import UTC, datetime, timedelta

import pytest
from azure.core.exceptions import HttpResponseError, ResourceNotFoundError
from azure.servicebus import ServiceBusMessage as Message
from azure.servicebus.exceptions import MessagingEntityDisabledError
from azure.servicebus.management import (
    CorrelationRuleFilter,
    SqlRuleAction,
    SqlRuleFilter,
    TrueRuleFilter,
)
from azure.servicebus.management import ServiceBusAdministrationClient as Admin

from ..conftest import Served
from ..test_sdk_queues import completed, taken

pytestmark = pytest.mark.slow


def test_a_topic_has_subscriptions_and_these_rules(served: Served, admin: Admin, name: str) -> None:
    admin.create_topic(name, enable_partitioning=True)
    admin.create_subscription(name, "s", max_delivery_count=3)
    assert ["$Default"] == [each.name for each in admin.list_rules(name, "s")]
    assert isinstance(admin.get_rule(name, "s", "$Default").filter, TrueRuleFilter | SqlRuleFilter)
    admin.delete_rule(name, "s", "$Default")
    admin.create_rule(name, "s", "sql", filter=SqlRuleFilter("colour = 'red'"))
    admin.create_rule(
        name, "s", "label", filter=CorrelationRuleFilter(label="wanted", properties={"n": 1})
    )
    found = admin.get_rule(name, "s", "label").filter
    assert ("wanted", {"n": 1}) == (found.label, found.properties)
    assert "colour = 'red'" == admin.get_rule(name, "s", "sql").filter.sql_expression
    with served.client() as client:
        with client.get_topic_sender(name) as sender:
            sender.send_messages(Message("1", application_properties={"colour": "red"}))
            sender.send_messages(Message("2", application_properties={"colour": "blue"}))
            sender.send_messages(Message("3", subject="wanted", application_properties={"n": 1}))
        with client.get_subscription_receiver(name, "s") as receiver:
            got = taken(receiver, 2)
            assert {"1", "3"} == {str(each) for each in got}
    assert ["s"] == [each.name for each in admin.list_subscriptions(name)]
    assert name in [each.name for each in admin.list_topics()]
    with pytest.raises(ResourceNotFoundError):
        admin.get_subscription(name, "other")


def test_a_rule_with_an_action_makes_a_copy_of_its_own(
    served: Served, admin: Admin, name: str
) -> None:
    admin.create_topic(name)
    admin.create_subscription(name, "s")
    action = SqlRuleAction("SET colour = 'blue'; SET sys.Label = 'changed'")
    admin.create_rule(name, "s", "paint", filter=SqlRuleFilter("n = 1"), action=action)
    assert action.sql_expression == admin.get_rule(name, "s", "paint").action.sql_expression
    with pytest.raises(HttpResponseError):
        admin.create_rule(name, "s", "wrong", action=SqlRuleAction("SET colour"))
    with served.client() as client:
        with client.get_topic_sender(name) as sender:
            properties = {"colour": "red", "n": 1}
            sender.send_messages(Message("m", subject="sent", application_properties=properties))
        with client.get_subscription_receiver(name, "s") as receiver:
            came = {each.subject: each.application_properties for each in taken(receiver, 2)}
    assert {
        "sent": {b"colour": b"red", b"n": 1},
        "changed": {b"colour": b"blue", b"n": 1, b"RuleName": b"paint"},
    } == came


def test_topics_subscriptions_and_rules_are_changed_and_deleted(
    served: Served, admin: Admin, name: str
) -> None:
    topic = admin.create_topic(name, default_message_time_to_live=timedelta(minutes=5))
    assert timedelta(minutes=5) == topic.default_message_time_to_live
    topic.default_message_time_to_live = timedelta(minutes=4)
    admin.update_topic(topic)
    assert timedelta(minutes=4) == admin.get_topic(name).default_message_time_to_live
    made = admin.create_subscription(name, "s", dead_lettering_on_message_expiration=True)
    made.lock_duration, made.max_delivery_count = timedelta(seconds=20), 2
    admin.update_subscription(name, made)
    properties = admin.get_subscription(name, "s")
    assert (timedelta(seconds=20), 2, True) == (
        properties.lock_duration,
        properties.max_delivery_count,
        properties.dead_lettering_on_message_expiration,
    )
    rule = admin.create_rule(name, "s", "r", filter=SqlRuleFilter("colour = 'red'"))
    rule.filter = SqlRuleFilter("colour = 'blue'")
    admin.update_rule(name, "s", rule)
    assert "colour = 'blue'" == admin.get_rule(name, "s", "r").filter.sql_expression
    admin.create_subscription(name, "other")
    admin.delete_subscription(name, "other")
    assert ["s"] == [each.name for each in admin.list_subscriptions(name)]
    assert 1 == admin.get_topic_runtime_properties(name).subscription_count
    with served.client() as client, client.get_topic_sender(name) as sender:
        sender.send_messages(Message("1"))
        with client.get_subscription_receiver(name, "s") as receiver:
            completed(receiver)
    admin.delete_topic(name)
    with pytest.raises(ResourceNotFoundError):
        admin.get_topic(name)
    with pytest.raises(ResourceNotFoundError):
        admin.get_subscription(name, "s")
    admin.create_topic(name)
    assert [] == list(admin.list_subscriptions(name))


def create_without_rules(admin: Admin, name: str) -> None:
    """Create a topic with a subscription that takes nothing yet."""
    admin.create_topic(name)
    admin.create_subscription(name, "s")
    admin.delete_rule(name, "s", "$Default")


def test_parameters_stand_for_constants(served: Served, admin: Admin, name: str) -> None:
    """In a filter and in an action, of each type; one that is not given is refused."""
    moment = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    create_without_rules(admin, name)
    expression = "a = @A AND b > @b AND c = @c AND d <= @d AND e = @e AND f <> '@a'"
    known = {"@a": "it's", "@b": -1.5, "@c": True, "@d": moment, "@e": 40}
    rule = admin.create_rule(
        name,
        "s",
        "r",
        filter=SqlRuleFilter(expression, parameters=known),
        action=SqlRuleAction("SET seen = @x", parameters={"@x": "yes"}),
    )
    assert (expression, "SET seen = @x") == (rule.filter.sql_expression, rule.action.sql_expression)
    parameters = dict(admin.get_rule(name, "s", "r").filter.parameters)
    assert known == {**parameters, "@d": parameters["@d"].replace(tzinfo=UTC)}
    fits = {"a": "it's", "b": 0.5, "c": True, "d": moment, "e": 40, "f": "other"}
    with served.client() as client, client.get_topic_sender(name) as sender:
        for each in (fits, fits | {"a": "its"}, fits | {"d": moment + timedelta(seconds=1)}):
            sender.send_messages(Message("m", application_properties=dict(each)))
        with client.get_subscription_receiver(name, "s") as receiver:
            (message,) = taken(receiver)
            assert [] == receiver.receive_messages(1, max_wait_time=1)
    assert b"yes" == message.application_properties[b"seen"]
    with pytest.raises(HttpResponseError, match="filter: the parameter '@z' has no value"):
        admin.create_rule(name, "s", "z", filter=SqlRuleFilter("a = @z"))


def test_correlation_filter_compares_moments(served: Served, admin: Admin, name: str) -> None:
    moment = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    create_without_rules(admin, name)
    properties = {"when": moment, "long": timedelta(days=1)}
    for rule, some in (("all", properties), ("when", {"when": moment})):
        admin.create_rule(name, "s", rule, filter=CorrelationRuleFilter(properties=some))
    compared = admin.get_rule(name, "s", "all").filter.properties
    assert timedelta(days=1) == compared["long"]
    with served.client() as client, client.get_topic_sender(name) as sender:
        for each in (moment, moment + timedelta(seconds=1)):
            sender.send_messages(Message(str(each), application_properties={"when": each}))
        with client.get_subscription_receiver(name, "s") as receiver:
            assert [str(moment)] == [str(each) for each in taken(receiver)]
            assert [] == receiver.receive_messages(1, max_wait_time=1)


def test_a_disabled_topic_takes_nothing_and_a_closed_subscription_gets_its_copies(
    served: Served, admin: Admin, name: str
) -> None:
    """Until they are enabled again; deleted and made anew they are as any other."""
    topic = admin.create_topic(name)
    closed = admin.create_subscription(name, "s")
    closed.status = "ReceiveDisabled"
    admin.update_subscription(name, closed)
    with served.client() as client, client.get_topic_sender(name) as sender:
        sender.send_messages(Message("kept"))
        with pytest.raises(MessagingEntityDisabledError):
            client.get_subscription_receiver(name, "s").receive_messages(1, max_wait_time=1)
        topic.status = "SendDisabled"
        admin.update_topic(topic)
        with pytest.raises(MessagingEntityDisabledError):
            sender.send_messages(Message("lost"))
        closed.status = "Active"
        admin.update_subscription(name, closed)
        with client.get_subscription_receiver(name, "s") as receiver:
            assert ["kept"] == [str(each) for each in taken(receiver)]
    closed.status = "ReceiveDisabled"
    admin.update_subscription(name, closed)
    admin.delete_topic(name)
    admin.create_topic(name)
    admin.create_subscription(name, "s")
    with served.client() as client, client.get_topic_sender(name) as sender:
        sender.send_messages(Message("new"))
        with client.get_subscription_receiver(name, "s") as receiver:
            assert ["new"] == [str(each) for each in taken(receiver)]
