"""Concurrent clients that make histories with overlapping requests, whose true order is known.

Each request takes effect at one moment between its call and its return. The bus gets the requests
in the order of these moments, on a virtual clock. The history has only the calls and returns, as a
recorder on a real clock would see them.
"""

import heapq
from collections.abc import Callable
from random import Random
from typing import Final

import attrs

from busproof import vocabulary as v

__all__ = ["Habits", "without_times", "work"]

MILLISECOND: Final = v.MICROSECONDS // 1000
KEYS: Final = tuple("abcdefghijklmnop")
SESSIONS: Final = tuple("stuvwxyz")
LARGE: Final = (60_000_000, 100_000_000, 330_000_000)
"""Sizes in bytes; as many messages as sizes exceed 10^9 bytes, but not 2^30."""
QUEUES: Final = (
    v.CreateQueue(queue="keyed"),
    v.CreateQueue(queue="sessions", requires_session=True),
    v.CreateQueue(queue="detecting", duplicate_detection=True),
)


@attrs.frozen(kw_only=True)
class Habits:
    """Optional behaviour of the clients, as shares between 0 and 1.

    Attributes:
        managing: the share of requests that create, get, update or delete a queue, while no lock is
            held.
        mortal: the share of messages with a time to live; in the first queue, expired ones become
            dead letters.
        large: the share of messages that are so large that a few fill a partition.
        batching: the share of sends and receives, outside of sessions, with several messages.
        enlisting: the share of settlements that belong to a transaction.
        regular: whether the queues are not partitioned.
    """

    managing: float = 0
    mortal: float = 0
    large: float = 0
    batching: float = 0
    enlisting: float = 0
    regular: bool = False


