"""Commands that receive, peek, settle and delete messages and renew their locks."""

import time
from typing import Any, Final
from uuid import UUID

import attrs
from proton import Data, Message, int32, timestamp, uint

from busproof import vocabulary as v
from busproof.adapters.amqp import links as r
from busproof.adapters.amqp.client import AmqpClient
from busproof.adapters.amqp.failing import Rejected, Silent
from busproof.adapters.amqp.links import several
from busproof.adapters.amqp.native import tag_of
from busproof.adapters.amqp.scenario import Scenario
from busproof.adapters.amqp.table import asks
from busproof.vocabulary import commands as c
from busproof.vocabulary import outcomes as o

__all__ = [
    "delete_batch",
    "make_renewal",
    "not_held",
    "peek",
    "receive",
    "receive_batch",
    "receive_deferred",
    "renew_lock",
    "renew_locks",
    "settle",
    "settle_batch",
]

MILLISECOND: Final = 1000
NO_CONTENT: Final = 204
AHEAD: Final = 60_000
"""How far this machine's clock may be behind the service's, in milliseconds."""


@asks(c.Receive)
def receive(scenario: Scenario, command: c.Receive, client: AmqpClient) -> o.Outcome:
    """Receive an available message, by a lock or for good."""
    path, session_id = scenario.path(command.queue), command.session_id
    link = _link(client, path, command)
    if link is None:
        return not_held(client, path, session_id or "")
    kind = command.mode if session_id is None else session_id
    try:
        came = r.receive_message(client, link, scenario.setting.receive_wait)
    except Silent:
        # On this link, a late message would be taken for the answer to the next receive.
        client.drop(path, kind)
        raise
    if came is None:
        return o.Empty()
    delivery, raw = came
    lock = r.Lock(path=path, client=client, link=link, delivery=delivery, session_id=session_id)
    return o.Received(message=_register(scenario, command.queue, command.mode, lock, raw))


def _link(client: AmqpClient, path: str, command: c.Receive | c.ReceiveBatch) -> Any | None:
    """Return the link to receive on; `None` if it would be to a session that is not held."""
    if command.session_id is not None:
        return r.find_session_link(client, path, command.session_id)
    return client.receiver(path, command.mode, lambda: r.plain_link(client, path, command.mode))


@asks(c.ReceiveBatch)
def receive_batch(scenario: Scenario, command: c.ReceiveBatch, client: AmqpClient) -> o.Outcome:
    """Receive available messages up to a number, by locks or for good."""
    path, session_id = scenario.path(command.queue), command.session_id
    link = _link(client, path, command)
    if link is None:
        return not_held(client, path, session_id or "")
    kind = command.mode if session_id is None else session_id
    try:
        came = r.receive_messages(client, link, command.count, scenario.setting.receive_wait)
    except Silent:
        # As above, a late message must not be taken for the answer to the next receive.
        client.drop(path, kind)
        raise
    views = []
    for delivery, raw in came:
        lock = r.Lock(path=path, client=client, link=link, delivery=delivery, session_id=session_id)
        views.append(_register(scenario, command.queue, command.mode, lock, raw))
    return o.ReceivedSeveral(messages=tuple(views)) if views else o.Empty()


def _register(
    scenario: Scenario, queue: str, mode: v.ReceiveMode, lock: r.Lock, raw: bytes
) -> v.MessageView:
    """Return a received message, and register its lock, if it has one."""
    token = None if lock.delivery.settled else _token(lock.delivery, raw)
    view = scenario.seen(raw, token)
    if token is not None and mode is v.ReceiveMode.RECEIVE_AND_DELETE:
        # A session's link was attached before the receive mode was known, so it always locks.
        if not r.settle_on_link(lock, c.Complete(queue=queue, lock_token=token)):
            lock.client.connection.check(lock.link)
        return attrs.evolve(view, lock_token=None, locked_until=None, delivery_count=None)
    if token is not None:
        scenario.locks[token] = lock
    return view


def not_held(client: AmqpClient, path: str, session_id: str) -> o.Outcome:
    """Return the refusal of a request in a session that the connection does not hold.

    The session is accepted first, because a refusal by the service has precedence over this one.

    Raises:
        Rejected: the service refuses to accept the session.
    """
    client.prove(path)
    link = r.session_link(client, path, session_id, 0.0)
    client.connection.close_link(link)
    return o.Refused(
        error=v.Error.SESSION_LOCK_LOST, detail="this connection does not hold the session"
    )


@asks(c.Abandon, c.Complete, c.DeadLetter, c.Defer)
def settle(scenario: Scenario, command: c.Settlement, client: AmqpClient) -> o.Outcome:
    """Settle a message on its link, or by a request if that is impossible.

    Raises:
        Silent: the link ended without an answer, and the lock is lost, perhaps by this settlement.
    """
    if command.transaction is not None:
        return _settle_in_transaction(scenario, command, command.transaction, client)
    path, lock = scenario.path(command.queue), scenario.locks.pop(command.lock_token, None)
    here = lock is not None and lock.path == path and lock.client is client
    is_tried = lock is not None and here and lock.on_link and not client.connection.is_lost
    if lock is not None and is_tried and r.settle_on_link(lock, command):
        return o.Done()
    try:
        r.settle_by_request(client, path, command, None if lock is None else lock.session_id)
    except Rejected as rejected:
        if is_tried and rejected.condition == r.LOCK_LOST:
            raise Silent(f"{path} ended a link while a message was settled") from None
        raise
    return o.Done()


