"""A client of the service: its connection, and the links opened on it so far."""

import time
from collections.abc import Callable
from typing import Any, Final

from proton import Described, Link, Message, Terminus, symbol, ulong

from busproof.adapters.amqp.connection import Connection
from busproof.adapters.amqp.failing import Rejected
from busproof.adapters.amqp.target import TOKEN_LIFE, Target
from busproof.adapters.amqp.transfers import Requests, Settled, is_closed, own, transfer

__all__ = ["AmqpClient", "Reply"]

CBS: Final = "$cbs"
MANAGEMENT: Final = "/$management"
GRANTED: Final = range(200, 300)
RENEWED_BEFORE: Final = 300
"""How long before its expiry a token is replaced, in seconds."""

Reply = tuple[int, Any]
"""The status code of a reply, and its body."""


class AmqpClient:
    """A client with one connection to the service, opened on first use.

    Args:
        target: the service.
        timeout: maximum wait for an answer, in seconds.
    """

    def __init__(self, target: Target, timeout: float) -> None:
        self._target = target
        self._timeout = timeout
        self._connection: Connection | None = None
        self._tokens: dict[str, float] = {}
        self._requests: dict[str, Requests] = {}
        self._senders: dict[str, Any] = {}
        self._receivers: dict[tuple[str, object], Any] = {}
        self._coordinator: Any = None

    @property
    def is_plain(self) -> bool:
        """Whether the service speaks plain AMQP 1.0, without the dialect of Service Bus."""
        return self._target.plain

    @property
    def connection(self) -> Connection:
        """The connection, opened again if the last one was lost."""
        if self._connection is not None and self._connection.is_lost:
            self._forget()
        if self._connection is None:
            self._connection = Connection(self._target, self._timeout)
        return self._connection

    def close(self) -> None:
        """Close the connection and forget its links."""
        if self._connection is not None:
            self._connection.close()
        self._forget()

    def beat(self) -> None:
        """Keep an open connection alive by a heartbeat, if one is due."""
        if self._connection is not None and not self._connection.is_lost:
            self._connection.beat()

    def _forget(self) -> None:
        self._connection = None
        self._coordinator = None
        for links in (self._tokens, self._requests, self._senders, self._receivers):
            links.clear()

    def prove(self, path: str) -> None:
        """Authorize the connection for an entity, unless its token is still valid.

        Raises:
            Rejected: the service refuses the token.
        """
        now = time.time()
        if self._target.plain:
            return
        if self._tokens.get(path, 0) > now:
            return
        self._tokens[path] = now + TOKEN_LIFE - RENEWED_BEFORE
        request: Any = Message(body=self._target.token(path), inferred=False)
        request.properties = {
            "operation": "put-token",
            "type": "servicebus.windows.net:sastoken",
            "name": self._target.audience(path),
        }
        try:
            answer = self._asking(CBS).ask(request)
            _check(answer, "status-code", "status-description")
        except Rejected:
            self._tokens.pop(path, None)
            raise

    def request(
        self, path: str, operation: str, body: Any, transaction: bytes | None = None
    ) -> Reply:
        """Send a request to an entity's management node; return the reply.

        Raises:
            Rejected: the service refuses the request.
        """
        self.prove(path)
        request: Any = Message(body=body, inferred=False)
        request.properties = {
            "operation": f"com.microsoft:{operation}",
            "com.microsoft:server-timeout": ulong(int(self._timeout * 1000)),
        }
        answer = self._asking(path + MANAGEMENT).ask(request, transaction)
        return _check(answer, "statusCode", "statusDescription"), own(answer.body)

    def _asking(self, address: str) -> Requests:
        requests: Requests = self._keep_link(
            self._requests, address, lambda: Requests(self.connection, address)
        )
        return requests

    def sender(self, path: str) -> Any:
        """Return the link that sends to an entity, attached if necessary."""
        self.prove(path)

        def made() -> Any:
            link = self.connection.sender()
            link.target.address = path
            link.source.address = link.name
            self.connection.attach(link, f"attaching a sender to {path}")
            return link

        return self._keep_link(self._senders, path, made)

    def receiver(self, path: str, kind: object, made: Callable[[], Any]) -> Any:
        """Return the receiving link of a kind for an entity; `made` makes it if necessary."""
        self.prove(path)
        # The service may have closed the link meanwhile, for example because the entity is gone.
        self.beat()
        return self._keep_link(self._receivers, (path, kind), made)

    def held(self, path: str, kind: object) -> Any | None:
        """Return the receiving link of a kind for an entity, or `None` if there is none."""
        return self._receivers.get((path, kind)) if self.connection else None

    def keep(self, path: str, kind: object, link: Any) -> None:
        """Use a link as the receiving link of this kind from now on."""
        self._receivers[path, kind] = link

    def drop(self, path: str, kind: object) -> Any | None:
        """Remove and return the receiving link of a kind; `None` if there is none."""
        return self._receivers.pop((path, kind), None)

    def _keep_link(self, links: dict[Any, Any], name: Any, made: Callable[[], Any]) -> Any:
        connection = self.connection
        link = links.get(name)
        if link is not None and _is_open(link):
            return link
        links.pop(name, None)
        if connection.is_lost:
            raise AssertionError("a connection that is lost has been replaced")
        links[name] = made()
        if isinstance(links[name], Requests):
            try:
                links[name].attach()
            except Rejected:
                del links[name]
                raise
        return links[name]

    def control(self, described: int, *fields: Any) -> Settled:
        """Send a request to the coordinator of transactions; return its outcome.

        Raises:
            Rejected: the coordinator refuses.
        """
        connection = self.connection
        if self._coordinator is None or not _is_open(self._coordinator):
            link = connection.sender()
            link.target.type = Terminus.COORDINATOR
            link.target.capabilities.put_object(symbol("amqp:local-transactions"))
            connection.attach(link, "attaching to the coordinator")
            self._coordinator = link
        body: Any = Described(ulong(described), list(fields))
        message = Message(body=body, inferred=False)
        delivery = transfer(connection, self._coordinator, bytes(message.encode()))
        settled = Settled(delivery)
        delivery.settle()
        return settled


def _is_open(kept: Any) -> bool:
    if isinstance(kept, Requests):
        return _is_open(kept.sender) and _is_open(kept.receiver)
    return bool(kept.state & Link.LOCAL_ACTIVE) and not is_closed(kept)


def _check(answer: Message, code: str, words: str) -> int:
    """Return the status code of a reply.

    Raises:
        Rejected: the status code is not one of success.
    """
    properties: dict[Any, Any] = answer.properties or {}
    status = int(properties.get(code, 0))
    if status in GRANTED:
        return status
    condition = properties.get("errorCondition") or f"http:{status}"
    raise Rejected(str(condition), str(properties.get(words, "")))
