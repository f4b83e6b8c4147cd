"""State of one sequence: small sets of names and keys, and facts learned from answers.

What Hypothesis draws must not depend on these facts, because a bus may answer differently the next
time.
"""

from enum import StrEnum
from typing import Final

import attrs
from hypothesis import strategies as st

from busproof import vocabulary as v
from busproof.exploration.cargo import laden
from busproof.judging.required_capabilities import needs

__all__ = [
    "ANY_SESSION",
    "FALLBACK",
    "FOCUSED",
    "GENERAL",
    "KEYS",
    "MOST_QUEUES",
    "PALETTE",
    "Receipt",
    "Scope",
    "Shape",
    "Theme",
    "World",
]

KEYS: Final = (
    ("a", "b"),
    ("a",),
    ("a", "b", "c"),
    ("a", "A"),
    ("order-2026-a", "order-2026-b"),
    tuple("abcdefghijkl"),
)
"""Keys that a sequence may use.

A few, some that differ only in case or at the end, and enough that some share a partition.
"""

MOST_QUEUES: Final = 3
MOST_HOPS: Final = 6
"""Maximum number of forwarding hops to follow, because forwarding may form a cycle."""

ANY_SESSION: Final = 2
FALLBACK: Final = 4
"""Number of recent messages that a drawn number may choose one of, to use its partition."""


class Theme(StrEnum):
    """The theme of a sequence; a sequence about everything would go deep into nothing."""

    QUEUES = "queues"
    TOPICS = "topics"
    FORWARDING = "forwarding"
    SESSIONS = "sessions"
    DELIVERIES = "deliveries"
    TRANSACTIONS = "transactions"
    COPIES = "copies"
    CONDITIONS = "conditions"


GENERAL: Final = (Theme.QUEUES, Theme.TOPICS, Theme.FORWARDING)
"""Themes that include everything about queues; the others are limited to their subject."""

OF_COPIES: Final = (Theme.COPIES, Theme.CONDITIONS)
"""Themes about subscriptions only, which do not use queues."""

FOCUSED: Final = tuple(theme for theme in Theme if theme not in GENERAL)


@attrs.frozen(kw_only=True)
class Scope:
    """Capabilities and limits of an implementation that an exploration respects.

    Attributes:
        capabilities: the declared capabilities that a rule in force needs.
        tier: the tier of the namespace.
        may_partition: whether partitioned entities can be created.
        partitions: the number of partitions of a partitioned queue.
        lock: the queues' lock duration in microseconds; other times are fractions of it.
        clock: the clock; waits of days are left out on a real one.
    """

    capabilities: frozenset[v.Capability]
    tier: v.Tier = v.Tier.STANDARD
    may_partition: bool = attrs.field()
    partitions: int = 16
    lock: int = 30 * v.MICROSECONDS
    clock: v.Clock = v.Clock.VIRTUAL

    @may_partition.default
    def _unless_in_premium(self) -> bool:
        return self.tier is not v.Tier.PREMIUM

    def allows(self, command: v.Command) -> bool:
        """Return whether the implementation has the capabilities for this command."""
        return all(capability in self.capabilities for capability in needs(command))


@attrs.define
class Receipt:
    """The result of a receive, filled in once the bus has answered."""

    queue: str
    lock_token: str | None = None
    number: int | None = None
    session: str | None = None


