"""LIFE, SEQ: a message is enqueued, given to a receiver, and removed.

An enqueued message is the last one of its partition and of its session, and gets the partition's
next sequence number. A receive asks all partitions that are up. It returns a message that is
neither locked nor deferred, and locks or removes it. The messages of one key stay in order; beyond
that, no order is guaranteed.
"""

from collections.abc import Callable, Iterator
from typing import Final

import attrs

from busproof import vocabulary as v
from busproof.model.answers import DONE, EMPTY, Answer, view_of
from busproof.model.life_cycle import LIFE_CYCLE, Action
from busproof.model.state import Entity, Namespace, Partition, QueuedMessage, Session
from busproof.model.values import DIRECT, InTransit, Key, Refusal

__all__ = ["Messages"]

RULES_OF_KEYS: Final[dict[str | None, tuple[v.RuleId, ...]]] = {
    None: ("KEY-14",),
    "SessionId": ("KEY-04",),
    "PartitionKey": ("KEY-07",),
    "MessageId": ("KEY-10",),
}
"""Property that is the key, to the rule by which it selects the partition."""


def send(namespace: Namespace, command: v.Send, connection: str) -> Answer:
    """KEY-01, LIFE-01: accept a message, now or with the commit of its transaction."""
    rules, message = namespace.rules, command.message
    entity = rules.topics.sendable(namespace, command.queue)
    if command.transaction is not None:
        return rules.transactions.send(namespace, entity, (message,), command.transaction)
    rules.limits.check_message(namespace, message)
    key = rules.messages.key_of(namespace, entity, message)
    partition = rules.keys.place(namespace, entity, key, message.size or 0, command.timeout)
    rules.messages.accept(namespace, entity, message, key, partition, DIRECT)
    return Answer(DONE, partition, RULES_OF_KEYS[key and key.source])


def key_of(namespace: Namespace, entity: Entity, message: v.Message) -> Key | None:
    """SESS-01, KEY-08, DUP-12: check that a message may be sent, and return its key."""
    if message.session_id is None:
        if entity.settings.requires_session:
            raise Refusal(v.Error.INVALID_OPERATION, "SESS-01")
    elif message.partition_key is not None:
        namespace.rules.keys.check_agreement(namespace, entity, message)
    return namespace.rules.keys.effective_key(namespace, entity, message)


def accept(
    namespace: Namespace,
    entity: Entity,
    message: v.Message,
    key: Key | None,
    partition: int,
    transit: InTransit,
) -> None:
    """DUP-04, FWD-04, TOPIC-01: accept a message; unless it is a copy, pass it on to its place."""
    rules = namespace.rules
    detects = entity.settings.duplicate_detection
    if not (detects and rules.duplicates.is_duplicate(namespace, entity, message, key)):
        rules.messages.arrive(namespace, entity, message, partition, transit)


def arrive(
    namespace: Namespace, entity: Entity, message: v.Message, partition: int, transit: InTransit
) -> None:
    """FWD-04, FWD-15, TOPIC-01: forward, distribute or enqueue a message at an entity."""
    rules = namespace.rules
    if entity.subscriptions is not None:
        rules.topics.distribute(namespace, entity, message, partition, transit)
    elif entity.settings.forward_to is not None:
        rules.forwarding.forward(namespace, entity, message, partition, transit)
    elif entity.settings.requires_session and message.session_id is None:
        rules.forwarding.reject_sessionless(namespace, entity, message, partition, transit)
    else:
        rules.messages.enqueue(namespace, entity, message, partition, transit)


def enqueue(
    namespace: Namespace, entity: Entity, message: v.Message, partition: int, transit: InTransit
) -> QueuedMessage:
    """LIFE-01, KEY-06: add a message after all others of its partition and its session."""
    rules, journal, counters = namespace.rules, namespace.journal, entity.partitions[partition]
    journal.touch(counters)
    namespace.arrivals += 1
    number = rules.messages.next_number(counters)
    session = None
    if entity.settings.requires_session and message.session_id is not None:
        session = rules.sessions.known(namespace, entity, message.session_id, partition)
    expires_at = rules.expiry.expires_at(namespace, entity, message, transit)
    arrival, now = namespace.arrivals, namespace.now
    queued = QueuedMessage(
        entity, number, partition, message, arrival, now, session, expires_at, transit.reason
    )
    queued.failed = transit.failed
    journal.put(entity.messages, number, queued)
    counters.messages += 1
    if message.size:
        rules.sizes.charge(namespace, entity, partition, message.size)
    counters.line.append(queued, available=session is None)
    if expires_at is not None:
        entity.look_at("expiry.end", expires_at, queued, number)
    if session is not None:
        journal.touch(session)
        session.messages += 1
        session.line.append(queued)
        entity.free_sessions[session] = None
    return queued


def next_number(counters: Partition) -> int:
    """SEQ-01, SEQ-03, LIFE-12: return the next number; its top 16 bits are the partition."""
    counters.arrivals += 1
    return (counters.number << v.SEQUENCE_BITS) + counters.arrivals


def remove(namespace: Namespace, queued: QueuedMessage) -> None:
    """LIFE-03: remove a message from its entity."""
    entity, journal = queued.entity, namespace.journal
    counters, session = entity.partitions[queued.partition], queued.session
    journal.drop(entity.messages, queued.number)
    journal.touch(counters)
    counters.messages -= 1
    counters.line.left(entity.messages)
    if queued.message.size:
        namespace.rules.sizes.charge(namespace, entity, queued.partition, -queued.message.size)
    if queued.expires_at is not None:
        namespace.timers.stale += 1
    if session is not None:
        journal.touch(session)
        session.messages -= 1
        session.locked.pop(queued.number, None)
        session.line.left(entity.messages)
        namespace.rules.sessions.let_go(namespace, session)


