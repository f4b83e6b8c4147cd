"""Links for delivery to clients: credit becomes receives, dispositions become settlements."""

from collections.abc import Callable, Sequence
from typing import Final

from proton import Delivery, Link

from busproof import vocabulary as v
from busproof.broker.amqp import native
from busproof.broker.amqp.dispositions import (
    MODIFIED,
    REASON,
    Disposition,
    echo_outcome,
    read_disposition,
    read_transactional,
    tag_of,
    token_in_bytes,
)
from busproof.broker.amqp.drains import Drain
from busproof.broker.amqp.encoding import string_of
from busproof.broker.amqp.engine import Connection
from busproof.broker.amqp.incoming_links import TRANSACTIONAL, refuse, tell, transaction_of
from busproof.broker.amqp.kept import DELIVERY
from busproof.broker.amqp.native import Raw
from busproof.broker.amqp.nodes import Node
from busproof.broker.amqp.refusals import Refusal, insist, refusal_of, too_much_added
from busproof.broker.amqp.writing import encode_message
from busproof.broker.core import Hub
from busproof.model import Answer
from busproof.model.state import Entity

__all__ = ["Outlet", "effect_of", "outgoing"]

Encoded = tuple[v.MessageView, bytes, bytes | None]
"""A message's view, its encoded bytes and its lock token."""

GIVEN_AT_ONCE: Final = 50
"""Number of messages to fetch from the bus at a time."""

SETTLED_AT_ONCE: Final = 50
"""Number of messages to complete together if a client accepts them in a row."""

WRITTEN_AT_ONCE: Final = 65_536
"""Number of bytes to deliver between writes, which show whether the client reads them."""

GIVEN_IN_A_TURN: Final = 500
"""Number of messages to deliver on a link before other clients have a turn."""

SHORT_REASON: Final = 256
"""Characters of a dead-letter reason that is not counted."""
MOST_ADDED: Final = 65_536
"""Maximum size of the properties added by settlements; deferring could add some for ever."""


def outgoing(hub: Hub, path: str, view: v.MessageView) -> tuple[bytes, bytes | None]:
    """Encode a message for delivery; return it with its lock token, if it is locked."""
    token = None if view.lock_token is None else token_in_bytes(view.lock_token)
    content = hub.read_content(view)
    more = hub.contents.more(path, view.body, view.dead_letter_reason)
    if view.dead_letter_reason:
        more = {REASON: string_of(view.dead_letter_reason), **more}
    message = encode_message(
        view,
        content,
        token=token,
        locked_until=None if view.locked_until is None else hub.bus.epoch_ms(view.locked_until),
        life=_shorter(content.life, hub.bus.namespace.entities.get(path)),
        more=more,
    )
    return message, token


def _shorter(life: int | None, entity: Entity | None) -> int | None:
    """Return the shorter of a message's and its entity's time to live, in microseconds."""
    longest = None if entity is None else entity.settings.time_to_live
    if life is None or longest is None:
        return longest if life is None else life
    return min(life, longest)


