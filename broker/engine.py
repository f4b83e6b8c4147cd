"""One client's connection: bytes to Proton's engine and back, its events to the nodes of links."""

import asyncio
import time
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Final, cast

from proton import Collector, Event, Link, ProtonException, Terminus, Transport
from proton import Connection as Endpoint

from busproof.broker import native
from busproof.broker.framing import LARGEST_FRAME, Frames, Handshake
from busproof.broker.messages import STANDS_FOR
from busproof.broker.nodes import Node, condition
from busproof.broker.proving import Proving
from busproof.broker.refusals import Refusal, unauthorized
from busproof.broker.tokens import Claim

if TYPE_CHECKING:
    from busproof.broker.hub import Hub

__all__ = ["Connection"]

TICK: Final = 5.0
"""How often idle connections are looked at, in seconds."""

PIECE: Final = 16_384
"""How much of what came is handled before answers go out, in bytes.

A client that hears of the first messages early is at work while the next are decided.
"""

MOST_UNSENT: Final = 1_048_576
"""After how many bytes that wait no more messages are given to a client."""

MOST_LINKS: Final = 5_000
"""Links of one connection."""
MOST_CONNECTIONS: Final = 5_000
"""Connections of all clients; the service takes as many of a namespace over AMQP."""


class Connection(asyncio.Protocol):
    """Speaks AMQP with one client.

    Args:
        hub: what all connections share.
        number: of this connection.
        attach: decides which node a link that is being attached gets.
    """

    def __init__(
        self, hub: "Hub", number: int, attach: Callable[["Connection", Link], None]
    ) -> None:
        self.hub = hub
        self.number = number
        self._proving = Proving(hub.loop, self.review_links, self.end)
        self._reads_slowly = False
        self._unsent = 0
        """Bytes that wait until what they tell is kept for good."""
        self.links: dict[Link, Node] = {}
        self._nodes: dict[native.Raw, Node] = {}
        """The same, by what Proton's library knows a link by."""
        self.sessions: dict[tuple[str, str], str] = {}
        """Path and session id to the name under which the model knows the link that holds it."""
        self.replies: dict[tuple[str, str], Any] = {}
        """Kind of node and reply address to the node that sends replies there."""
        self._attach = attach
        self._frames = Frames()
        self._batch = False
        self._pumping = False
        self._transport: asyncio.Transport | None = None
        self._handshake: Handshake | None = None
        self._engine = Transport(Transport.SERVER)
        self._engine.max_frame_size = LARGEST_FRAME
        self._collector = Collector()
        self._endpoint = Endpoint()
        self._endpoint.collect(self._collector)
        self._endpoint.container = "busproof"
        self._endpoint.offered_capabilities = [STANDS_FOR]
        self._engine.bind(self._endpoint)
        self._timer: asyncio.TimerHandle | None = None

    @property
    def name(self) -> str:
        """How the model knows this connection."""
        return f"connection-{self.hub.era}{self.number}"

    def attached(self, link: Link, node: Node) -> None:
        """A link has got its node."""
        self.links[link] = node
        self._nodes[native.raw(link)] = node

    def prove(self, claim: Claim) -> None:
        """Remember a claim that the client has shown; when it expires, links end that need it."""
        self._proving.add(claim)

    def renew_claims(self) -> None:
        """The keys are others; links end that need a claim that was proved by one that is gone."""
        self._proving.renew(self.hub.keys)

    def permits(self, right: str, path: str) -> bool:
        """Whether the client has shown a claim for this."""
        return self._proving.permit(right, path)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """A client has connected."""
        self._transport = cast(asyncio.Transport, transport)
        if len(self.hub.connections) >= MOST_CONNECTIONS:
            self._transport.abort()
            return
        self._handshake = Handshake(self.hub.keys, self._write)
        self.hub.connections.add(self)
        self._timer = self.hub.loop.call_later(TICK, self._tick)
        self._proving.begin()

    def data_received(self, data: bytes) -> None:
        """Bytes came."""
        if self._handshake is not None:
            data = self._handshake.feed(data)
            if self._handshake.failed:
                self._close()
            if not self._handshake.done:
                return
            if self._handshake.claim is not None:
                self.prove(self._handshake.claim)
            self._handshake = None
        with self.hub.bus.one_moment():
            for piece, batch in self._frames.feed(data):
                self._push(piece, batch=batch)
            self.pump()
        if self._frames.broken:
            self._close()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's word
        """The client is gone."""
        if self._timer is not None:
            self._timer.cancel()
        self._proving.stop()
        self.hub.connections.discard(self)
        for link in list(self.links):
            self._gone(link, lost=True)
        self._transport = None
        self._engine.unbind()
        self._endpoint.free()
        self._collector.release()

    @property
    def paused(self) -> bool:
        """Whether as much as may be is on its way to the client."""
        return self._reads_slowly or self._unsent > MOST_UNSENT

    def pause_writing(self) -> None:
        """The client reads too slowly."""
        self._reads_slowly = True

    def resume_writing(self) -> None:
        """The client has caught up."""
        self._reads_slowly = False
        self._give()

    def _give(self) -> None:
        """Give what there is to all links."""
        for node in list(self.links.values()):
            node.on_flow()
        self.pump()

    def pump(self) -> None:
        """Handle what the engine has to say, and write what it has to send."""
        if self._transport is None or self._pumping:
            return
        self._pumping = True
        try:
            self._dispatch()
            self.flush()
            self._dispatch()
            self.flush()
        finally:
            self._pumping = False

    def flush(self) -> None:
        """Write what the engine has to send."""
        while self._transport is not None and (waiting := self._engine.pending()) > 0:
            data = self._engine.peek(waiting)
            if not data:
                return
            self._write(bytes(data))
            self._engine.pop(len(data))
        if self._transport is not None and self._engine.pending() < 0:
            self._close()

    def refuse(self, link: Link, refusal: Refusal) -> None:
        """Let the client see its link attached, then detached with an error.

        The attach has no node at our end, by which clients know that a detach follows, and has to
        be written before it.
        """
        if not link.state & link.LOCAL_ACTIVE:
            ours = link.target if link.is_receiver else link.source
            ours.type = Terminus.UNSPECIFIED
            link.open()
            self.flush()
        self.detach(link, refusal)

    def detach(self, link: Link, refusal: Refusal) -> None:
        """End a link with an error."""
        link.condition = condition(refusal.condition, refusal.description)
        link.close()
        self._gone(link, lost=False)

    def review_links(self) -> None:
        """End links that the client has no claim for any more, or that give what is disabled.

        One to send on stays where that is disabled: each message is told so.
        """
        for link, node in list(self.links.items()):
            if node.needs is None:
                continue
            refusal = self.hub.statuses.refusal(*node.needs) if link.is_sender else None
            if not self.permits(*node.needs):
                self.detach(link, unauthorized(*node.needs))
            elif refusal is not None:
                self.detach(link, refusal)
        self.pump()

    def close_after(self, refusal: Refusal) -> None:
        """End the whole connection with an error."""
        self._endpoint.condition = condition(refusal.condition, refusal.description)
        self._endpoint.close()
        self.pump()

    def end(self, refusal: Refusal) -> None:
        """End the whole connection with an error, if the client has come so far as to be told."""
        if self._handshake is None:
            self.close_after(refusal)
        else:
            self.drop()

    def drop(self) -> None:
        """Let the client go without a word."""
        self._close()

    def _push(self, piece: bytes, *, batch: bool) -> None:
        self._batch = batch
        if batch:
            self._batch = False
            self.pump()
            self._batch = True
        rest = piece
        while rest:
            room = self._engine.capacity()
            if room <= 0:
                self.flush()
                if self._engine.capacity() <= 0:
                    self._close()
                    return
                continue
            try:
                self._engine.push(rest[: min(room, PIECE)])
            except ProtonException:
                self._close()
                return
            rest = rest[min(room, PIECE) :]
            if rest or batch:
                self.pump()
        self._batch = False

    def _dispatch(self) -> None:
        collector = self._collector
        while event := native.next_event(collector):
            kind = native.kind_of(event)
            if kind == native.DELIVERY:
                self._delivered(native.delivery_of(event))
            elif (handle := HANDLERS.get(kind)) is not None:
                handle(self, collector.peek())
            native.pop(collector)

    def _opened(self, _: Event) -> None:
        self._endpoint.open()

    def _ended(self, _: Event) -> None:
        for link in list(self.links):
            self._gone(link, lost=False)
        self._endpoint.close()

    def _session_opened(self, event: Any) -> None:
        event.session.open()

    def _session_ended(self, event: Any) -> None:
        session = event.session
        for link in [each for each in self.links if each.session == session]:
            self._gone(link, lost=False)
        session.close()

    def _link_opened(self, event: Any) -> None:
        try:
            self._check_links()
            self._attach(self, event.link)
        except Refusal as refusal:
            self.refuse(event.link, refusal)

    def _check_links(self) -> None:
        if len(self.links) >= MOST_LINKS:
            raise Refusal(
                "amqp:resource-limit-exceeded",
                f"The connection has {MOST_LINKS:,} links, as many as one may have.",
                403,
            )

    def _link_ended(self, event: Any) -> None:
        self._gone(event.link, lost=False)
        event.link.close()

    def _flowed(self, event: Any) -> None:
        node = self.links.get(event.link)
        if node is not None:
            node.on_flow()

    def _delivered(self, delivery: native.Raw) -> None:
        node = self._nodes.get(native.link_of(delivery))
        if node is None:
            return
        try:
            node.on_delivery(delivery, batch=self._batch)
        except Refusal as refusal:
            self.close_after(refusal)
            self.flush()
            self.drop()

    def _gone(self, link: Link, *, lost: bool) -> None:
        node = self.links.pop(link, None)
        self._nodes.pop(native.raw(link), None)
        if node is not None:
            node.on_closed(lost=lost)

    def _tick(self) -> None:
        now = time.monotonic()
        due = self._engine.tick(now)
        wait = min(TICK, max(0.01, due - now)) if due else TICK
        self._timer = self.hub.loop.call_later(wait, self._tick)
        self.pump()

    def _write(self, data: bytes) -> None:
        if self._transport is None:
            return
        if self.hub.saver is None:
            self._transport.write(data)
            return
        self._unsent += len(data)
        self.hub.tell(partial(self._sent, self._transport, data))

    def _sent(self, transport: asyncio.Transport, data: bytes) -> None:
        """What these bytes tell is kept for good."""
        was_paused = self.paused
        transport.write(data)
        self._unsent -= len(data)
        if was_paused and not self.paused:
            self.hub.loop.call_soon(self._give)

    def _close(self) -> None:
        if self._transport is not None:
            self.hub.tell(self._transport.close)


HANDLERS: Final[dict[int, Callable[[Connection, Any], None]]] = {
    kind.number: handle
    for kind, handle in (
        (Event.CONNECTION_REMOTE_OPEN, Connection._opened),
        (Event.CONNECTION_REMOTE_CLOSE, Connection._ended),
        (Event.SESSION_REMOTE_OPEN, Connection._session_opened),
        (Event.SESSION_REMOTE_CLOSE, Connection._session_ended),
        (Event.LINK_REMOTE_OPEN, Connection._link_opened),
        (Event.LINK_REMOTE_CLOSE, Connection._link_ended),
        (Event.LINK_REMOTE_DETACH, Connection._link_ended),
        (Event.LINK_FLOW, Connection._flowed),
    )
}
"""What is done about an event, by the number of its kind; deliveries are handled apart."""
