"""A budget of bytes: what clients make the broker keep, one of them and all together."""

from typing import Final, Protocol

from busproof.broker.amqp.refusals import Refusal

__all__ = ["Budget", "Holder"]

CONDITION: Final = "amqp:resource-limit-exceeded"


class Holder(Protocol):
    """A client for whom something is kept."""

    def let_go(self, refusal: Refusal) -> None:
        """End its connection, so that all of this is freed."""


class Budget:
    """How many bytes are kept for each client, and for all.

    Args:
        most: for one client.
        most_of_all: for all clients together.
    """

    def __init__(self, most: int, most_of_all: int) -> None:
        self._most = most
        self._most_of_all = most_of_all
        self._held: dict[Holder, int] = {}
        self.total = 0

    def hold(self, holder: Holder, size: int) -> None:
        """Keep so many bytes for a client from now on, or let it go.

        If all clients hold too much, those that hold the most are let go: whoever holds little
        keeps it, however many others hold much.
        """
        self.total += size - self._held.get(holder, 0)
        self._held[holder] = size
        if size > self._most:
            said = (
                f"The connection makes the broker hold {size:,} bytes; at most {self._most:,} may "
                "be held for one."
            )
            self._let_go(holder, said)
        while self.total > self._most_of_all:
            greatest = max(self._held, key=self._held.__getitem__)
            said = (
                f"All connections make the broker hold more than {self._most_of_all:,} bytes, and "
                f"this one the most of them: {self._held[greatest]:,}."
            )
            self._let_go(greatest, said)

    def release(self, holder: Holder) -> None:
        """Keep nothing for a client any more."""
        self.total -= self._held.pop(holder, 0)

    def _let_go(self, holder: Holder, said: str) -> None:
        self.release(holder)
        holder.let_go(Refusal(CONDITION, said, 403))
