"""Links for requests and replies: `$cbs` and each entity's `$management`."""

from collections import deque
from collections.abc import Callable, Generator, Iterator
from typing import Any, Final

from proton import Link, Message, int32, symbol

from busproof.broker.amqp import native
from busproof.broker.amqp.drains import Drain
from busproof.broker.amqp.engine import Connection
from busproof.broker.amqp.incoming_links import (
    CREDIT,
    accept,
    gather_message,
    refuse,
    transaction_of,
)
from busproof.broker.amqp.native import Raw
from busproof.broker.amqp.nodes import Node
from busproof.broker.amqp.refusals import Refusal, too_large
from busproof.broker.amqp.unreadable import decode_completely

__all__ = [
    "CBS_STATUS",
    "MANAGEMENT_STATUS",
    "Answerer",
    "Replies",
    "Reply",
    "Requests",
    "read_properties",
]

MANAGEMENT_STATUS: Final = ("statusCode", "statusDescription", "errorCondition")
WRITTEN_AT_ONCE: Final = 65_536
"""Number of reply bytes between writes, which show whether the client reads them."""
VALUES_OF_EACH: Final = 20
"""Maximum number of AMQP values in a request, for each item that it may name."""
CBS_STATUS: Final = ("status-code", "status-description", None)
"""Names of the properties with the status code, its description and the error condition, if any."""


def read_properties(request: Message) -> dict[str, Any]:
    """Return the properties of a request as text; some clients send strings as bytes.

    Raises:
        Refusal: the properties are not a map.
    """
    properties: Any = request.properties or {}
    if not isinstance(properties, dict):
        raise Refusal("amqp:decode-error", "The properties of a request are not a map.")
    return {_text(key): _text(value) for key, value in properties.items()}


def _text(value: Any) -> Any:
    return (
        bytes(value).decode("utf-8", "replace") if isinstance(value, bytes | memoryview) else value
    )


class Reply:
    """A reply to a request.

    Args:
        body: the result.
        status: the status code; 200 to 299 is success.
        description: the status in words.
    """

    def __init__(self, body: Any = None, status: int = 200, description: str = "OK") -> None:
        self.body = body
        self.status = status
        self.description = description


Answerer = Callable[[Message, str | None], Reply | Generator[bool, None, Reply]]
"""Answers a request in its transaction, if any, perhaps step by step; raises `Refusal`."""


class Replies(Node):
    """A link that sends replies to the client."""

    def __init__(self, connection: Connection, link: Link, kind: str, addresses: set[str]) -> None:
        self._connection = connection
        self._link = link
        self._waiting = deque[bytes]()
        self._sent = 0
        self._unwritten = 0
        self._drain = Drain(connection, link)
        self._keys = [(kind, address) for address in addresses]
        # The latest link with an address gets its replies, because a client may attach a new one
        # before it detaches the old one.
        for key in self._keys:
            connection.replies[key] = self

    def send(self, message: Message) -> None:
        """Send a reply as soon as the client has given credit for it.

        Raises:
            Refusal: the client gives no credit, and too many bytes of replies wait.
        """
        # Encode at once, so that a waiting reply is counted in bytes and keeps nothing else alive.
        encoded = bytes(message.encode())
        self._waiting.append(encoded)
        self._connection.answers += len(encoded)
        self.on_flow()
        most, waiting = self._connection.hub.limits.answers, self._connection.answers
        if waiting > most:
            raise Refusal(
                "amqp:resource-limit-exceeded",
                f"{waiting:,} bytes of answers wait to be wanted; at most {most:,} may.",
                403,
            )

    def on_credit(self) -> None:
        """Send replies; a client that drains is answered afterwards."""
        self._drain.look()
        self.on_flow()

    def on_flow(self) -> None:
        """Send replies while the client has credit."""
        connection, raw = self._connection, native.raw(self._link)
        while self._waiting and self._link.credit > 0 and not connection.paused:
            # Even with credit, the engine would queue each reply while the session has no window.
            if connection.backlog.is_shut(raw):
                return
            self._drain.count += 1
            self._sent += 1
            delivery = self._link.delivery(str(self._sent))
            answer = self._waiting.popleft()
            self._connection.answers -= len(answer)
            self._link.stream(answer)
            self._link.advance()
            delivery.settle()
            connection.backlog.wrote(raw, self)
            self._unwritten += len(answer)
            # Write in between, because only the transport shows whether the client reads.
            if self._unwritten >= WRITTEN_AT_ONCE:
                connection.flush()
                self._unwritten = 0
        if self._drain.is_asked and not connection.paused:
            self._drain.answer()

    def on_closed(self, *, by_client: bool) -> None:  # noqa: ARG002 - as `Node.on_closed`
        """Discard the waiting replies and send no more on this link."""
        self._connection.answers -= sum(map(len, self._waiting))
        self._waiting.clear()
        for key in self._keys:
            # By now, the client may have attached another link with this address.
            if self._connection.replies.get(key) is self:
                del self._connection.replies[key]


