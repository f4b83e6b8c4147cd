"""The stage of a cell: a queue, what is known of its messages, and where the next request goes."""

from typing import Any, Final

import attrs

from busproof import vocabulary as v
from busproof.exploration.metamorphic.entities import Ask

__all__ = ["KEY", "LOCK", "OTHER", "QUEUE", "SESSION", "Stage"]

QUEUE: Final = "orders"
OTHER: Final = "others"
DOOR: Final = "incoming"
SESSION: Final = "s"
KEY: Final = "k"
LOCK: Final = 60 * v.MICROSECONDS
"""The lock duration of the queues, in microseconds."""


@attrs.define
class Stage:
    """A queue in a circumstance, and how the requests of an operation reach it.

    Attributes:
        ask: sends a request over a connection; `None` if it cannot be sent.
        settings: the settings of the queues.
        at: the queue that the operation is directed at.
        door: the queue that messages are sent to.
        connection: the connection of the operation.
        transaction: the transaction of the operation; `None` if it is in none.
        is_alike: whether all messages look alike.
        is_batched: whether messages are sent together with another one.
        is_copied: whether the operation sends copies of a message that was sent before.
        failures: how often a message is abandoned before the operation gets it.
        tokens: lock tokens of messages that are locked beside the operation's.
    """

    ask: Ask
    settings: dict[str, Any] = attrs.field(factory=dict)
    at: str = QUEUE
    door: str = QUEUE
    connection: str = "c1"
    transaction: str | None = None
    is_alike: bool = False
    is_batched: bool = False
    is_copied: bool = False
    failures: int = 0
    tokens: list[str] = attrs.field(factory=list)
    _sent: int = 0
    _named: int = 0
    _partition: int | None = None

    @property
    def session(self) -> str | None:
        """The session of all messages, if the queue requires sessions."""
        return SESSION if self.settings.get("requires_session") else None

    def create(self, queue: str) -> v.Event | None:
        """Create a queue with the settings; return the event."""
        return self.do(self.creation(queue))

    def creation(self, queue: str) -> v.CreateQueue:
        """Return the request that creates a queue with the settings."""
        return v.CreateQueue(queue=queue, lock_duration=LOCK, **self.settings)

    def new_name(self) -> str:
        """Return the name of a queue that does not exist."""
        self._named += 1
        return f"queue-{self._named}"

    def accept_session(self, connection: str) -> None:
        """Accept the session over a connection, if the queue requires sessions."""
        if self.session is not None:
            self.ask(v.AcceptSession(queue=QUEUE, session_id=SESSION), connection)

    def do(self, command: v.Command) -> v.Event | None:
        """Send a request over the operation's connection."""
        event = self.ask(command, self.connection)
        if event is not None:
            self._note_partition(event)
        return event

    def message(self, **properties: Any) -> v.Message:
        """Return a message that has not been sent."""
        self._sent += 1
        identity = {"message_id": str(self._sent)}
        if self.is_copied:
            identity = {"message_id": "1"}
        elif self.is_alike and not self.settings.get("duplicate_detection"):
            identity = {}
        key = {"partition_key": KEY} if self.session is None else {"session_id": SESSION}
        body = "x" if self.is_alike else f"m{self._sent}"
        return v.Message(body=body, **(key | identity | properties))

    def send(self, queue: str = "", **properties: Any) -> v.Event | None:
        """Send a message, or two together; return the event."""
        door = queue or self.door
        message = self.message(**properties)
        if self.is_batched:
            messages = (message, self.message(**properties))
            return self.do(v.SendBatch(queue=door, messages=messages, transaction=self.transaction))
        return self.do(v.Send(queue=door, message=message, transaction=self.transaction))

    def lock(self) -> v.MessageView | None:
        """Send a message and receive one under a lock; return it, if there is one."""
        self.send()
        view = self._receive()
        for _ in range(self.failures):
            if view is not None and view.lock_token is not None:
                self.do(v.Abandon(queue=QUEUE, lock_token=view.lock_token))
                view = self._receive()
        return view

    def defer(self) -> int | None:
        """Defer a message; return its number, if it is known."""
        view = self.lock()
        if view is None or view.lock_token is None:
            return None
        self.do(v.Defer(queue=QUEUE, lock_token=view.lock_token))
        return view.sequence_number

    def schedule(self, delay: int) -> int | None:
        """Schedule a message; return its number, if it is known."""
        event = self.do(v.Schedule(queue=self.door, message=self.message(), delay=delay))
        if event is None or not isinstance(event.outcome, v.Scheduled):
            return None
        return event.outcome.sequence_number

    def wait(self, duration: int) -> None:
        """Let time pass, in microseconds."""
        self.ask(v.AdvanceClock(duration=duration), "c1")

    def take_down(self) -> None:
        """Take down the partition of the messages."""
        if self._partition is not None:
            self.ask(v.TakePartitionDown(queue=QUEUE, partition=self._partition), "c1")

    def bring_up(self) -> None:
        """Bring the partition up again."""
        if self._partition is not None:
            self.ask(v.BringPartitionUp(queue=QUEUE, partition=self._partition), "c1")

    def _receive(self) -> v.MessageView | None:
        event = self.do(v.Receive(queue=QUEUE, session_id=self.session))
        if event is None or not isinstance(event.outcome, v.Received):
            return None
        return event.outcome.message

    def _note_partition(self, event: v.Event) -> None:
        """Note where the messages lie, if an answer about the queue shows it."""
        if getattr(event.command, "queue", None) != QUEUE:
            return
        if event.witness is not None:
            self._partition = event.witness.partition
        elif isinstance(event.outcome, v.Received):
            number = event.outcome.message.sequence_number
            if number is not None:
                self._partition = number >> v.SEQUENCE_BITS
