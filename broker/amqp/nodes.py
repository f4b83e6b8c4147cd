"""What links are attached to, and errors as clients are told them."""

from proton import Condition, symbol

from busproof.broker.amqp.native import Raw

__all__ = ["Node", "condition"]


def condition(name: str, description: str) -> Condition:
    """An error as clients take it: some hang on one whose map of details is left out."""
    return Condition(name, description, {symbol("busproof"): name})


class Node:
    """What a link is attached to; it translates, and decides nothing."""

    needs: tuple[str, str] | None = None
    """The right that the client has to have as long as the link lasts, and on which path."""

    def on_flow(self) -> None:
        """The client has changed its credit."""

    def on_delivery(self, delivery: Raw, *, batch: bool) -> None:
        """A transfer, or a change of state of one."""

    def on_closed(self, *, by_client: bool) -> None:
        """The link is gone: the client has closed it, or we did, or the connection broke."""
