"""Short notation for runs of requests, and their execution."""

import zlib
from collections.abc import Iterable, Iterator
from typing import Any, Final, Protocol

import attrs

from busproof import vocabulary as v

__all__ = [
    "DEAD",
    "PARTITIONS",
    "QUEUE",
    "Cancelling",
    "Over",
    "Request",
    "Run",
    "Settling",
    "abandon",
    "by_number",
    "cancel",
    "complete",
    "create",
    "dead_letter",
    "defer",
    "down",
    "home",
    "over",
    "play",
    "receive",
    "renew",
    "renew_together",
    "schedule",
    "send",
    "together",
    "up",
    "wait",
]

PARTITIONS: Final = 3
"""Number of partitions of the namespaces in which these runs are played."""
QUEUE: Final = "q"
DEAD: Final = "q/$deadletterqueue"
REASON: Final = "unreadable"
"""Dead-letter reason of these runs."""


@attrs.frozen
class Settling:
    """Settle the message from the receive with this number, counted from 0."""

    kind: type[v.Settlement | v.RenewLock]
    receive: int
    queue: str = QUEUE
    within: str | None = None

    def asked(self, token: str) -> v.Command:
        """The request, once the lock is known."""
        if issubclass(self.kind, v.RenewLock):
            return v.RenewLock(queue=self.queue, lock_token=token)
        if self.kind is v.DeadLetter:
            return v.DeadLetter(
                queue=self.queue, lock_token=token, reason=REASON, transaction=self.within
            )
        return self.kind(queue=self.queue, lock_token=token, transaction=self.within)


@attrs.frozen
class ByNumber:
    """Receive, by their sequence numbers, the messages from these receives."""

    receives: tuple[int, ...]
    session_id: str | None = None
    delete: bool = False

    def asked(self, received: list[v.MessageView]) -> v.ReceiveDeferred:
        """The request, once the sequence numbers are known."""
        mode = v.ReceiveMode.RECEIVE_AND_DELETE if self.delete else v.ReceiveMode.PEEK_LOCK
        return v.ReceiveDeferred(
            queue=QUEUE,
            sequence_numbers=tuple(
                received[receive].sequence_number or 0 for receive in self.receives
            ),
            mode=mode,
            session_id=self.session_id,
        )


@attrs.frozen
class Together:
    """Settle the messages from these receives in one request, or renew their locks."""

    receives: tuple[int, ...]
    disposition: v.Disposition | None

    def asked(self, received: list[v.MessageView]) -> v.SettleBatch | v.RenewLocks:
        """The request, once the locks are known."""
        tokens = tuple(received[receive].lock_token or "none" for receive in self.receives)
        if self.disposition is None:
            return v.RenewLocks(queue=QUEUE, lock_tokens=tokens)
        return v.SettleBatch(
            queue=QUEUE, lock_tokens=tokens, disposition=self.disposition, reason=REASON
        )


@attrs.frozen
class Cancelling:
    """Cancel the scheduled message with this number, counted from 0."""

    scheduled: int

    def asked(self, numbers: list[int]) -> v.CancelScheduled:
        """The request, once the number is known."""
        return v.CancelScheduled(queue=QUEUE, sequence_number=numbers[self.scheduled])


@attrs.frozen
class Over:
    """Ask over another connection."""

    connection: str
    request: v.Command | Settling | Together | ByNumber | Cancelling


Request = v.Command | Settling | Together | ByNumber | Cancelling | Over
Run = tuple[Request, ...]


def create(*, queue: str = QUEUE, **settings: Any) -> v.CreateQueue:
    """Create the queue."""
    return v.CreateQueue(queue=queue, **settings)


def send(
    body: str,
    *,
    within: str | None = None,
    seconds: int = 60,
    queue: str = QUEUE,
    **properties: Any,
) -> v.Send:
    """Send a message; `within` names a transaction, `seconds` is the sender's timeout."""
    message = v.Message(body=body, **properties)
    return v.Send(
        queue=queue, message=message, transaction=within, timeout=seconds * v.MICROSECONDS
    )


def schedule(
    body: str, seconds: int, *, within: str | None = None, **properties: Any
) -> v.Schedule:
    """Schedule a message for this many seconds from now."""
    message = v.Message(body=body, **properties)
    delay = seconds * v.MICROSECONDS
    return v.Schedule(queue=QUEUE, message=message, delay=delay, transaction=within)


