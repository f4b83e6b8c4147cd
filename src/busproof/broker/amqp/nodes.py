"""The nodes that links are attached to, and AMQP error conditions."""

from proton import Condition, symbol

from busproof.broker.amqp.native import Raw

__all__ = ["Node", "condition"]


def condition(name: str, description: str) -> Condition:
    """Return an error condition with an info map, because some clients hang without one."""
    # The Python client reads all three fields of an error. Proton omits an empty info, and the
    # resulting IndexError left the client waiting for the end of its send.
    return Condition(name, description, {symbol("busproof"): name})


class Node:
    """The broker's end of a link: translates between AMQP and the bus, and decides nothing."""

    needs: tuple[str, str] | None = None
    """The right that the client needs while the link lasts, and the path that it is for."""

    is_over = False
    """Whether the link has ended, or its session, so that it gets nothing more."""

    def on_credit(self) -> None:
        """Handle credit that the client gives, or its request to use it up or return it."""
        self.on_flow()

    def on_flow(self) -> None:
        """Continue where the link may have credit, or room, that it had not."""

    def on_delivery(self, delivery: Raw, *, batch: bool) -> None:
        """Handle a transfer or a disposition, or collect it for `finish`."""

    def finish(self) -> None:
        """Handle the deliveries that `on_delivery` has collected.

        It is called after the last of several deliveries in a row. Doing each step for all of them
        takes a quarter less time than doing all steps for each, because a step's code stays in the
        processor's caches.
        """

    def on_closed(self, *, by_client: bool) -> None:
        """Clean up: the client closed the link, the broker ended it, or the connection was lost."""
