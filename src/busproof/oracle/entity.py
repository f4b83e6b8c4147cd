"""Beliefs about one entity: a queue, topic, subscription or dead-letter queue."""

from collections.abc import Iterator

import attrs
from immutables import Map

from busproof import vocabulary as v
from busproof.oracle.arrivals import Passed
from busproof.oracle.evolve import evolve
from busproof.oracle.expiry_index import NO_DEATHS, Deaths
from busproof.oracle.heap import Heap
from busproof.oracle.outages import Outages, Partitions
from busproof.oracle.packed_map import NO_ENTRIES, PackedMap
from busproof.oracle.queued_messages import (
    Copy,
    Key,
    Numbered,
    Receivers,
    SessionData,
    SessionLock,
    Spread,
    Stored,
    Tally,
)
from busproof.oracle.registry import Managed, as_created
from busproof.oracle.schedule import EMPTY, NEVER, Calendar
from busproof.oracle.storage_used import NO_ROOM_TAKEN, Room
from busproof.oracle.window import Window


@attrs.frozen
class Topic:
    """Role of an entity that is a topic.

    Attributes:
        subscriptions: the paths of its subscriptions, which hold its messages.
        revision: a counter that rises when a subscription is created or one of its rules changes.
        unanswered_sends: messages of unanswered sends, which may arrive at any time.
        copiers: how many rules with an action were ever added to its subscriptions.
        parted: whether a subscription of it was ever deleted.
    """

    subscriptions: tuple[str, ...] = ()
    revision: int = 0
    unanswered_sends: tuple[v.Message, ...] = ()
    copiers: int = 0
    parted: bool = False


@attrs.frozen
class Subscription:
    """Role of an entity that is a subscription.

    Attributes:
        topic: its topic, whose partitions it shares.
        late: whether the topic had accepted messages before the subscription was created.
        rules: name to filter.
        actions: name to action, for rules that have one.
        acted: whether the subscription ever had a rule with an action.
        pending: changes of rules that may take effect now, later or never.
        added: whether a rule was ever added.
        removed: whether one was ever removed.
        asked_in_transaction: whether a transaction ever contained a change of its rules.
        revision: the topic's revision at the last change of this subscription or its rules.
        kept_out: body of a message to the rules that exclude it from the subscription.
        kept_by: all rules in `kept_out`.
        taken: message, without its body, to whether the subscription took it; filled once rules
            have changed, to see whether equal messages are still treated alike (FILTER-20).
    """

    topic: str
    late: bool = False
    rules: Map[str, v.Filter] = Map()
    actions: Map[str, str] = Map()
    acted: bool = False
    pending: tuple[v.AddRule | v.RemoveRule, ...] = ()
    added: bool = False
    removed: bool = False
    asked_in_transaction: bool = False
    revision: int = 0
    kept_out: Map[str, tuple[v.RuleId, ...]] = Map()
    kept_by: tuple[v.RuleId, ...] = ()
    taken: Map[v.Message, bool] = Map()