class Requests(Node):
    """A link that receives a client's requests.

    Args:
        connection: the client's connection.
        link: the link.
        kind: the node: `$cbs`, or the path of the entity.
        answer: the function that answers a request.
        names: the names of the properties that carry the status.
    """

    def __init__(
        self,
        connection: Connection,
        link: Link,
        kind: str,
        answer: Answerer,
        names: tuple[str, str, str | None],
    ) -> None:
        self._connection = connection
        self._link = link
        self._kind = kind
        self._answer = answer
        self._names = names
        self._parts: dict[Raw, bytearray] = {}

    def grant(self) -> None:
        """Give the client credit for requests."""
        self._link.flow(CREDIT)

    def on_delivery(self, delivery: Raw, *, batch: bool) -> None:  # noqa: ARG002 - a request is never a batch
        """Carry out a request and reply to it."""
        raw = gather_message(self._connection, native.raw(self._link), delivery, self._parts)
        if raw is None:
            return
        self._link.advance()
        # Each request uses one credit; without a new one, the client could not send the next.
        self._link.flow(1)
        try:
            request = self._decode(raw)
        except Refusal as refusal:
            refuse(delivery, refusal)
            return
        transaction = transaction_of(delivery)
        # A transaction's requests are kept until it ends, so they count as the client's memory.
        if transaction is not None:
            self._connection.hub.count_in(transaction, len(raw))
        # Accepting says only that the request was read; its result is in the reply.
        accept(delivery, transaction)
        native.settle(delivery)
        # A request may be long, so others have turns between its steps.
        self._connection.work(self._reply(request, transaction))

    def _decode(self, raw: bytes) -> Message:
        if len(raw) > (most := self._connection.hub.max_message):
            raise too_large(len(raw), most)
        try:
            return decode_completely(raw, VALUES_OF_EACH * self._connection.hub.limits.at_once)
        except ValueError as error:
            raise Refusal("amqp:decode-error", str(error)) from None

    def _reply(self, request: Message, transaction: str | None) -> Iterator[bool]:
        """Carry out a request step by step, and send the reply."""
        replies = self._connection.replies.get((self._kind, request.reply_to or ""))
        # Without a known reply address, use the client's latest reply link of this node.
        replies = replies or self._connection.replies.get((self._kind, ""))
        # Without a reply link, the request is not carried out: nobody would learn the result.
        if replies is None:
            return
        code, words, error = self._names
        # Keep the type of the id: Python uses UUIDs, .NET strings and Java numbers.
        message: Any = Message(correlation_id=request.id)
        try:
            operation = "login" if self._names is CBS_STATUS else "request"
            disturbances = self._connection.hub.disturbances
            disturbances.meet(operation, self._kind, self._connection, self._link)
            answer = self._answer(request, transaction)
            reply = answer if isinstance(answer, Reply) else (yield from answer)
        except Refusal as refusal:
            # Clients expect an int, where Proton would write a long.
            message.properties = {code: int32(refusal.status), words: refusal.description}
            if error is not None:
                message.properties[error] = symbol(refusal.condition)
            message.body = {}
        else:
            message.properties = {code: int32(reply.status), words: reply.description}
            message.body = reply.body
        try:
            replies.send(message)
        except Refusal as refusal:
            # A client that sends requests but reads no replies would fill the memory.
            self._connection.close_after(refusal)
            self._connection.flush()
            self._connection.drop()
        self._connection.hub.schedule_serving()
