"""Contents of a queue and their holders, as far as observed: messages, locks, copies."""

from typing import NamedTuple

import attrs
from immutables import Map

from busproof import vocabulary as v
from busproof.oracle.evolve import evolve
from busproof.oracle.outages import Partitions
from busproof.oracle.schedule import NEVER
from busproof.oracle.window import Window


class Key(NamedTuple):
    """A partition key: its property and its value."""

    taken_from: str
    value: str


class Pledge(NamedTuple):
    """A settlement of a locked message that waits for the end of its transaction.

    `until` is when the lock would end without it, and `reading` what happens to the lock then
    (LOCK-IN-TRANSACTION).
    """

    transaction: str
    until: Window
    reading: str

    def bounds(self) -> Window:
        """Return when the lock ends while the settlement waits."""
        if self.reading == "ends":
            return self.until
        # The readings are about the time of a lock: a session that was given up may have released
        # the message all the same.
        lasts = self.reading == "lasts" and not self.may_be_released
        return Window(NEVER if lasts else self.until.earliest, NEVER)

    @property
    def may_be_released(self) -> bool:
        """Whether the lock may have ended for another reason than its time."""
        return self.until.earliest == -NEVER


@attrs.frozen(weakref_slot=False)
class Lock:
    """A receiver's lock of a message; it ends at some time of `expiry`.

    `first` is its end without renewals, `begun` its start, and `settlements` the number of
    settlements in the queue by then. `pledge` is the settlement waiting in a transaction, if any,
    and `spared` is true if one was undone.
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
        """Return the lock with its end in `until`, unless a settlement of it waits."""
        if self.pledge is None:
            return evolve(self, expiry=until)
        pledge = self.pledge._replace(until=until)
        return evolve(self, pledge=pledge, expiry=pledge.bounds())


class Numbered(NamedTuple):
    """A message whose sequence number was seen: arrival number, sequence number, other fields."""

    arrived: int
    sent: int
    number: int
    batch: int = -1


@attrs.frozen(kw_only=True, weakref_slot=False)
class Stored:
    """A message in a queue.

    Attributes:
        number: its position in the order of arrival.
        sent: how many messages had arrived when it was sent, if a transaction delayed it while
            others arrived; otherwise `NEVER`.
        message: the sent message.
        key: its partition key, if it has one.
        line: the key whose messages stay in order; `None` if its position is uncertain.
        where: the partitions that it may be in.
        certain: whether it surely exists.
        since: how many receives the queue had seen when it became available.
        available_at: the earliest time at which it became available.
        deliveries: how often it was given under a lock.
        counted: how many deliveries have surely ended without a settlement.
        uncounted: how many more of them may have.
        returned: the rule of its last release, if it was released.
        spent: whether it reached its delivery limit.
        leaving: the reasons in unanswered requests to dead-letter it.
        resisted: whether a settlement of it was refused, so that it has to be delivered again.
        deferred: whether it was deferred; `None` if unknown.
        reason: why it was dead-lettered, in a dead-letter queue.
        sequence_number: as seen; `None` until it was.
        arrived: when it arrived, or may have if it was scheduled or unanswered.
        came: of a scheduled message, the rule that activated it.
        scheduled_number: its sequence number while it was scheduled, if known.
        through: the partitions that were down when it was scheduled, or when it was due.
        overtaken: whether another of its key was sent between its scheduling and its time.
        expected: the delivery count that its next delivery in a session shows, if known.
        lock: its lock, if it is locked.
        batch: how many messages had arrived before those of its transaction; -1 without one.
        shows: further rules that its delivery exercises.
        dies: when it expires; `None` if it never does.
        aged: whether it is uncertain only because of its age.
        gone: whether it has expired and cannot be received any more.
        owed: the rule by which it must arrive eventually, though it may not be here yet.
    """

    number: int
    message: v.Message
    key: Key | None = None
    line: Key | None = None
    where: Partitions = 0
    certain: bool = False
    since: int = 0
    available_at: int = 0
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
        """Whether the message's state surely permits an ordinary receive."""
        return self.certain and self.lock is None and self.deferred is False


@attrs.frozen(weakref_slot=False)
class Receivers:
    """Receives so far, which bound the caches of other front ends (LIFE-08).

    Attributes:
        count: receives so far.
        connection: the connection of the latest receive.
        switched: `count` when that connection's unbroken run of receives began.
        latest_at: the latest time of that receive.
        others_until: when the caches of all other connections have expired at the latest.
        lost: unanswered receives; each may have taken one message.
        unanswered_receivers: their connections, whose front ends may fill their caches at any time.
        deleters: connections that received and deleted; messages cached by their front ends are
            deleted too, and may be given to no receiver (CACHE-DELETE).
    """

    count: int = 0
    connection: str | None = None
    switched: int = 0
    latest_at: int = 0
    others_until: int = -1
    lost: int = 0
    unanswered_receivers: frozenset[str] = frozenset()
    deleters: frozenset[str] = frozenset()


class Tally(NamedTuple):
    """Number of available messages, counted without a reset at each receive.

    `newest` of them became available since receive number `newest_of`, `fresh` of them since
    receive number `fresh_of`; both are void once the queue has moved on to other numbers.
    """

    total: int = 0
    fresh: int = 0
    fresh_of: int = 0
    newest: int = 0
    newest_of: int = 0


@attrs.frozen
class Spread:
    """Distribution of messages without a key since all partitions were last up together.

    Attributes:
        sent: their number.
        used: the partitions that took any.
        last: the partition that took the last one; -1 if unknown.
        turns_unknown: whether unobserved messages may take turns at any time.
    """

    sent: int = 0
    used: Partitions = 0
    last: int = -1
    turns_unknown: bool = False

    def restarted(self) -> "Spread":
        """Return the spread before the next message; only unknown turns are kept."""
        return Spread(turns_unknown=self.turns_unknown)


@attrs.frozen
class SessionLock:
    """A connection's lock of a session.

    Attributes:
        connection: its holder.
        expiry: when it ends.
        since: how many messages the queue had stored when it began.
        taken: the arrival numbers of the messages received under it.
        doubtful: whether it may have ended, or never begun, because of an unanswered request.
        renewed: whether it was renewed.
    """

    connection: str
    expiry: Window
    since: int = 0
    taken: Map[int, None] = Map()
    doubtful: bool = False
    renewed: bool = False

    def with_taken(self, number: int) -> "SessionLock":
        """Return the lock with one more message received under it."""
        return evolve(self, taken=self.taken.set(number, None))


@attrs.frozen
class SessionData:
    """The state of a session.

    Attributes:
        state: the text, `None` if there is none.
        late: texts of unanswered requests, which may still replace it.
        kept: whether the session was released or lost since the text was set.
    """

    state: str | None
    late: tuple[str | None, ...] = ()
    kept: bool = False


@attrs.frozen
class Copy:
    """A send that duplicate detection remembers.

    Attributes:
        key: its message's key.
        sent: when it was sent.
        certain: whether it is surely remembered.
        body: its message's body.
        properties: its SessionId and PartitionKey.
        recovered: the entity's partitions that had come up again by then.
    """

    key: Key | None
    sent: Window
    certain: bool
    body: str = ""
    properties: tuple[str | None, str | None] = (None, None)
    recovered: Partitions = 0
