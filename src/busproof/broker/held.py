"""The memory budget: bytes that are kept for each client and for all clients."""

from typing import Final, Protocol

from busproof.broker.amqp.refusals import Refusal

__all__ = ["Budget", "Holder"]

CONDITION: Final = "amqp:resource-limit-exceeded"


class Holder(Protocol):
    """A client whose memory is counted."""

    def let_go(self, refusal: Refusal) -> None:
        """End the connection and free its memory."""


class Budget:
    """The bytes that are kept for each client, with their limits.

    Args:
        most: maximum for one client, in bytes.
        most_of_all: maximum for all clients together, in bytes.
    """

    def __init__(self, most: int, most_of_all: int) -> None:
        self._most = most
        self._most_of_all = most_of_all
        self._held: dict[Holder, int] = {}
        self.total = 0

    def hold(self, holder: Holder, size: int) -> None:
        """Set the bytes kept for a client, and disconnect clients that exceed a limit.

        If all clients together exceed theirs, the largest are disconnected first, so that they
        cannot crowd out a client that uses little memory.
        """
        self.total += size - self._held.get(holder, 0)
        self._held[holder] = size
        if size > self._most:
            why = (
                f"The connection makes the broker hold {size:,} bytes; at most {self._most:,} may "
                "be held for one."
            )
            self._let_go(holder, why)
        # One disconnection may not be enough, because it frees only that client's memory.
        while self.total > self._most_of_all:
            largest = max(self._held, key=self._held.__getitem__)
            why = (
                f"All connections make the broker hold more than {self._most_of_all:,} bytes, and "
                f"this one the most of them: {self._held[largest]:,}."
            )
            self._let_go(largest, why)

    def release(self, holder: Holder) -> None:
        """Stop counting a client."""
        self.total -= self._held.pop(holder, 0)

    def _let_go(self, holder: Holder, why: str) -> None:
        self.release(holder)
        holder.let_go(Refusal(CONDITION, why, 403))
