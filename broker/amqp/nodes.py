"""The nodes that links are attached to, and error conditions."""

from proton import Condition, symbol

from busproof.broker.amqp.native import Raw

__all__ = ["Node", "condition"]


def condition(name: str, description: str) -> Condition:
    """Return an error condition; some clients hang if it has no info map."""
    # The client of Python reads all three fields of an error. Proton leaves an info out that is
    # empty, and the IndexError left the client waiting for the end of its send.
    return Condition(name, description, {symbol("busproof"): name})


class Node:
    """A node that a link is attached to; it translates and makes no decisions."""

    needs: tuple[str, str] | None = None
    """The right that the client needs while the link lasts, and the path it applies to."""

    def on_flow(self) -> None:
        """Handle a change of credit."""

    def on_delivery(self, delivery: Raw, *, batch: bool) -> None:
        """Handle a transfer or a disposition, or collect it for `finish`."""

    def finish(self) -> None:
        """Handle what `on_delivery` has collected.

        It is called after the last of several deliveries in a row. To do each step for all of them
        takes a quarter less time than to do all steps for each: the code of a step stays in the
        processor's caches.
        """

    def on_closed(self, *, by_client: bool) -> None:
        """Clean up: the client closed the link, the broker ended it, or the connection broke."""