@attrs.define
class World:
    """The state of a sequence: entities and keys for its commands, and facts from answers."""

    scope: Scope
    theme: Theme = Theme.QUEUES
    keys: tuple[str, ...] = ("a", "b")
    queues: list[v.CreateQueue] = attrs.field(factory=list)
    topics: list[str] = attrs.field(factory=list)
    subscriptions: list[v.CreateQueue] = attrs.field(factory=list)
    bodies: int = 0
    transactions: int = 0
    palette: tuple["Shape", ...] = attrs.field(default=(), converter=tuple)
    filters: tuple[v.Filter, ...] = attrs.field(default=(), converter=tuple)
    marks: int = 0
    connection: str = "c1"
    accepted: dict[tuple[str, str], str] = attrs.field(factory=dict)
    locks: list[Receipt] = attrs.field(factory=list)
    visited: list[int] = attrs.field(factory=list)
    received: list[tuple[str, int, str | None]] = attrs.field(factory=list)
    shown: list[tuple[str, int]] = attrs.field(factory=list)
    deferred: list[Receipt] = attrs.field(factory=list)
    scheduled: list[tuple[str, int]] = attrs.field(factory=list)
    down: list[v.TakePartitionDown] = attrs.field(factory=list)
    is_waiting: bool = False

    def at_hand(self) -> list[v.CreateQueue]:
        """Return the entities that later steps send to and receive from."""
        of_queues = [] if self.theme in OF_COPIES else self.queues
        return [*of_queues, *self.subscriptions]

    def with_sessions(self) -> list[v.CreateQueue]:
        """Return the queues and subscriptions that require sessions, each in order of creation."""
        return [entity for entity in (*self.queues, *self.subscriptions) if entity.requires_session]

    def sent_to(self, queue: v.CreateQueue) -> str:
        """Return where to send messages for an entity; for a subscription, that is its topic."""
        return queue.queue.partition("/subscriptions/")[0]

    def received_from(self, queue: v.CreateQueue) -> v.CreateQueue:
        """Return where to receive messages sent to an entity, following forwarding and topics."""
        entity = queue
        for _ in range(MOST_HOPS):
            onward = self._onward(entity)
            if onward is None:
                break
            entity = onward
        return entity

    def _onward(self, queue: v.CreateQueue) -> v.CreateQueue | None:
        if queue.queue in self.topics:
            of_topic = [
                subscription
                for subscription in self.subscriptions
                if self.sent_to(subscription) == queue.queue
            ]
            return of_topic[-1] if of_topic else None
        if queue.forward_to in self.topics:
            return v.CreateQueue(queue=queue.forward_to)
        return next((created for created in self.queues if created.queue == queue.forward_to), None)

    def message(self, queue: v.CreateQueue, place: int) -> v.Message:
        """Return the next message, with one of the sequence's shapes and a unique body."""
        shape = self.palette[place % len(self.palette)]
        self.bodies += 1
        body = f"m{self.bodies}"
        session = self._key(shape.session)
        key = session if shape.same else self._key(shape.key)
        if queue.requires_session and session is None and not shape.bare:
            session, key = key or self._key(place), None
        message = v.Message(
            body=body,
            session_id=session,
            partition_key=key,
            message_id=f"own-{body}" if shape.own else self._key(shape.identity),
            time_to_live=self._life(shape),
        )
        if v.Capability.FILTERS not in self.scope.capabilities or self.bodies % 2:
            return message
        return laden(message, is_filtered=bool(self.topics))

    def _life(self, shape: "Shape") -> int | None:
        """Return the time to live for a shape of messages; `None` if the bus supports none."""
        mortal = v.Capability.TIME_TO_LIVE in self.scope.capabilities
        return shape.life * self.scope.lock // 4 or None if mortal else None

    def _key(self, place: int | None) -> str | None:
        return None if place is None else self.keys[place % len(self.keys)]

    def session(self, place: int) -> str:
        """Return one of the SessionIds of this sequence."""
        return self.keys[place % len(self.keys)]

    def session_at_hand(self, queue: str, place: int) -> str:
        """Return the session that this connection accepted last, or another one."""
        last = self.accepted.get((queue, self.connection))
        return self.session(place) if last is None or place == ANY_SESSION else last

    def partition(self, number: int) -> int:
        """Return the partition of a recent message, or any partition."""
        if number < min(FALLBACK, len(self.visited)):
            return self.visited[-1 - number]
        return number % self.scope.partitions

    def held(self, receipt: Receipt) -> Receipt | None:
        """Return this receipt if it has a lock, or else the latest receipt that has one."""
        if receipt.lock_token is not None:
            return receipt
        return self.locks[-1] if self.locks else None

    def learn(self, event: v.Event, receipt: Receipt | None) -> None:
        """Record the facts in an event that later commands may use."""
        self._forget(event)
        match event.command, event.outcome:
            case v.Receive(queue=queue), v.Received(message=view):
                if view.sequence_number is not None:
                    self.received.append((queue, view.sequence_number, view.session_id))
                if view.lock_token is not None:
                    self.locks.append(_make_receipt(queue, view))
                    if receipt is not None:
                        receipt.queue, receipt.lock_token = queue, view.lock_token
                if view.sequence_number is not None:
                    self.visited.append((view.sequence_number >> v.SEQUENCE_BITS) % 65536)
            case v.Peek(queue=queue), v.Peeked(
                messages=(*_, v.MessageView(sequence_number=int(number)))
            ):
                self.shown.append((queue, number))
            case (
                v.ReceiveDeferred(queue=queue) | v.ReceiveBatch(queue=queue),
                v.ReceivedSeveral(messages=views),
            ):
                self.locks += [
                    _make_receipt(queue, view) for view in views if view.lock_token is not None
                ]
            case v.AcceptSession(queue=queue, session_id=session), v.Done():
                self.accepted[(queue, event.connection)] = session
            case v.AcceptNextSession(queue=queue), v.SessionAccepted(session_id=session):
                self.accepted[(queue, event.connection)] = session
            case v.Schedule(queue=queue), v.Scheduled(sequence_number=int(number)):
                self.scheduled.append((queue, number))
            case v.Send(), v.Done() if event.witness is not None:
                self.visited.append(event.witness.partition)

    def _forget(self, event: v.Event) -> None:
        """Forget locks and sessions that were settled, closed or lost."""
        lost = isinstance(event.outcome, v.Refused)
        why = event.outcome.error if isinstance(event.outcome, v.Refused) else None
        match event.command:
            case v.Complete() | v.Abandon() | v.DeadLetter() | v.Defer() | v.RenewLock() as settled:
                over = why is v.Error.LOCK_LOST if lost else not isinstance(settled, v.RenewLock)
                spent = [lock for lock in self.locks if lock.lock_token == settled.lock_token]
                if over:
                    self.locks = [lock for lock in self.locks if lock not in spent]
                if isinstance(settled, v.Defer) and not lost:
                    self.deferred += spent
            case v.SettleBatch(lock_tokens=tokens) if not lost:
                spent = [lock for lock in self.locks if lock.lock_token in tokens]
                self.locks = [lock for lock in self.locks if lock not in spent]
                self.deferred += spent if event.command.disposition is v.Disposition.DEFER else []
            case v.ReceiveDeferred(sequence_numbers=(number,)) if lost:
                self.deferred = [receipt for receipt in self.deferred if receipt.number != number]
            case v.CloseSession(queue=queue) if not lost:
                self.accepted.pop((queue, event.connection), None)
        if why is v.Error.SESSION_LOCK_LOST:
            queue = getattr(event.command, "queue", "")
            self.accepted.pop((queue, event.connection), None)


