"""Knowledge of a queue's messages, locks, receives, sessions and earlier copies."""

from typing import NamedTuple

import attrs
from immutables import Map

from busproof import vocabulary as v
from busproof.oracle.evolve import evolve
from busproof.oracle.outages import Partitions
from busproof.oracle.schedule import NEVER
from busproof.oracle.window import Window


class Key(NamedTuple):
    """A partition key: the property that it was taken from, and its value."""

    taken_from: str
    value: str


class Pledge(NamedTuple):
    """A settlement of a locked message that takes effect when its transaction commits.

    `until` is when the lock would end if there were no settlement. `reading` says what happens to
    the lock until the transaction ends: it `lasts`, it `ends` in time, or either
    (LOCK-IN-TRANSACTION). `over` is the first moment at which the transaction may have ended.
    """

    transaction: str
    until: Window
    reading: str
    over: int

    def bounds(self) -> Window:
        """Return when the lock ends while the transaction runs."""
        if self.reading == "ends":
            return self.until
        # The reading is only about the lock's time. A session that was given up may have released
        # the message under any reading.
        lasts = self.reading == "lasts" and not self.may_be_released
        earliest = self.until.earliest
        return Window(max(earliest, self.over) if lasts else earliest, NEVER)

    @property
    def may_be_released(self) -> bool:
        """Whether the lock may have ended for a reason other than its time."""
        # The window begins before all times if the session was given up.
        return self.until.earliest == -NEVER


@attrs.frozen(weakref_slot=False)
class Lock:
    """A receiver's lock on a message; it ends at some moment in `expiry`.

    `first` is its end before any renewal, `begun` when it began, and `settlements` how many
    settlements the queue had seen by then. `pledge` is the settlement that waits in a transaction,
    if any, and `spared` is true if a settlement of it was rolled back.
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
        """Return the lock with another end, which takes effect later if a settlement waits."""
        if self.pledge is None:
            return evolve(self, expiry=until)
        pledge = self.pledge._replace(until=until)
        return evolve(self, pledge=pledge, expiry=pledge.bounds())


class Numbered(NamedTuple):
    """A message whose sequence number was seen, with its place among other messages.

    `arrived` is its arrival number, `sent` and `batch` are those fields of `Stored`, `number` is
    the sequence number, and `when` is the time of its arrival.
    """

    arrived: int
    sent: int
    number: int
    batch: int = -1
    when: Window = Window(0, 0)


@attrs.frozen(kw_only=True, weakref_slot=False)
class Stored:
    """A message in a queue, and what is known of it.

    Attributes:
        number: its arrival number, its position in the order of arrival.
        sent: how many messages had arrived when it was sent, if a transaction delayed its arrival
            and others arrived meanwhile; otherwise `NEVER`.
        message: the sent message.
        key: its partition key, if it has one.
        line: the key or session within which messages stay in order; `None` if its position is
            uncertain.
        where: the partitions that it may be in.
        certain: whether it surely exists and is in this queue.
        since: how many receives the queue had seen when the message became available; a later
            receive may have put it into a front end's cache.
        available_at: the earliest time at which it became available.
        deliveries: how often it was delivered under a lock.
        counted: how many deliveries have surely ended without a settlement.
        uncounted: how many more deliveries may have ended without a settlement.
        returned: the rule by which its last lock ended, if it became available again.
        spent: whether it reached its delivery limit.
        leaving: the reasons of unanswered requests that may have dead-lettered it.
        resisted: whether a settlement of it was refused for a lost lock, so that it has to be
            redelivered.
        deferred: whether it was deferred; `None` if unknown.
        reason: in a dead-letter queue, why it was dead-lettered.
        sequence_number: its sequence number; `None` until one was seen.
        arrived: when it arrived; the window has no end if it was scheduled or never answered.
        came: the rule that activated it, if it was scheduled.
        scheduled_number: the sequence number that it had while it was scheduled, if known.
        through: the partitions that were down when it was scheduled or when it was due.
        overtaken: whether another message of its key was sent after it was scheduled and before it
            was due.
        expected: the delivery count that its next delivery in a session has to show, if known.
        lock: its lock, if it is locked.
        batch: how many messages had arrived before the first of its transaction; -1 if it was sent
            outside of one.
        shows: further rules that count as exercised when it is delivered.
        dies: when it expires; `None` if it never does.
        aged: whether it is uncertain for the only reason that its time to live may have passed.
        gone: whether it has expired and cannot be received any more.
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

    @property
    def available(self) -> bool:
        """Whether a receive surely finds it: it is there, not locked and not deferred."""
        # `deferred` is `None` if an unanswered request may have deferred the message.
        return self.certain and self.lock is None and self.deferred is False


@attrs.frozen(weakref_slot=False)
class Receivers:
    """Receives of a queue so far, which bound what other front ends may have cached (LIFE-08).

    Attributes:
        count: how many receives there were.
        connection: the connection of the latest receive.
        switched: `count` when that connection began to be the only receiver.
        latest_at: the latest time at which the latest receive may have happened.
        others_until: the latest time at which a front end of another connection may still have a
            cache.
        lost: how many receives were never answered; each may have taken one message.
        unanswered_receivers: the connections of these receives; their front ends may fill their
            caches at any time.
        deleters: connections that received in ReceiveAndDelete; messages that their front ends
            cached are deleted too, and may never be given to a receiver (CACHE-DELETE).
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
    """Number of available messages, kept so that a receive need not reset any count.

    Of the `total`, `newest` became available since receive number `newest_of`, and `fresh` since
    receive number `fresh_of`. A count whose receive number is outdated is void.
    """

    total: int = 0
    fresh: int = 0
    fresh_of: int = 0
    newest: int = 0
    newest_of: int = 0


@attrs.frozen
class Spread:
    """Distribution of messages without a key, since its count last began anew.

    Attributes:
        sent: how many messages there were since then.
        used: the partitions that took one of them.
        last: the partition that took the last one; -1 if unknown.
        turns_unknown: whether unobserved messages may take a turn at any time.
    """

    sent: int = 0
    used: Partitions = 0
    last: int = -1
    turns_unknown: bool = False

    def restarted(self) -> "Spread":
        """Return the distribution as if nothing had been sent; turns that are unknown stay so."""
        return Spread(turns_unknown=self.turns_unknown)


@attrs.frozen
class SessionLock:
    """A connection's lock on a session.

    Attributes:
        connection: the connection that holds it.
        expiry: when it ends.
        since: how many messages the queue had stored when the lock began.
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
    """The state of a session, a text that a client sets.

    Attributes:
        state: the text, `None` if there is none.
        late: the texts in unanswered requests, which may still replace it.
        kept: whether the session was given up or lost since the text was set, and the text
            survived.
    """

    state: str | None
    late: tuple[str | None, ...] = ()
    kept: bool = False


@attrs.frozen
class Copy:
    """A send that duplicate detection remembers, to compare later sends with.

    Attributes:
        key: the message's partition key.
        sent: when it was sent.
        certain: whether the bus surely remembers it.
        body: its message's body.
        properties: the message's SessionId and PartitionKey.
        recovered: the entity's partitions that had come up again by the time of the send.
    """

    key: Key | None
    sent: Window
    certain: bool
    body: str = ""
    properties: tuple[str | None, str | None] = (None, None)
    recovered: Partitions = 0