def cancel(scheduled: int) -> Cancelling:
    """Cancel the scheduled message with this number, counted from 0."""
    return Cancelling(scheduled)


def receive(
    session_id: str | None = None, *, delete: bool = False, queue: str = QUEUE
) -> v.Receive:
    """Receive a message."""
    mode = v.ReceiveMode.RECEIVE_AND_DELETE if delete else v.ReceiveMode.PEEK_LOCK
    return v.Receive(queue=queue, session_id=session_id, mode=mode)


def complete(receive: int, queue: str = QUEUE, *, within: str | None = None) -> Settling:
    """Complete the message from this receive; `within` names a transaction."""
    return Settling(v.Complete, receive, queue, within)


def abandon(receive: int, queue: str = QUEUE, *, within: str | None = None) -> Settling:
    """Abandon the message from this receive; `within` names a transaction."""
    return Settling(v.Abandon, receive, queue, within)


def dead_letter(receive: int, queue: str = QUEUE) -> Settling:
    """Dead-letter the message from this receive."""
    return Settling(v.DeadLetter, receive, queue)


def defer(receive: int) -> Settling:
    """Defer the message from this receive."""
    return Settling(v.Defer, receive)


def together(*receives: int, disposition: v.Disposition = v.Disposition.COMPLETE) -> Together:
    """Settle the messages from these receives in one request."""
    return Together(receives, disposition)


def renew_together(*receives: int) -> Together:
    """Renew the locks of the messages from these receives in one request."""
    return Together(receives, None)


def by_number(*receives: int, session_id: str | None = None, delete: bool = False) -> ByNumber:
    """Receive the messages from these receives by their sequence numbers."""
    return ByNumber(receives, session_id, delete)


def renew(receive: int) -> Settling:
    """Renew the lock of the message from this receive."""
    return Settling(v.RenewLock, receive)


def down(partition: int, queue: str = QUEUE) -> v.TakePartitionDown:
    """Take a partition down."""
    return v.TakePartitionDown(queue=queue, partition=partition)


def up(partition: int, queue: str = QUEUE) -> v.BringPartitionUp:
    """Bring a partition up."""
    return v.BringPartitionUp(queue=queue, partition=partition)


def wait(seconds: int) -> v.AdvanceClock:
    """Let time pass."""
    return v.AdvanceClock(duration=seconds * v.MICROSECONDS)


def over(connection: str, request: v.Command | Settling | ByNumber) -> Over:
    """Ask over another connection than the usual one."""
    return Over(connection, request)


def home(key: str) -> int:
    """Return the partition that a key selects under the round-robin policy."""
    return zlib.crc32(key.encode()) % PARTITIONS


class Observed(Protocol):
    """The observation of a command."""

    @property
    def outcome(self) -> v.Outcome:
        """The outcome that the client sees."""

    @property
    def witness(self) -> v.Witness | None:
        """The witness of an observer inside the bus."""


class Bus(Protocol):
    """Something that accepts one command after another."""

    def do(self, command: v.Command, connection: str) -> Observed:
        """Execute one command over the named connection."""


def play(adapter: Bus, run: Iterable[Request]) -> Iterator[v.Event]:
    """Execute one request after another and yield the outcomes."""
    received: list[v.MessageView] = []
    numbers: list[int] = []
    for request in run:
        connection, wanted = "c1", request
        if isinstance(wanted, Over):
            connection, wanted = wanted.connection, wanted.request
        if isinstance(wanted, ByNumber | Together):
            wanted = wanted.asked(received)
        if isinstance(wanted, Cancelling):
            wanted = wanted.asked(numbers)
        if isinstance(wanted, Settling):
            token = received[wanted.receive].lock_token or "none"
            wanted = wanted.asked(token)
        observed = adapter.do(wanted, connection)
        if isinstance(observed.outcome, v.Received):
            received.append(observed.outcome.message)
        if isinstance(observed.outcome, v.Scheduled):
            numbers.append(observed.outcome.sequence_number or 0)
        if isinstance(observed.outcome, v.ReceivedSeveral):
            received.extend(observed.outcome.messages)
        yield v.Event(
            connection=connection,
            command=wanted,
            outcome=observed.outcome,
            witness=observed.witness,
        )
