"""Links over which clients receive: credit becomes receives, dispositions settlements."""

from typing import Any, Final
from uuid import UUID

from proton import Delivery, Link

from busproof.broker.bus import Answer
from busproof.broker.engine import Connection, Node, condition
from busproof.broker.intake import TRANSACTIONAL
from busproof.broker.messages import encoded
from busproof.broker.refusals import Refusal, refusal_of
from busproof.model.commands import Abandon, CloseSession, Complete, DeadLetter, Defer, Receive
from busproof.model.dead_letters import SUFFIX, is_dead_letter_queue
from busproof.model.outcomes import Received
from busproof.model.values import MessageView, ReceiveMode

__all__ = ["Outlet", "outgoing", "token_of", "wire_token"]

Settlement = Complete | Abandon | DeadLetter | Defer

REASON: Final = "DeadLetterReason"
DESCRIPTION: Final = "DeadLetterErrorDescription"


def wire_token(token: str) -> UUID:
    """A lock token of the model as clients know it: the sequence number, and which delivery."""
    number, _, delivery = token.partition("/")
    return UUID(int=(int(number) << 64) | int(delivery))


def token_of(token: UUID) -> str:
    """The model's lock token that a client names."""
    return f"{token.int >> 64}/{token.int & (2**64 - 1)}"


def outgoing(connection: Connection, path: str, view: MessageView) -> bytes:
    """A message as it goes to a client."""
    hub = connection.hub
    death: dict[str, str] = {}
    if is_dead_letter_queue(path):
        if view.dead_letter_reason:
            death[REASON] = view.dead_letter_reason
        description = hub.contents.description(path, view.body)
        if description is not None:
            death[DESCRIPTION] = description
    return encoded(
        view,
        hub.contents[view.body],
        token=None if view.lock_token is None else wire_token(view.lock_token),
        locked_until=None if view.locked_until is None else hub.bus.epoch_ms(view.locked_until),
        death=death,
    )


class Outlet(Node):
    """A link over which a client receives from an entity, or from one session of it.

    Args:
        connection: the client's.
        link: the link.
        path: of the entity.
        mode: whether messages are locked, or removed at once.
        session_id: of the session that the link holds.
        holder: under which name the model knows who receives.
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
        self._path = path
        self._mode = mode
        self._session_id = session_id
        self._holder = holder

    @property
    def place(self) -> tuple[str, str | None]:
        """What it waits for."""
        return self._path, self._session_id

    def on_flow(self) -> None:
        """Give what there is, and wait for the rest."""
        if self.serve():
            self._connection.hub.wait(self)
        else:
            self._connection.hub.leave(self)

    def serve(self) -> bool:
        """Give messages while there are some and the client has credit for them."""
        link, waits = self._link, False
        given = False
        while link.credit > 0 and not self._connection.paused:
            answer = self._next()
            if answer is None:
                waits = True
                break
            if (refusal := refusal_of(answer, self._path)) is not None:
                self._connection.detach(link, refusal)
                self._connection.pump()
                return False
            if isinstance(answer.outcome, Received):
                self._give(answer.outcome.message)
                given = True
        if link.drain_mode:
            link.drained()
            waits = False
        if given:
            self._connection.hub.changed()
        self._connection.pump()
        return waits

    def on_delivery(self, delivery: Delivery, *, batch: bool) -> None:  # noqa: ARG002
        """The client has settled a message, or said how it wants it settled."""
        token = getattr(delivery, "token", None)
        if token is None:
            if delivery.settled:
                delivery.settle()
            return
        state = delivery.remote_state
        if not state and not delivery.settled:
            return
        delivery.token = None
        if state == Delivery.RELEASED:
            self._connection.hub.bus.release(self._path, token)
            delivery.update(Delivery.RELEASED)
        elif state == TRANSACTIONAL:
            self._say(delivery, _not_in_transactions())
        elif state:
            self._settle(delivery, token)
        delivery.settle()
        self._connection.hub.changed()

    def on_closed(self, *, lost: bool) -> None:
        """The link is gone; a session is given back, unless the connection broke."""
        hub = self._connection.hub
        hub.leave(self)
        if self._session_id is None:
            return
        self._connection.sessions.pop((self._path, self._session_id), None)
        if not lost and hub.bus.entity(self._path) is not None:
            command = CloseSession(queue=self._path, session_id=self._session_id)
            hub.bus.ask(command, self._holder)
            hub.changed()

    def _next(self) -> Answer | None:
        command = Receive(queue=self._path, mode=self._mode, session_id=self._session_id)
        return self._connection.hub.bus.wait_for(command, self._holder)

    def _give(self, view: MessageView) -> None:
        tag: Any = wire_token(view.lock_token).bytes_le if view.lock_token else _tag(view)
        delivery = self._link.delivery(tag)
        self._link.stream(outgoing(self._connection, self._path, view))
        self._link.advance()
        if self._mode is ReceiveMode.RECEIVE_AND_DELETE:
            delivery.settle()
        else:
            delivery.token = view.lock_token

    def _settle(self, delivery: Delivery, token: str) -> None:
        settlement = self._settlement(delivery, token)
        answer = self._connection.hub.bus.ask(settlement, self._holder)
        refusal = refusal_of(answer, self._path)
        if refusal is None and isinstance(settlement, DeadLetter):
            self._remember(delivery)
        self._say(delivery, refusal)

    def _say(self, delivery: Delivery, refusal: Refusal | None) -> None:
        """Echo the settlement, or say why it was refused; a rejection alone has no error."""
        if refusal is not None:
            delivery.local.condition = condition(refusal.condition, refusal.description)
            delivery.update(Delivery.REJECTED)
            return
        state = delivery.remote_state
        if state == Delivery.MODIFIED:
            delivery.local.failed = delivery.remote.failed
            delivery.local.undeliverable = delivery.remote.undeliverable
        delivery.update(state)

    def _settlement(self, delivery: Delivery, token: str) -> Settlement:
        state, queue = delivery.remote_state, self._path
        if state == Delivery.ACCEPTED:
            return Complete(queue=queue, lock_token=token)
        if state == Delivery.REJECTED:
            said = _told(delivery)
            return DeadLetter(queue=queue, lock_token=token, reason=said.get(REASON, ""))
        if state == Delivery.MODIFIED and delivery.remote.undeliverable:
            return Defer(queue=queue, lock_token=token)
        return Abandon(queue=queue, lock_token=token)

    def _remember(self, delivery: Delivery) -> None:
        """Keep the description that came with a dead-lettering; the model knows the reason only."""
        description = _told(delivery).get(DESCRIPTION)
        if not description:
            return
        dead = self._path + SUFFIX
        queue = self._connection.hub.bus.namespace.queues.get(dead)
        if queue is not None:
            newest = queue.messages[queue.arrivals - 1]
            self._connection.hub.contents.describe_death(dead, newest.message.body, description)


def _told(delivery: Delivery) -> dict[str, str]:
    """What a rejection says of why: its map's entries, whatever kind of text their keys are."""
    said = delivery.remote.condition
    details: Any = None if said is None else said.info
    if not isinstance(details, dict):
        return {}
    return {str(key): str(value) for key, value in details.items() if value is not None}


def _not_in_transactions() -> Refusal:
    return Refusal("amqp:not-implemented", "Settling in a transaction is not served here.", 501)


def _tag(view: MessageView) -> bytes:
    return UUID(int=(view.sequence_number or 0) << 64).bytes_le
