"""Playing random commands on an adapter, from small universes so that they collide."""

import time
from collections.abc import Callable
from random import Random
from typing import Final

import attrs

from busproof.adapters.base import Adapter, Capability
from busproof.model.commands import (
    Abandon,
    AcceptNextSession,
    AcceptSession,
    AdvanceClock,
    BeginTransaction,
    BringPartitionUp,
    CloseSession,
    Command,
    CommitTransaction,
    Complete,
    CreateQueue,
    GetSessionState,
    ListSessions,
    Peek,
    Receive,
    RenewSessionLock,
    RollBackTransaction,
    Send,
    SetSessionState,
    TakePartitionDown,
)
from busproof.model.outcomes import Done, Event, Indeterminate, Peeked, Received
from busproof.model.values import MICROSECONDS, Clock, Message, Profile, ReceiveMode

__all__ = ["play"]

QUEUES: Final = ("plain", "detecting", "sessions", "regular")
KEYS: Final = (None, None, "a", "b", "c")
IDS: Final = (None, "x", "y", "z")
CONNECTIONS: Final = ("c1", "c2")
TIMEOUTS: Final = (60 * MICROSECONDS, 60 * MICROSECONDS, 10 * MICROSECONDS)
BODIES_REPEATED: Final = 0.1


@attrs.define
class _Player:
    """What the next commands may refer to."""

    random: Random
    profile: Profile
    lock: int
    bodies: int = 0
    transactions: int = 0
    open: list[str] = attrs.field(factory=list)
    locks: list[tuple[str, str]] = attrs.field(factory=list)

    def queue(self) -> str:
        return self.random.choice(QUEUES)

    def partition(self) -> int:
        return self.random.randrange(self.profile.partitions)

    def session(self) -> str:
        return self.random.choice("abc")

    def message(self, queue: str) -> Message:
        session, key = self.random.choice(KEYS), self.random.choice(KEYS)
        if queue == "sessions" and self.random.random() < 0.8:
            session = self.session()
        if session is not None and self.random.random() < 0.6:
            key = self.random.choice((None, session))
        if self.random.random() >= BODIES_REPEATED:
            self.bodies += 1
        return Message(
            body=f"m{self.bodies}",
            session_id=session,
            partition_key=key,
            message_id=self.random.choice(IDS),
        )

    def send(self) -> Command:
        queue = self.queue()
        inside = self.open and self.random.random() < 0.3
        return Send(
            queue=queue,
            message=self.message(queue),
            timeout=self.random.choice(TIMEOUTS),
            transaction=self.random.choice(self.open) if inside else None,
        )

    def receive(self) -> Command:
        queue = self.queue()
        mode = self.random.choice((*[ReceiveMode.PEEK_LOCK] * 3, ReceiveMode.RECEIVE_AND_DELETE))
        session = self.session() if queue == "sessions" else None
        return Receive(queue=queue, mode=mode, session_id=session)

    def settle(self) -> Command:
        if not self.locks:
            return self.receive()
        queue, token = self.random.choice(self.locks)
        if self.random.random() < 0.7:
            self.locks.remove((queue, token))
        kind = self.random.choice((Complete, Complete, Abandon))
        return kind(queue=queue, lock_token=token)

    def session_command(self) -> Command:
        session = self.session()
        state = self.random.choice((None, "one", "two"))
        made: list[Command] = [
            AcceptSession(queue="sessions", session_id=session),
            AcceptSession(queue="sessions", session_id=session),
            AcceptNextSession(queue="sessions"),
            RenewSessionLock(queue="sessions", session_id=session),
            CloseSession(queue="sessions", session_id=session),
            SetSessionState(queue="sessions", session_id=session, state=state),
            GetSessionState(queue="sessions", session_id=session),
            ListSessions(queue="sessions"),
            Peek(queue="sessions", session_id=session, count=3),
        ]
        return self.random.choice(made)

    def transaction(self) -> Command:
        if not self.open or self.random.random() < 0.4:
            self.transactions += 1
            self.open.append(f"t{self.transactions}")
            return BeginTransaction(transaction=self.open[-1])
        name = self.random.choice(self.open)
        self.open.remove(name)
        kind = self.random.choice((CommitTransaction, CommitTransaction, RollBackTransaction))
        return kind(transaction=name)

    def outage(self) -> Command:
        kind = self.random.choice((TakePartitionDown, BringPartitionUp, BringPartitionUp))
        return kind(queue=self.queue(), partition=self.partition())

    def pause(self) -> Command:
        return AdvanceClock(
            duration=self.random.choice((1, self.lock // 3, self.lock, 3 * self.lock))
        )

    def next(self) -> Command:
        """Any command of the vocabulary; sending and receiving are the most frequent."""
        kinds: list[tuple[Callable[[], Command], int]] = [
            (self.send, 9),
            (self.receive, 8),
            (self.settle, 5),
            (lambda: Peek(queue=self.queue(), count=self.random.choice((1, 5))), 2),
            (self.session_command, 6),
            (self.transaction, 3),
            (self.outage, 2),
            (self.pause, 2),
        ]
        return self.random.choices([kind for kind, _ in kinds], [n for _, n in kinds])[0]()

    def learn(self, event: Event) -> None:
        """Remember the locks that were handed out."""
        queue = getattr(event.command, "queue", "")
        if isinstance(event.outcome, Received) and event.outcome.message.lock_token:
            self.locks.append((queue, event.outcome.message.lock_token))


def _creations(lock: int) -> list[CreateQueue]:
    window = 2 * lock
    return [
        CreateQueue(queue="plain", lock_duration=lock, max_delivery_count=3),
        CreateQueue(
            queue="detecting", lock_duration=lock, duplicate_detection=True, duplicate_window=window
        ),
        CreateQueue(queue="sessions", lock_duration=lock, requires_session=True),
        CreateQueue(queue="regular", lock_duration=lock, partitioned=False),
    ]


def play(
    adapter: Adapter,
    profile: Profile,
    random: Random,
    length: int,
    lock: int = 30 * MICROSECONDS,
) -> list[Event]:
    """Play `length` random commands over two connections and tell what came of them.

    Args:
        adapter: the implementation, which is started anew; it must have every capability that
            does not need a client library.
        profile: what it is started with.
        random: the source of all choices.
        length: commands after the queues were created.
        lock: the queues' lock duration in microseconds; other times are fractions of it.

    Raises:
        AdapterError: the adapter broke.
    """
    if Capability.OUTAGES not in adapter.declaration.capabilities:
        raise AssertionError("sequences take partitions down")
    adapter.start(profile)
    player = _Player(random=random, profile=profile, lock=lock)
    recorder = _Recorder(adapter)
    events = [recorder.ask(creation, "c1") for creation in _creations(lock)]
    for _ in range(length):
        event = recorder.ask(player.next(), random.choice(CONNECTIONS))
        player.learn(event)
        events.append(event)
    return events


class _Recorder:
    def __init__(self, adapter: Adapter) -> None:
        self._adapter = adapter
        self._virtual = adapter.declaration.clock is Clock.VIRTUAL
        self._now = 0
        self._started = time.monotonic()

    def _time(self) -> int:
        if self._virtual:
            return self._now
        return int((time.monotonic() - self._started) * MICROSECONDS)

    def ask(self, command: Command, connection: str) -> Event:
        called = self._time()
        if isinstance(command, AdvanceClock) and not self._virtual:
            time.sleep(command.duration / MICROSECONDS)
            return Event(
                called=called, returned=self._time(), command=Peek(queue="plain"), outcome=Peeked()
            )
        observed = self._adapter.do(command, connection)
        if isinstance(command, AdvanceClock) and isinstance(observed.outcome, Done):
            self._now += command.duration
        lost = isinstance(observed.outcome, Indeterminate)
        return Event(
            client=connection,
            connection=connection,
            called=called,
            returned=None if lost else self._time(),
            command=command,
            outcome=observed.outcome,
            witness=observed.witness,
        )
