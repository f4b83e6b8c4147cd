"""What waits in the AMQP engine: messages for which their session has no window, or no credit."""

from typing import Final

from busproof.broker.amqp import native
from busproof.broker.amqp.native import Raw
from busproof.broker.amqp.nodes import Node

__all__ = ["Backlog"]

DELIVERY: Final = 512
"""Bytes that the engine keeps of a delivery beside its message, about."""


class Backlog:
    """The links of a connection whose messages the engine cannot write.

    A client may give a link all the credit there is, and its session no window. The engine would
    keep whatever it is given for such a link, so it is given no more until the window opens.
    """

    def __init__(self) -> None:
        self._written: dict[Raw, Node] = {}
        self._shut: dict[Raw, Node] = {}

    def wrote(self, link: Raw, node: Node) -> None:
        """Something was given to the engine to write it over a link."""
        self._written[link] = node

    def look(self) -> None:
        """The engine has written what it could; what it has not written waits for a window."""
        for link, node in self._written.items():
            if native.queued(link) > 0:
                self._shut[link] = node
        self._written.clear()

    def is_shut(self, link: Raw) -> bool:
        """Whether messages wait in the engine for this link."""
        return link in self._shut

    def opened(self) -> list[Node]:
        """Links for which nothing waits any more; they may be given more."""
        opened = [link for link in self._shut if native.queued(link) <= 0]
        return [self._shut.pop(link) for link in opened]

    def forget(self, link: Raw) -> None:
        """A link is gone."""
        self._written.pop(link, None)
        self._shut.pop(link, None)

    @property
    def size(self) -> int:
        """Bytes that wait in the engine."""
        if not self._shut:
            return 0
        sessions = {native.session_of(link) for link in self._shut}
        size: int = sum(map(native.outgoing_bytes, sessions))
        return size + DELIVERY * sum(int(native.queued(link)) for link in self._shut)
