"""The sessions and links of one connection, and the nodes that the links are attached to."""

from collections.abc import Callable
from typing import Any, Final, Protocol

from proton import Event, Link, Terminus

from busproof.broker.amqp import native
from busproof.broker.amqp.backlog import Backlog
from busproof.broker.amqp.kept import Kept
from busproof.broker.amqp.nodes import Node, condition
from busproof.broker.amqp.refusals import Refusal, not_found, too_many, unauthorized
from busproof.broker.amqp.unreadable import readable
from busproof.broker.auth.tokens import MANAGEMENT
from busproof.broker.core import Hub
from busproof.broker.names import belongs_to

__all__ = ["Links"]


class Owner(Protocol):
    """The connection that the links belong to."""

    hub: Hub
    kept: Kept
    backlog: Backlog
    unfinished: native.Unfinished

    @property
    def name(self) -> str:
        """The model's name of the connection."""

    def permits(self, right: str, path: str) -> bool:
        """Return whether the client has a valid claim for this right."""

    def flush(self) -> None:
        """Write the engine's output."""

    def pump(self) -> None:
        """Handle the engine's events and write its output."""

    def close_after(self, refusal: Refusal) -> None:
        """End the connection with an error."""

    def drop(self) -> None:
        """Close the transport without another frame."""


