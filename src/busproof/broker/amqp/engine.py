"""A client's AMQP connection: passes bytes to and from Proton, and Proton's events to nodes."""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Final, cast

from proton import Event, Link

from busproof.broker.amqp import native
from busproof.broker.amqp.backlog import Backlog
from busproof.broker.amqp.framing import Frames, Handshake
from busproof.broker.amqp.kept import Kept
from busproof.broker.amqp.links import Links
from busproof.broker.amqp.nodes import Node, condition
from busproof.broker.amqp.numbering import Numbering
from busproof.broker.amqp.performatives import Outgoing
from busproof.broker.amqp.proton_engine import Engine
from busproof.broker.amqp.refusals import Refusal
from busproof.broker.amqp.turns import Turns
from busproof.broker.amqp.unreadable import is_unreadable, readable
from busproof.broker.amqp.windows import LEAST_FRAME, ROOM
from busproof.broker.amqp.wire import Wire
from busproof.broker.auth.cbs import Proving
from busproof.broker.auth.tokens import Claim
from busproof.broker.core import Hub
from busproof.broker.freed_memory import MANY

__all__ = ["Connection"]

TICK: Final = 5.0
"""Maximum time between two ticks of the engine, which detect idle connections, in seconds."""

FLOW: Final = Event.LINK_FLOW.number

PIECE: Final = 16_384
"""Bytes to handle before answers are written, so that the client can continue early."""


