"""The state of a namespace, as far as what was seen tells it.

Where something is not known, the state says so instead of splitting into many states: a partition
is a set of partitions that it may be (a bit mask), a moment is a window, and a message whose
request was never answered is *uncertain*, present in some continuations and absent in others.
"""

from typing import NamedTuple

import attrs
from immutables import Map

from busproof.model.calendar import EMPTY, NEVER, Calendar, Waiting
from busproof.model.commands import AddRule, CreateQueue, RemoveRule
from busproof.model.filters import Filter
from busproof.model.heap import Heap
from busproof.model.values import Message, Profile, RuleId, Vantage, Window

__all__ = [
    "NEVER",
    "Copy",
    "Key",
    "Lock",
    "Namespace",
    "Outages",
    "Partitions",
    "Queue",
    "Receivers",
    "SessionData",
    "SessionLock",
    "Spread",
    "Staged",
    "Stored",
    "Subscription",
    "Tally",
    "Topic",
    "Transaction",
    "everywhere",
    "fresh_namespace",
    "with_queue",
]

Partitions = int
"""A set of partitions as a bit mask; bit 0 is partition 0."""


class Key(NamedTuple):
    """A partition key and the property that it was taken from."""

    taken_from: str
    value: str


@attrs.frozen
class Lock:
    """A receiver's hold on a message; it ends at some moment of `expiry`.

    `first` is when it would have ended unless it was renewed, `begun` when it was given, and
    `settlements` how many there had been of the queue's messages by then.
    """

    token: str
    expiry: Window
    session_id: str | None = None
    begun: Window = Window(0, 0)
    first: Window | None = None
    settlements: int = 0


@attrs.frozen(kw_only=True)
class Stored:
    """A message in a queue.

    Attributes:
        number: place in the order of arrival.
        message: what its sender wrote.
        key: its partition key, if it has one.
        line: the key by which it is kept in order; `None` where its place is not known for sure.
        where: the partitions that it may be in.
        certain: whether it is known to be there.
        since: how many receives the queue had seen when it became available.
        available_at: the earliest moment at which it became available.
        deliveries: how often it was handed out under a lock.
        counted: how many deliveries have surely ended without a settlement.
        uncounted: how many more of them may have.
        returned: the rule by which it was given back last, if it was.
        spent: whether it was delivered as often as it may be.
        leaving: the reasons with which requests may dead-letter it that were never answered.
        resisted: whether a settlement of it was refused, so that it has to come again.
        deferred: whether it was set aside; `None` where that is not known.
        reason: why it was dead-lettered, in a dead-letter queue.
        sequence_number: as seen; `None` until it was.
        arrived: when it came, or may have come if it was scheduled.
        came: of a message that was scheduled, the rule by which it became active.
        scheduled_number: the sequence number that it was scheduled under, if that was told.
        through: the partitions that were down when it was scheduled, or when it was due.
        overtaken: whether another of its key was sent between its scheduling and its time.
        expected: the delivery count that its next delivery in a session shows, if that is known.
        lock: the hold on it, if it is locked.
        shows: the rules besides that its being received shows.
    """

    number: int
    message: Message
    key: Key | None
    line: Key | None
    where: Partitions
    certain: bool
    since: int
    available_at: int
    deliveries: int = 0
    counted: int = 0
    uncounted: int = 0
    returned: RuleId | None = None
    spent: bool = False
    leaving: tuple[str, ...] = ()
    resisted: bool = False
    deferred: bool | None = False
    reason: str | None = None
    sequence_number: int | None = None
    arrived: Window = Window(0, 0)
    came: RuleId | None = None
    scheduled_number: int | None = None
    through: Partitions = 0
    overtaken: bool = False
    expected: int | None = None
    lock: Lock | None = None
    shows: tuple[RuleId, ...] = ()

    @property
    def available(self) -> bool:
        """Whether an ordinary receive can surely be given it, as far as it goes by the message."""
        return self.certain and self.lock is None and self.deferred is False


@attrs.frozen
class Outages:
    """Which partitions are down, and of which it is not known.

    A client knows that partitions are down, but not which of them holds what (`told` is false).
    """

    told: bool
    down: Partitions = 0
    doubt: Partitions = 0

    @property
    def any(self) -> bool:
        """Whether some partition may be down."""
        return bool(self.down | self.doubt)

    def may_hit(self, where: Partitions) -> bool:
        """Whether one of these partitions may be down."""
        hit = self.down | self.doubt
        return bool(hit & where) if self.told else bool(hit)

    def must_hit(self, where: Partitions) -> bool:
        """Whether all of these partitions are certainly down."""
        return where & ~self.down == 0

    def spared(self, where: Partitions) -> Partitions:
        """Those of the partitions that may be up."""
        return where & ~self.down if self.told else where


