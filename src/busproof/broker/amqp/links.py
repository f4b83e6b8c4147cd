"""The sessions and links of one connection, with the node that each link is attached to."""

from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, Final, Protocol

from proton import Event, Link, Terminus

from busproof.broker.amqp import native
from busproof.broker.amqp.backlog import Backlog
from busproof.broker.amqp.kept import Kept
from busproof.broker.amqp.nodes import Node, condition
from busproof.broker.amqp.refusals import Refusal, not_found, refuse_unauthorized, too_many
from busproof.broker.amqp.unreadable import readable
from busproof.broker.auth.tokens import MANAGEMENT
from busproof.broker.core import Hub
from busproof.broker.names import belongs_to
from busproof.broker.observability.event_log import Silent

__all__ = ["Links"]

ENDED_AT_ONCE: Final = 50
"""Number of links of an ended connection to end before other clients may have a turn."""
PASSED_AT_ONCE: Final = 500
"""Number of links to look at before other clients may have a turn."""


class Owner(Protocol):
    """The connection that the links belong to."""

    hub: Hub
    kept: Kept
    backlog: Backlog
    unfinished: native.Unfinished
    flowing: dict[Node, None]

    @property
    def name(self) -> str:
        """The model's name for the connection."""

    def permits(self, right: str, path: str) -> bool:
        """Return whether the client has a valid claim for a right on an entity."""

    def flush(self) -> object:
        """Write the engine's output to the client."""

    def pump(self) -> None:
        """Handle the engine's events and write its output."""

    def close_after(self, refusal: Refusal) -> None:
        """Close the connection with an AMQP error."""

    def drop(self) -> None:
        """Close the transport without writing another frame."""


