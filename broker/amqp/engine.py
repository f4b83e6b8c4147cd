"""One client's connection: bytes to Proton's engine and back, its events to the nodes of links."""

import asyncio
import inspect
import time
import traceback
from collections import deque
from collections.abc import Callable
from typing import Any, Final, cast

from proton import Collector, Data, Event, Link, ProtonException, Terminus, Transport
from proton import Connection as Endpoint

from busproof.broker.amqp import native
from busproof.broker.amqp.backlog import Backlog
from busproof.broker.amqp.framing import Frames, Handshake
from busproof.broker.amqp.messages import STANDS_FOR
from busproof.broker.amqp.nodes import Node, condition
from busproof.broker.amqp.numbering import ATTACH, BEGIN, Numbering
from busproof.broker.amqp.performatives import Outgoing
from busproof.broker.amqp.refusals import (
    Refusal,
    not_found,
    opening_too_large,
    too_many,
    unauthorized,
)
from busproof.broker.amqp.turns import Turns
from busproof.broker.amqp.windows import LEAST_FRAME, ROOM
from busproof.broker.amqp.wire import Wire
from busproof.broker.auth.cbs import Proving
from busproof.broker.auth.tokens import MANAGEMENT, Claim
from busproof.broker.core import Hub

__all__ = ["Connection"]

UNREADABLE: Final = (RecursionError, UnicodeDecodeError)
"""What Proton's Python raises of values that are nested too deeply, and of texts that are none."""

TICK: Final = 5.0
"""How often idle connections are looked at, in seconds."""

OPENED: Final = {BEGIN: 4_096, ATTACH: 2_048}
"""Bytes that a session and a link take beside what their frames have."""

STAGED: Final = 1_024
"""Bytes that are kept of each thing that was asked for in a transaction, beside its own."""

PIECE: Final = 16_384
"""How much of what came is handled before answers go out, in bytes.

A client that hears of the first messages early is at work while the next are decided.
"""