@attrs.frozen
class Receivers:
    """Who has received, which tells what another front end may hold in its cache (LIFE-08).

    Attributes:
        count: receives so far.
        connection: of the latest receive.
        switched: `count` when that connection's unbroken run of receives began.
        latest_at: when it was, at the latest.
        others_until: when the caches of all other connections have expired at the latest.
        lost: receives whose answer never came; each may have taken one message.
        losers: the connections of those; their front ends may fill their caches at any time.
    """

    count: int = 0
    connection: str | None = None
    switched: int = 0
    latest_at: int = 0
    others_until: int = -1
    lost: int = 0
    losers: frozenset[str] = frozenset()


class Tally(NamedTuple):
    """How many messages are available, counted so that no receive has to reset anything.

    `newest` of them became available since receive number `newest_of`, `fresh` of them since
    receive number `fresh_of`; both mean nothing once the queue has moved on to other numbers.
    """

    total: int = 0
    fresh: int = 0
    fresh_of: int = 0
    newest: int = 0
    newest_of: int = 0


@attrs.frozen
class Spread:
    """How messages without a key were spread since all partitions were last up together."""

    sent: int = 0
    used: Partitions = 0
    last: int = -1


@attrs.frozen
class SessionLock:
    """A connection's hold on a session.

    Attributes:
        connection: whose it is.
        expiry: when it ends.
        since: how many messages the queue had stored when it began.
        taken: the arrival numbers of the messages received under it.
        doubtful: whether it may have ended, or never begun, after an answer that never came.
        renewed: whether it began anew.
    """

    connection: str
    expiry: Window
    since: int = 0
    taken: Map[int, None] = Map()
    doubtful: bool = False
    renewed: bool = False

    def with_taken(self, number: int) -> "SessionLock":
        """The hold, under which one more message is locked."""
        return attrs.evolve(self, taken=self.taken.set(number, None))


@attrs.frozen
class SessionData:
    """What is stored with a session.

    Attributes:
        state: the text, `None` where there is none.
        late: texts whose storing was never answered, and that may still take its place.
        kept: whether the session was given back or lost since the text was stored.
    """

    state: str | None
    late: tuple[str | None, ...] = ()
    kept: bool = False


@attrs.frozen
class Copy:
    """A send that duplicate detection remembers.

    Attributes:
        key: of its message.
        sent: when it was sent.
        certain: whether it is remembered for sure.
        body: of its message.
        properties: its SessionId and PartitionKey.
        recovered: the entity's partitions that had come up again by then.
    """

    key: Key | None
    sent: Window
    certain: bool
    body: str = ""
    properties: tuple[str | None, str | None] = (None, None)
    recovered: Partitions = 0


@attrs.frozen
class Topic:
    """What makes an entity a topic.

    Attributes:
        subscriptions: the paths of its subscriptions, which hold its messages.
        revision: how often a subscription came to be or a rule of one changed.
        adrift: messages whose sending was never answered; they may arrive at any time.
    """

    subscriptions: tuple[str, ...] = ()
    revision: int = 0
    adrift: tuple[Message, ...] = ()


@attrs.frozen
class Subscription:
    """What makes an entity a subscription.

    Attributes:
        topic: its topic, whose partitions are its own.
        late: whether the topic had taken messages before the subscription was there.
        rules: name to what the rule takes.
        pending: changes of rules that may take effect, now, later or never.
        added: whether a rule was ever added, and
        removed: whether one was ever removed.
        revision: of the topic when the subscription or its rules changed last.
        kept_out: body to the rules by which the message was not taken.
        kept_by: all of those rules.
        taken: message without body to whether it was taken, once rules have changed.
    """

    topic: str
    late: bool = False
    rules: Map[str, Filter] = Map()
    pending: tuple[AddRule | RemoveRule, ...] = ()
    added: bool = False
    removed: bool = False
    revision: int = 0
    kept_out: Map[str, tuple[RuleId, ...]] = Map()
    kept_by: tuple[RuleId, ...] = ()
    taken: Map[Message, bool] = Map()


