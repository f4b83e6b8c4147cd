"""Outgoing links: credit becomes receives, and dispositions become settlements."""

from collections.abc import Callable, Sequence
from struct import Struct
from typing import Final
from uuid import UUID

from proton import Delivery, Link

from busproof.broker.amqp import native
from busproof.broker.amqp.dispositions import (
    MODIFIED,
    REASON,
    Disposition,
    disposed,
    echoed,
    in_transaction,
)
from busproof.broker.amqp.encoding import string_of
from busproof.broker.amqp.engine import Connection
from busproof.broker.amqp.incoming_links import TRANSACTIONAL, reject, tell, transaction_of
from busproof.broker.amqp.kept import DELIVERY
from busproof.broker.amqp.native import Raw
from busproof.broker.amqp.nodes import Node
from busproof.broker.amqp.refusals import Refusal, insist, refusal_of, too_much_added
from busproof.broker.amqp.writing import encoded
from busproof.model import Answer
from busproof.model.state import Entity
from busproof.vocabulary.commands import CloseSession, Complete, DeadLetter, Receive, Settlement
from busproof.vocabulary.messages import MessageView
from busproof.vocabulary.outcomes import Received
from busproof.vocabulary.paths import DEAD_LETTERS
from busproof.vocabulary.values import ReceiveMode

__all__ = ["Outlet", "effect_of", "outgoing", "token_of", "wire_token"]

GIVEN_AT_ONCE: Final = 50
"""Number of messages to deliver between writes, while the next are fetched."""

WRITTEN_AT_ONCE: Final = 65_536
"""Number of bytes to deliver between writes, to see whether the client reads them."""

GIVEN_IN_A_TURN: Final = 500
"""Number of messages that a link gets before other clients have a turn."""

MOST_ADDED: Final = 65_536
"""Maximum bytes of the properties that settlements add to a message, as for those of its sender.

Without a maximum, a message that is deferred again and again would grow without end.
"""

TOKEN: Final = Struct(">QQ")
"""A lock token in bytes: the sequence number and the number of the delivery."""


def wire_token(token: str) -> UUID:
    """Return the model's lock token as a UUID: sequence number and number of the delivery."""
    return UUID(bytes=_token(token))


def token_of(token: UUID) -> str:
    """Return the model's lock token for a client's UUID."""
    return f"{token.int >> 64}/{token.int & (2**64 - 1)}"


def outgoing(connection: Connection, path: str, view: MessageView) -> bytes:
    """Encode a message for delivery."""
    hub = connection.hub
    content = hub.shown(view)
    more = hub.contents.more(path, view.body, view.dead_letter_reason)
    if view.dead_letter_reason:
        more = {REASON: string_of(view.dead_letter_reason), **more}
    return encoded(
        view,
        content,
        token=None if view.lock_token is None else _token(view.lock_token),
        locked_until=None if view.locked_until is None else hub.bus.epoch_ms(view.locked_until),
        life=_shorter(content.life, hub.bus.namespace.entities.get(path)),
        more=more,
    )


def _shorter(life: int | None, entity: Entity | None) -> int | None:
    """Return the shorter of a message's time to live and its entity's, in microseconds."""
    longest = None if entity is None else entity.settings.time_to_live
    if life is None or longest is None:
        return longest if life is None else life
    return min(life, longest)


def effect_of(
    connection: Connection, settlement: Settlement, disposition: Disposition
) -> Callable[[], None]:
    """Return what to do after the settlement: store the properties that it adds.

    Raises:
        Refusal: the message would have too many of them.
    """
    contents, path = connection.hub.contents, settlement.queue
    name, more = connection.hub.bus.held(path, settlement.lock_token), disposition.more()
    target = path
    if isinstance(settlement, DeadLetter):
        target += DEAD_LETTERS
        if more and settlement.reason:
            more[REASON] = string_of(settlement.reason)
    if name is not None and more:
        every = {**contents.more(target, name), **more}
        size = sum(len(key) + len(value) for key, value in every.items())
        if size > MOST_ADDED:
            raise too_much_added(size, MOST_ADDED)

    def keep() -> None:
        if name is not None and more:
            contents.add(target, name, more)

    return keep