class Connection(asyncio.Protocol):
    """Speaks AMQP with one client.

    Args:
        hub: what all connections share.
        number: of this connection.
        attach: decides which node a link that is being attached gets.
    """

    def __init__(self, hub: Hub, number: int, attach: Callable[["Connection", Link], None]) -> None:
        self.hub = hub
        self.number = number
        self._proving = Proving(hub, self.review_links, self.end)
        self._wire = Wire(hub, self._give)
        self.unfinished = native.Unfinished()
        """Of each link, the bytes that came of a message whose end has not."""
        self.answers = 0
        """Bytes of answers that the client has asked for, and does not want yet."""
        self.backlog = Backlog()
        self.kept = 0
        """Bytes of what the client has opened, is to settle, or has sent in transactions."""
        self.staged: dict[str, int] = {}
        """Bytes that were sent in each transaction that the client has begun and not ended."""
        self._costs: dict[Any, int] = {}
        """What it costs to keep each session and link."""
        self._is_let_go = False
        self._refused = 0
        """Links that were refused or ended, and that the client has not ended."""
        self.links: dict[Link, Node] = {}
        self._nodes: dict[native.Raw, Node] = {}
        """The same, by what Proton's library knows a link by."""
        self.sessions: dict[tuple[str, str], str] = {}
        """Path and session id to the name under which the model knows the link that holds it."""
        self.replies: dict[tuple[str, str], Any] = {}
        """Kind of node and reply address to the node that sends replies there."""
        self._attach = attach
        numbering = Numbering()
        self._frames = Frames(hub.limits.frame, numbering, hub.limits.opening)
        self._outgoing = Outgoing(numbering)
        self._batch = False
        self._pumping = False
        self._pieces = deque[tuple[bytes, bool]]()
        """What came and was not given to the engine, and whether it is the transfer of a batch."""
        self._turns = Turns(hub.loop, lambda: self._watch(self._take_turn))
        self._handshake: Handshake | None = None
        self._engine = Transport(Transport.SERVER)
        # Proton would write to the terminal what a client makes it, and frames with tokens in them.
        self._engine.tracer = _write_nothing
        self._engine.max_frame_size = hub.limits.frame
        self._engine.channel_max = hub.limits.sessions - 1
        self._engine.idle_timeout = hub.limits.idle
        self._collector = Collector()
        self._endpoint = Endpoint()
        self._endpoint.collect(self._collector)
        self._endpoint.container = "busproof"
        self._endpoint.offered_capabilities = [STANDS_FOR]
        self._engine.bind(self._endpoint)
        self._timer: asyncio.TimerHandle | None = None
        self._since = 0.0

    @property
    def name(self) -> str:
        """How the model knows this connection."""
        return f"connection-{self.hub.era}{self.number}"

    def attached(self, link: Link, node: Node) -> None:
        """A link has got its node."""
        self.links[link] = node
        self._nodes[native.raw(link)] = node
        self._tell("link-attached", link)

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
        connected = cast(asyncio.Transport, transport)
        peer = str((connected.get_extra_info("peername") or ("",))[0])
        if len(self.hub.connections) >= self.hub.limits.connections:
            self.hub.journal.warning("connection-refused", peer=peer, limit="connections")
            connected.abort()
            return
        self._since = time.monotonic()
        self.hub.opened += 1
        self.hub.journal.info(
            "connected",
            connection=self.name,
            peer=peer,
            tls=connected.get_extra_info("ssl_object") is not None,
        )
        self._wire.open(connected)
        self._handshake = Handshake(self.hub.keys, self._wire.write)
        self.hub.connections.add(self)
        self._timer = self.hub.loop.call_later(0, self._tick)
        self._proving.begin()

    def data_received(self, data: bytes) -> None:
        """Bytes came, whatever they are."""
        self._watch(lambda: self._take(data))

    def _watch(self, handle: Callable[[], None]) -> None:
        """Handle what a client sent; if that fails, only its own connection ends."""
        try:
            handle()
        except Exception as error:  # noqa: BLE001 - one client's bytes are no other client's trouble
            if _is_unreadable(error):
                said = f"What came cannot be read: {type(error).__name__}."
                self.end(Refusal("amqp:decode-error", said))
            else:
                self.hub.complain(self.name, error)
                self.end(Refusal("amqp:internal-error", "The broker has failed on what came.", 500))
            self._pieces.clear()
            self.drop()

    def _take(self, data: bytes) -> None:
        if self._handshake is not None:
            data = self._handshake.feed(data)
            if self._handshake.failed:
                self.hub.journal.warning("login-failed", connection=self.name)
                self.drop()
            if not self._handshake.done:
                return
            if (claim := self._handshake.claim) is not None:
                self.hub.journal.info("logged-in", connection=self.name, rule=claim.rule)
                self.prove(claim)
            self._handshake = None
        for piece, batch in self._frames.feed(data):
            for place in range(0, len(piece), PIECE):
                self._pieces.append((piece[place : place + PIECE], batch))
        if not self._turns.waits:
            self._take_turn()

    def _take_turn(self) -> None:
        """Handle what came, until it is done or the turn is over."""
        self._turns.begin()
        try:
            with self.hub.bus.one_moment():
                self.pump()
                while self._pieces and not self._turns.is_over():
                    self._push()
                    self.pump()
        finally:
            self._turns.end()
        if self._turns.waits:
            self._wire.hold()
            return
        self._wire.release()
        if self._frames.too_long:
            self.close_after(opening_too_large(self._frames.too_long, self.hub.limits.opening))
            self.drop()
        if self._frames.broken:
            self.drop()
        for node in self.backlog.opened():
            node.on_flow()

    def connection_lost(self, exc: Exception | None) -> None:
        """The client is gone."""
        if self._timer is not None:
            self._timer.cancel()
        self._turns.cancel()
        self._pieces.clear()
        self._proving.stop()
        self._is_let_go = True
        self.hub.budget.release(self)
        self.hub.connections.discard(self)
        for link in list(self.links):
            self._gone(link, by_client=False)
        if self._wire.is_open:
            self.hub.journal.info(
                "disconnected",
                connection=self.name,
                seconds=round(time.monotonic() - self._since, 3),
                error=None if exc is None else type(exc).__name__,
                **self._reason(),
            )
        self._wire.lose()
        self._engine.unbind()
        self._endpoint.free()
        self._collector.release()

    def _reason(self) -> dict[str, str | None]:
        """The error by which the client has ended the connection, or the engine has."""
        error = _readable(lambda: self._endpoint.remote_condition or self._engine.condition)
        return {} if error is None else {"condition": error.name, "said": error.description}

    @property
    def paused(self) -> bool:
        """Whether as much as may be is on its way to the client."""
        return self._wire.paused

    def pause_writing(self) -> None:
        """The client reads too slowly."""
        self._wire.slow_down()

    def resume_writing(self) -> None:
        """The client has caught up."""
        self._wire.go_on()

    def _give(self) -> None:
        """Give what there is to all links."""
        for node in list(self.links.values()):
            node.on_flow()
        self.pump()

    def pump(self) -> None:
        """Handle what the engine has to say, and write what it has to send."""
        if not self._wire.is_open or self._pumping:
            return
        self._pumping = True
        try:
            self._dispatch()
            self.flush()
            self._dispatch()
            self.flush()
        finally:
            self._pumping = False
        self.measure()

    def measure(self) -> None:
        """Look whether the broker keeps more for this client than it may."""
        if not self._is_let_go:
            self.hub.budget.hold(self, self.held)

    @property
    def held(self) -> int:
        """Bytes that the broker keeps for this client, about."""
        came = sum(len(piece) for piece, _ in self._pieces) + self._frames.waiting
        told = self._wire.waiting + self.answers + self.backlog.size
        return self.kept + self.unfinished.total + came + told

    def count_in(self, transaction: str, size: int) -> None:
        """Count bytes that are kept until a transaction ends, for whoever has begun it."""
        owner = self.hub.owners.get(transaction)
        if owner is not None:
            owner.stage(transaction, size)

    def stage(self, transaction: str, size: int) -> None:
        """Count bytes that are kept until a transaction ends that the client has begun."""
        self.staged[transaction] += size + STAGED
        self.kept += size + STAGED
        self.measure()

    def begun(self, transaction: str) -> None:
        """The client has begun a transaction."""
        self.hub.owners[transaction] = self
        self.staged[transaction] = 0
        self.stage(transaction, 0)

    def ended(self, transaction: str) -> None:
        """A transaction has ended; what was kept for it is free, or in its entity."""
        self.hub.owners.pop(transaction, None)
        self.kept -= self.staged.pop(transaction, 0)

    def let_go(self, refusal: Refusal) -> None:
        """End the connection, and keep nothing for it."""
        self._is_let_go = True
        self._pieces.clear()
        self.end(refusal)
        self._wire.cut()

    def flush(self) -> None:
        """Write what the engine has to send."""
        while self._wire.is_open and (waiting := self._engine.pending()) > 0:
            data = self._engine.peek(waiting)
            if not data:
                return
            self._wire.write(self._outgoing.feed(bytes(data)))
            self._engine.pop(len(data))
        self.backlog.look()
        if self._wire.is_open and self._engine.pending() < 0:
            self.drop()

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
        self._tell("link-refused", link, condition=refusal.condition, said=refusal.description)
        link.condition = condition(refusal.condition, refusal.description)
        link.close()
        self._gone(link, by_client=False)
        self._refused += 1
        if self._refused > self.hub.limits.links:
            self.close_after(too_many("links that were refused", self.hub.limits.links))

    def review_links(self) -> None:
        """End links that the client has no claim for any more, or that give what is disabled.

        One to send on stays where that is disabled: each message is told so.
        """
        for link, node in list(self.links.items()):
            if node.needs is None:
                continue
            refusal = self.hub.statuses.refusal(*node.needs) if link.is_sender else None
            if not self.permits(*node.needs):
                self.refuse(link, unauthorized(*node.needs))
            elif refusal is not None:
                self.refuse(link, refusal)
        self.pump()

    def end_receivers(self, path: str) -> None:
        """End links that give messages of an entity that was deleted, or of what was beneath it."""
        for link, node in list(self.links.items()):
            right, of = node.needs or ("", "")
            is_beneath = of.startswith(f"{path}/") and not of.endswith(MANAGEMENT)
            if right == "Listen" and (of == path or is_beneath):
                self.refuse(link, not_found(of))
        self.pump()

    def close_after(self, refusal: Refusal) -> None:
        """End the whole connection with an error."""
        self.hub.journal.info(
            "connection-ended",
            connection=self.name,
            condition=refusal.condition,
            said=refusal.description,
        )
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
        """Let the client go without another word."""
        self._wire.close()

    def _push(self) -> None:
        """Give the engine a piece of what came, once all is handled that came before."""
        piece, self._batch = self._pieces.popleft()
        if self._engine.capacity() <= 0:
            self.flush()
        room = self._engine.capacity()
        try:
            if room > 0:
                self._engine.push(piece[:room])
        except ProtonException:
            room = 0
        if room <= 0:
            self._pieces.clear()
            self.drop()
        elif room < len(piece):
            self._pieces.appendleft((piece[room:], self._batch))

    def _dispatch(self) -> None:
        collector = self._collector
        if self._turns.is_between:
            return
        while event := native.next_event(collector):
            if self._turns.is_over():
                return
            kind = native.kind_of(event)
            try:
                if kind == native.DELIVERY:
                    self._delivered(native.delivery_of(event))
                elif (handle := HANDLERS.get(kind)) is not None:
                    handle(self, collector.peek())
            finally:
                native.pop(collector)

    def _opened(self, _: Event) -> None:
        client = _readable(lambda: self._endpoint.remote_container)
        self.hub.journal.info("connection-opened", connection=self.name, client=client)
        most = self._engine.remote_max_frame_size
        self._outgoing.most = most + (ROOM if most >= LEAST_FRAME + ROOM else 0)
        # Some send no message that is larger than a frame, unless both ends agree on its size.
        self._engine.max_frame_size = min(self.hub.limits.frame, self._outgoing.most)
        self._endpoint.open()

    def _ended(self, _: Event) -> None:
        for link in list(self.links):
            self._gone(link, by_client=True)
        self._endpoint.close()

    def _session_opened(self, event: Any) -> None:
        self._keep(event.session, BEGIN)
        event.session.open()

    def _keep(self, opened: Any, code: int) -> None:
        """Count what a session or a link takes that was opened."""
        costs = self._frames.costs[code]
        cost = OPENED[code] + (costs.popleft() if costs else 0)
        self._costs[opened] = cost
        self.kept += cost

    def _free(self, opened: Any) -> None:
        """Free a session or a link that has ended."""
        self.kept -= self._costs.pop(opened, 0)
        opened.close()
        opened.free()

    def _session_ended(self, event: Any) -> None:
        session = event.session
        for link in [each for each in self.links if each.session == session]:
            self._gone(link, by_client=True)
        for link in [each for each in self._costs if getattr(each, "session", None) == session]:
            self.kept -= self._costs.pop(link)
        self._free(session)

    def _link_opened(self, event: Any) -> None:
        self._keep(event.link, ATTACH)
        try:
            self._check_links()
            self._attach(self, event.link)
        except Refusal as refusal:
            self.refuse(event.link, refusal)

    def _check_links(self) -> None:
        if len(self.links) >= self.hub.limits.links:
            raise too_many("links", self.hub.limits.links)

    def _link_ended(self, event: Any) -> None:
        link = event.link
        if link not in self.links and self._refused:
            self._refused -= 1
        self._gone(link, by_client=True)
        self._free(link)

    def _flowed(self, event: Any) -> None:
        node = self.links.get(event.link)
        if node is not None:
            node.on_flow()

    def _delivered(self, delivery: native.Raw) -> None:
        node = self._nodes.get(native.link_of(delivery))
        if node is None:
            _throw_away(delivery)
            return
        try:
            node.on_delivery(delivery, batch=self._batch)
        except Refusal as refusal:
            self.close_after(refusal)
            self.flush()
            self.drop()

    def _gone(self, link: Link, *, by_client: bool) -> None:
        node = self.links.pop(link, None)
        raw = native.raw(link)
        self._nodes.pop(raw, None)
        self.unfinished.pop(raw, None)
        self.backlog.forget(raw)
        if node is not None:
            self._tell("link-ended", link, by_client=by_client)
            node.on_closed(by_client=by_client)

    def _tell(self, event: str, link: Link, **told: Any) -> None:
        ours = link.remote_target if link.is_receiver else link.remote_source
        self.hub.journal.info(
            event,
            connection=self.name,
            link=_readable(lambda: link.name),
            client="sends" if link.is_receiver else "receives",
            address=_readable(lambda: ours.address),
            **told,
        )

    def _tick(self) -> None:
        now = time.monotonic()
        due = self._engine.tick(now)
        most = min(TICK, self.hub.limits.idle / 2 or TICK)
        wait = min(most, max(0.01, due - now)) if due else most
        self._timer = self.hub.loop.call_later(wait, self._tick)
        self.pump()


def _is_unreadable(error: Exception) -> bool:
    """Whether Proton's Python has no such value: a map may have keys that no dict can have."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    return isinstance(error, UNREADABLE) or (
        isinstance(error, TypeError | ValueError) and last.filename == inspect.getfile(Data)
    )


def _readable(read: Callable[[], Any]) -> Any:
    """What a client calls something, which need not be a text."""
    try:
        return read()
    except UnicodeDecodeError:
        return "(no text)"


def _write_nothing(*_: object) -> None:
    """Nobody is to be told."""


def _throw_away(delivery: native.Raw) -> None:
    """Keep nothing of what came over a link that has ended."""
    link = native.link_of(delivery)
    native.content(link, delivery)
    if not native.is_partial(delivery):
        native.settle(delivery)


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
