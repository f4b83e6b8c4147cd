"""The state of a namespace, as far as what was seen tells it.

Where something is not known, the state says so instead of splitting into many states: a partition
is a set of partitions that it may be (a bit mask), a moment is a window, and a message whose
request was never answered is *uncertain*, present in some continuations and absent in others.
"""

from typing import NamedTuple

import attrs
from immutables import Map

from busproof.model.commands import CreateQueue
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
    "Tally",
    "Transaction",
    "everywhere",
    "fresh_namespace",
    "with_queue",
]

Partitions = int
"""A set of partitions as a bit mask; bit 0 is partition 0."""

NEVER: int = 2**62
"""A moment after every other one."""


class Key(NamedTuple):
    """A partition key and the property that it was taken from."""

    taken_from: str
    value: str


@attrs.frozen
class Lock:
    """A receiver's hold on a message; it ends at some moment of `expiry`."""

    token: str
    expiry: Window
    session_id: str | None = None


@attrs.frozen(kw_only=True)
class Stored:
    """A message in a queue.

    Attributes:
        number: place in the order of arrival.
        sent: how many messages had arrived when it was sent: its number, but for one that a
            transaction kept back while others arrived.
        message: what its sender wrote.
        key: its partition key, if it has one.
        line: the key by which it is kept in order; `None` where its place is not known for sure.
        where: the partitions that it may be in.
        certain: whether it is known to be there.
        since: how many receives the queue had seen when it became available.
        available_at: the earliest moment at which it became available.
        deliveries: how often it was received.
        returned: the rule by which it was given back last, if it was.
        sequence_number: as seen; `None` until it was.
        counted: the delivery count that its next delivery in a session shows, if that is known.
        lock: the hold on it, if it is locked.
    """

    number: int
    sent: int
    message: Message
    key: Key | None
    line: Key | None
    where: Partitions
    certain: bool
    since: int
    available_at: int
    deliveries: int = 0
    returned: RuleId | None = None
    sequence_number: int | None = None
    counted: int | None = None
    lock: Lock | None = None


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
    """A send that duplicate detection remembers: its key, when it was sent, whether for sure."""

    key: Key | None
    sent: Window
    certain: bool


@attrs.frozen(kw_only=True)
class Queue:
    """One queue.

    Attributes:
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
        namesakes: MessageId to the partitions that took all messages with it, none once they
            differed (detection off).
        sessions: session id to the hold on it.
        seekers: connections that may come to hold any free session, their request for the next
            one never having been answered.
        members: session id to how many messages of it may be stored.
        states: session id to what is stored with it.
        recovered: partitions that were down and came up again.
        peeked: whether somebody has looked at its messages.
    """

    settings: CreateQueue
    outages: Outages
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
    namesakes: Map[str, Partitions] = Map()
    sessions: Map[str, SessionLock] = Map()
    seekers: frozenset[str] = frozenset()
    members: Map[str, int] = Map()
    states: Map[str, SessionData] = Map()
    recovered: Partitions = 0
    peeked: bool = False


@attrs.frozen
class Staged:
    """A message sent in a transaction that has not ended, when `arrivals` had arrived."""

    queue: str
    arrivals: int
    message: Message
    key: Key | None
    where: Partitions


@attrs.frozen(kw_only=True)
class Transaction:
    """A transaction that has begun and not ended.

    Attributes:
        begun: when, at the earliest and latest.
        staged: what was sent in it, newest first, as nested pairs (a persistent stack).
        size: how many messages that is.
        keys: queue to the key of its first message in this transaction.
        doubtful: whether it may have been ended by a refusal or by an answer that never came.
        doomed: whether its commit must be refused.
    """

    begun: Window
    staged: "tuple[Staged, object] | None" = None
    size: int = 0
    keys: Map[str, Key] = Map()
    doubtful: bool = False
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