def effect_of(
    connection: Connection, settlement: v.Settlement, disposition: Disposition
) -> Callable[[], None]:
    """Return a function that stores a settlement's properties, to call once it has succeeded.

    Raises:
        Refusal: the message, or all messages together, would have too many added properties.
    """
    contents, path = connection.hub.contents, settlement.queue
    name, more = connection.hub.bus.find_locked(path, settlement.lock_token), disposition.more()
    target = path
    if isinstance(settlement, v.DeadLetter):
        target += v.DEAD_LETTERS
        # The model keeps the reason, too; a long one is counted among what is added.
        if settlement.reason and (more or len(settlement.reason) > SHORT_REASON):
            more[REASON] = string_of(settlement.reason)
    if name is not None and more:
        every = {**contents.more(target, name), **more}
        size = sum(len(key) + len(value) for key, value in every.items())
        if size > MOST_ADDED:
            raise too_much_added(size, MOST_ADDED)
        connection.hub.check_added(size)

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
        session_id: the id of the session that the link holds, if any.
        holder: the model's name for the receiver.
    """

    def __init__(
        self,
        connection: Connection,
        link: Link,
        path: str,
        mode: v.ReceiveMode,
        session_id: str | None,
        holder: str,
    ) -> None:
        self._connection = connection
        self._link = link
        self._raw = native.raw(link)
        self._path = path
        self.needs = ("Listen", path)
        self._given: dict[Raw, str] = {}
        """Lock tokens of the unsettled deliveries."""
        self._mode = mode
        self._receive = v.Receive(queue=path, mode=mode, session_id=session_id)
        self._session_id = session_id
        self._holder = holder
        self._was_full = False
        self._drain = Drain(connection, link)
        self._waits_for_turn = False
        """Whether others have their turns before this link delivers more."""
        self._accepted: list[tuple[Raw, str]] = []
        """Deliveries that the client has accepted, with their lock tokens, until `finish`."""
        self._most = connection.hub.limits.unsettled

    @property
    def place(self) -> tuple[str, str | None]:
        """The entity whose messages the link waits for, and the session id if there is one."""
        return self._path, self._session_id

    @property
    def _room(self) -> int:
        """Number of messages that may be delivered before the client has to read or settle some."""
        connection = self._connection
        if self.is_over or connection.paused or connection.backlog.is_shut(self._raw):
            return 0
        return self._most - len(self._given)

    def on_credit(self) -> None:
        """Deliver messages; a client that drains is answered afterwards."""
        self._drain.look()
        self.on_flow()

    def on_flow(self) -> None:
        """Deliver available messages and wait for more."""
        # The engine raises events while messages are written, which must not begin further turns.
        if self._waits_for_turn:
            return
        if self.serve():
            self._connection.hub.wait(self)
        else:
            self._connection.hub.leave(self)

    def serve(self) -> bool:
        """Deliver available messages while credit lasts; return whether to wait for more."""
        link, hub, waits, delivered = self._link, self._connection.hub, False, 0
        while (most := min(native.credit(self._raw), self._room)) > 0:
            messages, refusal, waits = self._next(min(most, GIVEN_AT_ONCE))
            hub.note()
            for view, message, token in messages:
                self._give(view, message, token)
            self._connection.backlog.wrote(self._raw, self)
            delivered += len(messages)
            if refusal is not None:
                self._connection.detach(link, refusal)
                self._connection.pump()
                return False
            if waits:
                break
            self._connection.flush()
            if delivered >= GIVEN_IN_A_TURN:
                # Other clients have a turn before a client with much credit gets more.
                self._waits_for_turn = True
                hub.rota.add(self._go_on)
                hub.schedule_serving()
                self._connection.pump()
                return False
        if self._drain.is_asked:
            self._drain.answer()
            waits = False
        if delivered:
            hub.schedule_serving()
        self._connection.pump()
        return waits and not self.is_over

    def _go_on(self) -> None:
        self._waits_for_turn = False
        if not self.is_over:
            with self._connection.hub.bus.one_moment():
                self.on_flow()

    def on_delivery(self, delivery: Raw, *, batch: bool) -> None:  # noqa: ARG002 - a disposition is never a batch
        """Settle a message as the client requests, or collect it for `finish`."""
        state, settled = native.state_of(delivery), native.is_settled(delivery)
        self._was_full = self._was_full or len(self._given) >= self._most
        token = self._given.pop(delivery, None) if state or settled else None
        if token is not None:
            self._connection.kept.size -= DELIVERY
        if token is not None and state == native.ACCEPTED:
            self._accepted.append((delivery, token))
            if len(self._accepted) >= SETTLED_AT_ONCE:
                self.finish()
            return
        # A settled delivery is freed, which could be among the collected ones.
        self.finish()
        if token is not None:
            self._settle(delivery, token, state)
        elif settled:
            native.settle(delivery)

    def finish(self) -> None:
        """Complete the messages that the client has accepted."""
        if not self._accepted:
            return
        accepted, self._accepted = self._accepted, []
        for delivery in self._complete_all(accepted):
            native.update(delivery, native.ACCEPTED)
            native.settle(delivery)
        self._continue()

    def _complete_all(self, accepted: list[tuple[Raw, str]]) -> list[Raw]:
        """Complete messages; reject the settlements that the bus refuses, and return the others."""
        bus, completed = self._connection.hub.bus, list[Raw]()
        for delivery, token in accepted:
            try:
                self._meet("settle")
                command = v.Complete(queue=self._path, lock_token=token)
                insist(bus.ask(command, self._holder), self._path)
                completed.append(delivery)
            except Refusal as refusal:
                refuse(delivery, refusal)
        return completed

    def _settle(self, delivery: Raw, token: str, state: int) -> None:
        """Release a message, or settle it by another outcome than acceptance."""
        try:
            if state == native.RELEASED:
                # A closing Python receiver releases messages that its application never saw, so the
                # release must not count as a delivery.
                self._connection.hub.bus.release(self._path, token)
                native.update(delivery, native.RELEASED)
            elif state == TRANSACTIONAL:
                self._settle_in_transaction(delivery, token)
            elif state:
                self._settle_as(native.whole(delivery), token)
        except Refusal as refusal:
            refuse(delivery, refusal)
        else:
            native.settle(delivery)
        self._continue()

    def _continue(self) -> None:
        """Continue after a settlement, which leaves the client room for further messages."""
        self._connection.hub.schedule_serving()
        was_full, self._was_full = self._was_full, False
        # The client may have given its credit, once, while the link had no room.
        if was_full:
            self.on_flow()

    def on_closed(self, *, by_client: bool) -> None:
        """Clean up; release the session if the client closed the link.

        Otherwise the session stays locked until its lock expires, and the client may reattach the
        link under the same name.
        """
        hub = self._connection.hub
        self.is_over = True
        hub.rota.remove(self._go_on)
        self._connection.kept.size -= DELIVERY * len(self._given)
        self._given.clear()
        hub.leave(self)
        if self._session_id is None:
            return
        place = self._path, self._session_id
        if by_client and hub.bus.entity(self._path) is not None:
            command = v.CloseSession(queue=self._path, session_id=self._session_id)
            hub.bus.wait_for(command, self._holder)
            hub.schedule_serving()
        is_ours = self._connection.sessions.get(place) == self._holder
        if is_ours and (by_client or not hub.bus.holds(*place, self._holder)):
            # By now, another link of this client may hold the session.
            del self._connection.sessions[place]

    def _next(self, most: int) -> tuple[list[Encoded], Refusal | None, bool]:
        """Fetch and encode messages, up to `most` and about as many bytes as fit into a write.

        Returns:
            the messages, the refusal that followed them, if any, and whether none are left for now.
        """
        hub = self._connection.hub
        bus, contents = hub.bus, hub.contents
        views, size, refusal = list[v.MessageView](), 0, None
        answers: Sequence[Answer] = ()
        while len(views) < most and size < WRITTEN_AT_ONCE and refusal is None:
            answers = bus.receive_messages(self._receive, most - len(views), self._holder)
            for answer in answers:
                if isinstance(answer.outcome, v.Received):
                    views.append(answer.outcome.message)
                    size += contents.size(answer.outcome.message.body)
                else:
                    refusal = refusal_of(answer, self._path)
            # Most receivers wait for the next message; whether it is there is known without asking.
            if not answers or (views and hub.is_exhausted(self._path, self._session_id)):
                answers = ()
                break
        messages = [(view, *outgoing(hub, self._path, view)) for view in views]
        return messages, refusal, not answers

    def _give(self, view: v.MessageView, message: bytes, token: bytes | None) -> None:
        """Send a message to the client."""
        self._meet("deliver")
        # AMQP requires a tag for each delivery of a link, even for one without a lock.
        tag = tag_of(token or token_in_bytes(f"{view.sequence_number or 0}/0"))
        delivery = native.send(self._raw, tag, message)
        self._drain.count += 1
        if self._mode is v.ReceiveMode.RECEIVE_AND_DELETE:
            native.settle(delivery)
        elif view.lock_token is not None:
            self._given[delivery] = view.lock_token
            self._connection.kept.size += DELIVERY

    def _meet(self, operation: str) -> None:
        """Meet a fault that waits for this operation.

        Raises:
            Refusal: the fault is a refusal.
        """
        connection = self._connection
        connection.hub.disturbances.meet(operation, self._path, connection, self._link)

    def _settle_as(self, delivery: Delivery, token: str) -> None:
        """Settle a message by the outcome that the client sent."""
        disposition = read_disposition(delivery)
        settlement = disposition.settlement(self._path, token)
        effect = effect_of(self._connection, settlement, disposition)
        self._meet("settle")
        answer = self._connection.hub.bus.ask(settlement, self._holder)
        insist(answer, self._path)
        effect()
        # A rejection is echoed without its error, which clients would take for a failed settlement.
        if disposition.outcome == MODIFIED:
            delivery.local.failed = delivery.remote.failed
            delivery.local.undeliverable = delivery.remote.undeliverable
        delivery.update(delivery.remote_state)

    def _settle_in_transaction(self, delivery: Raw, token: str) -> None:
        """Add a settlement to a transaction, at whose end the message is settled."""
        disposition = read_transactional(native.whole(delivery))
        settlement = disposition.settlement(self._path, token)
        effect = effect_of(self._connection, settlement, disposition)
        transaction = transaction_of(delivery) or ""
        stage = self._connection.hub.stage
        answer = stage.settle(transaction, settlement, self._holder, effect)
        insist(answer, self._path)
        self._connection.hub.count_in(transaction, sum(map(len, disposition.more().values())))
        tell(delivery, TRANSACTIONAL, echo_outcome(disposition))
