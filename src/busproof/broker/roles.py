"""Protocols of connections and stores for the broker's core, which cannot import them."""

from collections.abc import Callable, Sized
from typing import Protocol

from busproof.broker.amqp.refusals import Refusal
from busproof.broker.bus import Bus

__all__ = ["ConnectedClient", "Saving", "Waiter"]


class Waiter(Protocol):
    """A link that waits for a message or a session."""

    @property
    def place(self) -> tuple[str, str | None]:
        """The entity's path and the session id that the link waits for."""

    def serve(self) -> bool:
        """Take what is available; return whether to continue waiting."""


class ConnectedClient(Protocol):
    """A connected client."""

    @property
    def links(self) -> Sized:
        """The links of the client."""

    def end(self, refusal: Refusal) -> None:
        """End the connection, with an AMQP error if the handshake is over."""

    def drop(self) -> None:
        """Close the transport without writing another frame."""

    def abort(self) -> None:
        """End the connection at once, without a word."""

    def let_go(self, refusal: Refusal) -> None:
        """End the connection, and free the memory that it uses."""

    def stage(self, transaction: str, size: int) -> None:
        """Count bytes that are kept until a transaction of this client ends."""

    def renew_claims(self) -> None:
        """Apply new keys."""

    def review_links(self) -> None:
        """End links whose claims are gone, and receivers of entities that forbid receiving."""

    def end_receivers(self, path: str) -> None:
        """End the receivers of a deleted entity."""


class Saving(Protocol):
    """A writer of decisions to a store."""

    @property
    def commits(self) -> int:
        """The number of commits so far."""

    @property
    def seconds(self) -> float:
        """The total time of all commits, in seconds."""

    @property
    def is_full(self) -> bool:
        """Whether the disk is full."""

    def begin(self, bus: Bus) -> None:
        """Replace the namespace in the store by another."""

    def note(self) -> None:
        """Record that a command was decided."""

    def tell(self, telling: Callable[[], object]) -> None:
        """Run a callback once all decisions are written."""

    async def wait_until_saved(self) -> None:
        """Wait until all decisions are written."""

    def check_room(self) -> None:
        """Check that the disk has room for more messages."""

    def close(self) -> None:
        """Write everything that is left, and close the store."""
