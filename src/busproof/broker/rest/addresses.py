"""Addresses of message operations: the method and path of a request name one of them."""

from enum import Enum
from typing import Final
from urllib.parse import parse_qsl, unquote, urlsplit
from uuid import UUID

import attrs

__all__ = ["Address", "Operation", "address_of"]

MESSAGES: Final = "messages"
HEAD: Final = "head"


class Operation(Enum):
    """A message operation, with the right that it requires."""

    SEND = ("send", "Send")
    PEEK_LOCK = ("peek-lock", "Listen")
    RECEIVE_AND_DELETE = ("receive-and-delete", "Listen")
    UNLOCK = ("unlock", "Listen")
    RENEW = ("renew", "Listen")
    COMPLETE = ("complete", "Listen")

    @property
    def right(self) -> str:
        """The right that the operation requires."""
        return self.value[1]


AT_HEAD: Final = {"POST": Operation.PEEK_LOCK, "DELETE": Operation.RECEIVE_AND_DELETE}
OF_LOCKED: Final = {
    "PUT": Operation.UNLOCK,
    "POST": Operation.RENEW,
    "DELETE": Operation.COMPLETE,
}
"""The operations on a locked message, by method."""


@attrs.frozen(kw_only=True)
class Address:
    """The address of a message operation.

    Attributes:
        operation: the operation.
        path: the path of the entity, as the client wrote it.
        message: the MessageId or sequence number of a locked message.
        token: the lock token of a locked message.
        query: the query of the request.
    """

    operation: Operation
    path: str
    message: str = ""
    token: UUID | None = None
    query: dict[str, str] = attrs.field(factory=dict)


def address_of(method: str, target: str) -> Address | None:
    """Return the message operation that a request asks for, or `None` if it is another request."""
    try:
        url = urlsplit(target)
    except ValueError:
        return None
    # A MessageId may have an escaped slash, so the path is unescaped only in its parts.
    parts = url.path.strip("/").split("/")
    low = [part.lower() for part in parts]
    query = dict(parse_qsl(url.query))
    if method == "POST" and low[1:] and low[-1] == MESSAGES:
        return Address(operation=Operation.SEND, path=_join_path(parts[:-1]), query=query)
    if method in AT_HEAD and low[2:] and low[-2:] == [MESSAGES, HEAD]:
        return Address(operation=AT_HEAD[method], path=_join_path(parts[:-2]), query=query)
    if method in OF_LOCKED and low[3:] and low[-3] == MESSAGES:
        token = _read_token(unquote(parts[-1]))
        if token is not None:
            return Address(
                operation=OF_LOCKED[method],
                path=_join_path(parts[:-3]),
                message=unquote(parts[-2]),
                token=token,
                query=query,
            )
    return None


def _join_path(parts: list[str]) -> str:
    return "/".join(map(unquote, parts))


def _read_token(text: str) -> UUID | None:
    """Return a lock token; `None` if the text is none, so that the path is of an entity."""
    try:
        return UUID(text)
    except ValueError:
        return None