class Links:
    """The links of a connection: opens, refuses and ends them.

    Args:
        owner: the connection.
        attach: selects the node for a link that a client attaches.
    """

    def __init__(self, owner: Owner, attach: Callable[[Link], None]) -> None:
        self._owner = owner
        self._attach = attach
        self.nodes: dict[Link, Node] = {}
        self._by_raw: dict[native.Raw, Node] = {}
        """The same nodes by Proton's pointer to the link."""
        self._collecting: Node | None = None
        """The node that may have collected deliveries and not handled them."""
        self._refused = 0
        """Number of links that were refused or ended and that the client has not detached."""
        self.handlers: Final[dict[int, Callable[[Any], None]]] = {
            Event.SESSION_REMOTE_OPEN.number: self._session_opened,
            Event.SESSION_REMOTE_CLOSE.number: self._session_ended,
            Event.LINK_REMOTE_OPEN.number: self._opened,
            Event.LINK_REMOTE_CLOSE.number: self._ended,
            Event.LINK_REMOTE_DETACH.number: self._ended,
            Event.LINK_FLOW.number: self._flowed,
        }
        """Handlers by the number of the event's type."""

    def attached(self, link: Link, node: Node) -> None:
        """Register the node of a link."""
        self.nodes[link] = node
        self._by_raw[native.raw(link)] = node
        self._tell("link-attached", link)

    def refuse(self, link: Link, refusal: Refusal) -> None:
        """Attach a link, then detach it with an error.

        The Attach has no terminus at our end, which announces the Detach to the client; it has to
        be written first.
        """
        # AMQP refuses an Attach by an Attach without a terminus, and then a Detach with the error
        # (section 2.6.3). Proton kept a Detach that came in one go with its Attach until the
        # client's own came, and the client took the link for attached.
        if not link.state & link.LOCAL_ACTIVE:
            ours = link.target if link.is_receiver else link.source
            ours.type = Terminus.UNSPECIFIED
            link.open()
            self._owner.flush()
        self.detach(link, refusal)

    def detach(self, link: Link, refusal: Refusal) -> None:
        """End a link with an error."""
        self._tell("link-refused", link, condition=refusal.condition, said=refusal.description)
        link.condition = condition(refusal.condition, refusal.description)
        link.close()
        self._gone(link, by_client=False)
        # A refused link takes memory until the client detaches it, and counts among no others.
        self._refused += 1
        most = self._owner.hub.limits.links
        if self._refused > most:
            self._owner.close_after(too_many("links that were refused", most))

    def review(self) -> None:
        """End links whose claims are gone, and receivers of entities with receiving disabled.

        A sender stays attached to a disabled entity; each of its messages is refused.
        """
        statuses = self._owner.hub.statuses
        for link, node in list(self.nodes.items()):
            if node.needs is None:
                continue
            refusal = statuses.refusal(*node.needs) if link.is_sender else None
            if not self._owner.permits(*node.needs):
                self.refuse(link, unauthorized(*node.needs))
            elif refusal is not None:
                self.refuse(link, refusal)
        self._owner.pump()

    def end_receivers(self, path: str) -> None:
        """End the receivers of a deleted entity, its subscriptions and their dead-letter queues."""
        for link, node in list(self.nodes.items()):
            right, of = node.needs or ("", "")
            if right == "Listen" and belongs_to(of, path) and not of.endswith(MANAGEMENT):
                self.refuse(link, not_found(of))
        self._owner.pump()

    def end_all(self, *, by_client: bool) -> None:
        """End all links of a connection that has ended."""
        for link in list(self.nodes):
            self._gone(link, by_client=by_client)

    def delivered(self, delivery: native.Raw, *, batch: bool) -> None:
        """Handle a transfer or a disposition."""
        node = self._by_raw.get(native.link_of(delivery))
        # Deliveries are collected for one link at a time, so that those of several links are
        # handled in the order in which they came.
        if node is not self._collecting:
            self.finish()
            self._collecting = node
        if node is None:
            # AMQP lets a client send on a link that it does not know to be ended yet.
            _throw_away(delivery)
            return
        try:
            node.on_delivery(delivery, batch=batch)
        except Refusal as refusal:
            self.finish()
            # Nobody waits for the end of a message that is far too large.
            self._owner.close_after(refusal)
            self._owner.flush()
            self._owner.drop()

    def finish(self) -> None:
        """Handle the collected deliveries."""
        node, self._collecting = self._collecting, None
        if node is not None:
            node.finish()

    def _session_opened(self, event: Any) -> None:
        self._owner.kept.open(event.session)
        event.session.open()

    def _session_ended(self, event: Any) -> None:
        session = event.session
        # A client may end a session without detaching its links; AMQP ends them with it.
        for link in [node for node in self.nodes if node.session == session]:
            self._gone(link, by_client=True)
        self._owner.kept.close(session)
        session.close()
        session.free()

    def _opened(self, event: Any) -> None:
        self._owner.kept.open(event.link.session, event.link)
        try:
            # Counted in bytes before it is refused: it takes memory all the same.
            if len(self.nodes) >= (most := self._owner.hub.limits.links):
                raise too_many("links", most)
            self._attach(event.link)
        except Refusal as refusal:
            self.refuse(event.link, refusal)

    def _ended(self, event: Any) -> None:
        link = event.link
        if link not in self.nodes and self._refused:
            self._refused -= 1
        self._gone(link, by_client=True)
        self._owner.kept.close(link.session, link)
        link.close()
        link.free()

    def _flowed(self, event: Any) -> None:
        node = self.nodes.get(event.link)
        if node is not None:
            node.on_flow()

    def _gone(self, link: Link, *, by_client: bool) -> None:
        node = self.nodes.pop(link, None)
        raw = native.raw(link)
        self._by_raw.pop(raw, None)
        self._owner.unfinished.pop(raw, None)
        self._owner.backlog.forget(raw)
        if node is not None:
            self._tell("link-ended", link, by_client=by_client)
            node.on_closed(by_client=by_client)

    def _tell(self, event: str, link: Link, **details: Any) -> None:
        ours = link.remote_target if link.is_receiver else link.remote_source
        self._owner.hub.journal.info(
            event,
            connection=self._owner.name,
            link=readable(lambda: link.name),
            client="sends" if link.is_receiver else "receives",
            address=readable(lambda: ours.address),
            **details,
        )


def _throw_away(delivery: native.Raw) -> None:
    """Discard a transfer on a link that has ended."""
    link = native.link_of(delivery)
    # Unread bytes would fill the session's window, which all links of the session share.
    native.content(link, delivery)
    if not native.is_partial(delivery):
        native.settle(delivery)
