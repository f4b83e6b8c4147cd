"""The complete state of a namespace: records and plain tables.

    NamespaceState
        entities      path -> Entity: a queue, topic, subscription or dead-letter queue
            partitions    one Partition for a regular entity, several for a partitioned one
            messages      number -> QueuedMessage, in any state but scheduled
            scheduled     number -> ScheduledMessage, until it is due
            sessions      SessionId -> Session, while it has messages, a holder or a state
            duplicates    key and MessageId -> DuplicateEntry, until its window ends
        transactions  name -> Transaction, also after its end
        down          name -> the partitions that are down, also of what does not exist yet

**Entities.** An entity has two dead-letter queues, and a topic has subscriptions; each of these is
an entity, too. They share partitions and outages with the queue or topic that they are part of:
their `base` has the keys' homes and knows which partitions are down. They share the room with the
queue or subscription whose dead letters they hold: the bytes in the partitions of their `owner` are
the sum.

**Messages.** A message stays in the entity and the partition where it arrived, under one number,
whose top 16 bits are the partition. Nothing moves: a dead letter, a forwarded message, a copy for a
subscription, and a scheduled message that is due are new records, and the old one is removed.

**Locks** are no records. A locked message has the token of its lock and the end of it. In a session
the end is the session's, and so is the holder; outside of one, whoever knows the token holds the
lock. A message in a front end's cache is locked, too, for nobody yet: it has `cached_by`.

**Time** is `now`, and passes only by `AdvanceClock`. What is to happen later is a timer with the
name of a rule and a record. Nobody removes a timer: when it is due, its rule looks whether the
record still says so, because a lock may have been renewed and a message may be gone.

Records are changed through the journal of the namespace, so that a step can be undone and stored.
The fields that are indexes are not restored, and may have stale entries (see `indexes`).
"""

from collections import OrderedDict
from typing import Any, Final, TypeVar

import attrs

from busproof import vocabulary as v
from busproof.model.ambiguities import Reading, Settled
from busproof.model.choices import Choices, RoundRobin
from busproof.model.indexes import Line, Timers
from busproof.model.journal import Journal, Record, record
from busproof.model.life_cycle import LOCKED_STATES, Action, State
from busproof.model.values import EntityKind, EntitySettings, Key

__all__ = [
    "NO_PARTITIONS",
    "BufferedRuleChange",
    "BufferedSend",
    "DuplicateEntry",
    "EnlistedSettlement",
    "Entity",
    "EntityCounts",
    "NamespaceState",
    "Partition",
    "QueuedMessage",
    "ScheduledMessage",
    "Session",
    "Transaction",
]

NO_PARTITIONS: Final[frozenset[int]] = frozenset()

R = TypeVar("R", bound=Reading)


@record(indexes=("line", "schedule"))
class Partition(Record):
    """A partition: the number that it assigned last, and the bytes that it stores."""

    number: int
    arrivals: int = 0
    messages: int = 0
    bytes: int = 0
    line: "Line[QueuedMessage]" = attrs.field(factory=Line)
    schedule: "Line[ScheduledMessage]" = attrs.field(factory=Line)


@record()
class QueuedMessage(Record):
    """A message in an entity.

    Attributes:
        arrival: its position in the order of all arrivals in the namespace.
        enqueued_at: when it was enqueued.
        session: its session, if the entity requires sessions.
        expires_at: when its time to live ends; `None` if it has none.
        reason: why it was dead-lettered; `None` if it was not.
        deliveries: how often it was locked; it is a part of the next lock token.
        failed: the delivery count, which leaves out deliveries that do not count.
        token: the token of its current lock; outside of sessions the lock ends at `locked_until`.
        cached_by: the connection whose front end has it in its cache.
        enlisted: the transaction that its last settlement belongs to.
    """

    entity: "Entity"
    number: int
    partition: int
    message: v.Message
    arrival: int
    enqueued_at: int
    session: "Session | None" = None
    expires_at: int | None = None
    reason: str | None = None
    state: State = State.ACTIVE
    deliveries: int = 0
    failed: int = 0
    token: str | None = None
    locked_until: int = 0
    cached_by: str | None = None
    enlisted: "Transaction | None" = None

    @property
    def is_there(self) -> bool:
        """Whether it is still in its entity."""
        return self.entity.messages.get(self.number) is self

    @property
    def line(self) -> "Line[QueuedMessage]":
        """The line in which receivers find it: its session's or its partition's."""
        if self.session is not None:
            return self.session.line
        return self.entity.partitions[self.partition].line

    def index(self) -> None:
        """Add this message to its line, the timers and the cache."""
        entity, session = self.entity, self.session
        if not self.is_there:
            return
        self.line.append(self)
        locked = self.state in LOCKED_STATES
        if session is not None:
            entity.partitions[self.partition].line.insert(self)
            entity.free_sessions[session] = None
            if locked:
                session.locked[self.number] = self
        elif locked:
            entity.look_at("locks.end", self.locked_until, self, self.number)
            if self.cached_by is not None:
                entity.caches.setdefault(self.cached_by, []).append(self)
        if self.expires_at is not None:
            entity.look_at("expiry.end", self.expires_at, self, self.number)
        destination = entity.namespace.entities.get(entity.settings.forward_to or "")
        if destination is not None and entity.kind is EntityKind.DEAD_LETTERS:
            destination.awaited_by[self] = None