class Links:
    """The links of a connection: attaches, refuses and ends them.

    Args:
        owner: the connection.
        attach: selects the node for a link that a client attaches.
    """

    def __init__(self, owner: Owner, attach: Callable[[Link], None]) -> None:
        self._owner = owner
        self._attach = attach
        self.nodes: dict[Link, Node] = {}
        self._by_raw: dict[native.Raw, Node] = {}
        """The same nodes by Proton's pointer to their link."""
        self._collecting: Node | None = None
        """The node whose collected deliveries are not handled yet, if any."""
        self._chores = deque[Iterator[None]]()
        """What is to be done to many links, of which a part is done in a turn."""
        self._refused = 0
        """Number of refused or ended links that the client has not detached yet."""
        self.handlers: Final[dict[int, Callable[[Any], None]]] = {
            Event.SESSION_REMOTE_OPEN.number: self._session_opened,
            Event.SESSION_REMOTE_CLOSE.number: self._session_ended,
            Event.LINK_REMOTE_OPEN.number: self._opened,
            Event.LINK_REMOTE_CLOSE.number: self._ended,
            Event.LINK_REMOTE_DETACH.number: self._ended,
            Event.LINK_FLOW.number: self._flowed,
        }
        """Handlers by event type."""

    def attached(self, link: Link, node: Node) -> None:
        """Record which node a link is attached to."""
        self.nodes[link] = node
        self._by_raw[native.raw(link)] = node
        self._tell("link-attached", link)

    def refuse(self, link: Link, refusal: Refusal) -> None:
        """Attach a link without a terminus, then detach it with an error.

        The missing terminus announces the Detach to the client, and has to be written first.
        """
        # AMQP refuses an Attach by an Attach without a terminus, followed by a Detach with the
        # error (section 2.6.3). Without the flush, Proton held the Detach back until the client had
        # sent its own, and the client believed that the link was attached.
        if not link.state & link.LOCAL_ACTIVE:
            ours = link.target if link.is_receiver else link.source
            ours.type = Terminus.UNSPECIFIED
            link.open()
            self._owner.flush()
        self.detach(link, refusal)

    def detach(self, link: Link, refusal: Refusal) -> None:
        """Detach a link with an error."""
        self._tell("link-refused", link, condition=refusal.condition, said=refusal.description)
        link.condition = condition(refusal.condition, refusal.description)
        link.close()
        self._gone(link, by_client=False)
        # A refused link uses memory until the client detaches it, and is in no other count.
        self._refused += 1
        most = self._owner.hub.limits.links
        if self._refused > most:
            self._owner.close_after(too_many("links that were refused", most))

    def review(self) -> None:
        """End links whose claims are gone, and receivers of entities that forbid receiving.

        A sender stays attached to a disabled entity; its messages are refused one by one.
        """
        self._do(self._reviewing(list(self.nodes.items())))

    def end_receivers(self, path: str) -> None:
        """End the receivers of a deleted entity, its subscriptions and their dead-letter queues."""
        self._do(self._ending(list(self.nodes.items()), path))

    def _reviewing(self, links: list[tuple[Link, Node]]) -> Iterator[None]:
        for number, (link, node) in enumerate(links, 1):
            if self._was_refused(link, node) or number % PASSED_AT_ONCE == 0:
                yield

    def _was_refused(self, link: Link, node: Node) -> bool:
        if node.needs is None or self.nodes.get(link) is not node:
            return False
        # Links are named from the broker's end: where it is the sender, the client receives.
        refusal = self._owner.hub.statuses.refusal(*node.needs) if link.is_sender else None
        if not self._owner.permits(*node.needs):
            refusal = refuse_unauthorized(*node.needs)
        if refusal is not None:
            self.refuse(link, refusal)
        return refusal is not None

    def _ending(self, links: list[tuple[Link, Node]], path: str) -> Iterator[None]:
        for number, (link, node) in enumerate(links, 1):
            right, of = node.needs or ("", "")
            # Senders and links to `$management` stay, because each of their requests is refused.
            is_of_it = right == "Listen" and belongs_to(of, path) and not of.endswith(MANAGEMENT)
            if is_of_it and self.nodes.get(link) is node:
                self.refuse(link, not_found(of))
                yield
            elif number % PASSED_AT_ONCE == 0:
                yield

    def _do(self, steps: Iterator[None]) -> None:
        """Carry out steps; what is left when the turn is over waits for the next."""
        self._chores.append(steps)
        if len(self._chores) == 1:
            self._go_on()

    def _go_on(self) -> None:
        owner = self._owner
        was_any = False
        rota = owner.hub.rota
        while self._chores:
            for _ in self._chores[0]:
                was_any = True
                if rota.left() <= 0:
                    rota.add(self._go_on)
                    break
            else:
                # The last of them may have been to release all this.
                if self._chores:
                    self._chores.popleft()
                continue
            break
        if was_any:
            owner.pump()

    def end_all(self, then: Callable[[], None], *, by_client: bool) -> None:
        """End all links, because the connection has ended.

        Args:
            then: called once all have ended, which takes several turns if they are many.
            by_client: whether the client has ended the connection.
        """
        self._chores.clear()
        self._do(self._ending_all(list(self.nodes), then, by_client=by_client))

    def _ending_all(
        self, links: list[Link], then: Callable[[], None], *, by_client: bool
    ) -> Iterator[None]:
        for number, link in enumerate(links, 1):
            self._gone(link, by_client=by_client)
            if number % ENDED_AT_ONCE == 0:
                yield
        then()

    def release(self) -> None:
        """Forget the connection, which has ended; no call may follow."""
        self.handlers.clear()
        self._chores.clear()
        self._owner.hub.rota.remove(self._go_on)
        del self._owner, self._attach

    def delivered(self, delivery: native.Raw, *, batch: bool) -> None:
        """Handle a transfer or a disposition."""
        node = self._by_raw.get(native.link_of(delivery))
        # Collect deliveries for one link at a time, so that those of several links are handled in
        # the order of their arrival.
        if node is not self._collecting:
            self.finish()
            self._collecting = node
        if node is None:
            # A client may send on a link before it learns that the link has ended.
            _throw_away(delivery)
            return
        try:
            node.on_delivery(delivery, batch=batch)
        except Refusal as refusal:
            # Earlier messages are complete, and still get their answers.
            self.finish()
            # A message that is far too large ends its link; what still comes of it is discarded.
            raw = native.link_of(delivery)
            link = next(each for each in self.nodes if native.raw(each) == raw)
            self.refuse(link, refusal)
            _throw_away(delivery)

    def finish(self) -> None:
        """Handle the deliveries that a node has collected."""
        node, self._collecting = self._collecting, None
        if node is not None:
            node.finish()

    def _session_opened(self, event: Any) -> None:
        self._owner.kept.open(event.session)
        event.session.open()

    def _session_ended(self, event: Any) -> None:
        session = event.session
        # A client may end a session without detaching its links; AMQP ends them with it.
        # Compare pointers, because each look at a link's session makes a new wrapper of it.
        raw = native.raw(session)
        links = [each for each in self.nodes if native.session_of(native.raw(each)) == raw]
        for link in links:
            self.nodes[link].is_over = True

        def close() -> None:
            self._owner.kept.close(session)
            session.close()
            # Proton keeps an ended session or link until it is freed.
            session.free()

        self._do(self._ending_all(links, close, by_client=True))

    def _opened(self, event: Any) -> None:
        self._owner.kept.open(event.link.session, event.link)
        try:
            # A refused link uses memory too, so it is counted before the limit is checked.
            if len(self.nodes) >= (most := self._owner.hub.limits.links):
                raise too_many("links", most)
            self._attach(event.link)
        except Refusal as refusal:
            self.refuse(event.link, refusal)

    def _ended(self, event: Any) -> None:
        link = event.link
        if link not in self.nodes and self._refused:
            # The client has detached a link that was refused, whose memory can be freed now.
            self._refused -= 1
        self._gone(link, by_client=True)
        self._owner.kept.close(link.session, link)
        link.close()
        link.free()

    def _flowed(self, event: Any) -> None:
        node = self.nodes.get(event.link)
        if node is not None:
            node.on_credit()

    def _gone(self, link: Link, *, by_client: bool) -> None:
        node = self.nodes.pop(link, None)
        raw = native.raw(link)
        self._by_raw.pop(raw, None)
        self._owner.unfinished.pop(raw, None)
        # Proton reuses pointers, so a later link could be taken for this one.
        self._owner.backlog.forget(raw)
        if node is not None:
            self._owner.flowing.pop(node, None)
            self._tell("link-ended", link, by_client=by_client)
            node.on_closed(by_client=by_client)

    def _tell(self, event: str, link: Link, **details: Any) -> None:
        journal = self._owner.hub.journal
        if isinstance(journal, Silent):
            return  # finding out the details takes a third of the time for a link
        ours = link.remote_target if link.is_receiver else link.remote_source
        journal.info(
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
    # Unread bytes would fill the window of the session, which all its links share.
    native.content(link, delivery)
    if not native.is_partial(delivery):
        native.settle(delivery)
