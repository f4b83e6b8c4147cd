"""What a queue holds, and who holds it, as far as what was seen tells: messages, locks, copies."""

from typing import NamedTuple

import attrs
from immutables import Map

from busproof import vocabulary as v
from busproof.oracle.outages import Partitions
from busproof.oracle.schedule import NEVER
from busproof.oracle.window import Window

__all__ = [
    "Copy",
    "Key",
    "Lock",
    "Numbered",
    "Pledge",
    "Receivers",
    "SessionData",
    "SessionLock",
    "Spread",
    "Stored",
    "Tally",
]


class Key(NamedTuple):
    """A partition key and the property that it was taken from."""

    taken_from: str
    value: str


class Pledge(NamedTuple):
    """A settlement of a locked message that waits for its transaction's end.

    `until` is when the lock would end without it, and `reading` what it does then
    (LOCK-IN-TRANSACTION).
    """

    transaction: str
    until: Window
    reading: str

    def bounds(self) -> Window:
        """When the lock ends while the settlement waits."""
        match self.reading:
            case "ends":
                return self.until
            case "lasts":
                return Window(NEVER, NEVER)
            case _:
                return Window(self.until.earliest, NEVER)


@attrs.frozen(weakref_slot=False)
class Lock:
    """A receiver's hold on a message; it ends at some moment of `expiry`.

    `first` is when it would have ended unless it was renewed, `begun` when it was given, and
    `settlements` how many there had been of the queue's messages by then. `pledge` is the
    settlement that waits in a transaction, if one does, and `spared` says whether one was undone.
    """

    token: str
    expiry: Window
    session_id: str | None = None
    begun: Window = Window(0, 0)
    first: Window | None = None
    settlements: int = 0
    pledge: Pledge | None = None
    spared: bool = False

    def lasting(self, until: Window) -> "Lock":
        """The hold that ends at some moment of `until`, unless a settlement of it waits."""
        if self.pledge is None:
            return attrs.evolve(self, expiry=until)
        pledge = self.pledge._replace(until=until)
        return attrs.evolve(self, pledge=pledge, expiry=pledge.bounds())


class Numbered(NamedTuple):
    """A message whose sequence number was seen: its place, the number, the rest as in `Stored`."""

    arrived: int
    sent: int
    number: int
    batch: int = -1


@attrs.frozen(kw_only=True, weakref_slot=False)
class Stored:
    """A message in a queue.

    Attributes:
        number: place in the order of arrival.
        sent: how many messages had arrived when it was sent, if a transaction kept it back while
            others arrived; else `NEVER`.
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
        arrived: when it came, or may have come if it was scheduled or its send was not answered.
        came: of a message that was scheduled, the rule by which it became active.
        scheduled_number: the sequence number that it was scheduled under, if that was told.
        through: the partitions that were down when it was scheduled, or when it was due.
        overtaken: whether another of its key was sent between its scheduling and its time.
        expected: the delivery count that its next delivery in a session shows, if that is known.
        lock: the hold on it, if it is locked.
        batch: how many messages had arrived before those of its transaction; -1 if it has none.
        shows: the rules besides that its being received shows.
        dies: when its time to live ends; `None` if it never does.
        aged: whether nothing but its age makes it uncertain.
        gone: whether it has outlived that, and no receive can be given it any more.
        owed: the rule by which it has to come in the end, though it may not be here yet.
    """

    number: int
    message: v.Message
    key: Key | None
    line: Key | None
    where: Partitions
    certain: bool
    since: int
    available_at: int
    deliveries: int = 0
    counted: int = 0
    uncounted: int = 0
    returned: v.RuleId | None = None
    spent: bool = False
    leaving: tuple[str, ...] = ()
    resisted: bool = False
    deferred: bool | None = False
    reason: str | None = None
    sequence_number: int | None = None
    arrived: Window = Window(0, 0)
    came: v.RuleId | None = None
    scheduled_number: int | None = None
    through: Partitions = 0
    overtaken: bool = False
    expected: int | None = None
    lock: Lock | None = None
    sent: int = NEVER
    batch: int = -1
    shows: tuple[v.RuleId, ...] = ()
    dies: Window | None = None
    aged: bool = False
    gone: bool = False
    owed: v.RuleId | None = None

    @property
    def available(self) -> bool:
        """Whether an ordinary receive can surely be given it, as far as it goes by the message."""
        return self.certain and self.lock is None and self.deferred is False


@attrs.frozen(weakref_slot=False)
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
        deleters: the connections that received and deleted; what their front ends have cached is
            deleted too, and may be given to nobody else (CACHE-DELETE).
    """

    count: int = 0
    connection: str | None = None
    switched: int = 0
    latest_at: int = 0
    others_until: int = -1
    lost: int = 0
    losers: frozenset[str] = frozenset()
    deleters: frozenset[str] = frozenset()


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
    """How messages without a key were spread since all partitions were last up together.

    Attributes:
        sent: how many there were.
        used: the partitions that took any.
        last: the partition that took the last one; -1 if that is not known.
        turns_unknown: whether other messages may take turns at any time, unseen.
    """

    sent: int = 0
    used: Partitions = 0
    last: int = -1
    turns_unknown: bool = False

    def restarted(self) -> "Spread":
        """Return the spread before the next message, of which only unknown turns stay so."""
        return Spread(turns_unknown=self.turns_unknown)


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
