"""Random sequences of commands, made up before anybody is asked: the same seed, the same sequence.

A lock is named by the receive that may be given it, as in a file of commands.
"""

from collections.abc import Callable
from random import Random
from typing import Final

import attrs

from busproof.history.commands import Asked
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
    CreateSubscription,
    CreateTopic,
    DeadLetter,
    Defer,
    DeleteQueue,
    GetQueue,
    GetSessionState,
    ListQueues,
    ListSessions,
    Peek,
    Receive,
    RenewLock,
    RenewSessionLock,
    RollBackTransaction,
    Schedule,
    Send,
    SetSessionState,
    TakePartitionDown,
    UpdateQueue,
)
from busproof.model.values import DEAD_LETTERS, MICROSECONDS, Message, ReceiveMode

__all__ = ["sequence"]

_S: Final = MICROSECONDS
_PARTITIONS: Final = 4
"""Few of the namespace's, so that outages hit what is there."""

_CREATIONS: Final[tuple[Command, ...]] = (
    CreateQueue(queue="plain", lock_duration=30 * _S, max_delivery_count=2),
    CreateQueue(queue="regular", partitioned=False, time_to_live=90 * _S, dead_letter_expired=True),
    CreateQueue(queue="sessions", requires_session=True, lock_duration=30 * _S),
    CreateQueue(queue="detecting", duplicate_detection=True, duplicate_window=60 * _S),
    CreateQueue(queue="source", forward_to="plain"),
    CreateTopic(topic="news"),
    CreateSubscription(topic="news", subscription="a"),
    CreateSubscription(topic="news", subscription="b", forward_to="detecting"),
)
_SENT_TO: Final = ("plain", "regular", "sessions", "detecting", "source", "news")
_RECEIVED_FROM: Final = (
    *("plain", "plain", "regular", "detecting", "news/subscriptions/a"),
    "plain" + DEAD_LETTERS,
    "regular" + DEAD_LETTERS,
)
_SESSIONS: Final = ("s", "t")
_DURATIONS: Final = (1, 5 * _S, 20 * _S, 40 * _S, 70 * _S)
_LARGE: Final = 600_000_000
"""Bytes, two of which fill a partition."""


@attrs.define
class _Author:
    """What has been written of a sequence so far; a theme makes some commands far more likely."""

    random: Random
    written: list[Asked] = attrs.field(factory=list)
    receives: list[tuple[int, str]] = attrs.field(factory=list)
    transactions: int = 0

    def add(self, command: Command) -> None:
        """Ask this next, over one of two connections."""
        connection = "c1" if self.random.random() < 0.8 else "c2"
        number = len(self.written) + 1
        locks = isinstance(command, Receive) and command.mode is ReceiveMode.PEEK_LOCK
        if isinstance(command, Receive) and locks:
            self.receives.append((number, command.queue))
        self.written.append(Asked(number=number, connection=connection, command=command))

    def message(self, queue: str) -> Message:
        """A message with few keys, so that they meet."""
        choose = self.random.choice
        needs = queue == "sessions" or self.random.random() < 0.1
        session = choose(_SESSIONS) if needs else None
        return Message(
            body=f"m{len(self.written)}",
            session_id=session,
            partition_key=choose((None, None, "k", "l", session)),
            message_id=choose((None, "1", "2")),
            size=_LARGE if self.random.random() < 0.05 else None,
            time_to_live=choose((None, None, None, None, 30 * _S)),
        )

    def settled(self, kind: Callable[..., Command]) -> Command:
        """Settle what one of the latest receives may have been given."""
        if not self.receives:
            return kind(queue="plain", lock_token="never given")  # noqa: S106 - no secret
        number, queue = self.random.choice(self.receives[-3:])
        return kind(queue=queue, lock_token=f"@{number}")

    def of_session(self, kind: Callable[..., Command]) -> Command:
        """Ask this of a session."""
        return kind(queue="sessions", session_id=self.random.choice(_SESSIONS))

    def transaction(self) -> str:
        """The transaction that began last, or one that never did."""
        return f"t{self.transactions}"


