"""Moves money: a debit of one account and a credit of another, both or neither.

The bookings of an account have to stay in order, so that each account is a session of the queue.
"""

import json

import attrs
from proton import Endpoint, Event, Message
from proton.handlers import MessagingHandler, TransactionHandler
from proton.reactor import Container, Transaction


class RefusedError(Exception):
    """The bus took neither booking; what it said."""


@attrs.frozen
class Booking:
    """A movement of an account.

    Attributes:
        account: whose bookings stay in order.
        cents: positive for a credit, negative for a debit.
    """

    account: str
    cents: int


def in_two_sessions(payer: str, payee: str, cents: int) -> list[tuple[str, list[Booking]]]:
    """As one would write it first: each booking in the session of its account."""
    return [(payer, [Booking(payer, -cents)]), (payee, [Booking(payee, cents)])]


def in_one_session(payer: str, payee: str, cents: int) -> list[tuple[str, list[Booking]]]:
    """As it works on a partitioned queue: one session has both; who reads it, books both."""
    return [("transfers", [Booking(payer, -cents), Booking(payee, cents)])]


def transfer(address: str, queue: str, parts: list[tuple[str, list[Booking]]]) -> None:
    """Send bookings in one transaction.

    Args:
        address: of the bus, as `amqp://NAME:KEY@HOST:PORT`.
        queue: requires sessions.
        parts: session, and its bookings.

    Raises:
        RefusedError: nothing of it was taken.
    """
    sending = _Sending(address, queue, parts)
    Container(sending).run()
    if sending.refused:
        raise RefusedError(sending.refused)


class _Sending(MessagingHandler, TransactionHandler):
    def __init__(self, address: str, queue: str, parts: list[tuple[str, list[Booking]]]) -> None:
        super().__init__(auto_settle=False)
        self._address, self._queue, self._parts = address, queue, parts
        self._open = 0
        self.refused = ""

    def on_start(self, event: Event) -> None:
        self._connection = event.container.connect(
            self._address, allowed_mechs="PLAIN", allow_insecure_mechs=True, reconnect=False
        )
        self._sender = event.container.create_sender(self._connection, self._queue)
        event.container.declare_transaction(self._connection, handler=self)

    def on_transaction_declared(self, event: Event) -> None:
        transaction: Transaction = event.transaction
        self._transaction = transaction
        for session, bookings in self._parts:
            for each in bookings:
                self._open += 1
                message = Message(
                    body=json.dumps(attrs.asdict(each)).encode(), group_id=session, inferred=True
                )
                transaction.send(self._sender, message)

    def on_rejected(self, event: Event) -> None:
        condition = event.delivery.remote.condition
        self.refused = self.refused or str(condition and condition.description)

    def on_settled(self, event: Event) -> None:
        if event.link != self._sender:
            return
        self._open -= 1
        if self._open == 0 and self.refused:
            self._transaction.abort()
        elif self._open == 0:
            self._transaction.commit()

    def on_transaction_committed(self, event: Event) -> None:
        self._connection.close()

    def on_transaction_aborted(self, event: Event) -> None:
        self._connection.close()

    def on_transaction_commit_failed(self, event: Event) -> None:
        self.refused = self.refused or "the transaction was not committed"
        self._connection.close()

    def on_connection_closed(self, event: Event) -> None:
        if event.connection.state & Endpoint.LOCAL_ACTIVE:
            event.connection.close()
