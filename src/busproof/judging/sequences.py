"""Random sequences of commands that are generated in advance and depend only on a seed.

Answers are not known then, so a lock is named by the receive that may get it, as in a file of
commands.
"""

from collections.abc import Callable
from random import Random
from typing import Final

import attrs

from busproof import vocabulary as v
from busproof.history.replay import RecordedCommand
from busproof.judging.liveness import PAUSE, TRIES

__all__ = ["sequence"]

_S: Final = v.MICROSECONDS
_CREATIONS: Final[tuple[v.Command, ...]] = (
    v.CreateQueue(queue="plain", lock_duration=30 * _S, max_delivery_count=2, max_size=1),
    v.CreateQueue(
        queue="regular", partitioned=False, time_to_live=90 * _S, dead_letter_expired=True
    ),
    v.CreateQueue(queue="sessions", requires_session=True, lock_duration=30 * _S),
    v.CreateQueue(queue="detecting", duplicate_detection=True, duplicate_window=60 * _S),
    v.CreateQueue(queue="source", forward_to="plain"),
    v.CreateTopic(topic="news"),
    v.CreateSubscription(topic="news", subscription="a"),
    v.CreateSubscription(topic="news", subscription="b", forward_to="detecting"),
)
_SENT_TO: Final = ("plain", "regular", "sessions", "detecting", "source", "news")
_SUBSCRIPTION: Final = "news/subscriptions/a"
_SESSIONS: Final = ("s", "s", "s", "t")
_DURATIONS: Final = (1, 5 * _S, 20 * _S, 40 * _S, 70 * _S)
_LARGE: Final = 600_000_000
"""Size in bytes; two messages of it fill a partition."""

_FAITHFUL: Final = 0.8
"""Share of the commands that are about the theme of the sequence."""


@attrs.define
class _Author:
    """Author of one sequence: what is written so far, and the random choices."""

    random: Random
    partitions: int
    theme: "_Theme"
    written: list[RecordedCommand] = attrs.field(factory=list)
    receives: list[tuple[int, str]] = attrs.field(factory=list)
    transactions: int = 0

    def add(self, *commands: v.Command) -> None:
        """Add commands, all on the same one of two connections."""
        connection = "c1" if self.random.random() < 0.8 else "c2"
        for command in commands:
            number = len(self.written) + 1
            if isinstance(command, v.Receive) and command.mode is v.ReceiveMode.PEEK_LOCK:
                self.receives.append((number, command.queue))
            recorded = RecordedCommand(number=number, connection=connection, command=command)
            self.written.append(recorded)

    def go_on(self) -> None:
        """Add the next command, or a short series of them, usually about the theme."""
        writers = self.theme.writers if self.random.random() < _FAITHFUL else _WRITERS
        often = [share for share, _ in writers]
        commands = self.random.choices([writer for _, writer in writers], often)[0](self)
        self.add(*(commands if isinstance(commands, tuple) else (commands,)))

    def queue(self) -> str:
        """Return a destination, usually one of the theme's."""
        faithful = self.random.random() < _FAITHFUL
        return self.random.choice(self.theme.queues if faithful else _SENT_TO)

    def entity(self) -> str:
        """Return an entity to receive from: a queue, its dead-letter queue, or a subscription."""
        queue = self.queue()
        if queue in ("news", "source"):
            return self.random.choice((_SUBSCRIPTION, "plain", "source"))
        return queue + v.DEAD_LETTERS if self.random.random() < 0.15 else queue

    def message(self, queue: str) -> v.Message:
        """Return a message whose key is one of a few, so that keys recur."""
        choose = self.random.choice
        needs = queue == "sessions" or self.random.random() < 0.1
        session = choose(_SESSIONS) if needs else None
        large = self.random.random() < self.theme.large
        return v.Message(
            body=f"m{len(self.written)}",
            session_id=session,
            partition_key=choose((None, None, "k", "l", session)),
            message_id=choose((None, "1", "1", "2")),
            size=_LARGE if large else None,
            stands_in=large,
            time_to_live=choose((None, None, 30 * _S)),
        )

    def settled(self, kind: Callable[..., v.Command]) -> v.Command:
        """Return a settlement of the message that one of the last two receives may get."""
        if not self.receives:
            return kind(queue="plain", lock_token="never given")  # noqa: S106 - no secret
        number, queue = self.random.choice(self.receives[-2:])
        return kind(queue=queue, lock_token=f"@{number}")

    def of_session(self, kind: Callable[..., v.Command]) -> v.Command:
        """Return a command about a session."""
        return kind(queue="sessions", session_id=self.random.choice(_SESSIONS))

    def transaction(self) -> str:
        """Return the name of the latest transaction, or of one that never began."""
        return f"t{self.transactions}"


