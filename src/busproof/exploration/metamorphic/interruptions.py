"""Circumstances that put something between the requests: updates, outages, pauses, renewals."""

import zlib
from collections.abc import Mapping
from typing import Any, Final

from busproof import vocabulary as v
from busproof.exploration.metamorphic.entities import Ask
from busproof.history.codec import unstructure
from busproof.history.lines import encode_line
from busproof.judging.past import views_of

__all__ = [
    "HANDLING",
    "RESTING",
    "interrupt_by_outages",
    "interrupt_by_pauses",
    "interrupt_by_renewals",
    "interrupt_by_updates",
]

HOUR: Final = 3_600 * v.MICROSECONDS
HANDLING: Final = (
    v.Abandon,
    v.AcceptSession,
    v.Defer,
    v.Receive,
    v.ReceiveBatch,
    v.ReceiveDeferred,
    v.Schedule,
    v.Send,
    v.SendBatch,
    v.SetSessionState,
)
"""Requests that leave something that an update or an outage may change wrongly."""
UPDATES: Final[tuple[Mapping[str, Any], ...]] = (
    {"lock_duration": 20 * v.MICROSECONDS},
    {"max_delivery_count": 5},
    {"time_to_live": 24 * HOUR},
    {"status": v.EntityStatus.DISABLED},
    {"requires_session": True},
)
OF_TOPICS: Final = ("time_to_live", "status")
"""Settings in `UPDATES` that a topic has, too."""
RESTING: Final = (
    v.Abandon,
    v.CloseSession,
    v.Complete,
    v.DeadLetter,
    v.Defer,
    v.Send,
    v.SendBatch,
    v.SetSessionState,
    v.UpdateQueue,
)
"""Requests that leave nothing locked."""
PAUSE: Final = 13 * HOUR
SHORTEST_LOCK: Final = 5 * v.MICROSECONDS
RENEWALS: Final = 80
"""Maximum number of renewals of one lock."""


def interrupt_by_updates(ask: Ask) -> Ask:
    """Update the entity after each request about messages, each time another setting of it.

    A disabled entity is made active again at once, and some updates are refused.
    """
    topics: set[str] = set()

    def asks(command: v.Command, connection: str) -> v.Event | None:
        event = ask(command, connection)
        if isinstance(command, v.CreateTopic):
            topics.add(command.topic)
        if event is None or not isinstance(command, HANDLING):
            return event
        name = v.owner_of(command.queue)
        of_topic = name in topics
        updates = [one for one in UPDATES if not of_topic or not one.keys().isdisjoint(OF_TOPICS)]
        chosen = dict(updates[zlib.crc32(encode_line(unstructure(command))) % len(updates)])
        ask(_update(name, chosen, of_topic=of_topic), connection)
        if "status" in chosen:
            chosen["status"] = v.EntityStatus.ACTIVE
            ask(_update(name, chosen, of_topic=of_topic), connection)
        return event

    return asks


def _update(name: str, settings: Mapping[str, Any], *, of_topic: bool) -> v.Command:
    if of_topic:
        return v.UpdateTopic(topic=name, **settings)
    return v.UpdateQueue(queue=name, **settings)


def interrupt_by_outages(ask: Ask) -> Ask:
    """Let the partition of the last message be down and recover after each request about it."""
    partitioned: dict[str, bool] = {}
    last: dict[str, int] = {}

    def asks(command: v.Command, connection: str) -> v.Event | None:
        event = ask(command, connection)
        if isinstance(command, v.CreateQueue | v.CreateTopic):
            name = command.queue if isinstance(command, v.CreateQueue) else command.topic
            partitioned[name] = command.partitioned is not False
        if event is None or not isinstance(command, HANDLING):
            return event
        name = v.owner_of(command.queue).partition(v.SUBSCRIPTIONS)[0]
        partition = _partition_of(event)
        if partition is not None:
            last[name] = partition if partitioned.get(name) else 0
        if name in last:
            ask(v.TakePartitionDown(queue=name, partition=last[name]), connection)
            ask(v.BringPartitionUp(queue=name, partition=last[name]), connection)
        return event

    return asks


def _partition_of(event: v.Event) -> int | None:
    """Return the partition of an answer, as its witness or a sequence number in it says."""
    if event.witness is not None:
        return event.witness.partition
    numbers = [view.sequence_number for view in views_of(event.outcome)]
    if isinstance(event.outcome, v.Scheduled):
        numbers.append(event.outcome.sequence_number)
    return next((number >> v.SEQUENCE_BITS for number in numbers if number is not None), None)


def interrupt_by_pauses(ask: Ask) -> Ask:
    """Let half a day pass after each request that leaves nothing locked."""

    def asks(command: v.Command, connection: str) -> v.Event | None:
        event = ask(command, connection)
        if isinstance(command, RESTING):
            ask(v.AdvanceClock(duration=PAUSE), connection)
        return event

    return asks


def interrupt_by_renewals(ask: Ask) -> Ask:
    """Renew each lock that is renewed for a whole hour more, each time shortly before it ends."""
    durations: dict[str, int] = {}

    def asks(command: v.Command, connection: str) -> v.Event | None:
        event = ask(command, connection)
        match command:
            case v.CreateQueue(queue=path):
                durations[path] = command.lock_duration
            case v.CreateSubscription():
                path = v.subscription_path(command.topic, command.subscription)
                durations[path] = command.lock_duration
            case v.RenewLock(queue=queue) | v.RenewSessionLock(queue=queue):
                lock = durations.get(v.owner_of(queue), SHORTEST_LOCK)
                wait = v.AdvanceClock(duration=lock * 9 // 10)
                again = event
                for _ in range(min(RENEWALS, HOUR // wait.duration + 1)):
                    if again is None or isinstance(again.outcome, v.Refused):
                        break
                    ask(wait, connection)
                    again = ask(command, connection)
        return event

    return asks
