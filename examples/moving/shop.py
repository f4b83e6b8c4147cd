"""A shop on Service Bus Standard: orders in sessions, payments once each, and an audit trail.

Its queue of orders is partitioned and moves to a partitioned Premium namespace as it is. The other
two queues are not partitioned, and the shop relies on that without knowing it.
"""

import sys

from azure.servicebus import ServiceBusClient, ServiceBusMessage, ServiceBusReceiver

ORDERS = {"alice": ("book", "pen"), "bob": ("lamp",)}


def place_orders(client: ServiceBusClient) -> None:
    """Send each customer's orders in a session of the customer's."""
    with client.get_queue_sender("orders") as sender:
        for customer, goods in ORDERS.items():
            for good in goods:
                sender.send_messages(ServiceBusMessage(good, session_id=customer))


def ship(client: ServiceBusClient) -> list[str]:
    """Receive the orders of each customer, and return what is shipped."""
    shipped = []
    for customer, goods in ORDERS.items():
        with client.get_queue_receiver("orders", session_id=customer) as receiver:
            shipped += receive(receiver, len(goods))
    return shipped


def pay(client: ServiceBusClient) -> list[str]:
    """Send a payment, and once more after a fault; return the payments that arrive.

    The second time another till sends it. Duplicate detection drops the copy, wherever it is from.
    """
    with client.get_queue_sender("payments") as sender:
        for till in ("till-1", "till-2"):
            payment = ServiceBusMessage("12.50", message_id="payment-1", partition_key=till)
            sender.send_messages(payment)
    with client.get_queue_receiver("payments") as receiver:
        return receive(receiver, 1)


def write_audit(client: ServiceBusClient) -> list[str]:
    """Write the trail of all customers in one batch, and return what arrives."""
    with client.get_queue_sender("audit") as sender:
        batch = sender.create_message_batch()
        for customer in ORDERS:
            batch.add_message(ServiceBusMessage(f"{customer} paid", partition_key=customer))
        sender.send_messages(batch)
    with client.get_queue_receiver("audit") as receiver:
        return receive(receiver, len(ORDERS))


def receive(receiver: ServiceBusReceiver, count: int) -> list[str]:
    """Receive and complete as many messages, and return their bodies."""
    bodies: list[str] = []
    while len(bodies) < count:
        for message in receiver.receive_messages(max_message_count=count, max_wait_time=30):
            bodies.append(str(message))
            receiver.complete_message(message)
    return bodies


def main(connection_string: str) -> None:
    """Run the shop once."""
    with ServiceBusClient.from_connection_string(connection_string) as client:
        place_orders(client)
        lines = (
            f"shipped {' '.join(sorted(ship(client)))}",
            f"paid {' '.join(pay(client))}",
            f"audited {', '.join(sorted(write_audit(client)))}",
        )
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
