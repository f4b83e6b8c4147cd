"""Answers to drains: a client's request to use up the credit of a link, or to return it.

AMQP demands a Flow in any case. The engine writes one only if it returns credit, and a client would
wait for ever whose credit was used up.
"""

from typing import Protocol

from proton import Link

from busproof.broker.amqp import native

__all__ = ["Drain"]


class Owner(Protocol):
    """The connection that the link belongs to."""

    @property
    def flows(self) -> int:
        """Number of Flow frames that the client has sent."""

    def flush(self) -> object:
        """Write the engine's output."""

    def answer_drain(self, link: bytes, count: int) -> None:
        """Write the Flow that answers a drain whose credit was used up."""


class Drain:
    """Whether a receiving client drains its link.

    Args:
        owner: the connection.
        link: the link.
    """

    def __init__(self, owner: Owner, link: Link) -> None:
        self._owner = owner
        self._link = link
        self._raw = native.raw(link)
        self._flows = owner.flows
        self.is_asked = bool(link.drain_mode)
        """Whether the client has asked and has no answer."""
        self.count = 0
        """Number of messages that were sent on the link, and of credits returned."""

    def look(self) -> None:
        """Find out whether the client has asked, after an event of its credit."""
        # The engine raises the same event when messages have used the credit up.
        if self._flows != (flows := self._owner.flows):
            self._flows, self.is_asked = flows, bool(self._link.drain_mode)

    def answer(self) -> None:
        """Return the credit that is left, or say that none is."""
        if native.credit(self._raw) > 0:
            self.count += self._link.drained()
            self.is_asked = False
            return
        self._owner.flush()
        # What is still queued goes first; once the window opens, the link is served again.
        if native.queued(self._raw) <= 0:
            self._owner.answer_drain(native.name_of(self._raw), self.count)
            self.is_asked = False