class Outlet(Node):
    """A client's link for receiving from an entity or from one of its sessions.

    Args:
        connection: the client's connection.
        link: the link.
        path: the path of the entity.
        mode: whether messages are locked or removed at once.
        session_id: the session that the link holds.
        holder: the model's name of the receiver.
    """

    def __init__(
        self,
        connection: Connection,
        link: Link,
        path: str,
        mode: ReceiveMode,
        session_id: str | None,
        holder: str,
    ) -> None:
        self._connection = connection
        self._link = link
        self._raw = native.raw(link)
        self._path = path
        self.needs = ("Listen", path)
        self._given: dict[Raw, str] = {}
        """Lock tokens of the deliveries that the client has to settle."""
        self._mode = mode
        self._receive = Receive(queue=path, mode=mode, session_id=session_id)
        self._session_id = session_id
        self._holder = holder
        self._is_over = False
        self._most = connection.hub.limits.unsettled

    @property
    def place(self) -> tuple[str, str | None]:
        """The entity and session that the link waits on."""
        return self._path, self._session_id

    @property
    def _room(self) -> int:
        """Number of messages that may be delivered before the client reads or settles some."""
        connection = self._connection
        if connection.paused or connection.backlog.is_shut(self._raw):
            return 0
        return self._most - len(self._given)

    def on_flow(self) -> None:
        """Deliver available messages and wait for more."""
        if self.serve():
            self._connection.hub.wait(self)
        else:
            self._connection.hub.leave(self)

    def serve(self) -> bool:
        """Deliver available messages while credit lasts; return whether to wait for more."""
        link, waits = self._link, False
        given = written = 0
        while (most := min(native.credit(self._raw), self._room)) > 0:
            answers = self._next(most)
            if not answers:
                waits = True
                break
            for answer in answers:
                if (refusal := refusal_of(answer, self._path)) is not None:
                    self._connection.detach(link, refusal)
                    self._connection.pump()
                    return False
                if isinstance(answer.outcome, Received):
                    written += self._give(answer.outcome.message)
                    given += 1
                    if given % GIVEN_AT_ONCE == 0 or written >= WRITTEN_AT_ONCE:
                        self._connection.flush()
                        written = 0
            if given >= GIVEN_IN_A_TURN:
                self._connection.hub.loop.call_soon(self._go_on)
                self._connection.hub.changed()
                self._connection.pump()
                return False
        if link.drain_mode:
            # AMQP: a drained link gives back its unused credit and does not wait.
            link.drained()
            waits = False
        if given:
            self._connection.hub.changed()
        self._connection.pump()
        return waits and not self._is_over

    def _go_on(self) -> None:
        if not self._is_over:
            with self._connection.hub.bus.one_moment():
                self.on_flow()

    def on_delivery(self, delivery: Raw, *, batch: bool) -> None:  # noqa: ARG002 - nothing comes in batches here
        """Handle a settlement, or a request for one."""
        state, settled = native.state_of(delivery), native.is_settled(delivery)
        was_full = len(self._given) >= self._most
        token = self._given.pop(delivery, None) if state or settled else None
        if token is None:
            if settled:
                native.settle(delivery)
            return
        self._connection.kept.size -= DELIVERY
        try:
            if state == native.RELEASED:
                self._connection.hub.bus.release(self._path, token)
                native.update(delivery, native.RELEASED)
            elif state == native.ACCEPTED:
                self._complete(delivery, token)
            elif state == TRANSACTIONAL:
                self._settle_in_transaction(delivery, token)
            elif state:
                self._settle(native.whole(delivery), token)
        except Refusal as refusal:
            # Its frames would keep the delivery alive; until it is freed Proton answers no drain.
            refusal.__traceback__ = None
            reject(delivery, refusal)
        native.settle(delivery)
        self._connection.hub.changed()
        if was_full:
            self.on_flow()

    def on_closed(self, *, by_client: bool) -> None:
        """Clean up; the session is released if the client closed the link.

        Otherwise the session stays locked until its lock expires, and the client may reattach the
        link under the same name.
        """
        hub = self._connection.hub
        self._is_over = True
        self._connection.kept.size -= DELIVERY * len(self._given)
        self._given.clear()
        hub.leave(self)
        if self._session_id is None:
            return
        place = self._path, self._session_id
        if by_client and hub.bus.entity(self._path) is not None:
            command = CloseSession(queue=self._path, session_id=self._session_id)
            hub.bus.wait_for(command, self._holder)
            hub.changed()
        is_ours = self._connection.sessions.get(place) == self._holder
        if is_ours and (by_client or not hub.bus.holds(*place, self._holder)):
            # Another link of this client may hold the session by now.
            del self._connection.sessions[place]

    def _next(self, most: int) -> Sequence[Answer]:
        hub = self._connection.hub
        answers = hub.bus.given(self._receive, most, self._holder)
        hub.note()
        return answers

    def _give(self, view: MessageView) -> int:
        """Deliver a message; return its size."""
        token = view.lock_token
        tag = _tag(_token(token or f"{view.sequence_number or 0}/0"))
        message = outgoing(self._connection, self._path, view)
        delivery = native.send(self._raw, tag, message)
        self._connection.backlog.wrote(self._raw, self)
        if self._mode is ReceiveMode.RECEIVE_AND_DELETE:
            native.settle(delivery)
        elif token is not None:
            self._given[delivery] = token
            self._connection.kept.size += DELIVERY
        return len(message)

    def _complete(self, delivery: Raw, token: str) -> None:
        """Complete a message, the most frequent settlement."""
        command = Complete(queue=self._path, lock_token=token)
        answer = self._connection.hub.bus.ask(command, self._holder)
        insist(answer, self._path)
        native.update(delivery, native.ACCEPTED)

    def _settle(self, delivery: Delivery, token: str) -> None:
        disposition = disposed(delivery)
        settlement = disposition.settlement(self._path, token)
        effect = effect_of(self._connection, settlement, disposition)
        answer = self._connection.hub.bus.ask(settlement, self._holder)
        insist(answer, self._path)
        effect()
        # An echoed rejection has no error; with one, clients would take it for a failed settlement.
        if disposition.outcome == MODIFIED:
            delivery.local.failed = delivery.remote.failed
            delivery.local.undeliverable = delivery.remote.undeliverable
        delivery.update(delivery.remote_state)

    def _settle_in_transaction(self, delivery: Raw, token: str) -> None:
        """Settle with the transaction's end; until then the message stays locked."""
        disposition = in_transaction(native.whole(delivery))
        settlement = disposition.settlement(self._path, token)
        effect = effect_of(self._connection, settlement, disposition)
        transaction = transaction_of(delivery) or ""
        stage = self._connection.hub.stage
        answer = stage.settle(transaction, settlement, self._holder, effect)
        insist(answer, self._path)
        self._connection.hub.count_in(transaction, sum(map(len, disposition.more().values())))
        tell(delivery, TRANSACTIONAL, echoed(disposition))


def _token(token: str) -> bytes:
    number, _, delivery = token.partition("/")
    return TOKEN.pack(int(number), int(delivery))


def _tag(token: bytes) -> bytes:
    """Return the delivery tag: the lock token in the byte order of a .NET Guid."""
    return token[3::-1] + token[5:3:-1] + token[7:5:-1] + token[8:]