_Writer = Callable[[_Author], v.Command | tuple[v.Command, ...]]
"""Function that writes a command, or a series that random choices would hardly produce."""

_Writers = tuple[tuple[int, _Writer], ...]


@attrs.frozen
class _Theme:
    """Theme of a sequence: what most of its commands are about.

    Attributes:
        queues: the destinations of its sends.
        writers: the functions that write its commands, each with its weight.
        large: the share of messages that are large.
        awaited: the entity that the sequence ends by receiving from, over two minutes; empty if it
            does not.
    """

    queues: tuple[str, ...]
    writers: _Writers
    large: float = 0.05
    awaited: str = ""


def _send(author: _Author) -> v.Command:
    queue = author.queue()
    timeout = author.random.choice((10, 60)) * _S
    return v.Send(queue=queue, message=author.message(queue), timeout=timeout)


def _send_within(author: _Author) -> v.Command:
    queue = author.queue()
    return v.Send(queue=queue, message=author.message(queue), transaction=author.transaction())


def _schedule(author: _Author) -> v.Command:
    queue = author.queue()
    delay = author.random.choice((0, 10, 30)) * _S
    return v.Schedule(queue=queue, message=author.message(queue), delay=delay)


def _receive(author: _Author) -> v.Command:
    if author.random.random() < 0.2:
        return v.Receive(queue=author.entity(), mode=v.ReceiveMode.RECEIVE_AND_DELETE)
    return v.Receive(queue=author.entity())


def _begin(author: _Author) -> v.Command:
    author.transactions += 1
    return v.BeginTransaction(transaction=author.transaction())


def _peek(author: _Author) -> v.Command:
    return v.Peek(queue=author.entity(), count=author.random.choice((1, 3)))


def _update(author: _Author) -> v.Command:
    queue = author.queue()
    if author.random.random() < 0.3:
        return v.UpdateQueue(queue=queue, partitioned=author.random.random() < 0.5)
    return v.UpdateQueue(queue=queue, lock_duration=author.random.choice((20, 400)) * _S)


def _get(author: _Author) -> v.Command:
    return v.GetQueue(queue=author.queue())


def _down(author: _Author) -> v.Command:
    partition = author.random.randrange(author.partitions)
    return v.TakePartitionDown(queue=author.queue(), partition=partition)


def _up(author: _Author) -> v.Command:
    partition = author.random.randrange(author.partitions)
    return v.BringPartitionUp(queue=author.queue(), partition=partition)


def _advance(author: _Author) -> v.Command:
    return v.AdvanceClock(duration=author.random.choice(_DURATIONS))


def _set_state(author: _Author) -> v.Command:
    session_id, state = author.random.choice(_SESSIONS), author.random.choice(("x", "y", None))
    return v.SetSessionState(queue="sessions", session_id=session_id, state=state)


def _commit(author: _Author) -> v.Command:
    return v.CommitTransaction(transaction=author.transaction())


def _roll_back(author: _Author) -> v.Command:
    return v.RollBackTransaction(transaction=author.transaction())


def _close_while_delivered(author: _Author) -> tuple[v.Command, ...]:
    """SESS-09: close a session while its message is locked, then receive the message again."""
    session_id = author.random.choice(_SESSIONS)
    message = v.Message(body=f"m{len(author.written)}", session_id=session_id)
    accept = v.AcceptSession(queue="sessions", session_id=session_id)
    receive = v.Receive(queue="sessions", session_id=session_id)
    close = v.CloseSession(queue="sessions", session_id=session_id)
    return v.Send(queue="sessions", message=message), accept, receive, close, accept, receive


def _send_to_nowhere(author: _Author) -> tuple[v.Command, ...]:
    """FWD-20: send to a queue whose destination was deleted, and look for the message there."""
    message = v.Message(body=f"m{len(author.written)}")
    look = author.random.choice((v.Receive(queue="source"), v.Peek(queue="source")))
    destination = _CREATIONS[0]
    return v.DeleteQueue(queue="plain"), v.Send(queue="source", message=message), look, destination


