"""LIFE, SEQ: a message is enqueued, given to a receiver, and removed.

An enqueued message is the last one of its partition and of its session, and gets the partition's
next sequence number. A receive asks all partitions that are up. It returns a message that is
neither locked nor deferred, and locks or removes it. The messages of one key stay in order; beyond
that, no order is guaranteed.
"""

from collections.abc import Iterator
from typing import Final

from busproof import vocabulary as v
from busproof.model.ambiguities import KeyOrder, ReceiveInOutage, RegularOrder, SequenceGaps
from busproof.model.answers import DONE, EMPTY, Answer, view_of
from busproof.model.family import Family, handles
from busproof.model.keys import SHORT_TIMEOUT
from busproof.model.life_cycle import LIFE_CYCLE, Action
from busproof.model.state import Entity, Partition, QueuedMessage, Session
from busproof.model.values import DIRECT, EntityKind, InTransit, Key, Refusal

__all__ = ["Messages"]

OPEN: Final = v.EntityStatus.ACTIVE
SENT: Final[tuple[v.RuleId, ...]] = ("LIFE-01",)
UNKEYED: Final[tuple[v.RuleId, ...]] = ("KEY-14",)
"""Rules by which a send is accepted without a key, as most are: by a regular entity, or others."""
QUEUE: Final = EntityKind.QUEUE
PEEK_LOCK: Final = v.ReceiveMode.PEEK_LOCK
RULES_OF_QUEUES: Final[dict[v.ReceiveMode, tuple[v.RuleId, ...]]] = {
    PEEK_LOCK: ("LIFE-01", "LOCK-01"),
    v.ReceiveMode.RECEIVE_AND_DELETE: ("LIFE-01",),
}


