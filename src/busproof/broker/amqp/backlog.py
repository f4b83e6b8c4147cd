"""Messages that the AMQP engine queues because a session window or credit is missing."""

from typing import Final

from busproof.broker.amqp import native
from busproof.broker.amqp.native import Raw
from busproof.broker.amqp.nodes import Node

__all__ = ["Backlog"]

DELIVERY: Final = 512
"""Approximate memory that the engine uses for a queued delivery, in bytes."""


class Backlog:
    """The links whose messages the engine cannot write yet.

    A client may grant a link unlimited credit while its session has no window. The engine would
    queue every message sent on such a link, so the link sends no more until the window opens.
    """

    def __init__(self) -> None:
        self._written: dict[Raw, Node] = {}
        self._shut: dict[Raw, Node] = {}

    def wrote(self, link: Raw, node: Node) -> None:
        """Record that a message was handed to the engine for a link."""
        # The engine writes at the next flush, so only `look` can see whether the message has left.
        self._written[link] = node

    def look(self) -> None:
        """Find the links whose messages are still queued after a flush; they wait for a window."""
        for link, node in self._written.items():
            if native.queued(link) > 0:
                self._shut[link] = node
        self._written.clear()

    def is_shut(self, link: Raw) -> bool:
        """Return whether the engine still queues messages of this link."""
        return link in self._shut

    def opened(self) -> list[Node]:
        """Remove and return the links whose queued messages are written; they can send again."""
        opened = [link for link in self._shut if native.queued(link) <= 0]
        return [self._shut.pop(link) for link in opened]

    def forget(self, link: Raw) -> None:
        """Drop a link that has ended."""
        self._written.pop(link, None)
        self._shut.pop(link, None)

    @property
    def size(self) -> int:
        """Memory that the queued messages use in the engine, in bytes."""
        if not self._shut:
            return 0
        # The engine counts the bytes of a session, which several of the links may share.
        sessions = {native.session_of(link) for link in self._shut}
        size: int = sum(map(native.outgoing_bytes, sessions))
        return size + DELIVERY * sum(int(native.queued(link)) for link in self._shut)
