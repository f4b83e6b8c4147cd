"""The official client against a broker within the tests' own process; it tries nothing again."""

from azure.servicebus import ServiceBusClient, ServiceBusMessage

from busproof.broker.embedding import Embedded

__all__ = ["client", "send"]


def client(bus: Embedded) -> ServiceBusClient:
    return ServiceBusClient.from_connection_string(
        bus.connection_string, retry_total=0, socket_timeout=0.05
    )


def send(bus: Embedded, queue: str, *bodies: str, **properties: str) -> None:
    with client(bus) as found, found.get_queue_sender(queue) as sender:
        for body in bodies:
            sender.send_messages(ServiceBusMessage(body, **properties))
