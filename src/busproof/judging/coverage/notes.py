"""What coverage remembers beside the model's state, and the rules that the present event shows.

The notes are records of the journal, so an undo of the search undoes them, too. They never decide
what the model does.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

import attrs

from busproof import vocabulary as v
from busproof.judging.floor import Floor
from busproof.model.choices import CONSIDERED, Choices
from busproof.model.family import Family
from busproof.model.journal import Record, record
from busproof.model.rules import Namespace
from busproof.model.state import Entity, QueuedMessage, ScheduledMessage, Transaction

__all__ = [
    "Coverage",
    "Delivery",
    "EntityNotes",
    "MessageNotes",
    "Noting",
    "Rules",
    "coverage_of",
]

Rules = tuple[v.RuleId, ...]
NEVER: Final = -1
WINDOWS: Final = 2
"""Number of windows of duplicates after which a send of a long history is forgotten."""
MOST_DEFERRED: Final = 1_000
"""Number of messages of a long history that are remembered as deferred."""


@record()
class MessageNotes(Record):
    """Notes on a message in an entity.

    Attributes:
        shows: the rules that its first delivery shows: how it came here, and in spite of what.
        place: its position among all messages that its entity was ever given.
        since: how many receives its entity had seen when it became available.
        released: the rule by which its last lock ended, if it became available again.
        resisted: whether a settlement of it was refused because its lock was lost.
        settled_before: how many settlements its entity had seen when its lock began.
        locked_at: when its lock began.
        first_end: when its lock would have ended without a renewal.
        spared: whether a settlement of it was rolled back.
        number: the number that it was shown with; `None` if it was not shown yet.
        placed: whether its partition was shown by its send.
        commit: the transaction that it was sent in.
        scheduled: the record of its scheduling.
        overtaken: whether another message of its key came between its scheduling and its arrival.
        down: the partitions that were down when it was scheduled or came.
    """

    shows: Rules = ()
    place: int = 0
    since: int = 0
    released: v.RuleId | None = None
    resisted: bool = False
    settled_before: int = 0
    locked_at: int = 0
    first_end: int = 0
    spared: bool = False
    number: int | None = None
    placed: bool = False
    commit: Transaction | None = None
    scheduled: ScheduledMessage | None = None
    overtaken: bool = False
    down: frozenset[int] = frozenset()


TABLES: Final = (
    *("homes", "of_ids", "outlasted", "numbers", "expired", "declined", "full"),
    *("sessions", "scheduled", "bodies", "copies", "taken"),
)
"""Notes that are tables: the journal has each of their entries by itself."""


@record(indexes=TABLES)
class EntityNotes(Record):
    """Notes on an entity.

    Attributes:
        arrivals: how many messages it was given.
        receives: how many receives it answered.
        receiver: the connection of the last one.
        received_at: when that was.
        switched: how many receives there were when this connection became the only receiver.
        others_until: until when other front ends may have messages in their caches.
        deleters: connections that received in the mode ReceiveAndDelete.
        settlements: how many messages were settled.
        homes: value of a key to the partition in which it was seen.
        of_ids: MessageId of a message without key to the partition that took the last one.
        used: the partitions that took messages without key since all of them had.
        recovered: partitions that were down, and are up again.
        outlasted: partition to the number of messages that had come when it last went down.
        number: the number that was shown last.
        numbers: partition to the message that was shown last there.
        absent: the rules that kept some message from being received here.
        expired: session to the rules that the absence of expired messages shows.
        spent: whether a message failed too often.
        aside: whether a message was deferred last, and is still there.
        updated: whether an update was made.
        tried: settings that a request asked for and did not get.
        redirected: whether an update changed where it forwards to.
        declined: MessageId to the rule by which a send with it was refused.
        full: keys whose last send was refused for want of room, to the full partition.
        sessions: what is known of sessions, by what it is and by name.
        scheduled: scheduled message to how many messages there were then, when that was, and which
            partitions were down.
        cancelled: the latest moment for which a cancelled message was scheduled.
        deferred: the numbers of messages that were ever deferred.
        aside_expired: whether a message outlived its time while it was deferred.
        cached_until: until when a front end may have a message in its cache that has expired.
        lifetime_since: how many messages there were when its time to live was updated.
        kept_by: of a subscription, the rules for which messages were not taken.
        bodies: the bodies of all messages that came, if copies of them matter.
        copies: MessageId to key to the last send that duplicate detection remembers.
        before: whether an entity of its name was deleted before.
        other_before: whether that one was partitioned and this one is not, or the reverse.
        restored: whether it was created before the tier stopped permitting such queues.
        restored_before: whether the deleted one was.
        accepted: of a topic, how many messages it accepted.
        removed: whether a message left since it was full.
        beyond: whether it was created with a window beyond the limits.
        outage: the time span of its last outage.
        late: of a subscription, whether its topic had accepted messages before.
        taken: of a subscription, message without its body to whether it took it.
        rules_added: of a subscription, whether a rule was ever added.
        rules_removed: whether one was ever removed.
        parted: of a topic, whether a subscription of it was ever deleted.
    """

    arrivals: int = 0
    receives: int = 0
    receiver: str | None = None
    received_at: int = 0
    switched: int = 0
    others_until: int = NEVER
    deleters: frozenset[str] = frozenset()
    settlements: int = 0
    homes: dict[str, int] = attrs.field(factory=dict)
    of_ids: dict[str, int] = attrs.field(factory=dict)
    used: frozenset[int] = frozenset()
    recovered: frozenset[int] = frozenset()
    outlasted: dict[int, int] = attrs.field(factory=dict)
    number: int | None = None
    numbers: dict[object, QueuedMessage] = attrs.field(factory=dict)
    absent: Rules = ()
    expired: dict[str | None, Rules] = attrs.field(factory=dict)
    spent: bool = False
    aside: QueuedMessage | None = None
    updated: bool = False
    tried: frozenset[str] = frozenset()
    redirected: bool = False
    declined: dict[str, v.RuleId] = attrs.field(factory=dict)
    full: dict[object, int | None] = attrs.field(factory=dict)
    sessions: dict[Any, Any] = attrs.field(factory=dict)
    scheduled: dict[ScheduledMessage, tuple[int, int, frozenset[int]]] = attrs.field(factory=dict)
    cancelled: int = 0
    deferred: frozenset[int] = frozenset()
    aside_expired: bool = False
    cached_until: int = NEVER
    lifetime_since: int = NEVER
    late: bool = False
    kept_by: Rules = ()
    bodies: dict[str, None] = attrs.field(factory=dict)
    copies: dict[str, dict[Any, Any]] = attrs.field(factory=dict)
    beyond: bool = False
    before: bool = False
    other_before: bool = False
    restored: bool = False
    restored_before: bool = False
    accepted: int = 0
    removed: bool = False
    outage: tuple[int, int] = (NEVER, NEVER)
    taken: dict[v.Message, bool] = attrs.field(factory=dict)
    rules_added: bool = False
    rules_removed: bool = False
    parted: bool = False


@attrs.define
class Delivery:
    """A message that a receive gives, and what its rules depend on.

    Attributes:
        queued: the message.
        view: the message as the answer shows it.
        notes: the notes on it.
        entity: the entity that gives it.
        of_entity: the notes on the entity.
        again: whether it was delivered before.
        dead: whether it is a dead letter.
        dark: whether a partition is down.
        cached: whether other front ends may have messages in their caches.
        placed: whether an observer sees in which partition it is.
    """

    queued: QueuedMessage
    view: v.MessageView
    notes: MessageNotes
    entity: Entity
    of_entity: EntityNotes
    again: bool
    dead: bool
    dark: bool
    cached: bool
    placed: bool


Numbered = QueuedMessage | ScheduledMessage
Find = Callable[[Entity, v.MessageView], Numbered | None]


class Coverage:
    """The rules that the present event shows, and notes on all events before it.

    Args:
        namespace: the model's namespace.
        find: the message of an entity that a view shows.
        strict: whether the observer sees partitions.
        slack: how wrong the bus's timers may be, in microseconds.

    Attributes:
        event: the present event.
        command: its command, with the model's numbers and tokens.
        path: the path that it names.
        entity: the entity that it addresses, as it was before the event.
        partition: the partition in which the event or a later one shows its message.
        views: the messages that its answer shows.
        given: the messages that the model gave, as many as in `views` at the end.
        batch: the keys of the batch at hand so far, if a batch is sent.
        gone: path of a deleted entity to whether it was partitioned, was restored, and went with
            its topic.
        refused: paths and requests that an outage refused.
        reached: quotas that were reached.
        kept: what the delivery of the message at hand shows, because it is no copy.
        copied: rule with an action, or `None`, to what the delivery of its copy shows.
        activating: the scheduled message that is due at this moment, if any.
        committing: the transaction that is committed at this moment, if any.
        noted: anything else that the model did meanwhile, by a name.
    """

    def __init__(self, namespace: Namespace, find: Find, *, strict: bool, slack: int) -> None:
        self.namespace = namespace
        self.journal = namespace.journal
        self.strict = strict
        self.slack = slack
        self.find = find
        self.event: v.Event
        self.command: v.Command
        self.path: str | None = None
        self.entity: Entity | None = None
        self.partition: int | None = None
        self.views: Sequence[v.MessageView] = ()
        self.given: list[QueuedMessage] = []
        self.noted: dict[str, Any] = {}
        self._rules: list[v.RuleId] = []
        self._messages: dict[QueuedMessage, MessageNotes] = {}
        self._entities: dict[Entity, EntityNotes] = {}
        self._on_the_way: list[Rules] = []
        self.batch: set[object] | None = None
        self.gone: dict[str, tuple[bool, bool, bool]] = {}
        self.refused: dict[tuple[str, type], None] = {}
        self.reached: dict[str, None] = {}
        self.kept: Rules = ()
        self.copied: dict[object, Rules] = {}
        self.activating: ScheduledMessage | None = None
        self.committing: Transaction | None = None

    def restart(self) -> None:
        """Forget what an event left behind that could not be executed to its end."""
        self.noted.clear()
        self._on_the_way.clear()
        self.kept, self.copied, self.batch = (), {}, None
        self.activating = self.committing = None

    def begin(
        self,
        event: v.Event,
        command: v.Command,
        partition: int | None,
        views: Sequence[v.MessageView],
    ) -> None:
        """Prepare for an event, before the model executes it."""
        self.event, self.command, self.partition, self.views = event, command, partition, views
        path = getattr(command, "queue", None) or getattr(command, "topic", None)
        self.path, self.entity = path, None
        if path is not None:
            self.entity = self.namespace.entities.get(path)
        self.restart()
        self.given.clear()
        self._rules.clear()

    @property
    def now(self) -> int:
        """The present moment, in microseconds."""
        return self.namespace.now

    @property
    def rules(self) -> Rules:
        """The rules that the event shows so far, each once."""
        return tuple(dict.fromkeys(self._rules)) if len(self._rules) > 1 else (*self._rules,)

    def show(self, *rules: v.RuleId) -> None:
        """Count rules as shown by the present event."""
        self._rules += rules

    def show_if(self, *cases: tuple[object, v.RuleId]) -> None:
        """Count those rules as shown whose condition holds."""
        self._rules += [rule for holds, rule in cases if holds]

    # Notes ------------------------------------------------------------------------------------

    def message(self, queued: QueuedMessage) -> MessageNotes:
        """Return the notes on a message."""
        notes = self._messages.get(queued)
        if notes is None:
            notes = MessageNotes()
            self.journal.put(self._messages, queued, notes)
        return notes

    def replace(self, before: QueuedMessage, after: QueuedMessage) -> None:
        """Let the notes on a message be those on the record that takes its place."""
        notes = self._messages.get(before)
        if notes is not None:
            self.journal.put(self._messages, after, notes)

    def at(self, entity: Entity) -> EntityNotes:
        """Return the notes on an entity."""
        notes = self._entities.get(entity)
        if notes is None:
            notes = EntityNotes()
            self.journal.put(self._entities, entity, notes)
        return notes

    def change(self, notes: Record) -> None:
        """Prepare notes for a change, so that an undo restores them."""
        self.journal.touch(notes)

    def came(self, queued: QueuedMessage) -> MessageNotes:
        """Begin the notes on a message that its entity was given just now."""
        notes = MessageNotes()
        of_entity = self.at(queued.entity)
        notes.shows = tuple(rule for rules in self._on_the_way for rule in rules)
        notes.place, notes.since = of_entity.arrivals, of_entity.receives
        notes.scheduled, notes.commit = self.activating, self.committing
        notes.down = queued.entity.base.down
        here = self.entity is not None and self.entity.base is queued.entity.base
        notes.placed = self.committing is not None or (here and self.partition is not None)
        if self.activating is not None and self.activating.entity is queued.entity:
            notes.overtaken = self._is_overtaken(
                queued, self._arrivals_before_scheduling(of_entity)
            )
        entity = queued.entity
        if entity is not entity.base or entity.settings.duplicate_detection:
            self.journal.put(of_entity.bodies, queued.message.body, None)
        self.change(of_entity)
        of_entity.arrivals += 1
        self.journal.put(self._messages, queued, notes)
        return notes

    def forget(self, floor: Floor) -> None:
        """Forget the notes on what is gone; what is only noted to show more rules goes, too."""
        floor.drop(self._entities, lambda entity, _: entity not in floor.entities)
        compared = {
            queued for notes in self._entities.values() for queued in notes.numbers.values()
        }
        floor.drop(
            self._messages, lambda queued, _: floor.is_gone(queued) and queued not in compared
        )
        scheduled = {notes.scheduled for notes in self._messages.values()}
        for entity, notes in self._entities.items():
            self._forget_of(entity, notes, floor, scheduled)

    def _forget_of(
        self,
        entity: Entity,
        notes: EntityNotes,
        floor: Floor,
        scheduled: Collection[ScheduledMessage | None],
    ) -> None:
        """Forget the notes on an entity's messages that are gone."""
        since = self.now - WINDOWS * entity.settings.duplicate_window
        floor.drop(notes.copies, lambda _, sends: all(at < since for at, *_ in sends.values()))
        remembered = {
            body for sends in notes.copies.values() for _, (*_, body), _ in sends.values()
        }
        path = entity.base.path
        floor.drop(
            notes.bodies,
            lambda body, _: body not in remembered and (path, body) not in floor.bodies,
        )
        floor.drop(notes.scheduled, lambda one, _: floor.is_gone(one) and one not in scheduled)
        tables: tuple[dict[Any, Any], ...] = (notes.of_ids, notes.declined, notes.taken)
        for table in tables:
            floor.drop(table, lambda _, __: True)
        if len(notes.deferred) > MOST_DEFERRED:
            notes.deferred = frozenset(sorted(notes.deferred)[-MOST_DEFERRED:])

    def _arrivals_before_scheduling(self, notes: EntityNotes) -> int:
        """Return how many messages there had been when the one at hand was scheduled."""
        known = None if self.activating is None else notes.scheduled.get(self.activating)
        return 0 if known is None else known[0]

    def _is_overtaken(self, queued: QueuedMessage, before: int) -> bool:
        """Return whether a message of the same key came since there were `before` messages."""
        message = queued.message
        line = queued.line.order[-CONSIDERED:-1]
        own = message.session_id or message.partition_key or message.message_id
        if own is None:
            return False
        for one in reversed(line):
            other = one.message
            if one in self._messages and own in (
                other.session_id,
                other.partition_key,
                other.message_id,
            ):
                return self.message(one).place >= before
        return False

    @property
    def is_forwarding(self) -> bool:
        """Whether the message at hand was forwarded."""
        return any("FWD-14" in rules for rules in self._on_the_way)

    @property
    def is_sending(self) -> bool:
        """Whether the present event sends its messages now."""
        command = self.event.command
        return isinstance(command, v.Send | v.SendBatch) and command.transaction is None

    @contextmanager
    def on_the_way(self, *rules: v.RuleId) -> Iterator[None]:
        """Let the messages that come meanwhile show these rules when they are delivered."""
        self._on_the_way.append(rules)
        try:
            yield
        finally:
            self._on_the_way.pop()

    @contextmanager
    def resumed(self, queued: QueuedMessage) -> Iterator[None]:
        """Let a message that had waited at its source bring the notes on it to where it goes."""
        notes = self.message(queued)
        self.activating, self.committing = notes.scheduled, notes.commit
        with self.on_the_way(*notes.shows):
            yield
        self.activating = self.committing = None

    def keep_out(self, subscription: Entity, rules: Rules) -> None:
        """Note that rules of a subscription did not take a message."""
        notes = self.at(subscription)
        if not set(rules) <= set(notes.kept_by):
            self.change(notes)
            notes.kept_by = tuple(dict.fromkeys((*notes.kept_by, *rules)))

    def is_gone(self, entity: Entity, body: str) -> bool:
        """Return whether an entity was given messages with this body, and has none of them."""
        bodies = self.at(entity).bodies
        return body in bodies and not any(
            one.message.body == body for one in entity.messages.values()
        )

    def keep_away(self, entity: Entity, *rules: v.RuleId) -> None:
        """Note that rules kept a message from being received from an entity."""
        notes = self.at(entity)
        if not set(rules) <= set(notes.absent):
            self.change(notes)
            notes.absent = tuple(dict.fromkeys((*notes.absent, *rules)))


class Noting(Choices):
    """A policy of the model that covers what the model does.

    Attributes:
        coverage: the coverage of the present search.
    """

    coverage: Coverage


def coverage_of(family: Family) -> Coverage:
    """Return the coverage of the search that executes a family's rules."""
    choices: Noting = family.namespace.choices  # type: ignore[assignment]  # a replay has no other
    return choices.coverage