@record()
class ScheduledMessage(Record):
    """A message that will be enqueued when it is due."""

    entity: "Entity"
    number: int
    partition: int
    message: v.Message
    key: Key | None
    due: int
    state: State = State.SCHEDULED

    def index(self) -> None:
        """Add this record to the schedule and the timers."""
        if self.entity.scheduled.get(self.number) is self:
            self.entity.partitions[self.partition].schedule.append(self, available=False)
            self.entity.look_at("scheduling.activate", self.due, self, self.number)


@record(indexes=("line", "locked"))
class Session(Record):
    """A session that has messages, a holder or a state.

    `locked` is an index of the messages that its holder has received and not settled.
    """

    entity: "Entity"
    name: str
    partition: int
    holder: str | None = None
    locked_until: int = 0
    state: str | None = None
    messages: int = 0
    line: Line[QueuedMessage] = attrs.field(factory=Line)
    locked: dict[int, QueuedMessage] = attrs.field(factory=dict)

    def index(self) -> None:
        """Add this session to the timers, and to the sessions that may be free."""
        if self.holder is not None:
            self.entity.look_at("sessions.end", self.locked_until, self, 0, self.name)
        self.entity.free_sessions[self] = None


@record()
class DuplicateEntry(Record):
    """A MessageId that duplicate detection remembers, with the partition key of its message."""

    entity: "Entity"
    name: tuple[Key | None, str]
    until: int

    def index(self) -> None:
        """Add this record to the timers."""
        self.entity.look_at("duplicates.forget", self.until, self, 0, self.name[1])


@record(indexes=("caches", "free_sessions", "awaited_by"))
class Entity(Record):
    """A queue, topic, subscription or dead-letter queue; a regular one has one partition.

    Attributes:
        base: the queue or topic whose partitions and outages it shares.
        owner: for a dead-letter queue the entity that it belongs to, otherwise the entity itself.
        capacity: how many bytes fit into one partition.
        down: on a `base`, the partitions that are down.
        homes: on a `base`, key to the partition that was chosen for it.
        last: on a `base`, the partition that took the last message without a key.
        subscriptions: on a topic, its subscriptions in the order of their creation.
        rules: on a subscription, its rules in the order of their addition.
        caches: an index of the messages in caches of front ends, by connection.
        free_sessions: an index of sessions that may be free.
        awaited_by: an index of dead letters that could not be forwarded here, in their order.
    """

    namespace: "NamespaceState"
    path: str
    kind: EntityKind
    settings: EntitySettings
    partitions: tuple[Partition, ...]
    capacity: int
    base: "Entity" = attrs.field(init=False)
    owner: "Entity" = attrs.field(init=False)
    dead_letters: "Entity | None" = None
    transfers: "Entity | None" = None
    status: v.EntityStatus = v.EntityStatus.ACTIVE
    down: frozenset[int] = NO_PARTITIONS
    last: int = -1
    homes: dict[str, int] = attrs.field(factory=dict)
    messages: dict[int, QueuedMessage] = attrs.field(factory=dict)
    scheduled: dict[int, ScheduledMessage] = attrs.field(factory=dict)
    duplicates: dict[tuple[Key | None, str], DuplicateEntry] = attrs.field(factory=dict)
    sessions: dict[str, Session] = attrs.field(factory=dict)
    subscriptions: "tuple[Entity, ...] | None" = None
    rules: tuple[v.SubscriptionRule, ...] = ()
    caches: dict[str, list[QueuedMessage]] = attrs.field(factory=dict)
    free_sessions: OrderedDict[Session, None] = attrs.field(factory=OrderedDict)
    awaited_by: dict[QueuedMessage, None] = attrs.field(factory=dict)

    def look_at(self, rule: str, moment: int, thing: Any, number: int, name: str = "") -> None:
        """Set a timer at which the rule is called for this record of the entity."""
        self.namespace.timers.set(moment, number, f"{self.path} {name}", rule, thing)


