"""Links that receive messages, the locks of these messages, and their settlement."""

from collections.abc import Sequence
from typing import Any, Final
from uuid import UUID

import attrs
from proton import UNDESCRIBED as PLAIN
from proton import Array, Condition, Data, Delivery, Link, symbol, uint

from busproof import vocabulary as v
from busproof.adapters.amqp.client import AmqpClient
from busproof.adapters.amqp.failing import Rejected
from busproof.adapters.amqp.transfers import Settled, has_arrived, is_closed, take_message

__all__ = [
    "Lock",
    "array",
    "find_session_link",
    "plain_link",
    "receive_message",
    "receive_messages",
    "session_link",
    "session_of",
    "settle_by_request",
    "settle_on_link",
    "settle_together",
    "several",
    "uuid_of",
]

SESSION: Final = symbol("com.microsoft:session-filter")
TIMEOUT: Final = symbol("com.microsoft:timeout")
FINAL: Final = frozenset(
    {
        "amqp:not-found",
        "amqp:resource-deleted",
        "com.microsoft:session-cannot-be-locked",
        "com.microsoft:session-lock-lost",
        "com.microsoft:store-lock-lost",
    }
)
"""Conditions that end a client's lock of a session."""
LOCK_LOST: Final = "com.microsoft:message-lock-lost"
DEAD: Final = "com.microsoft:dead-letter"


@attrs.frozen(kw_only=True)
class Lock:
    """The lock of a message, with the link and the delivery that it came from.

    `delivery` is `None` if the message came in a reply of the management node.
    """

    path: str
    client: AmqpClient
    link: Any = None
    delivery: Any = None
    session_id: str | None = None

    @property
    def on_link(self) -> bool:
        """Whether the message can still be settled on its link."""
        return self.delivery is not None and not is_closed(self.link)


def array(kind: int, elements: list[Any]) -> Array:
    """Return an array with elements of one type; Proton's type hints do not cover this call."""
    none: Any = PLAIN
    return Array(none, kind, *elements)


def several(value: Any) -> list[Any]:
    """Return the elements of a list or an array; none if the value is `None`."""
    return [] if value is None else list(value)


def uuid_of(token: str) -> UUID:
    """Return a lock token as a UUID; if it is not one, the nil UUID, which no lock has."""
    try:
        return UUID(token)
    except ValueError:
        return UUID(int=0)


def plain_link(client: AmqpClient, path: str, mode: v.ReceiveMode) -> Any:
    """Return a new attached link that receives from an entity.

    Raises:
        Rejected: the service refuses the link.
    """
    link = _receiver(client, path, mode)
    client.connection.attach(link, f"attaching a receiver to {path}")
    return link


def session_link(client: AmqpClient, path: str, session_id: str | None, wait: float) -> Any:
    """Return a new attached link to a named session, or to the next free one.

    Args:
        client: the client that accepts the session.
        path: path of the entity.
        session_id: the session; `None` for the next one.
        wait: maximum time for the service to wait for a free session, in seconds.

    Raises:
        Rejected: the service refuses the link.
    """
    link = _receiver(client, path, v.ReceiveMode.PEEK_LOCK)
    link.source.filter.put_dict({SESSION: session_id})
    if session_id is None:
        link.properties = {TIMEOUT: uint(int(wait * 1000))}
    connection = client.connection
    connection.attach(link, f"accepting a session of {path}", connection.timeout + wait)
    return link


def find_session_link(client: AmqpClient, path: str, session_id: str) -> Any | None:
    """Return the link to a session that the client holds, reattached if the service closed it.

    Raises:
        Rejected: the service refuses to attach it again.
    """
    # The service may have closed the link meanwhile.
    client.beat()
    link = client.held(path, session_id)
    if link is None or not is_closed(link):
        return link
    if link.state & Link.LOCAL_ACTIVE:
        link.close()
    # Handle the Detach first: Proton would attach before it, under a name that is still in use.
    client.beat()
    ended = link.remote_condition
    if ended is not None and ended.name in FINAL:
        client.drop(path, session_id)
        return None
    again = _receiver(client, path, v.ReceiveMode.PEEK_LOCK, link.name)
    again.source.filter.put_dict({SESSION: session_id})
    try:
        client.connection.attach(again, f"reattaching to session {session_id} of {path}")
    except Rejected as rejected:
        if rejected.condition not in FINAL:
            raise
        client.drop(path, session_id)
        return None
    client.keep(path, session_id, again)
    return again


def _receiver(client: AmqpClient, path: str, mode: v.ReceiveMode, name: str = "") -> Any:
    link = client.connection.receiver(name)
    link.source.address = path
    link.target.address = link.name
    at_once = mode is v.ReceiveMode.RECEIVE_AND_DELETE
    link.snd_settle_mode = Link.SND_SETTLED if at_once else Link.SND_UNSETTLED
    # With SECOND the service confirms each settlement, which some brokers do not support.
    first = at_once or client.is_plain
    link.rcv_settle_mode = Link.RCV_FIRST if first else Link.RCV_SECOND
    return link


def session_of(link: Any) -> str:
    """Return the id of the session that the service assigned to a link."""
    tree = link.remote_source.filter
    tree.rewind()
    filter_set: Any = tree.get_object() if tree.next() else {}
    return str(filter_set[SESSION])