def _send(author: _Author) -> Command:
    queue = author.random.choice(_SENT_TO)
    timeout = author.random.choice((10, 60)) * _S
    return Send(queue=queue, message=author.message(queue), timeout=timeout)


def _send_within(author: _Author) -> Command:
    queue = author.random.choice(("plain", "regular", "sessions", "detecting"))
    return Send(queue=queue, message=author.message(queue), transaction=author.transaction())


def _schedule(author: _Author) -> Command:
    queue = author.random.choice(_SENT_TO)
    delay = author.random.choice((0, 10, 30)) * _S
    return Schedule(queue=queue, message=author.message(queue), delay=delay)


def _receive(author: _Author) -> Command:
    queue = author.random.choice(_RECEIVED_FROM)
    rarely = author.random.random() < 0.2
    mode = ReceiveMode.RECEIVE_AND_DELETE if rarely else ReceiveMode.PEEK_LOCK
    return Receive(queue=queue, mode=mode)


def _begin(author: _Author) -> Command:
    author.transactions += 1
    return BeginTransaction(transaction=author.transaction())


def _peek(author: _Author) -> Command:
    queue = author.random.choice((*_RECEIVED_FROM, "sessions"))
    return Peek(queue=queue, count=author.random.choice((1, 3)))


def _update(author: _Author) -> Command:
    lock = author.random.choice((20, 50, 400)) * _S
    return UpdateQueue(queue=author.random.choice(_SENT_TO), lock_duration=lock)


def _switch(kind: Callable[..., Command]) -> "_Writer":
    def write(author: _Author) -> Command:
        queue = author.random.choice(_SENT_TO)
        return kind(queue=queue, partition=author.random.randrange(_PARTITIONS))

    return write


_Writer = Callable[[_Author], Command]

_WRITERS: Final[tuple[tuple[int, _Writer], ...]] = (
    (24, _send),
    (4, _send_within),
    (2, _schedule),
    (20, _receive),
    (5, lambda author: author.of_session(Receive)),
    (5, lambda author: author.of_session(AcceptSession)),
    (1, lambda _: AcceptNextSession(queue="sessions")),
    (1, lambda author: author.of_session(RenewSessionLock)),
    (1, lambda author: author.of_session(CloseSession)),
    (1, lambda author: author.of_session(GetSessionState)),
    (
        1,
        lambda author: SetSessionState(
            queue="sessions",
            session_id=author.random.choice(_SESSIONS),
            state=author.random.choice(("x", "y", None)),
        ),
    ),
    (1, lambda _: ListSessions(queue="sessions")),
    (5, lambda author: author.settled(Complete)),
    (5, lambda author: author.settled(Abandon)),
    (2, lambda author: author.settled(DeadLetter)),
    (1, lambda author: author.settled(Defer)),
    (1, lambda author: author.settled(RenewLock)),
    (3, _begin),
    (3, lambda author: CommitTransaction(transaction=author.transaction())),
    (1, lambda author: RollBackTransaction(transaction=author.transaction())),
    (6, lambda author: AdvanceClock(duration=author.random.choice(_DURATIONS))),
    (2, _switch(TakePartitionDown)),
    (3, _switch(BringPartitionUp)),
    (4, _peek),
    (2, lambda author: GetQueue(queue=author.random.choice(_SENT_TO))),
    (1, lambda _: ListQueues()),
    (1, _update),
    (1, lambda author: DeleteQueue(queue=author.random.choice(_SENT_TO[:4]))),
    (2, lambda author: author.random.choice(_CREATIONS)),
)
"""What is asked, and how often."""


def sequence(seed: int, length: int) -> tuple[Asked, ...]:
    """So many commands after those that create what they are about."""
    author = _Author(Random(seed))  # noqa: S311 - repeatable, no secrets
    for command in _CREATIONS:
        author.add(command)
    often = [share for share, _ in _WRITERS]
    writers = [writer for _, writer in _WRITERS]
    for writer in author.random.choices(writers, often, k=length):
        author.add(writer(author))
    return tuple(author.written)