@attrs.frozen(kw_only=True)
class Queue:
    """One entity: a queue, or what takes the part of one for a topic or a subscription.

    Attributes:
        role: what else it is, unless it is a queue.
        settings: what it was created with.
        doubtful: whether it is not known to exist, its creation never having been answered.
        outages: its partitions that are down.
        arrivals: messages stored so far.
        messages: arrival number to message.
        bodies: body to the arrival numbers that had it, or to the rule by which it never arrived.
        ready: for each set of partitions, its available messages without a line, by number.
        lines: for each key, its available messages by arrival number.
        tallies: for each set of partitions, how many messages are available there.
        locks: lock token to arrival number.
        timers: (latest expiry, arrival number, token) of the locks.
        receivers: who has received.
        homes: key to the partitions that it may select.
        spread: how messages without a key were spread.
        copies: MessageId to the sends that had it (duplicate detection on), newest first.
        declined: MessageId to the rule by which a message that had it was not accepted.
        namesakes: MessageId to the partitions that took all messages with it, none once they
            differed (detection off).
        sessions: session id to the hold on it.
        seekers: connections that may come to hold any free session, their request for the next
            one never having been answered.
        members: session id to how many messages of it may be stored.
        states: session id to what is stored with it.
        recovered: partitions that were down and came up again.
        peeked: whether somebody has looked at its messages.
        spent: how many messages were delivered as often as they may be.
        settlements: how many messages were settled so far.
        numbers: sequence number to arrival number, of messages that were received.
        deferred: sequence number to arrival number, of messages that were ever set aside.
        latest_deferred: arrival number of the message that was set aside last.
        calendar: what is scheduled.
        tokens: every lock token that was ever given to the arrival number of its message.
        fed: whether messages were forwarded to it.
        passed: body to the messages that it forwarded, which may be its dead letters instead.
        kept_away: the rules by which messages that were forwarded are not found here.
    """

    settings: CreateQueue
    outages: Outages
    role: Topic | Subscription | None = None
    doubtful: bool = False
    arrivals: int = 0
    messages: Map[int, Stored] = Map()
    bodies: Map[str, tuple[int, ...] | RuleId] = Map()
    ready: Map[Partitions, Heap[int]] = Map()
    lines: Map[Key, Heap[int]] = Map()
    tallies: Map[Partitions, Tally] = Map()
    locks: Map[str, int] = Map()
    timers: Heap[tuple[int, int, str]] = None
    receivers: Receivers = Receivers()
    homes: Map[Key, Partitions] = Map()
    spread: Spread = Spread()
    copies: Map[str, tuple[Copy, ...]] = Map()
    declined: Map[str, RuleId] = Map()
    namesakes: Map[str, Partitions] = Map()
    sessions: Map[str, SessionLock] = Map()
    seekers: frozenset[str] = frozenset()
    members: Map[str, int] = Map()
    states: Map[str, SessionData] = Map()
    recovered: Partitions = 0
    peeked: bool = False
    spent: int = 0
    settlements: int = 0
    numbers: Map[int, int] = Map()
    deferred: Map[int, int] = Map()
    latest_deferred: int = -1
    calendar: Calendar = EMPTY
    tokens: Map[str, int] = Map()
    fed: bool = False
    passed: Map[str, tuple[Message, ...]] = Map()
    kept_away: tuple[RuleId, ...] = ()


@attrs.frozen
class Staged:
    """A message sent in a transaction that has not ended.

    `revision` is the topic's by then; `waiting` says when it is due if it is scheduled.
    """

    queue: str
    message: Message
    key: Key | None
    where: Partitions
    revision: int = 0
    waiting: Waiting | None = None


@attrs.frozen(kw_only=True)
class Transaction:
    """A transaction that has begun and not ended.

    Attributes:
        begun: when, at the earliest and latest.
        staged: what was sent in it, newest first, as nested pairs (a persistent stack).
        size: how many messages that is.
        keys: queue to the key of its first message in this transaction.
        changes: changes of rules that are to take effect with it, oldest first.
        doubtful: whether it may have been ended by a refusal or by an answer that never came.
        keyed: whether what was scheduled in it may have given it a key, which what comes after
            need not have; that makes it doubtful.
        doomed: whether its commit must be refused.
    """

    begun: Window
    staged: "tuple[Staged, object] | None" = None
    size: int = 0
    keys: Map[str, Key] = Map()
    changes: tuple[AddRule | RemoveRule, ...] = ()
    doubtful: bool = False
    keyed: bool = False
    doomed: bool = False


@attrs.frozen(kw_only=True)
class Namespace:
    """All queues and transactions, what they are held to, and the time."""

    profile: Profile
    vantage: Vantage
    now: Window = Window(0, 0)
    queues: Map[str, Queue] = Map()
    transactions: Map[str, Transaction | None] = Map()


def fresh_namespace(profile: Profile, vantage: Vantage) -> Namespace:
    """An empty namespace at time 0."""
    return Namespace(profile=profile, vantage=vantage)


def everywhere(namespace: Namespace, settings: CreateQueue) -> Partitions:
    """All partitions of a queue with these settings; a regular one is kept in a single store."""
    return (1 << namespace.profile.partitions) - 1 if settings.partitioned else 1


def with_queue(namespace: Namespace, queue: Queue) -> Namespace:
    """The namespace with one queue changed or added."""
    return attrs.evolve(namespace, queues=namespace.queues.set(queue.settings.queue, queue))