def receive_message(client: AmqpClient, link: Any, wait: float) -> tuple[Any, bytes] | None:
    """Receive the next message; return its delivery and bytes, or `None` if there is none.

    The client gives credit for one message and then drains it. The service delivers an available
    message before it answers the drain, so an empty entity is noticed without a timeout.

    Args:
        client: the receiver.
        link: the receiving link.
        wait: maximum wait for a message before the drain, in seconds.

    Raises:
        Rejected: the service has closed the link.
    """
    connection, what = client.connection, "a receive"
    connection.check(link)
    credit = 1
    if wait:
        link.flow(credit)
        credit = 0
        connection.awaited(lambda: has_arrived(link), wait)
    if not has_arrived(link):
        link.drain(credit)
        connection.wait(lambda: has_arrived(link) or not (link.draining() or link.queued), what)
    if link.current is not None and link.current.readable:
        return take_message(link)
    connection.check(link)
    return None


def receive_messages(
    client: AmqpClient, link: Any, count: int, wait: float
) -> list[tuple[Any, bytes]]:
    """Receive the next messages up to a number; return the delivery and bytes of each.

    Args:
        client: the receiver.
        link: the receiving link.
        count: maximum number of messages.
        wait: maximum wait for the first message before the drain, in seconds.

    Raises:
        Rejected: the service has closed the link.
    """
    connection, what = client.connection, "a receive of several"
    connection.check(link)
    if wait:
        link.flow(count)
        connection.awaited(lambda: has_arrived(link), wait)
    link.drain(0 if wait else count)
    came: list[tuple[Any, bytes]] = []
    while True:
        connection.wait(lambda: has_arrived(link) or not (link.draining() or link.queued), what)
        if link.current is None or not link.current.readable:
            break
        came.append(take_message(link))
    if not came:
        connection.check(link)
    return came


def settle_on_link(lock: Lock, command: v.Settlement) -> bool:
    """Settle a message on the link that it was received on; return whether the link answered.

    A service ends a link without an answer, for example, if the entity was disabled meanwhile.

    Raises:
        Rejected: the service refuses the settlement.
    """
    delivery, connection = lock.delivery, lock.client.connection
    wanted = _delivery_state(delivery, command)
    delivery.update(wanted)
    what = f"{type(command).__name__} of {lock.path}"
    connection.wait(lambda: delivery.settled or is_closed(lock.link), what)
    outcome = Settled(delivery)
    if is_closed(lock.link) and not outcome.state:
        condition = lock.link.remote_condition
        if condition is None or condition.name in FINAL:
            connection.check(lock.link)
        return False
    delivery.settle()
    outcome.check()
    if outcome.state != wanted:
        raise Rejected("amqp:not-allowed", f"{what} was answered with {outcome.state!r}")
    return True


def _delivery_state(delivery: Any, command: v.Settlement) -> Any:
    """Return the delivery state for a settlement, and set its details on the delivery."""
    if isinstance(command, v.Complete):
        return Delivery.ACCEPTED
    if isinstance(command, v.DeadLetter):
        info: Any = {symbol("DeadLetterReason"): command.reason} if command.reason else None
        delivery.local.condition = Condition(DEAD, command.reason, info)
        return Delivery.REJECTED
    delivery.local.failed = True
    delivery.local.undeliverable = isinstance(command, v.Defer)
    return Delivery.MODIFIED


KINDS: Final[dict[v.Disposition, type[v.Settlement]]] = {
    v.Disposition.COMPLETE: v.Complete,
    v.Disposition.ABANDON: v.Abandon,
    v.Disposition.DEFER: v.Defer,
    v.Disposition.DEAD_LETTER: v.DeadLetter,
}
STATUSES: Final = {
    v.Complete: "completed",
    v.Abandon: "abandoned",
    # This spelling is the protocol's.
    v.Defer: "defered",
    v.DeadLetter: "suspended",
}


def settle_by_request(
    client: AmqpClient,
    path: str,
    command: v.Settlement,
    session_id: str | None,
    transaction: bytes | None = None,
) -> None:
    """Settle a message by a request to the management node, in a transaction if one is given.

    Raises:
        Rejected: the service refuses the settlement.
    """
    reason = command.reason if isinstance(command, v.DeadLetter) else ""
    _update_dispositions(
        *(client, path, type(command), (command.lock_token,), reason, session_id, transaction)
    )


def settle_together(
    client: AmqpClient, path: str, command: v.SettleBatch, session_id: str | None
) -> None:
    """Settle several messages by one request to the management node.

    Raises:
        Rejected: the service refuses the settlement.
    """
    kind = KINDS[command.disposition]
    tokens, reason = command.lock_tokens, command.reason
    _update_dispositions(client, path, kind, tokens, reason, session_id)


def _update_dispositions(
    client: AmqpClient,
    path: str,
    kind: type[v.Settlement],
    tokens: Sequence[str],
    reason: str,
    session_id: str | None,
    transaction: bytes | None = None,
) -> None:
    body: dict[str, Any] = {
        "disposition-status": STATUSES[kind],
        "lock-tokens": array(Data.UUID, list(map(uuid_of, tokens))),
    }
    if session_id is not None:
        body["session-id"] = session_id
    if reason and kind is v.DeadLetter:
        body["deadletter-reason"] = reason
    client.request(path, "update-disposition", body, transaction)
