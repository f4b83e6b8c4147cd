"""What the broker's core needs of its connections and of its store, which both import the core."""

from collections.abc import Callable, Sized
from typing import Protocol

from busproof.broker.amqp.refusals import Refusal
from busproof.broker.bus import Bus

__all__ = ["Client", "Saving", "Waiter"]


class Waiter(Protocol):
    """A link that waits for a message or a session."""

    @property
    def place(self) -> tuple[str, str | None]:
        """The path, and the session, of what it waits for."""

    def serve(self) -> bool:
        """Take what there is now; returns whether it goes on waiting."""


class Client(Protocol):
    """A client that is connected."""

    @property
    def links(self) -> Sized:
        """Its links."""

    def drop(self) -> None:
        """Let it go without another word."""

    def let_go(self, refusal: Refusal) -> None:
        """End its connection, and keep nothing for it."""

    def stage(self, transaction: str, size: int) -> None:
        """Count bytes that are kept for it until a transaction ends."""

    def renew_claims(self) -> None:
        """The keys are others."""

    def review_links(self) -> None:
        """End links that it has no claim for any more, or that give what is disabled."""

    def end_receivers(self, path: str) -> None:
        """End links that give messages of an entity that was deleted."""


class Saving(Protocol):
    """What writes all that is decided to a store."""

    @property
    def commits(self) -> int:
        """How many commits there were."""

    @property
    def seconds(self) -> float:
        """How long they took."""

    @property
    def is_full(self) -> bool:
        """Whether the disk is full."""

    def begin(self, bus: Bus) -> None:
        """Keep another namespace from now on."""

    def note(self) -> None:
        """A command is decided: whatever comes next is another."""

    def tell(self, telling: Callable[[], object]) -> None:
        """Do this once all that was decided is written."""

    async def saved(self) -> None:
        """Wait until all that was decided is written."""

    def check_room(self) -> None:
        """Insist that there is room for more."""

    def close(self) -> None:
        """Write what is left, and nothing from then on."""
