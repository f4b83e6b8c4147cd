"""Transfers over links: a message and its outcome, or a request and its reply."""

import time
from itertools import count
from typing import Any, Final

from proton import Array, Delivery, Described, Link, Message

from busproof.adapters.amqp.connection import Connection
from busproof.adapters.amqp.failing import Rejected

__all__ = ["Requests", "Settled", "has_arrived", "is_closed", "own", "take_message", "transfer"]

TRANSACTIONAL: Final = 0x34
REJECTED: Final = 0x25


class Settled:
    """The outcome of a transfer or a settlement, with its error if it was refused."""

    def __init__(self, delivery: Any) -> None:
        self.state = delivery.remote_state
        self.data = own(delivery.remote.data) if self.state not in TERMINAL else None
        self._condition = delivery.remote.condition

    def check(self) -> "Settled":
        """Raise an error if the outcome is a refusal.

        Raises:
            Rejected: the outcome is a refusal.
        """
        if self.state == Delivery.REJECTED and self._condition is not None:
            raise Rejected(str(self._condition.name), self._condition.description or "")
        if self.state == TRANSACTIONAL:
            _check_outcome(self.data)
        return self


def _check_outcome(state: Any) -> None:
    """Raise an error if part of a transaction was refused, as the outcome within its state says."""
    outcome = state[1] if isinstance(state, list) and len(state) > 1 else None
    if isinstance(outcome, Described) and outcome.descriptor == REJECTED:
        described: Any = outcome.value
        error: Any = described[0] if described else None
        told_of_it: Any = error.value if isinstance(error, Described) else []
        fields = [*told_of_it, None, None]
        raise Rejected(str(fields[0] or "amqp:not-allowed"), str(fields[1] or ""))


TERMINAL: Final = (Delivery.ACCEPTED, Delivery.REJECTED, Delivery.RELEASED, Delivery.MODIFIED)


def transactional(delivery: Any, transaction: bytes) -> None:
    """Make a transfer part of a transaction."""
    delivery.local.data = [transaction]
    delivery.update(TRANSACTIONAL)


class Requests:
    """A pair of links for requests and their replies."""

    def __init__(self, connection: Connection, address: str) -> None:
        self._connection = connection
        self._numbers = count(1)
        self.sender = connection.sender()
        self.sender.target.address = address
        self.receiver = connection.receiver()
        self.receiver.source.address = address
        self.address = self.receiver.name
        self.receiver.target.address = self.address
        self.sender.source.address = self.address

    def attach(self) -> None:
        """Attach both links."""
        connection, address = self._connection, self.sender.target.address
        connection.attach(self.receiver, f"attaching to {address}")
        connection.attach(self.sender, f"attaching to {address}")

    def ask(self, request: Message, transaction: bytes | None = None) -> Message:
        """Send a request, and return the reply.

        Raises:
            Rejected: the request was not accepted, or the links are closed.
        """
        connection, number = self._connection, next(self._numbers)
        connection.check(self.sender)
        connection.check(self.receiver)
        request.id = f"{self.address}/{number}"
        request.reply_to = self.address
        self.receiver.flow(1)
        delivery = transfer(connection, self.sender, bytes(request.encode()), transaction)
        delivery.settle()
        what = f"a request to {self.sender.target.address}"
        while True:
            connection.wait(lambda: has_arrived(self.receiver), what)
            connection.check(self.receiver)
            answer = Message()
            answer.decode(take_message(self.receiver)[1])
            if answer.correlation_id == request.id:
                return answer
            # This is a late reply to an earlier request; give back the credit that it used.
            self.receiver.flow(1)


def transfer(
    connection: Connection,
    link: Any,
    raw: bytes,
    transaction: bytes | None = None,
    timeout: float | None = None,
) -> Any:
    """Transfer a message and wait for its outcome; return the delivery, not yet settled.

    Raises:
        Rejected: the service refuses the message or the link.
    """
    what = f"a message to {link.target.address}"
    connection.wait(lambda: link.credit > 0 or is_closed(link), what, timeout)
    connection.check(link)
    delivery = link.delivery(str(time.monotonic_ns()))
    if transaction is not None:
        transactional(delivery, transaction)
    link.stream(raw)
    link.advance()
    connection.wait(
        lambda: bool(delivery.remote_state) or delivery.settled or is_closed(link), what, timeout
    )
    if not delivery.remote_state and not delivery.settled:
        connection.check(link)
    try:
        Settled(delivery).check()
    except Rejected:
        delivery.settle()
        raise
    return delivery


def take_message(link: Any) -> tuple[Any, bytes]:
    """Return the delivery of a message that has arrived completely, and its bytes."""
    delivery, raw = link.current, b""
    while waiting := delivery.pending:
        raw += bytes(link.recv(waiting) or b"")
    link.advance()
    if delivery.settled:
        delivery.settle()
    return delivery, raw


def has_arrived(link: Any) -> bool:
    """Return whether a whole message has arrived, or the link is closed."""
    delivery = link.current
    whole = delivery is not None and delivery.readable and not delivery.partial
    return bool(whole) or is_closed(link)


def is_closed(link: Any) -> bool:
    """Return whether the service has closed a link."""
    return bool(link.state & Link.REMOTE_CLOSED)


def own(value: Any) -> Any:
    """Copy the binaries within a value, because Proton frees theirs with the message."""
    if isinstance(value, memoryview):
        return bytes(value)
    if isinstance(value, dict):
        return {name: own(item) for name, item in value.items()}
    if isinstance(value, list):
        return [own(item) for item in value]
    if isinstance(value, Array):
        return [own(element) for element in value.elements]
    if isinstance(value, Described):
        return Described(value.descriptor, own(value.value))
    return value
