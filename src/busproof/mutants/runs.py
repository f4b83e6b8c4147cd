"""Short notation for runs of requests, and their execution."""

import zlib
from collections.abc import Iterable, Iterator
from typing import Any, Final, Protocol

import attrs

from busproof import vocabulary as v

PARTITIONS: Final = 3
"""Number of partitions of the namespaces in which these runs are played."""
QUEUE: Final = "q"
DEAD: Final = "q/$deadletterqueue"
REASON: Final = "unreadable"
"""Dead-letter reason of these runs."""


@attrs.frozen
class Known:
    """Messages that earlier answers of a run returned, and numbers of scheduled ones."""

    messages: list[v.MessageView] = attrs.field(factory=list)
    scheduled: list[int] = attrs.field(factory=list)

    def token(self, receive: int) -> str:
        """Return the lock token of the message from the receive with this number."""
        return self.messages[receive].lock_token or "none"

    def learn(self, outcome: v.Outcome) -> None:
        """Add the messages and numbers in an answer."""
        if isinstance(outcome, v.Received):
            self.messages.append(outcome.message)
        if isinstance(outcome, v.ReceivedSeveral):
            self.messages.extend(outcome.messages)
        if isinstance(outcome, v.Scheduled):
            self.scheduled.append(outcome.sequence_number or 0)


@attrs.frozen
class Settling:
    """A settlement of the message from the receive with this number, counted from 0."""

    kind: type[v.Settlement | v.RenewLock]
    receive: int
    queue: str = QUEUE
    within: str | None = None

    def make_command(self, known: Known) -> v.Command:
        """Return the command, with the lock token that the receive returned."""
        token = known.token(self.receive)
        if issubclass(self.kind, v.RenewLock):
            return v.RenewLock(queue=self.queue, lock_token=token)
        if self.kind is v.DeadLetter:
            return v.DeadLetter(
                queue=self.queue, lock_token=token, reason=REASON, transaction=self.within
            )
        return self.kind(queue=self.queue, lock_token=token, transaction=self.within)


@attrs.frozen
class ByNumber:
    """A receive, by their sequence numbers, of the messages from these receives."""

    receives: tuple[int, ...]
    session_id: str | None = None
    delete: bool = False

    def make_command(self, known: Known) -> v.Command:
        """Return the command, with the sequence numbers that the receives returned."""
        mode = v.ReceiveMode.RECEIVE_AND_DELETE if self.delete else v.ReceiveMode.PEEK_LOCK
        views = (known.messages[receive] for receive in self.receives)
        numbers = tuple(view.sequence_number or 0 for view in views)
        return v.ReceiveDeferred(
            queue=QUEUE, sequence_numbers=numbers, mode=mode, session_id=self.session_id
        )


@attrs.frozen
class Together:
    """One request that settles the messages from these receives, or renews their locks."""

    receives: tuple[int, ...]
    disposition: v.Disposition | None

    def make_command(self, known: Known) -> v.Command:
        """Return the command, with the lock tokens that the receives returned."""
        tokens = tuple(map(known.token, self.receives))
        if self.disposition is None:
            return v.RenewLocks(queue=QUEUE, lock_tokens=tokens)
        return v.SettleBatch(
            queue=QUEUE, lock_tokens=tokens, disposition=self.disposition, reason=REASON
        )


@attrs.frozen
class Cancelling:
    """A cancellation of the scheduled message with this number, counted from 0."""

    scheduled: int

    def make_command(self, known: Known) -> v.Command:
        """Return the command, with the sequence number that the bus assigned."""
        return v.CancelScheduled(queue=QUEUE, sequence_number=known.scheduled[self.scheduled])


@attrs.frozen
class Over:
    """A request over another connection."""

    connection: str
    request: "Once"


Once = v.Command | Settling | Together | ByNumber | Cancelling
Request = Once | Over
Run = tuple[Request, ...]


def create(*, queue: str = QUEUE, **settings: Any) -> v.CreateQueue:
    """Return the command that creates a queue."""
    return v.CreateQueue(queue=queue, **settings)


def send(
    body: str,
    *,
    within: str | None = None,
    seconds: int = 60,
    queue: str = QUEUE,
    **properties: Any,
) -> v.Send:
    """Return a send; `within` names its transaction, `seconds` is the sender's timeout."""
    message = v.Message(body=body, **properties)
    return v.Send(
        queue=queue, message=message, transaction=within, timeout=seconds * v.MICROSECONDS
    )