@asks(c.SettleBatch)
def settle_batch(scenario: Scenario, command: c.SettleBatch, client: AmqpClient) -> o.Outcome:
    """Settle several messages by one request; their links are not informed."""
    path = scenario.path(command.queue)
    sessions = {
        lock.session_id
        for token in command.lock_tokens
        if (lock := scenario.locks.get(token)) is not None
    }
    session_id = sessions.pop() if len(sessions) == 1 else None
    r.settle_together(client, path, command, session_id)
    for token in command.lock_tokens:
        scenario.locks.pop(token, None)
    return o.Done()


def _settle_in_transaction(
    scenario: Scenario, command: c.Settlement, transaction: str, client: AmqpClient
) -> o.Outcome:
    """Settle a message in a transaction by a request; keep its lock, which may be needed again."""
    asker, identity = scenario.part_of(transaction, client)
    lock = scenario.locks.get(command.lock_token)
    session_id = None if lock is None else lock.session_id
    path = scenario.path(command.queue)
    r.settle_by_request(asker, path, command, session_id, identity)
    return o.Done()


@asks(c.ReceiveDeferred)
def receive_deferred(
    scenario: Scenario, command: c.ReceiveDeferred, client: AmqpClient
) -> o.Outcome:
    """Receive deferred messages by their sequence numbers."""
    path = scenario.path(command.queue)
    locked = command.mode is v.ReceiveMode.PEEK_LOCK
    body: dict[str, Any] = {
        "sequence-numbers": r.array(Data.LONG, list(command.sequence_numbers)),
        "receiver-settle-mode": uint(1 if locked else 0),
    }
    if command.session_id is not None:
        body["session-id"] = command.session_id
    _, answer = client.request(path, "receive-by-sequence-number", body)
    views = []
    for entry in several(answer.get("messages")):
        token = str(entry["lock-token"]) if locked else None
        views.append(scenario.seen(bytes(entry["message"]), token))
        if token is not None:
            lock = r.Lock(path=path, client=client, session_id=command.session_id)
            scenario.locks[token] = lock
    return o.ReceivedSeveral(messages=tuple(views))


@asks(c.RenewLock)
def renew_lock(scenario: Scenario, command: c.RenewLock, client: AmqpClient) -> o.Outcome:
    """Renew the lock of a message."""
    return make_renewal(scenario, _renew(scenario, command.queue, (command.lock_token,), client))


@asks(c.RenewLocks)
def renew_locks(scenario: Scenario, command: c.RenewLocks, client: AmqpClient) -> o.Outcome:
    """Renew the locks of several messages with one request."""
    until = _renew(scenario, command.queue, command.lock_tokens, client)
    if not scenario.setting.tells_time:
        return o.RenewedSeveral()
    return o.RenewedSeveral(locked_until=tuple(_moment(scenario, moment) for moment in until))


def _renew(
    scenario: Scenario, queue: str, tokens: tuple[str, ...], client: AmqpClient
) -> list[Any]:
    body = {"lock-tokens": r.array(Data.UUID, list(map(r.uuid_of, tokens)))}
    _, answer = client.request(scenario.path(queue), "renew-lock", body)
    return several(answer.get("expirations"))


def make_renewal(scenario: Scenario, until: list[Any]) -> o.Outcome:
    """Return the outcome of a renewal; `until` has the ends of locks in milliseconds since 1970."""
    if not until or not scenario.setting.tells_time:
        return o.Renewed()
    return o.Renewed(locked_until=_moment(scenario, until[0]))


@asks(c.DeleteBatch)
def delete_batch(scenario: Scenario, command: c.DeleteBatch, client: AmqpClient) -> o.Outcome:
    """Delete several messages by one request; without an age, all that are enqueued by now."""
    now = int(time.time() * 1000)
    old = now + AHEAD if command.age is None else now - command.age // MILLISECOND - 1
    body = {"message-count": int32(command.count), "enqueued-time-utc": timestamp(old)}
    status, answer = client.request(scenario.path(command.queue), "batch-delete-messages", body)
    return o.Deleted(count=0 if status == NO_CONTENT else int(answer["message-count"]))


def _moment(scenario: Scenario, milliseconds: Any) -> int:
    """Return a time of the service on the recording's clock, in microseconds."""
    return int(milliseconds) * MILLISECOND - scenario.setting.epoch


@asks(c.Peek)
def peek(scenario: Scenario, command: c.Peek, client: AmqpClient) -> o.Outcome:
    """Peek messages."""
    # Sequence numbers start at 1, so 0 stands for a peek without one.
    first = command.from_sequence_number
    body: dict[str, Any] = {
        "from-sequence-number": 0 if first is None else max(1, first),
        "message-count": int32(command.count),
    }
    if command.session_id is not None:
        body["session-id"] = command.session_id
    status, answer = client.request(scenario.path(command.queue), "peek-message", body)
    if status == NO_CONTENT or not answer:
        return o.Peeked()
    raws = [bytes(entry["message"]) for entry in several(answer.get("messages"))]
    return o.Peeked(messages=tuple(scenario.seen(raw) for raw in raws))


def _token(delivery: Any, raw: bytes) -> str:
    """Return a message's lock token, from an annotation of the service or the delivery's tag."""
    came = Message()
    came.decode(raw)
    notes = {str(name): value for name, value in (came.instructions or {}).items()}
    noted = notes.get("x-opt-lock-token")
    return str(noted) if isinstance(noted, UUID) else str(UUID(bytes_le=tag_of(delivery)))