@attrs.frozen
class BufferedSend:
    """A send that takes effect with the commit; `scheduled` is set if the message is due later."""

    entity: Entity
    message: v.Message
    key: Key | None
    partition: int
    sent: int
    scheduled: ScheduledMessage | None = None


@attrs.frozen
class EnlistedSettlement:
    """A settlement that takes effect with the commit."""

    entity: Entity
    token: str
    action: Action
    reason: str
    key: Key | None = None


@attrs.frozen
class BufferedRuleChange:
    """A change of a subscription's rules that takes effect with the commit."""

    subscription: Entity
    command: v.AddRule | v.RemoveRule


@record()
class Transaction(Record):
    """A transaction until it is `ended` by commit or rollback; a `doomed` one cannot commit."""

    ended: bool = False
    sends: tuple[BufferedSend, ...] = ()
    settlements: tuple[EnlistedSettlement, ...] = ()
    rule_changes: tuple[BufferedRuleChange, ...] = ()
    doomed: bool = False


@record()
class EntityCounts(Record):
    """Numbers of queues, topics and subscriptions, and of partitioned queues and topics."""

    partitioned_queues: int = 0
    partitioned_topics: int = 0
    regular: int = 0
    subscriptions: int = 0
    stores: int = 0


@record(indexes=("fixed", "journal", "timers", "arrivals", "epoch", "choices"))
class NamespaceState(Record):
    """What a namespace stores; `choices` is the policy of the current step.

    Attributes:
        entities: path to entity, including dead-letter queues.
        down: name of a queue or topic, which need not exist, to its partitions that are down.
        readings: ambiguity to the reading that this bus has chosen, where the profile names none.
        arrivals: how many messages have arrived; an undo leaves it, because it only orders them.
        fixed: an index of the readings that the profile names.
        epoch: time 0 in microseconds since 1970, of a bus whose clients see dates.
    """

    profile: v.Profile
    now: int = 0
    entities: dict[str, Entity] = attrs.field(factory=dict)
    down: dict[str, frozenset[int]] = attrs.field(factory=dict)
    transactions: dict[str, Transaction] = attrs.field(factory=dict)
    readings: dict[str, str] = attrs.field(factory=dict)
    counts: EntityCounts = attrs.field(factory=EntityCounts)
    journal: Journal = attrs.field(factory=Journal)
    timers: Timers = attrs.field(factory=Timers)
    arrivals: int = 0
    epoch: int = 0
    fixed: dict[type[Reading], Any] = attrs.field(factory=dict)
    choices: Choices = attrs.field(factory=RoundRobin)

    def pick(self, name: str, *candidates: str) -> str:
        """Return what this bus does where the documents leave it free; a regular one the first."""
        return self.choices.pick(name, candidates)

    def states(self, rule: v.RuleId) -> bool:
        """Return whether the edition states a rule; where it is silent, a bus is free."""
        return rule not in self.profile.silent

    def has_passed(self, moment: int | None, *, restarts: bool = True) -> bool:
        """Return whether a moment has passed; `None` is never.

        Args:
            moment: the moment in microseconds.
            restarts: whether what ends then may begin anew after an outage (OUTAGE-CLOCK).
        """
        return moment is not None and self.choices.has_passed(moment, self.now, restarts=restarts)

    def prefers(self, name: str, other: str, *, to: str) -> bool:
        """Return whether this bus does the other thing where a regular one does `to`."""
        return self.choices.pick(name, (to, other)) == other

    def reading(self, kind: type[R], *among: R) -> R:
        """Return how this bus reads an ambiguity.

        A bus is consistent. If the profile leaves a settled ambiguity open, one of its readings is
        chosen when it first matters and kept from then on, even if that request is refused.

        Args:
            kind: the ambiguity.
            among: the readings that may be chosen; without any, all of them.
        """
        # First what the profile names, which is most of them and never changes.
        known: R | None = self.fixed.get(kind) or self.known_reading(kind)
        if known is not None:
            return known
        readings = among or tuple(kind)
        if not issubclass(kind, Settled):
            return readings[0]
        chosen = self.choices.pick(kind.entry, readings)
        self.journal.reveal(self.readings, kind.entry, chosen.value)
        return chosen

    def known_reading(self, kind: type[R]) -> R | None:
        """Return the reading that the profile names or this bus has chosen; `None` if neither."""
        if self.readings and (chosen := self.readings.get(kind.entry)) is not None:
            return kind.named(chosen)
        return self.named_reading(kind)

    def named_reading(self, kind: type[R]) -> R | None:
        """Return the reading that the profile names; `None` if it leaves the ambiguity open."""
        fixed: R | None = self.fixed.get(kind)
        if fixed is None:
            fixed = kind.named(self.profile.readings.get(kind.entry))
            if fixed is not None:
                self.fixed[kind] = fixed
        return fixed
