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
    down: list[v.TakePartitionDown] = attrs.field(factory=list)
    wait: int = BOUND + MARGIN
    """Microseconds until all locks and delays have ended, and scheduled messages are due."""
    lives: int = 0
    """Longest time to live of an entity in microseconds, if not more than `LONGEST`."""
    is_eventful: bool = False
    """Whether an update, an outage or a refusal may have left an entity in a wrong state."""
    forwards: bool = False
    deliveries: int = FEW_DELIVERIES
    """Number of deliveries of one message at the end; after an update, enough for any limit."""

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
            self.deliveries = MOST_DELIVERIES
        match event.command:
            case v.CreateQueue() | v.RestoreQueue() as created:
                self.queues[created.queue] = created.requires_session
                self._note_times(created)
            case v.CreateTopic() as created:
                self.topics = list(dict.fromkeys((*self.topics, created.topic)))
                self._note_times(created)
            case v.CreateSubscription() as created:
                path = v.subscription_path(created.topic, created.subscription)
                self.queues[path] = created.requires_session
                self.subscriptions.append((created.topic, created.subscription))
                self._note_times(created)
            case v.UpdateQueue() | v.UpdateTopic() as updated:
                self._note_times(updated)
            case v.TakePartitionDown() as outage:
                self.down.append(outage)
            case v.Schedule(delay=delay):
                due = event.called + delay - now + MARGIN
                self.wait = max(self.wait, min(due, LONGEST))
            case v.AcceptSession(queue=queue, session_id=session):
                self.sessions.setdefault(queue, []).append(session)
        for view in views_of(event.outcome):
            if view.lock_token is not None:
                self.tokens.setdefault(getattr(event.command, "queue", ""), []).append(
                    view.lock_token
                )

    def _note_times(self, command: v.Command) -> None:
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