@attrs.frozen(kw_only=True, slots=False)
class Queue:
    """Belief about one entity: a queue, topic, subscription or dead-letter queue.

    Attributes:
        role: its role if it is a topic or a subscription; `None` for a queue.
        in_order: whether all its messages must be received in the order of their sending
            (REGULAR-ORDER).
        settings: its settings at creation.
        doubtful: whether its existence is uncertain, because its creation was never answered.
        outages: which of its partitions are down, or may be.
        arrivals: how many messages were stored so far; the next one gets this arrival number.
        messages: arrival number to message.
        bodies: body to the arrival numbers of the messages that had it, or to the rule that keeps
            such a message from being here.
        lines: key or session to its available messages by arrival number, which have to come in
            order.
        tallies: for each set of partitions, how many available messages are in one of them.
        locks: lock token to arrival number.
        timers: (latest end of the lock, arrival number, lock token), soonest first.
        receivers: the receives so far, which bound what front ends may have cached.
        homes: key to the partitions that it may select.
        spread: how messages without a key were distributed to partitions.
        copies: with duplicate detection, MessageId to the sends that had it; for each key the last
            certain one comes before uncertain ones.
        declined: MessageId to the rule that refused a message with it.
        message_id_partitions: without duplicate detection, MessageId to the partitions common to
            all messages with it; none once they differed.
        sessions: session id to the lock on the session.
        unanswered_accept_next: connections whose AcceptNextSession was never answered; each may
            come to hold any free session.
        members: session id to how many messages of it may be stored.
        states: session id to its state.
        recovered: partitions that were down once and came up again.
        outage: the time span of the last outage, from the first partition down to the last one up.
        spent: how many messages reached their delivery limit.
        settlements: how many messages were settled so far.
        requests: the kinds of requests that this entity has had, so that a violation can be charged
            to them: `peeks`, `batches`, `deletions` of several messages, settlements or renewals of
            several `locks`, and settlements in `transactions`.
        numbers: sequence number to arrival number, for messages whose number was seen.
        latest_numbers: for each line, the message whose sequence number was learned last.
        latest_number: the sequence number seen last, in any line.
        deferred: sequence number to arrival number, for messages that were ever deferred.
        unanswered_deferred: the sequence numbers that unanswered receives of deferred messages
            named.
        latest_deferred: arrival number of the message deferred last.
        calendar: its scheduled messages.
        tokens: lock token to arrival number, for all locks that were ever given.
        fed: whether messages were ever forwarded to it.
        passed: body to the messages that it forwarded; each may instead have become a dead letter
            here.
        kept_away: the rules that kept some forwarded message from arriving here.
        room: the storage that its messages use.
        managed: its history of management requests.
        deaths: index of the times at which its messages expire.
        fronts: for each set of partitions, the messages surely stored there, by arrival number.
        outlasted: partition to the number of messages that had arrived when it last went down.
        packing_due: number of uncompressed bodies and tokens at which those of settled messages
            are compressed.
    """

    settings: v.CreateQueue
    outages: Outages
    role: Topic | Subscription | None = None
    in_order: bool = False
    doubtful: bool = False
    arrivals: int = 0
    messages: Map[int, Stored] = Map()
    bodies: PackedMap[str, tuple[int, ...] | v.RuleId] = NO_ENTRIES
    lines: Map[Key, Heap[int]] = Map()
    tallies: Map[Partitions, Tally] = Map()
    locks: Map[str, int] = Map()
    timers: Heap[tuple[int, int, str]] = None
    receivers: Receivers = attrs.field(factory=Receivers)
    homes: Map[Key, Partitions] = Map()
    spread: Spread = attrs.field(factory=Spread)
    copies: Map[str, tuple[Copy, ...]] = Map()
    declined: Map[str, v.RuleId] = Map()
    message_id_partitions: Map[str, Partitions] = Map()
    sessions: Map[str, SessionLock] = Map()
    unanswered_accept_next: frozenset[str] = frozenset()
    members: Map[str, int] = Map()
    states: Map[str, SessionData] = Map()
    recovered: Partitions = 0
    outage: Window = Window(NEVER, -NEVER)
    spent: int = 0
    settlements: int = 0
    requests: frozenset[str] = frozenset()
    numbers: PackedMap[int, int] = NO_ENTRIES
    latest_numbers: Map[Key, Numbered] = Map()
    latest_number: int | None = None
    deferred: Map[int, int] = Map()
    unanswered_deferred: Map[int, bool] = Map()
    latest_deferred: int = -1
    calendar: Calendar = EMPTY
    tokens: PackedMap[str, int] = NO_ENTRIES
    fed: bool = False
    passed: Map[str, tuple[Passed, ...]] = Map()
    kept_away: tuple[v.RuleId, ...] = ()
    room: Room = NO_ROOM_TAKEN
    managed: Managed = attrs.field(
        default=attrs.Factory(lambda self: as_created(self.settings), takes_self=True)
    )
    deaths: Deaths = NO_DEATHS
    fronts: Map[Partitions, Heap[int]] = Map()
    outlasted: Map[int, int] = Map()
    packing_due: int = attrs.field(default=0, eq=False)

    def with_body(self, body: str) -> Iterator[Stored]:
        """Yield the messages with this body that may be here, oldest first."""
        numbers = self.bodies.get(body, ())
        for number in numbers if isinstance(numbers, tuple) else ():
            if (stored := self.messages.get(number)) is not None:
                yield stored

    def asked(self, kind: str) -> "Queue":
        """Return the entity with one more kind of request in `requests`."""
        if kind in self.requests:
            return self
        return evolve(self, requests=self.requests | {kind})


def is_unsure(queue: Queue) -> bool:
    """Return whether the entity may not exist, or may exist in some of its partitions only."""
    return queue.doubtful or bool(queue.managed.partially_applied)