_SETTLEMENTS: Final[_Writers] = (
    (3, lambda author: author.settled(v.Complete)),
    (5, lambda author: author.settled(v.Abandon)),
    (2, lambda author: author.settled(v.DeadLetter)),
    (2, lambda author: author.settled(v.Defer)),
    (1, lambda author: author.settled(v.RenewLock)),
)
_OF_SESSIONS: Final[_Writers] = (
    (5, lambda author: author.of_session(v.Receive)),
    (4, lambda author: author.of_session(v.AcceptSession)),
    (1, lambda _: v.AcceptNextSession(queue="sessions")),
    (1, lambda author: author.of_session(v.RenewSessionLock)),
    (2, lambda author: author.of_session(v.CloseSession)),
    (1, lambda author: author.of_session(v.GetSessionState)),
    (1, _set_state),
    (1, lambda _: v.ListSessions(queue="sessions")),
)
_OF_TRANSACTIONS: Final[_Writers] = ((2, _begin), (12, _send_within), (2, _commit), (1, _roll_back))
_OUTAGES: Final[_Writers] = ((2, _down), (2, _up))
_MANAGEMENT: Final[_Writers] = (
    (4, _get),
    (1, lambda _: v.ListQueues()),
    (2, _update),
    (1, lambda author: v.DeleteQueue(queue=author.queue())),
    (2, lambda author: author.random.choice(_CREATIONS)),
)
_TRAFFIC: Final[_Writers] = ((8, _send), (8, _receive), (1, _peek))
_TIME: Final[_Writers] = ((3, _advance), (2, _schedule))

_WRITERS: Final = (
    *(_TRAFFIC + _TIME + _SETTLEMENTS + _OF_SESSIONS),
    *(_OF_TRANSACTIONS + _OUTAGES + _MANAGEMENT),
)
"""Functions that write every kind of command, with their weights."""

_THEMES: Final = (
    _Theme(("plain",), (*_TRAFFIC, *_OUTAGES, (2, _peek), (1, _get))),
    _Theme(("plain",), _TRAFFIC + _SETTLEMENTS + _SETTLEMENTS + ((2, _advance),)),
    _Theme(
        ("sessions",),
        ((8, _send), *_OF_SESSIONS, *_SETTLEMENTS, (2, _advance), (1, _close_while_delivered)),
    ),
    _Theme(("detecting",), ((8, _send), (6, _receive), (3, _advance), (3, _get))),
    _Theme(("plain", "detecting"), (*_OF_TRANSACTIONS, (3, _receive), *_OUTAGES)),
    _Theme(("regular",), (*_TRAFFIC, *_TIME, *_TIME, *_SETTLEMENTS, (3, _get))),
    _Theme(("plain", "regular"), (*_MANAGEMENT, (8, _send), (3, _receive)), large=0.6),
    _Theme(("news", "source"), (*_TRAFFIC, *_TIME, (1, _send_to_nowhere))),
    _Theme(("source",), ((8, _send), (2, _schedule)), large=0, awaited="plain"),
)


def sequence(seed: int, length: int, partitions: int) -> tuple[RecordedCommand, ...]:
    """Return a sequence of commands, after those that create its entities.

    Args:
        seed: the seed of all random choices; successive seeds use the themes in turn.
        length: the number of commands after the creations.
        partitions: the number of partitions of a partitioned entity.
    """
    random = Random(seed)  # noqa: S311 - repeatable choices, not secrets
    author = _Author(random, partitions, _THEMES[seed % len(_THEMES)])
    for command in _CREATIONS:
        author.add(command)
    waiting = _waiting(author.theme.awaited) if author.theme.awaited else ()
    if len(waiting) >= length:
        waiting = ()
    end = len(author.written) + length - len(waiting)
    while len(author.written) < end:
        author.go_on()
    del author.written[end:]
    for command in waiting:
        author.add(command)
    return tuple(author.written)


def _waiting(queue: str) -> tuple[v.Command, ...]:
    """Return enough receives for a missing message to be overdue."""
    receive = v.Receive(queue=queue, mode=v.ReceiveMode.RECEIVE_AND_DELETE)
    return (v.AdvanceClock(duration=PAUSE), receive) * (TRIES + 1)
