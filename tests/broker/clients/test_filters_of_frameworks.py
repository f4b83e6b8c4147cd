"""Filters and actions as frameworks and Microsoft's pages write them, through the official client.

`node/client.test.js` has the same ones over AMQP, as the JavaScript client adds rules.
"""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from azure.servicebus import ServiceBusMessage as Message
from azure.servicebus.management import ServiceBusAdministrationClient as Admin
from azure.servicebus.management import SqlRuleAction, SqlRuleFilter

from ..conftest import Served
from ..test_sdk_queues import taken

pytestmark = pytest.mark.slow

TYPES = "NServiceBus.EnclosedMessageTypes"
EVENT = "Shop.Events.OrderPlaced"
FILTERS: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "NServiceBus, classic": (
        f"[{TYPES}] LIKE '{EVENT}%' OR [{TYPES}] LIKE '%{EVENT}%' OR "
        f"[{TYPES}] LIKE '%{EVENT}' OR [{TYPES}] = '{EVENT}'",
        {TYPES: f"{EVENT}, Shop, Version=1.0.0.0;System.Object"},
        {TYPES: "Shop.Events.OrderCancelled, Shop"},
    ),
    "MassTransit": (
        "[MT-MessageType] LIKE '%urn:message:Shop:OrderPlaced%' AND \"MT-Retries\" < 3",
        {"MT-MessageType": "urn:message:Shop:OrderPlaced", "MT-Retries": 2},
        {"MT-MessageType": "urn:message:Shop:OrderPlaced", "MT-Retries": 3},
    ),
    "a fixture": (
        "[data-topic] IS NOT NULL AND p('kind') IN ('a', 'b') AND NOT size > 0.5E1",
        {"data-topic": "x", "kind": "a", "size": 5},
        {"data-topic": "x", "kind": "c", "size": 5},
    ),
    "scientific": ("weight >= 1.5E2", {"weight": 150.0}, {"weight": 149.5}),
}


def ruled(admin: Admin, name: str, expression: str, action: str | None = None) -> None:
    """Create a topic with a subscription that has one rule."""
    admin.create_topic(name)
    admin.create_subscription(name, "s")
    admin.delete_rule(name, "s", "$Default")
    acting = None if action is None else SqlRuleAction(action)
    admin.create_rule(name, "s", "r", filter=SqlRuleFilter(expression), action=acting)
    assert expression == admin.get_rule(name, "s", "r").filter.sql_expression


@pytest.mark.parametrize("case", FILTERS)
def test_filter_of_a_framework_takes_its_messages(
    served: Served, admin: Admin, name: str, case: str
) -> None:
    expression, wanted, other = FILTERS[case]
    ruled(admin, name, expression)
    with served.client() as client, client.get_topic_sender(name) as sender:
        sender.send_messages(Message("other", application_properties=other))
        sender.send_messages(Message("wanted", application_properties=wanted))
        with client.get_subscription_receiver(name, "s") as receiver:
            (message,) = taken(receiver)
            assert "wanted" == str(message)
            assert [] == receiver.receive_messages(1, max_wait_time=1)


def test_action_of_the_documents_changes_its_copy(served: Served, admin: Admin, name: str) -> None:
    action = (
        "SET quantity = quantity / 2; REMOVE priority; SET sys.CorrelationId = 'low', "
        "SET [trace-id] = newid() SET before = quantity; REMOVE sys.Label"
    )
    ruled(admin, name, "user.color = 'red' AND sys.PartitionKey = 'k'", action)
    sent = {"color": "red", "quantity": 10, "priority": "high"}
    with served.client() as client, client.get_topic_sender(name) as sender:
        message = Message("m", application_properties=sent, subject="x", partition_key="k")
        sender.send_messages(message)
        with client.get_subscription_receiver(name, "s") as receiver:
            (copy,) = taken(receiver)
    properties = {key.decode(): value for key, value in copy.application_properties.items()}
    assert 36 == len(properties.pop("trace-id"))
    assert {"color": b"red", "quantity": 5, "before": 5, "RuleName": b"r"} == properties
    assert ("low", None) == (copy.correlation_id, copy.subject)


@pytest.mark.parametrize(
    ("expression", "taken_there"),
    [
        ("sys.EnqueuedTimeUtc > moment AND sys.SequenceNumber > 0", True),
        ("sys.EnqueuedTimeUtc < moment", False),
        ("sys.TimeToLive = 60000 AND sys.DeliveryCount = 0 AND sys.Size > 0", True),
    ],
)
def test_filter_reads_what_the_broker_gives_a_message(
    served: Served, admin: Admin, name: str, expression: str, *, taken_there: bool
) -> None:
    ruled(admin, name, expression)
    moment = datetime(2020, 1, 1, tzinfo=UTC)
    with served.client() as client, client.get_topic_sender(name) as sender:
        properties = {"moment": moment}
        sender.send_messages(
            Message("m", application_properties=properties, time_to_live=timedelta(minutes=1))
        )
        with client.get_subscription_receiver(name, "s") as receiver:
            found = receiver.receive_messages(1, max_wait_time=5 if taken_there else 1)
            assert taken_there is bool(found)
