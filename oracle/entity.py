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
        revision: how often a subscription was created or a rule of one changed.
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
        late: whether the topic had accepted messages before the subscription existed.
        rules: name to filter.
        actions: name to action, for rules that have one.
        acted: whether there ever was such a rule.
        pending: changes of rules that may take effect now, later or never.
        added: whether a rule was ever added.
        removed: whether one was ever removed.
        asked_in_transaction: whether a transaction was asked to change its rules.
        revision: the topic's at the last change of the subscription or its rules.
        kept_out: body to the rules that excluded the message.
        kept_by: all of those rules.
        taken: message without body to whether it was taken, once rules have changed.
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
        role: what else it is, unless it is a queue.
        in_order: whether all its messages are one line (REGULAR-ORDER).
        settings: its settings at creation.
        doubtful: whether its existence is uncertain, because its creation was never answered.
        outages: its partitions that are down.
        arrivals: messages stored so far.
        messages: arrival number to message.
        bodies: body to the arrival numbers that had it, or to the rule that kept it from arriving.
        lines: for each key, its available messages by arrival number.
        tallies: for each set of partitions, how many messages are available there.
        locks: lock token to arrival number.
        timers: (latest expiry, arrival number, token) of the locks.
        receivers: the connections that have received.
        homes: key to the partitions that it may select.
        spread: the distribution of messages without a key.
        copies: MessageId to the sends that had it (duplicate detection on); for one key the last
            certain one comes before uncertain ones.
        declined: MessageId to the rule that refused a message with it.
        message_id_partitions: MessageId to the partitions that took all messages with it, none once
            they differed (detection off).
        sessions: session id to its lock.
        unanswered_accept_next: connections that may come to hold any free session, because their
            AcceptNextSession was never answered.
        members: session id to how many messages of it may be stored.
        states: session id to its state.
        recovered: partitions that were down and came up again.
        outage: the time span of the last outage, with all partitions up before and after.
        spent: how many messages reached their delivery limit.
        settlements: how many messages were settled so far.
        requests: the kinds of requests that were made of it, or tried, which its violations blame:
            `peeks`, `batches`, `deletions` of several messages, settlements or renewals of several
            `locks`, and settlements in `transactions`.
        numbers: sequence number to arrival number, of messages that were received.
        latest_numbers: for each line, its message whose sequence number was learned last.
        latest_number: the sequence number seen last, in any line.
        deferred: sequence number to arrival number, of messages that were ever deferred.
        unanswered_deferred: sequence numbers in receives of deferred messages that were never
            answered.
        latest_deferred: arrival number of the message deferred last.
        calendar: its scheduled messages.
        tokens: every lock token ever given to the arrival number of its message.
        fed: whether messages were forwarded to it.
        passed: body to the messages that it forwarded, which may be its dead letters instead.
        kept_away: the rules that keep forwarded messages away from here.
        room: the storage that its messages use.
        managed: its history of management requests.
        deaths: the expiry times of its messages.
        fronts: for each set of partitions, the messages surely stored there, by arrival number.
        outlasted: partition to how many messages had arrived when it last went down.
        packing_due: number of unpacked bodies, tokens and numbers at which those of settled
            messages are compressed.
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
        """Return the belief with one more kind of `requests`."""
        if kind in self.requests:
            return self
        return evolve(self, requests=self.requests | {kind})


def is_unsure(queue: Queue) -> bool:
    """Return whether the queue may not exist, or only in part."""
    return queue.doubtful or bool(queue.managed.partially_applied)
