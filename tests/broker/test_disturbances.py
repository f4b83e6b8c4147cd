"""Faults that clients meet on request, seen by Microsoft's client."""

import pytest
from azure.servicebus import ServiceBusClient, ServiceBusMessage
from azure.servicebus.exceptions import ServiceBusError

from busproof.broker.disturbances import CONDITIONS, KINDS, OPERATIONS, fault_of
from busproof.broker.embedding import Embedded, embedded
from busproof.errors import UsageError

pytestmark = pytest.mark.slow


def send(bus: Embedded, queue: str = "q", retries: int = 0) -> None:
    client = ServiceBusClient.from_connection_string(bus.connection_string, retry_total=retries)
    with client, client.get_queue_sender(queue) as sender:
        sender.send_messages(ServiceBusMessage("x"))


def count(bus: Embedded, queue: str = "q") -> int:
    return sum(bus.state()["entities"][queue]["held"])


def test_refused_send_is_not_carried_out():
    with embedded() as bus:
        bus.queue("q")
        bus.disturb("refuse", entity="q", condition="not-allowed")
        with pytest.raises(ServiceBusError, match="amqp:not-allowed"):
            send(bus)
        assert count(bus) == 0
        send(bus)
        assert count(bus) == 1


@pytest.mark.parametrize("kind", ["lose", "cut"])
def test_send_whose_answer_is_lost_was_carried_out(kind: str):
    with embedded() as bus:
        bus.queue("q")
        bus.disturb(kind, entity="q")
        with pytest.raises(ServiceBusError):
            send(bus)
        assert count(bus) == 1


def test_fault_waits_for_its_entity_and_its_turn():
    with embedded() as bus:
        bus.queue("q")
        bus.queue("other")
        bus.disturb("refuse", entity="q", condition="not-allowed", skip=1)
        send(bus, "other")
        send(bus)
        with pytest.raises(ServiceBusError):
            send(bus)


def test_slow_connection_keeps_the_order():
    with embedded() as bus:
        bus.queue("q")
        bus.disturb("delay", operation="login", seconds=0.01)
        for _ in range(3):
            send(bus)
        assert count(bus) == 3


def test_faults_that_have_not_struck_are_listed_and_cleared():
    with embedded() as bus:
        bus.queue("q")
        bus.disturb("refuse", entity="Q", times=2)
        assert [fault["entity"] for fault in bus._ask("faults")] == ["q"]
        bus._ask("faults/clear", {})
        assert bus._ask("faults") == []


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({}, f"a fault needs a kind: {', '.join(KINDS)}"),
        ({"kind": "x"}, f"kind is 'x'; it is one of {', '.join(KINDS)}"),
        ({"kind": "lose", "operation": "x"}, f"one of {', '.join(OPERATIONS)}"),
        ({"kind": "refuse", "condition": "x"}, f"one of {', '.join(CONDITIONS)}"),
        ({"kind": "lose", "times": True}, "times is True; it is a whole number from 1 on"),
        ({"kind": "delay", "seconds": 1e9}, "seconds is 1000000000.0; it is from 0 to 3600"),
        ({"kind": "delay", "seconds": "1"}, "seconds is '1'; it is a number"),
        ({"kind": "lose", "entity": 1}, "entity is 1; it is the name of an entity"),
        ({"kind": "lose", "who": 1}, "a fault has no 'who'"),
        ({"kind": "refuse", "operation": "deliver"}, "a delivery cannot be refused"),
    ],
)
def test_wrong_fault_is_refused(fields: dict[str, object], said: str):
    with embedded() as bus, pytest.raises(UsageError) as caught:
        bus._ask("faults", fields)
    assert said in str(caught.value)


def test_fault_strikes_once_unless_it_says_otherwise():
    assert fault_of({"kind": "lose"}).times == 1
