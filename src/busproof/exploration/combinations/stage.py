"""The stage of a cell: a queue or a subscription, its messages, and where the next request goes."""

from collections.abc import Callable, Mapping
from typing import Any, Final

import attrs

from busproof import vocabulary as v
from busproof.exploration.metamorphic.entities import Ask

__all__ = [
    "DOOR",
    "FILTERED_SUBSCRIPTION",
    "KEY",
    "LOCK",
    "OTHER",
    "PLAIN_QUEUE",
    "PLAIN_SUBSCRIPTION",
    "QUEUE",
    "SESSION",
    "SUBSCRIPTION",
    "TOPIC",
    "Home",
    "Stage",
]

QUEUE: Final = "orders"
OTHER: Final = "others"
DOOR: Final = "incoming"
TOPIC: Final = "news"
SUBSCRIPTION: Final = "readers"
OTHERS: Final = "others"
RED: Final = "colour = 'red'"
BLUE: Final = v.CorrelationFilter(properties={"colour": "blue"})
SESSION: Final = "s"
KEY: Final = "k"
LOCK: Final = 60 * v.MICROSECONDS
"""The lock duration of the queues, in microseconds."""


@attrs.frozen
class Home:
    """What holds the messages of a stage.

    Attributes:
        path: the path that messages are received from.
        door: the name of the queue or topic that messages are sent to.
        make: creates it; returns the event of its first request.
        properties: the application properties of its messages.
    """

    path: str
    door: str
    make: "Callable[[Stage], v.Event | None]"
    properties: Mapping[str, str] = attrs.field(factory=dict)


def _make_queue(stage: "Stage") -> v.Event | None:
    return stage.create(QUEUE)


def _make_subscription(stage: "Stage") -> v.Event | None:
    topic = attrs.fields_dict(v.CreateTopic)
    created = stage.do(
        v.CreateTopic(
            topic=TOPIC,
            **{name: value for name, value in stage.settings.items() if name in topic},
        )
    )
    stage.do(stage.subscription(SUBSCRIPTION))
    return created


def _make_filtered_subscription(stage: "Stage") -> v.Event | None:
    """Create a subscription that takes all messages by a condition, and one that takes none."""
    created = _make_subscription(stage)
    stage.do(stage.subscription(OTHERS))
    for name, rule in ((SUBSCRIPTION, v.SqlFilter(expression=RED)), (OTHERS, BLUE)):
        stage.do(v.RemoveRule(topic=TOPIC, subscription=name, rule=v.DEFAULT_RULE))
        stage.do(v.AddRule(topic=TOPIC, subscription=name, rule="colour", filter=rule))
    return created


PLAIN_QUEUE: Final = Home(QUEUE, QUEUE, _make_queue)
PLAIN_SUBSCRIPTION: Final = Home(
    v.subscription_path(TOPIC, SUBSCRIPTION), TOPIC, _make_subscription
)
FILTERED_SUBSCRIPTION: Final = Home(
    v.subscription_path(TOPIC, SUBSCRIPTION), TOPIC, _make_filtered_subscription, {"colour": "red"}
)


@attrs.define
class Stage:
    """A queue or subscription in a circumstance, and how the requests of an operation reach it.

    Attributes:
        ask: sends a request over a connection; `None` if it cannot be sent.
        settings: the settings of the queues.
        home: what holds the messages.
        at: the path that the operation is directed at.
        door: the queue or topic that messages are sent to.
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
    home: Home = PLAIN_QUEUE
    at: str = attrs.Factory(lambda self: self.home.path, takes_self=True)
    door: str = attrs.Factory(lambda self: self.home.door, takes_self=True)
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

    @property
    def target(self) -> str:
        """The queue or topic that the operation sends to."""
        return self.door if self.at == self.home.path else self.at

    def create(self, queue: str) -> v.Event | None:
        """Create a queue with the settings; return the event."""
        return self.do(self.creation(queue))

    def creation(self, queue: str) -> v.CreateQueue:
        """Return the request that creates a queue with the settings."""
        return v.CreateQueue(queue=queue, lock_duration=LOCK, **self.settings)

    def subscription(self, name: str) -> v.CreateSubscription:
        """Return the request that creates a subscription of the topic with the settings."""
        known = attrs.fields_dict(v.CreateSubscription)
        settings = {name: value for name, value in self.settings.items() if name in known}
        return v.CreateSubscription(topic=TOPIC, subscription=name, lock_duration=LOCK, **settings)

    def new_name(self) -> str:
        """Return the name of a queue that does not exist."""
        self._named += 1
        return f"queue-{self._named}"

    def accept_session(self, connection: str) -> None:
        """Accept the session over a connection, if the queue requires sessions."""
        if self.session is not None:
            self.ask(v.AcceptSession(queue=self.home.path, session_id=SESSION), connection)

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
        return v.Message(
            body=body, properties=self.home.properties, **(key | identity | properties)
        )

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
                self.do(v.Abandon(queue=self.home.path, lock_token=view.lock_token))
                view = self._receive()
        return view

    def defer(self) -> int | None:
        """Defer a message; return its number, if it is known."""
        view = self.lock()
        if view is None or view.lock_token is None:
            return None
        self.do(v.Defer(queue=self.home.path, lock_token=view.lock_token))
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
            self.ask(v.TakePartitionDown(queue=self.home.door, partition=self._partition), "c1")

    def bring_up(self) -> None:
        """Bring the partition up again."""
        if self._partition is not None:
            self.ask(v.BringPartitionUp(queue=self.home.door, partition=self._partition), "c1")

    def _receive(self) -> v.MessageView | None:
        event = self.do(v.Receive(queue=self.home.path, session_id=self.session))
        if event is None or not isinstance(event.outcome, v.Received):
            return None
        return event.outcome.message

    def _note_partition(self, event: v.Event) -> None:
        """Note where the messages lie, if an answer about the home shows it."""
        if getattr(event.command, "queue", None) not in (self.home.path, self.home.door):
            return
        if event.witness is not None:
            self._partition = event.witness.partition
        elif isinstance(event.outcome, v.Received):
            number = event.outcome.message.sequence_number
            if number is not None:
                self._partition = number >> v.SEQUENCE_BITS