class Connection(asyncio.Protocol):
    """An AMQP connection with one client.

    Args:
        hub: state shared by all connections.
        number: the number of this connection.
        attach: selects the node for a link that a client attaches.
    """

    def __init__(self, hub: Hub, number: int, attach: Callable[["Connection", Link], None]) -> None:
        self.hub = hub
        self.unfinished = native.Unfinished()
        """For each link, the number of bytes received of a message that is still incomplete."""
        self.answers = 0
        """Bytes of replies that wait because the client has given no credit for them."""
        self.backlog = Backlog()
        self.flowing: dict[Node, None] = {}
        """The nodes of links that may deliver messages again."""
        self.name: Final = f"connection-{hub.era}{number}"
        """The model's name for this connection."""
        self._wire = Wire(hub, self._give, self.name)
        self.disturb = self._wire.disturb
        self.sessions: dict[tuple[str, str], str] = {}
        """Path and session id to the model's name for the link that holds the session."""
        self.replies: dict[tuple[str, str], Any] = {}
        """Kind of node and reply address to the node that sends replies to this address."""
        self._numbering = numbering = Numbering()
        self._frames = Frames(hub.limits.frame, numbering, hub.limits.opening)
        self.kept = Kept(self._frames.costs)
        self._links = Links(self, partial(attach, self))
        self.links = self._links.nodes
        self.attached, self.refuse = self._links.attached, self._links.refuse
        self.detach, self.end_receivers = self._links.detach, self._links.end_receivers
        self.review_links = self._links.review
        self._proving = Proving(hub, self.review_links, self.end)
        self.permits = self._proving.permit
        self._handlers = self._links.handlers | {
            Event.CONNECTION_REMOTE_OPEN.number: self._opened,
            Event.CONNECTION_REMOTE_CLOSE.number: self._ended,
        }
        """Handlers by event type; deliveries are dispatched separately."""
        self._outgoing = Outgoing(numbering)
        self._batch = self._pumping = self._is_let_go = False
        self.is_ending = False
        """Whether no link gets anything more, because the connection ends."""
        self._flows_seen = 0
        """Number of the client's Flow frames whose events have been handled."""
        self._came = deque[bytes]()
        """Received bytes not yet split into frames."""
        self._pieces = deque[tuple[bytes, bool]]()
        """Whole frames not yet given to the engine, each with whether they begin a batch."""
        self._turns = Turns(hub.rota, lambda: self._watch(self._take_turn))
        self.work = self._turns.work
        self._handshake: Handshake | None = None
        self._whole = Engine.within(hub.limits)
        self._engine, self._collector = self._whole.transport, self._whole.collector
        self._endpoint = self._whole.endpoint
        self._transport, self._events = native.raw(self._engine), native.raw(self._collector)
        self._timer: asyncio.TimerHandle | None = None
        self._since = 0.0

    def prove(self, claim: Claim) -> None:
        """Add a claim that the client has proved.

        Raises:
            Refusal: the client has too many claims.
        """
        self._proving.add(claim)
        self.hub.strangers.pop(self, None)

    def renew_claims(self) -> None:
        """Apply new keys: end the links whose claims rest on a removed key."""
        self._proving.renew(self.hub.keys)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Accept a client, or abort the connection if there are too many."""
        connected = cast(asyncio.Transport, transport)
        peer = str((connected.get_extra_info("peername") or ("",))[0])
        is_full = len(self.hub.connections) >= self.hub.limits.connections
        # Otherwise anybody could keep the clients away that can log in.
        if is_full and not self.hub.make_room():
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
        self.hub.strangers[self] = None
        self._timer = self.hub.loop.call_later(0, self._tick)
        self._proving.begin()

    def data_received(self, data: bytes) -> None:
        """Handle bytes received from the client."""
        if (listener := self.hub.disturbances.listener) is not None:
            listener.note(self.name, data, by_client=True)
        self._watch(self._take, data)

    def _watch(self, handle: Callable[..., None], *given: bytes) -> None:
        """Run a handler; if it fails, end only this client's connection."""
        try:
            handle(*given)
        except Exception as error:  # noqa: BLE001 - a fault ends one connection, not the broker
            if is_unreadable(error):
                sentence = f"The data cannot be read: {type(error).__name__}."
                self.end(Refusal("amqp:decode-error", sentence))
            else:
                self.hub.complain(self.name, error)
                self.end(Refusal("amqp:internal-error", "The broker failed on this data.", 500))
            self._drop_received()
            self.drop()

    def _take(self, data: bytes) -> None:
        was_met = self._handshake is None
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
        for place in range(0, len(data), PIECE):
            self._came.append(data[place : place + PIECE])
        if not self._turns.waits:
            self._take_turn(pumped=was_met)

    def _take_turn(self, *, pumped: bool = False) -> None:
        """Take a turn: handle received bytes until it is over; `pumped` skips the first `pump`."""
        self._turns.begin()
        self.hub.begin_turn()
        try:
            with self.hub.bus.one_moment():
                if not pumped:
                    self.pump()
                while (self._pieces or self._came) and not self._turns.is_over():
                    if self._pieces or self._split():
                        self._push()
                        self.pump()
        finally:
            self._turns.end()
            self.hub.end_turn()
        if self._turns.waits:
            self._wire.hold()
            return
        self._wire.release()
        if self._frames.refusal is not None:
            self.close_after(self._frames.refusal)
            self.drop()
        if self._frames.broken:
            self.drop()
        if opened := self.backlog.opened():
            self._let_flow(opened)

    def _split(self) -> bool:
        """Split the next received bytes into frames; return whether any is whole."""
        for piece, batch in self._frames.feed(self._came.popleft()):
            for place in range(0, len(piece), PIECE):
                self._pieces.append((piece[place : place + PIECE], batch))
        return bool(self._pieces)

    def _drop_received(self) -> None:
        self._came.clear()
        self._pieces.clear()

    def connection_lost(self, exc: Exception | None) -> None:
        """Clean up after a client that has disconnected."""
        if self._timer is not None:
            self._timer.cancel()
        self._turns.release()
        self.hub.rota.remove(self._flow_on)
        self._drop_received()
        self._proving.release()
        self._is_let_go = True
        self.hub.budget.release(self)
        self.hub.forget_client(self)
        if self._wire.is_open:
            self.hub.journal.info(
                "disconnected",
                connection=self.name,
                seconds=round(time.monotonic() - self._since, 3),
                error=None if exc is None else type(exc).__name__,
                **self._whole.reason,
            )
        self._wire.lose()
        self.is_ending = True
        self._links.end_all(self._release, by_client=False)

    def _release(self) -> None:
        """Free the engine, and drop what still refers back to the connection.

        It is then freed at once: the garbage collector, which would find it, looks rarely in a
        broker of many messages, and clients may come and go by thousands.
        """
        self._whole.free()
        self._links.release()
        self._handlers.clear()
        self.replies.clear()
        self.hub.freed.note()

    @property
    def paused(self) -> bool:
        """Whether so many bytes are unread that nothing more is sent for now, or ever."""
        return self.is_ending or self._wire.paused

    def pause_writing(self) -> None:
        """Stop sending to a client that reads too slowly."""
        self._wire.slow_down()

    def resume_writing(self) -> None:
        """Continue sending to a client that has caught up."""
        self._wire.go_on()

    def _give(self) -> None:
        """Let all links deliver messages."""
        self._let_flow(self.links.values())

    def _let_flow(self, nodes: Iterable[Node]) -> None:
        """Let links deliver messages; what is left when the turn is over waits for the next."""
        self.flowing.update(dict.fromkeys(nodes))
        self._watch(self._flow)

    def _flow(self) -> None:
        while self.flowing:
            node = next(iter(self.flowing))
            del self.flowing[node]
            node.on_flow()
            if self.flowing and self.hub.rota.left() <= 0:
                self.hub.rota.add(self._flow_on)
                break
        self.pump()

    def _flow_on(self) -> None:
        self._watch(self._flow)

    def pump(self) -> None:
        """Handle the engine's events and write its output."""
        if not self._wire.is_open or self._pumping:
            return
        self._pumping = True
        try:
            self._dispatch()
            if self.flush() and self._dispatch():  # writing can raise further events
                self.flush()
        finally:
            self._pumping = False
        self.measure()

    def measure(self) -> None:
        """Check whether this client's memory is within the limits."""
        if not self._is_let_go:
            self.hub.budget.hold(self, self.held)

    @property
    def held(self) -> int:
        """Approximate memory that the broker keeps for this client, in bytes."""
        came = self._frames.waiting
        if self._came or self._pieces:
            came += sum(map(len, self._came)) + sum(len(piece) for piece, _ in self._pieces)
        unsent = self._wire.waiting + self.answers + self.backlog.size
        return self.kept.size + self.unfinished.total + came + unsent

    def stage(self, transaction: str, size: int) -> None:
        """Count bytes that are kept until a transaction of this client ends."""
        self.kept.stage(transaction, size)
        self.measure()

    def abort(self) -> None:
        """End the connection at once, without a word."""
        self._wire.abort()

    def let_go(self, refusal: Refusal) -> None:
        """End the connection and free the memory that it uses."""
        self._is_let_go = True
        self._drop_received()
        self.end(refusal)
        self._wire.cut()
        # It held much.
        self.hub.freed.note(MANY)

    def flush(self) -> bool:
        """Write the engine's output; return whether there was any."""
        if not self._wire.is_open:
            return False
        transport = self._transport
        was_any = False
        while (waiting := native.pending(transport)) > 0:
            was_any = True
            self._wire.write(self._outgoing.feed(native.output(transport, waiting)))
            native.pop_output(transport, waiting)
        self.backlog.look()
        if waiting < 0:  # the engine has closed its output
            self.drop()
        return was_any

    @property
    def flows(self) -> int:
        """Number of Flow frames that the client has sent."""
        return self._numbering.flows

    def answer_drain(self, link: bytes, count: int) -> None:
        """Answer a drain whose credit was used up.

        Args:
            link: the name of the link.
            count: the number of messages that were sent on the link, and of credits drained.
        """
        self._wire.write(self._outgoing.drained(link, count))

    def close_after(self, refusal: Refusal) -> None:
        """End the connection with an error."""
        self.hub.journal.info(
            "connection-ended",
            connection=self.name,
            condition=refusal.condition,
            said=refusal.description,
        )
        self._whole.close(condition(refusal.condition, refusal.description))
        self.pump()

    def end(self, refusal: Refusal) -> None:
        """End the connection, with an AMQP error if the handshake is over."""
        if self._handshake is None:
            self.close_after(refusal)
        else:
            self.drop()

    def drop(self) -> None:
        """Close the transport without writing another frame."""
        self._wire.close()

    def _push(self) -> None:
        """Give the engine the next piece of the received bytes."""
        piece, self._batch = self._pieces.popleft()
        transport = self._transport
        if native.capacity(transport) <= 0:
            self.flush()
        taken = native.push(transport, piece)
        if taken <= 0:
            self._drop_received()
            self.drop()
        elif taken < len(piece):
            self._pieces.appendleft((piece[taken:], self._batch))

    def _dispatch(self) -> bool:
        """Handle the engine's events; return whether there were any to handle."""
        turns = self._turns
        if turns.is_between:
            # Between this client's turns others have theirs; its events wait for the next turn.
            return False
        was_any = False
        events = self._events
        flows = self._numbering.flows
        while turns.is_done() and (event := native.next_event(events)):
            if turns.is_over():
                break
            kind = native.kind_of(event)
            try:
                if kind == native.DELIVERY:
                    was_any = True
                    self._links.delivered(native.delivery_of(event), batch=self._batch)
                elif kind == FLOW and flows == self._flows_seen:
                    pass  # the engine has written a message, and the client has said nothing
                elif (handle := self._handlers.get(kind)) is not None:
                    was_any = True
                    self._links.finish()
                    handle(self._collector.peek())
            finally:
                native.pop(events)
        else:
            if turns.is_idle and not self._pieces:
                self._flows_seen = flows
        if was_any:
            self._links.finish()
        return was_any

    def _opened(self, _: Event) -> None:
        client = readable(lambda: self._endpoint.remote_container)
        self.hub.journal.info("connection-opened", connection=self.name, client=client)
        if self.hub.bus.watcher is not None:
            self.hub.bus.watcher.meet(self.name, client)
        most = self._engine.remote_max_frame_size
        # `clamped` has subtracted ROOM from the client's frame size, because frames may grow.
        self._outgoing.most = most + (ROOM if most >= LEAST_FRAME + ROOM else 0)
        # Some clients send no message larger than a frame unless both ends state one size.
        self._engine.max_frame_size = min(self.hub.limits.frame, self._outgoing.most)
        self._endpoint.open()

    def _ended(self, _: Event) -> None:
        self.is_ending = True
        self._links.end_all(self._endpoint.close, by_client=True)

    def _tick(self) -> None:
        now = time.monotonic()
        due = self._engine.tick(now)
        most = min(TICK, self.hub.limits.idle / 2 or TICK)
        wait = min(most, max(0.01, due - now)) if due else most
        self._timer = self.hub.loop.call_later(wait, self._tick)
        self.pump()