def schedule(
    body: str, seconds: int, *, within: str | None = None, **properties: Any
) -> v.Schedule:
    """Return a request that schedules a message for so many seconds from now."""
    message = v.Message(body=body, **properties)
    delay = seconds * v.MICROSECONDS
    return v.Schedule(queue=QUEUE, message=message, delay=delay, transaction=within)


def cancel(scheduled: int) -> Cancelling:
    """Return a cancellation of the scheduled message with this number, counted from 0."""
    return Cancelling(scheduled)


def receive(
    session_id: str | None = None, *, delete: bool = False, queue: str = QUEUE
) -> v.Receive:
    """Return a receive."""
    mode = v.ReceiveMode.RECEIVE_AND_DELETE if delete else v.ReceiveMode.PEEK_LOCK
    return v.Receive(queue=queue, session_id=session_id, mode=mode)


def complete(receive: int, queue: str = QUEUE, *, within: str | None = None) -> Settling:
    """Return a completion of the message from this receive; `within` names its transaction."""
    return Settling(v.Complete, receive, queue, within)


def abandon(receive: int, queue: str = QUEUE, *, within: str | None = None) -> Settling:
    """Return an abandon of the message from this receive; `within` names its transaction."""
    return Settling(v.Abandon, receive, queue, within)


def dead_letter(receive: int, queue: str = QUEUE) -> Settling:
    """Return a request that dead-letters the message from this receive."""
    return Settling(v.DeadLetter, receive, queue)


def defer(receive: int) -> Settling:
    """Return a request that defers the message from this receive."""
    return Settling(v.Defer, receive)


def together(*receives: int, disposition: v.Disposition = v.Disposition.COMPLETE) -> Together:
    """Return one request that settles the messages from these receives."""
    return Together(receives, disposition)


def renew_together(*receives: int) -> Together:
    """Return one request that renews the locks of the messages from these receives."""
    return Together(receives, None)


def by_number(*receives: int, session_id: str | None = None, delete: bool = False) -> ByNumber:
    """Return a request for the messages that these receives got, by their sequence numbers."""
    return ByNumber(receives, session_id, delete)


def renew(receive: int) -> Settling:
    """Return a renewal of the lock on the message from this receive."""
    return Settling(v.RenewLock, receive)


def down(partition: int, queue: str = QUEUE) -> v.TakePartitionDown:
    """Return a request that takes a partition down."""
    return v.TakePartitionDown(queue=queue, partition=partition)


def up(partition: int, queue: str = QUEUE) -> v.BringPartitionUp:
    """Return a request that brings a partition up."""
    return v.BringPartitionUp(queue=queue, partition=partition)


def wait(seconds: int) -> v.AdvanceClock:
    """Return a request that lets time pass."""
    return v.AdvanceClock(duration=seconds * v.MICROSECONDS)


def over(connection: str, request: Once) -> Over:
    """Return the request, sent over a second connection."""
    return Over(connection, request)


def home(key: str) -> int:
    """Return the partition that a key selects under the round-robin policy."""
    return zlib.crc32(key.encode()) % PARTITIONS


class Observed(Protocol):
    """Result of a command: the outcome, and the witness."""

    @property
    def outcome(self) -> v.Outcome:
        """The outcome that the client sees."""

    @property
    def witness(self) -> v.Witness | None:
        """The partition that an observer inside the bus saw."""


class Executor(Protocol):
    """A bus that executes one command after another."""

    def do(self, command: v.Command, connection: str) -> Observed:
        """Execute one command over the named connection."""


def play(adapter: Executor, run: Iterable[Request]) -> Iterator[v.Event]:
    """Execute the requests in order, and yield their outcomes."""
    known = Known()
    for request in run:
        connection = "c1"
        wanted = request
        if isinstance(wanted, Over):
            connection = wanted.connection
            wanted = wanted.request
        if isinstance(wanted, Settling | Together | ByNumber | Cancelling):
            wanted = wanted.make_command(known)
        observed = adapter.do(wanted, connection)
        known.learn(observed.outcome)
        yield v.Event(
            connection=connection,
            command=wanted,
            outcome=observed.outcome,
            witness=observed.witness,
        )