@attrs.define
class _Worker:
    """One client: the locks, session and transaction that it holds, and its random choices."""

    name: str
    connection: str
    random: Random
    habits: Habits = Habits()
    sent: int = 0
    locks: list[tuple[str, str, int | None]] = attrs.field(factory=list)
    aside: list[int] = attrs.field(factory=list)
    session: str | None = None
    transaction: str | None = None
    staged: int = 0

    def next(self) -> v.Command:
        """Return the client's next request; it settles messages before it receives more."""
        if self.habits.enlisting and self.locks and self.random.random() < self.habits.enlisting:
            return self._begin() if self.transaction is None else self._settle_within()
        if self.locks and self.random.random() < 0.7:
            return self._settle()
        if self.transaction is not None:
            return self._within()
        if self.habits.managing and self.random.random() < self.habits.managing:
            return self._manage()
        return self.random.choices([kind for kind, _ in _KINDS], [often for _, often in _KINDS])[0](
            self
        )

    def _manage(self) -> v.Command:
        create = attrs.evolve(self.random.choice(QUEUES), partitioned=not self.habits.regular)
        made = self.random.choice((v.GetQueue, v.UpdateQueue, v.DeleteQueue, v.CreateQueue))
        if made is v.UpdateQueue:
            if self.random.random() < self.habits.mortal:
                life = self.random.choice((50, 200, 10_000)) * MILLISECOND
                return v.UpdateQueue(queue=create.queue, time_to_live=life)
            lock = self.random.choice((30, 60)) * v.MICROSECONDS
            return v.UpdateQueue(queue=create.queue, lock_duration=lock)
        return create if made is v.CreateQueue else made(queue=create.queue)

    def _send(self) -> v.Command:
        if self.habits.batching and self.random.random() < self.habits.batching:
            return self._send_several()
        return v.Send(queue="keyed", message=self._message())

    def _send_several(self) -> v.Command:
        """Return a send of several messages, usually all with the same key."""
        messages = tuple(self._message() for _ in range(self.random.choice((1, 2, 4))))
        if self.random.random() < 0.8:
            key = messages[0].partition_key
            messages = tuple(attrs.evolve(message, partition_key=key) for message in messages)
        return v.SendBatch(queue="keyed", messages=messages)

    def _send_detected(self) -> v.Command:
        return v.Send(queue="detecting", message=self._message(detected=True))

    def _send_to_session(self) -> v.Command:
        return v.Send(queue="sessions", message=self._message(session=True))

    def _receive(self) -> v.Command:
        mode = v.ReceiveMode.PEEK_LOCK
        if self.random.random() < 0.3:
            mode = v.ReceiveMode.RECEIVE_AND_DELETE
        if self.habits.batching and self.random.random() < self.habits.batching:
            return v.ReceiveBatch(queue="keyed", count=self.random.choice((1, 3)), mode=mode)
        return v.Receive(queue="keyed" if self.random.random() < 0.75 else "detecting", mode=mode)

    def _receive_dead(self) -> v.Command:
        return v.Receive(queue="keyed" + v.DEAD_LETTERS)

    def _receive_aside(self) -> v.Command:
        if not self.aside:
            return self._receive_dead()
        number = self.aside.pop(self.random.randrange(len(self.aside)))
        return v.ReceiveDeferred(queue="keyed", sequence_numbers=(number,))

    def _peek(self) -> v.Command:
        return v.Peek(queue="keyed", count=self.random.choice((1, 4)))

    def _message(self, *, session: bool = False, detected: bool = False) -> v.Message:
        small = self._small_message(session=session, detected=detected)
        if not self.habits.large or self.random.random() >= self.habits.large:
            return small
        large = attrs.evolve(small, size=self.random.choice(LARGE), stands_in=True)
        # Most large messages have one key, so that its partition is soon full.
        return large if small.partition_key is None else attrs.evolve(large, partition_key=KEYS[0])

    def _small_message(self, *, session: bool, detected: bool) -> v.Message:
        self.sent += 1
        choose = self.random.choice
        return v.Message(
            body=f"{self.name}-{self.sent}",
            session_id=choose(SESSIONS) if session else None,
            partition_key=None if session or detected else choose((None, None, *KEYS)),
            message_id=f"id-{self.random.randrange(40)}" if detected else None,
            time_to_live=self._life() if self.habits.mortal else None,
        )

    def _life(self) -> int | None:
        """Return a time to live about as long as some requests take, or none."""
        if self.random.random() >= self.habits.mortal:
            return None
        return self.random.choice((30, 100, 300)) * MILLISECOND

    def _settle(self) -> v.Command:
        queue, token, number = self.locks.pop()
        drawn = self.random.random()
        if queue == "keyed" and drawn > 0.94:
            if drawn > 0.98:
                self.locks.append((queue, token, number))
                return v.RenewLock(queue=queue, lock_token=token)
            if drawn > 0.96 and number is not None:
                self.aside.append(number)
                return v.Defer(queue=queue, lock_token=token)
            return v.DeadLetter(queue=queue, lock_token=token, reason="broken")
        kind = v.Complete if drawn < 0.85 else v.Abandon
        return kind(queue=queue, lock_token=token)

    def _in_session(self) -> v.Command:
        if self.session is None:
            self.session = self.random.choice(SESSIONS)
            return v.AcceptSession(queue="sessions", session_id=self.session)
        if self.random.random() < 0.2:
            session, self.session = self.session, None
            self.locks = [lock for lock in self.locks if lock[0] != "sessions"]
            return v.CloseSession(queue="sessions", session_id=session)
        return v.Receive(queue="sessions", session_id=self.session)

    def _begin(self) -> v.Command:
        self.transaction = f"{self.name}-t{self.sent}-{self.random.randrange(10**9)}"
        self.staged = 0
        return v.BeginTransaction(transaction=self.transaction)

    def _within(self) -> v.Command:
        name = self.transaction or ""
        if self.staged < 2:
            self.staged += 1
            message = attrs.evolve(self._message(), partition_key="a")
            return v.Send(queue="keyed", message=message, transaction=name)
        self.transaction = None
        kind = v.CommitTransaction if self.random.random() < 0.7 else v.RollBackTransaction
        return kind(transaction=name)

    def _settle_within(self) -> v.Command:
        """Return a settlement in the transaction; the client may use the lock once more later."""
        queue, token, _ = self.locks[-1]
        if self.random.random() < 0.8:
            self.locks.pop()
        kind = self.random.choice((v.Complete, v.Complete, v.Abandon, v.Defer))
        if kind is v.Defer and queue != "keyed":
            kind = v.Complete
        return kind(queue=queue, lock_token=token, transaction=self.transaction)

    def learn(self, command: v.Command, outcome: v.Outcome) -> None:
        """Remember the locks in an answer, and forget a session or transaction that was refused."""
        for view in _views_of(outcome):
            if view.lock_token:
                queue = getattr(command, "queue", "")
                self.locks.append((queue, view.lock_token, view.sequence_number))
        if isinstance(command, v.AcceptSession) and not isinstance(outcome, v.Done):
            self.session = None
        if isinstance(command, v.BeginTransaction) and not isinstance(outcome, v.Done):
            self.transaction = None


