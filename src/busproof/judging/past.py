"""Facts about a sequence of commands that its last look needs."""

from collections.abc import Sequence
from typing import Final

import attrs

from busproof import vocabulary as v
from busproof.judging.liveness import BOUND

__all__ = ["LONGEST", "MARGIN", "Past", "is_eventful", "views_of"]

FEW_DELIVERIES: Final = 2
MOST_DELIVERIES: Final = 12
"""Maximum number of deliveries of one message; the default delivery limit is 10."""
LONGEST: Final = 86_400 * v.MICROSECONDS
"""Longest wait for scheduled messages, in microseconds."""
MARGIN: Final = v.MICROSECONDS
EVENTFUL: Final = (
    v.UpdateQueue,
    v.UpdateTopic,
    v.DeleteQueue,
    v.RemoveRule,
    v.TakePartitionDown,
    v.RollBackTransaction,
)
"""Requests that are a reason to use each entity once more at the end."""


@attrs.define
class Past:
    """Facts about a sequence that its last look needs."""

    queues: dict[str, bool] = attrs.field(factory=dict)
    """Path of each queue and subscription to whether it requires sessions."""
    topics: list[str] = attrs.field(factory=list)
    subscriptions: list[tuple[str, str]] = attrs.field(factory=list)
    sessions: dict[str, list[str]] = attrs.field(factory=dict)
    tokens: dict[str, list[str]] = attrs.field(factory=dict)
    keys: dict[str, str] = attrs.field(factory=dict)
    """Path of each queue and topic to the first PartitionKey of a message that was sent there."""
    originals: dict[str, v.Message] = attrs.field(factory=dict)
    """Path of each entity that detects duplicates to the first message that can be copied."""
    awaited: dict[str, v.Schedule] = attrs.field(factory=dict)
    """Body of each scheduled message that was neither cancelled nor received to its request."""
    down: list[v.TakePartitionDown] = attrs.field(factory=list)
    wait: int = BOUND + MARGIN
    """Microseconds until all locks and delays have ended, and scheduled messages are due."""
    lives: int = 0
    """Longest time to live of an entity in microseconds, if not more than `LONGEST`."""
    is_eventful: bool = False
    """Whether an update, an outage or a refusal may have left an entity in a wrong state."""
    forwards: bool = False
    is_updated: bool = False
    limits: dict[str, int] = attrs.field(factory=dict)
    """Path of each queue and subscription to its delivery limit."""
    _detects: dict[str, bool] = attrs.field(factory=dict)
    _numbers: dict[int | None, str] = attrs.field(factory=dict)

    @classmethod
    def of(cls, events: Sequence[v.Event]) -> "Past":
        """Return the facts about the events of a sequence so far."""
        past = cls()
        now = events[-1].returned or events[-1].called
        for event in events:
            past._note(event, now)
        return past

    def _note(self, event: v.Event, now: int) -> None:
        self.is_eventful |= is_eventful(event)
        if isinstance(event.command, v.UpdateQueue | v.UpdateTopic):
            self.is_updated = True
        match event.command:
            case v.CreateQueue() | v.RestoreQueue() as created:
                self.queues[created.queue] = created.requires_session
                self._detects[created.queue] = created.duplicate_detection
                self._note_settings(created.queue, created)
            case v.CreateTopic() as created:
                self.topics = list(dict.fromkeys((*self.topics, created.topic)))
                self._detects[created.topic] = created.duplicate_detection
                self._note_settings(created.topic, created)
            case v.CreateSubscription() as created:
                path = v.subscription_path(created.topic, created.subscription)
                self.queues[path] = created.requires_session
                self.subscriptions.append((created.topic, created.subscription))
                self._note_settings(path, created)
            case v.UpdateQueue(queue=path) | v.UpdateTopic(topic=path) as updated:
                self._note_settings(path, updated)
            case v.DeleteQueue(queue=path) | v.DeleteTopic(topic=path):
                lasting = ((body, one) for body, one in self.awaited.items() if one.queue != path)
                self.awaited = dict(lasting)
            case v.TakePartitionDown() as outage:
                self.down.append(outage)
            case v.Send() | v.Schedule() | v.CancelScheduled():
                self._note_sent(event, now)
            case v.AcceptSession(queue=queue, session_id=session):
                self.sessions.setdefault(queue, []).append(session)
        self.note_seen(event.outcome)
        for view in views_of(event.outcome):
            if view.lock_token is not None:
                self.tokens.setdefault(getattr(event.command, "queue", ""), []).append(
                    view.lock_token
                )

    def note_seen(self, outcome: v.Outcome) -> None:
        """Await no message that an answer shows, unless it shows it as scheduled."""
        for view in views_of(outcome) if self.awaited else ():
            if view.state is not v.MessageState.SCHEDULED:
                self.awaited.pop(view.body, None)

    def _note_sent(self, event: v.Event, now: int) -> None:
        match event.command, event.outcome:
            case v.Send(queue=path, message=message, transaction=None), v.Done():
                if message.partition_key is not None and message.session_id is None:
                    self.keys.setdefault(path, message.partition_key)
                if self._detects.get(path) and message.message_id is not None:
                    self.originals.setdefault(path, message)
            case v.Schedule(delay=delay) as scheduled, v.Scheduled() as answer:
                due = event.called + delay - now + MARGIN
                self.wait = max(self.wait, min(due, LONGEST))
                if scheduled.transaction is None:
                    self.awaited[scheduled.message.body] = scheduled
                self._numbers[answer.sequence_number] = scheduled.message.body
            case v.CancelScheduled(sequence_number=number), _:
                self.awaited.pop(self._numbers.get(number, ""), None)

    def deliveries_of(self, path: str) -> int:
        """Return how often to deliver a message at the end; after an update, beyond the limit."""
        if not self.is_updated:
            return FEW_DELIVERIES
        return min(self.limits.get(path, MOST_DELIVERIES) + 2, MOST_DELIVERIES)

    def _note_settings(self, path: str, command: v.Command) -> None:
        limit = getattr(command, "max_delivery_count", None)
        if limit is not None:
            self.limits[path] = limit
        self.forwards |= getattr(command, "forward_to", None) is not None
        lock = getattr(command, "lock_duration", None)
        self.wait = max(self.wait, (lock or 0) + MARGIN)
        life = getattr(command, "time_to_live", None) or 0
        self.lives = max(self.lives, life if life <= LONGEST else 0)


def is_eventful(event: v.Event) -> bool:
    """Return whether the event may leave an entity in a wrong state: update, outage, refusal."""
    return isinstance(event.outcome, v.Refused) or isinstance(event.command, EVENTFUL)


def views_of(outcome: v.Outcome) -> tuple[v.MessageView, ...]:
    """Return the messages of an answer."""
    if isinstance(outcome, v.Received):
        return (outcome.message,)
    return outcome.messages if isinstance(outcome, v.Peeked | v.ReceivedSeveral) else ()