def _make_receipt(queue: str, view: v.MessageView) -> Receipt:
    return Receipt(queue, view.lock_token, view.sequence_number, view.session_id)


@attrs.frozen
class Shape:
    """The properties of a message, as indexes into the keys of the sequence.

    Attributes:
        session: index of the SessionId.
        key: index of the PartitionKey.
        identity: index of the MessageId.
        same: whether the PartitionKey equals the SessionId.
        own: whether the MessageId is unique.
        bare: whether the SessionId is left out even if one is required.
        life: time to live in quarters of the lock duration; 0 for no limit.
    """

    session: int | None = None
    key: int | None = None
    identity: int | None = None
    same: bool = False
    own: bool = False
    bare: bool = False
    life: int = 0


SHAPES: Final = (
    Shape(),
    *[Shape(key=place) for place in (0, 0, *range(12))],
    *[Shape(session=place) for place in (0, 0, 0, 1, 2)],
    *[Shape(identity=place) for place in (0, 0, 0, 1)],
    *[Shape()] * 3,
    Shape(own=True),
    Shape(session=0, same=True),
    Shape(session=1, same=True),
    Shape(session=0, key=1),
    Shape(session=1, key=2),
    Shape(key=0, identity=0),
    Shape(key=0, identity=1),
    Shape(key=1, identity=0),
    Shape(session=0, identity=0),
    Shape(session=0, identity=1),
    Shape(session=0, same=True, identity=2),
    Shape(key=0, own=True),
    *[Shape(bare=True)] * 2,
    *[Shape(key=0, bare=True)] * 2,
    Shape(life=1),
    Shape(key=0, life=1),
    Shape(session=0, life=2),
    Shape(life=6),
)
"""Simple shapes first, because failures shrink towards them; frequent shapes several times."""

PALETTE: Final = st.lists(st.sampled_from(SHAPES), min_size=1, max_size=4)
"""Draws the shapes of one sequence: only a few, so that its messages interact."""