def consume(namespace: Namespace, queued: QueuedMessage, action: Action) -> None:
    """LIFE-03, TTL-01: remove a message without a settlement."""
    namespace.journal.touch(queued)
    queued.state = LIFE_CYCLE[queued.state, action]
    namespace.rules.messages.remove(namespace, queued)


def receive(namespace: Namespace, command: v.Receive, connection: str) -> Answer:
    """LIFE-01, LIFE-09: give an available message, if there is one."""
    rules = namespace.rules
    entity = rules.topics.receivable(namespace, command.queue)
    session = rules.sessions.of_receive(namespace, entity, command.session_id, connection)
    view = rules.messages.give_next(namespace, entity, session, command.mode, connection)
    if view is None:
        return Answer(EMPTY, rules=("LIFE-08",))
    return Answer(v.Received(message=view), rules=("LIFE-01",))


def give_next(
    namespace: Namespace,
    entity: Entity,
    session: Session | None,
    mode: v.ReceiveMode,
    connection: str,
) -> v.MessageView | None:
    """LIFE-09, KEY-06, KEY-17, PART-09: give the next message of a session or of any partition."""
    rules, down = namespace.rules, entity.base.down
    if session is not None:
        if session.partition in down:
            raise rules.partitions.outage(namespace, "SESS-25")
        queued = session.line.first(entity.messages)
        return None if queued is None else rules.messages.give(namespace, queued, mode)
    if down:
        answers = ("RECEIVE-IN-OUTAGE", "LIFE-11", "served", "empty")
        if rules.partitions.answer_of(namespace, *answers) != "served":
            return None
    if (
        entity.caches
        and (cached := rules.partitions.take_cached(namespace, entity, connection)) is not None
    ):
        return rules.partitions.hand_out(namespace, cached, mode)
    queued = rules.messages.next_available(namespace, entity)
    if queued is None:
        return None
    view = rules.messages.give(namespace, queued, mode)
    if entity.settings.partitioned and mode is v.ReceiveMode.PEEK_LOCK:
        rules.partitions.fill_cache(namespace, entity, queued.partition, connection)
    return view


def next_available(namespace: Namespace, entity: Entity) -> QueuedMessage | None:
    """LIFE-09, KEY-16: return an available message of any partition that is up, if there is one."""
    down, table, partitions = entity.base.down, entity.messages, entity.partitions
    if len(partitions) == 1:
        return None if down else partitions[0].line.first(table)

    def has_some(number: int) -> bool:
        partition = partitions[number]
        return (
            partition.messages > 0
            and number not in down
            and partition.line.first(table) is not None
        )

    chosen = namespace.choices.partition("LIFE-09", entity.path, len(partitions), has_some)
    if chosen is None:
        return None
    offered = namespace.rules.messages.offered(namespace, entity, partitions[chosen])
    return namespace.choices.pick("KEY-16", offered)


def offered(namespace: Namespace, entity: Entity, partition: Partition) -> Iterator[QueuedMessage]:
    """KEY-16, KEY-17: yield the first message of each key, and all messages without a key."""
    keys: set[str] = set()
    by_id = entity.base.settings.duplicate_detection
    for queued in partition.line.available(entity.messages):
        message = queued.message
        key = message.session_id or message.partition_key
        if key is None and by_id:
            key = message.message_id
        if key is None or key not in keys:
            yield queued
        if key is not None:
            keys.add(key)


def give(namespace: Namespace, queued: QueuedMessage, mode: v.ReceiveMode) -> v.MessageView:
    """LIFE-02, LIFE-03: give a message to a receiver, locked or removed."""
    rules = namespace.rules
    if mode is v.ReceiveMode.RECEIVE_AND_DELETE:
        rules.messages.consume(namespace, queued, Action.RECEIVE_AND_DELETE)
        return view_of(queued)
    rules.locks.lock(namespace, queued, Action.RECEIVE)
    return view_of(queued, locked=True)


@attrs.frozen
class Messages:
    """Functions that decide the LIFE rules; a mutant replaces one of them."""

    send: Callable[[Namespace, v.Send, str], Answer] = send
    key_of: Callable[[Namespace, Entity, v.Message], Key | None] = key_of
    accept: Callable[[Namespace, Entity, v.Message, Key | None, int, InTransit], None] = accept
    arrive: Callable[[Namespace, Entity, v.Message, int, InTransit], None] = arrive
    enqueue: Callable[[Namespace, Entity, v.Message, int, InTransit], QueuedMessage] = enqueue
    next_number: Callable[[Partition], int] = next_number
    remove: Callable[[Namespace, QueuedMessage], None] = remove
    consume: Callable[[Namespace, QueuedMessage, Action], None] = consume
    receive: Callable[[Namespace, v.Receive, str], Answer] = receive
    give_next: Callable[..., v.MessageView | None] = give_next
    next_available: Callable[[Namespace, Entity], QueuedMessage | None] = next_available
    offered: Callable[[Namespace, Entity, Partition], Iterator[QueuedMessage]] = offered
    give: Callable[[Namespace, QueuedMessage, v.ReceiveMode], v.MessageView] = give
