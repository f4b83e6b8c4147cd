"""The dead letters of transfers, of which there are none: each entity has a place for them.

What cannot be forwarded is among the dead letters of the entity that it was to be forwarded from
(FWD-18), and nobody sends via an entity here.
"""

from typing import Final

from proton import Link, Message

from busproof.broker.engine import Connection
from busproof.broker.nodes import Node
from busproof.broker.refusals import Refusal, unauthorized
from busproof.broker.requests import Answerer, Reply, said_in
from busproof.model.values import DEAD_LETTERS

__all__ = ["TRANSFERS", "Nothing", "nothing_to_answer"]

TRANSFERS: Final = f"/$transfer{DEAD_LETTERS}"
"""How the path ends, in small letters."""

PEEK: Final = "com.microsoft:peek-message"


class Nothing(Node):
    """A link over which nothing ever comes.

    Args:
        link: the link.
        path: their path.
    """

    def __init__(self, link: Link, path: str) -> None:
        self._link = link
        self.needs = ("Listen", path)

    def on_flow(self) -> None:
        """There is nothing to wait for."""
        if self._link.drain_mode:
            self._link.drained()


def nothing_to_answer(connection: Connection, path: str) -> Answerer:
    """What answers requests about them: a peek shows nothing, and nothing else can be had."""

    def answer(request: Message, transaction: str | None) -> Reply:  # noqa: ARG001 - all are told
        if not connection.permits("Listen", path):
            raise unauthorized("Listen", path)
        if str(said_in(request).get("operation", "")) == PEEK:
            return Reply({}, 204, "No messages")
        raise Refusal("com.microsoft:message-not-found", f"There is nothing in '{path}'.", 404)

    return answer