_KINDS: Final[tuple[tuple[Callable[[_Worker], v.Command], int], ...]] = (
    (_Worker._send, 27),
    (_Worker._send_detected, 6),
    (_Worker._send_to_session, 7),
    (_Worker._in_session, 20),
    (_Worker._peek, 2),
    (_Worker._begin, 2),
    (_Worker._receive, 34),
    (_Worker._receive_dead, 1),
    (_Worker._receive_aside, 1),
)
"""Requests that a client makes while it holds nothing, with their weights."""


def work(
    adapter: v.Adapter,
    profile: v.Profile,
    random: Random,
    length: int,
    clients: int,
    connections: int | None = None,
    habits: Habits = Habits(),
) -> list[v.Event]:
    """Run several clients concurrently, and return the events as a recorder sees them.

    Args:
        adapter: the adapter of the bus, on a virtual clock; it is started anew.
        profile: the profile to start it with.
        random: the source of all random choices.
        length: the number of requests after the queues are created.
        clients: the number of clients; each waits for one answer at a time.
        connections: the number of connections that they share; by default each has its own.
        habits: the optional behaviour of the clients.

    Returns:
        The events in the order of their calls, as on a real clock.
    """
    adapter.start(profile)
    scene = _Scene(adapter, random)
    workers = [
        _Worker(
            name=f"w{number}",
            connection=f"c{number % (connections or clients)}",
            random=random,
            habits=habits,
        )
        for number in range(clients)
    ]
    for create in QUEUES:
        buries = habits.mortal > 0 and create is QUEUES[0]
        made = attrs.evolve(create, dead_letter_expired=buries, partitioned=not habits.regular)
        scene.ask(workers[0], made, 0)
    scene.play(workers, length)
    return sorted(scene.events, key=lambda event: event.called)


class _Scene:
    def __init__(self, adapter: v.Adapter, random: Random) -> None:
        self._adapter = adapter
        self._random = random
        self._now = 0
        self.events: list[v.Event] = []

    def play(self, workers: list[_Worker], length: int) -> None:
        """Run the clients, each at its own pace, until this many requests were made."""
        coming = [(self._random.randrange(MILLISECOND), number) for number in range(len(workers))]
        heapq.heapify(coming)
        acting: list[tuple[int, int, int, v.Command]] = []
        called = 0
        while called < length or acting:
            if acting and (called >= length or not coming or acting[0][0] <= coming[0][0]):
                moment, number, start, command = heapq.heappop(acting)
                returned = self.ask(workers[number], command, moment, start)
                heapq.heappush(coming, (returned + self._random.randrange(MILLISECOND), number))
                continue
            start, number = heapq.heappop(coming)
            called += 1
            moment = start + self._random.randrange(1, 10 * MILLISECOND)
            heapq.heappush(acting, (moment, number, start, workers[number].next()))

    def ask(self, worker: _Worker, command: v.Command, moment: int, called: int = 0) -> int:
        """Execute a request at this moment, record it, and return the time of its answer."""
        if moment > self._now:
            self._adapter.do(v.AdvanceClock(duration=moment - self._now), worker.connection)
            self._now = moment
        observed = self._adapter.do(command, worker.connection)
        outcome = observed.outcome
        if not self._adapter.declaration.slack:
            # Without slack the recorder on a real clock does not learn when locks end.
            outcome = without_times(outcome)
        returned = moment + self._random.randrange(10 * MILLISECOND) if moment else 0
        lost = isinstance(outcome, v.Indeterminate)
        event = v.Event(
            client=worker.name,
            connection=worker.connection,
            called=called,
            returned=None if lost else returned,
            command=command,
            outcome=outcome,
            witness=observed.witness,
        )
        self.events.append(event)
        worker.learn(command, outcome)
        return returned


def _views_of(outcome: v.Outcome) -> tuple[v.MessageView, ...]:
    if isinstance(outcome, v.ReceivedSeveral):
        return outcome.messages
    return (outcome.message,) if isinstance(outcome, v.Received) else ()


def without_times(outcome: v.Outcome) -> v.Outcome:
    """Return the answer without the ends of locks, which are times of a virtual clock."""
    match outcome:
        case v.Received(message=view):
            return v.Received(message=attrs.evolve(view, locked_until=None))
        case v.ReceivedSeveral(messages=views):
            return v.ReceivedSeveral(
                messages=tuple(attrs.evolve(view, locked_until=None) for view in views)
            )
        case v.Renewed():
            return v.Renewed()
        case v.RenewedSeveral():
            return v.RenewedSeveral()
        case _:
            return outcome