class Messages(Family):
    """The rules of LIFE and SEQ."""

    @handles(v.Send)
    def send(self, command: v.Send, connection: str) -> Answer:
        """KEY-01, LIFE-01: accept a message, now or with the commit of its transaction."""
        message = command.message
        entity = self.rules.topics.sendable(command.queue)
        if command.transaction is not None:
            waiting = self.rules.transactions.send(entity, (message,), command.transaction)
            return self.rules.topics.check_status_last(entity, waiting)
        self.rules.limits.check_message(message)
        key = self.key_of(entity, message)
        partition = self.rules.keys.place(entity, key, message.size or 0, command.timeout)
        if key is None and not entity.base.down and command.timeout > SHORT_TIMEOUT:
            rules = UNKEYED if entity.settings.partitioned else SENT
        else:
            rules = self.rules.keys.rules_of_place(entity, message, key, command.timeout)
        is_new = self.accept(entity, message, key, partition, DIRECT)
        if not is_new:
            rules = ("KEY-11" if entity.settings.partitioned else "DUP-04", *rules)
        if entity.subscriptions is not None:
            rules = self.rules.topics.rules_of_send(entity, rules, is_new=is_new)
        elif is_new and entity.settings.forward_to is not None:
            rules += self.rules.forwarding.rules_of_source(entity)
        answer = Answer(DONE, partition, rules)
        return (
            answer if entity.status is OPEN else self.rules.topics.check_status_last(entity, answer)
        )

    def key_of(self, entity: Entity, message: v.Message) -> Key | None:
        """SESS-01, KEY-08, DUP-12: check that a message may be sent, and return its key."""
        if message.session_id is None:
            if entity.settings.requires_session and self.is_refused_without_session():
                raise Refusal(v.Error.INVALID_OPERATION, "SESS-01")
        elif message.partition_key is not None:
            self.rules.keys.check_agreement(entity, message)
        key = self.rules.keys.effective_key(entity, message)
        # There may be nothing to recognise a copy by. Of regular entities nothing is said.
        nameless = key is None and message.message_id is None
        free = nameless and entity.settings.duplicate_detection
        if free and self.namespace.prefers("DUP-12", "refused", to="accepted"):
            raise Refusal(v.Error.INVALID_OPERATION, "DUP-12")
        return key

    def is_refused_without_session(self) -> bool:
        """SESS-01: return whether a message without its required session is refused.

        Otherwise it is accepted and dead-lettered, like one that is forwarded there (FWD-27).
        """
        return not self.namespace.prefers("SESS-01", "dead-lettered", to="refused")

    def accept(
        self,
        entity: Entity,
        message: v.Message,
        key: Key | None,
        partition: int,
        transit: InTransit,
    ) -> bool:
        """DUP-04, FWD-04, TOPIC-01: accept a message, and pass it on unless it is a copy.

        Returns:
            Whether it was none.
        """
        detects = entity.settings.duplicate_detection
        if detects and self.rules.duplicates.is_duplicate(entity, message, key):
            return False
        self.arrive(entity, message, partition, transit)
        return True

    def arrive(
        self, entity: Entity, message: v.Message, partition: int, transit: InTransit
    ) -> None:
        """FWD-04, FWD-15, TOPIC-01: forward, distribute or enqueue a message at an entity."""
        if entity.subscriptions is not None:
            self.rules.topics.distribute(entity, message, partition, transit)
        elif entity.settings.forward_to is not None:
            self.rules.forwarding.forward(entity, message, partition, transit)
        elif entity.settings.requires_session and message.session_id is None:
            self.rules.forwarding.reject_sessionless(entity, message, partition, transit)
        else:
            self.enqueue(entity, message, partition, transit)

    def enqueue(
        self, entity: Entity, message: v.Message, partition: int, transit: InTransit
    ) -> QueuedMessage:
        """LIFE-01, KEY-06: add a message after all others of its partition and its session."""
        journal = self.namespace.journal
        counters = entity.partitions[partition]
        journal.touch(counters)
        self.namespace.arrivals += 1
        number = self.next_number(entity, counters)
        session = None
        if entity.settings.requires_session and message.session_id is not None:
            session = self.rules.sessions.known(entity, message.session_id, partition)
        expires_at = self.rules.expiry.expires_at(entity, message, transit)
        arrival, now = self.namespace.arrivals, self.namespace.now
        queued = QueuedMessage(
            entity, number, partition, message, arrival, now, session, expires_at, transit.reason
        )
        queued.failed = transit.failed
        journal.put(entity.messages, number, queued)
        counters.messages += 1
        if message.size:
            self.rules.sizes.charge(entity, partition, message.size)
        counters.line.append(queued, available=session is None)
        if expires_at is not None:
            entity.look_at("expiry.end", expires_at, queued, number)
        if session is not None:
            journal.touch(session)
            session.messages += 1
            session.line.append(queued)
            entity.free_sessions[session] = None
        return queued

    def next_number(self, entity: Entity, counters: Partition) -> int:
        """SEQ-01, SEQ-03, LIFE-12: return the next number; its top 16 bits are the partition.

        Numbers may leave gaps, unless the profile says otherwise (SEQUENCE-GAPS).
        """
        position = counters.arrivals + 1
        if self.namespace.reading(SequenceGaps) is SequenceGaps.EITHER:
            position = self.namespace.choices.position(entity.path, counters.number, position)
        counters.arrivals = position
        return (counters.number << v.SEQUENCE_BITS) + counters.arrivals

    def remove(self, queued: QueuedMessage) -> None:
        """LIFE-03: remove a message from its entity."""
        entity, journal = queued.entity, self.namespace.journal
        counters, session = entity.partitions[queued.partition], queued.session
        journal.drop(entity.messages, queued.number)
        journal.touch(counters)
        counters.messages -= 1
        counters.line.left(entity.messages)
        if queued.message.size:
            self.rules.sizes.charge(entity, queued.partition, -queued.message.size)
        if session is not None:
            journal.touch(session)
            session.messages -= 1
            session.locked.pop(queued.number, None)
            session.line.left(entity.messages)
            self.rules.sessions.let_go(session)

    def consume(self, queued: QueuedMessage, action: Action) -> None:
        """LIFE-03, TTL-01: remove a message without a settlement."""
        self.namespace.journal.touch(queued)
        queued.state = LIFE_CYCLE[queued.state, action]
        self.remove(queued)

    @handles(v.Receive)
    def receive(self, command: v.Receive, connection: str) -> Answer:
        """LIFE-01, LIFE-09: give an available message, if there is one."""
        source = self.source(command, connection)
        if source is None:
            return Answer(EMPTY)
        entity, session = source
        view = self.give_next(entity, session, command.mode, connection)
        if view is None:
            return Answer(EMPTY, rules=self.rules_of_nothing(entity, connection))
        plain = session is None and entity.kind is QUEUE
        rules = RULES_OF_QUEUES[command.mode]
        if not plain:
            rules += self.rules_of_receive(entity, session)
        return Answer(v.Received(message=view), rules=rules)

    def rules_of_receive(self, entity: Entity, session: Session | None) -> tuple[v.RuleId, ...]:
        """KEY-06, TOPIC-20, DLQ-07, DLQ-12: return what else decides that a message is given."""
        if session is not None:
            return ("KEY-06",)
        if entity.kind is EntityKind.SUBSCRIPTION:
            return ("TOPIC-20",)
        return ("DLQ-07", "DLQ-12") if entity.settings.partitioned else ("DLQ-07",)

    def rules_of_nothing(self, entity: Entity, connection: str) -> tuple[v.RuleId, ...]:
        """LIFE-08, LIFE-09, TOPIC-09: return the rules by which nothing is received."""
        caches = entity.caches.items()
        others = (one for other, cached in caches if other != connection for one in cached)
        if any(one.cached_by is not None and one.is_there for one in others):
            return ("LIFE-08",)
        if not entity.settings.partitioned:
            return ()
        return ("LIFE-09", "TOPIC-09") if entity.kind is EntityKind.SUBSCRIPTION else ("LIFE-09",)

    def source(
        self, command: v.Receive | v.ReceiveBatch, connection: str
    ) -> tuple[Entity, Session | None] | None:
        """TOPIC-05, SESS-02: return entity and session to receive from, or nothing to receive."""
        name = command.session_id
        known = self.namespace.entities.get(command.queue)
        plain = known is not None and known.subscriptions is None and not known.settings.forward_to
        if not plain and self.rules.topics.looks_empty(command.queue):
            return None
        entity = self.rules.topics.receivable(command.queue)
        other_kind = entity.settings.requires_session is (name is None)
        if other_kind and self.rules.sessions.looks_empty(entity, name, connection):
            return None
        return entity, self.rules.sessions.of_receive(entity, name, connection)

    def give_next(
        self,
        entity: Entity,
        session: Session | None,
        mode: v.ReceiveMode,
        connection: str,
    ) -> v.MessageView | None:
        """LIFE-09, KEY-06, KEY-17, PART-09: give the next message of a session or any partition."""
        down = entity.base.down
        if session is not None:
            if session.partition in down:
                raise self.rules.partitions.outage("SESS-25")
            queued = session.line.first(entity.messages)
            return None if queued is None else self.give(queued, mode)
        if down:
            answers = ("served", "empty")
            if self.rules.partitions.answer_of(ReceiveInOutage, "LIFE-11", *answers) == "empty":
                return None
        if (
            entity.caches
            and (cached := self.rules.partitions.take_cached(entity, connection)) is not None
        ):
            return self.rules.partitions.hand_out(cached, mode)
        queued = self.next_available(entity)
        if queued is None:
            return None
        view = self.give(queued, mode)
        if entity.settings.partitioned:
            self.rules.partitions.fill_cache(entity, queued.partition, connection, mode)
        return view

    def next_available(self, entity: Entity) -> QueuedMessage | None:
        """LIFE-09, KEY-16: return an available message of any partition that is up, or none."""
        down, table, partitions = entity.base.down, entity.messages, entity.partitions
        if not entity.settings.partitioned:
            # Only in Standard it is said that a regular entity has no store but the one.
            if down and (
                self.namespace.states("PART-01")
                or not self.namespace.prefers("PART-01", "served", to="empty")
            ):
                return None
            return self.next_in_line(entity, partitions[0])

        def has_some(number: int) -> bool:
            partition = partitions[number]
            return (
                partition.messages > 0
                and number not in down
                and partition.line.first(table) is not None
            )

        chosen = self.namespace.choices.partition("LIFE-09", entity.path, len(partitions), has_some)
        if chosen is None:
            return None
        if self.namespace.choices.takes_first:
            return partitions[chosen].line.first(table)
        offered = self.offered(entity, partitions[chosen])
        return self.namespace.choices.pick("KEY-16", offered)

    def next_in_line(self, entity: Entity, only: Partition) -> QueuedMessage | None:
        """KEY-26, REGULAR-ORDER: return an available message of a regular entity.

        Even where there is an order, it is left open while a message that was given before is the
        first one.
        """
        first = only.line.first(entity.messages)
        if first is None or self.namespace.choices.takes_first:
            return first
        if self.orders_regular and not first.deliveries:
            return first
        offered = only.line.starting_with(entity.messages, first)
        return self.namespace.choices.pick("REGULAR-ORDER", offered)

    @property
    def orders_regular(self) -> bool:
        """KEY-26: whether a regular entity gives its oldest message first (REGULAR-ORDER)."""
        is_read_so = self.namespace.reading(RegularOrder) is not RegularOrder.EITHER
        return is_read_so and self.namespace.states("KEY-26")

    @property
    def orders_keys(self) -> bool:
        """KEY-17: whether one receiver gets the messages of a key in order (KEY-ORDER)."""
        # In Premium the entities from before keep what holds for partitioned ones (PREM-03).
        stated = self.namespace.states("KEY-17") or self.namespace.states("PREM-03")
        return stated and self.namespace.reading(KeyOrder) is KeyOrder.ONE_RECEIVER

    def offered(self, entity: Entity, partition: Partition) -> Iterator[QueuedMessage]:
        """KEY-16, KEY-17: yield the first message of each key, and all messages without a key.

        Where nothing promises an order of a key, all messages may be given. Nor does anything say
        what a receiver sees of the order that has given messages back: as long as such a message is
        the first of its key, all others may come before it. Nor is there an order between a
        SessionId and a PartitionKey of the same text, whether or not they are one key.
        """
        if not self.orders_keys and self.namespace.prefers("KEY-17", "any-order", to="in-order"):
            yield from partition.line.available(entity.messages)
            return
        firsts: dict[Key, QueuedMessage] = {}
        for queued in partition.line.available(entity.messages):
            key = self.rules.keys.effective_key(entity.base, queued.message)
            if key is None:
                yield queued
                continue
            first = firsts.setdefault(key, queued)
            if first is queued or first.deliveries:
                yield queued

    def give(self, queued: QueuedMessage, mode: v.ReceiveMode) -> v.MessageView:
        """LIFE-02, LIFE-03: give a message to a receiver, locked or removed."""
        if mode is v.ReceiveMode.RECEIVE_AND_DELETE:
            self.consume(queued, Action.RECEIVE_AND_DELETE)
            return view_of(queued)
        self.rules.locks.lock(queued, Action.RECEIVE)
        return view_of(queued, locked=True)
