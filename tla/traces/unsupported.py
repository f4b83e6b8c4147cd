"""Queues of a recorded scenario that the contract does not cover, with the reasons."""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import Final

import attrs

from busproof import vocabulary as v
from busproof.model.locks import LONGEST_LOCK
from busproof.vocabulary import addressing, paths

__all__ = ["LeftOut", "destinations", "find_created", "no_queues", "outside"]


@attrs.frozen
class LeftOut:
    """A queue of a scenario that the contract cannot judge, and the reason."""

    scenario: str
    queue: str
    why: str


def find_created(events: Iterable[v.Event]) -> Mapping[str, v.CreateQueue]:
    """Return the queues that were surely created; longer lock durations are cut to the limit."""
    created: dict[str, v.CreateQueue] = {}
    for event in events:
        if isinstance(event.command, v.CreateQueue) and isinstance(event.outcome, v.Done):
            # LOCK-03: a bus may accept a longer duration, and cut it.
            lasts = min(event.command.lock_duration, LONGEST_LOCK)
            lawful = attrs.evolve(event.command, lock_duration=lasts)
            created.setdefault(lawful.queue, lawful)
    return created


def destinations(events: Iterable[v.Event]) -> set[str]:
    """Return the entities that others forward to."""
    commands = [event.command for event in events]
    return {name for command in commands for name in addressing.destinations(command)}


def no_queues(scenario: str, events: Sequence[v.Event]) -> Iterator[LeftOut]:
    """Yield the names that commands use for a queue, but that no created queue has."""
    topics = _topics(events)
    named = {str(event.command.queue) for event in events if hasattr(event.command, "queue")}
    for name in sorted(named - set(find_created(events))):
        yield LeftOut(scenario, name, _no_queue(name, topics))


def _topics(events: Iterable[v.Event]) -> set[str]:
    commands = (event.command for event in events if isinstance(event.outcome, v.Done))
    topics: set[str] = set()
    for command in commands:
        if isinstance(command, v.CreateTopic):
            topics.add(command.topic)
        elif isinstance(command, v.CreateSubscription):
            topics.add(paths.subscription_path(command.topic, command.subscription))
    return topics


def _no_queue(name: str, topics: Container[str]) -> str:
    if v.is_dead_letter_queue(name):
        return "it is a dead-letter queue"
    if name in topics:
        return "it is a topic or a subscription"
    return "nothing recorded created this queue"


_BEYOND: Final = {
    "requires_session": "it requires sessions",
    "duplicate_detection": "it has duplicate detection",
    "forward_to": "it forwards its messages",
    "forward_dead_letters_to": "it forwards its dead letters",
    "time_to_live": "its messages have a time to live",
}
"""Settings that the contract does not cover, with the reason to report."""


def _outside_for_messages(events: Sequence[v.Event]) -> str:
    """Return why the contract does not cover these messages; empty if it covers them."""
    sent = [getattr(event.command, "message", None) for event in events]
    messages = [message for message in sent if message is not None]
    if any(message.time_to_live for message in messages):
        return _BEYOND["time_to_live"]
    if any(message.size for message in messages):
        return "its messages tell how large they are, and may fill it"
    if any(_may_be_beyond_limits(message) for message in messages):
        return "its messages may be beyond a limit"
    return ""


_LONGEST: Final = 64
"""Number of characters that no limit on a key or property forbids, however they are counted."""


def _may_be_beyond_limits(message: v.Message) -> bool:
    """Return whether a key or property is so long that a limit may apply to it."""
    keys = (message.message_id, message.session_id, message.partition_key)
    carried = (str(value) for value in message.properties.values())
    return any(len(text or "") > _LONGEST for text in (*keys, *carried))


def outside(settings: v.CreateQueue, events: Sequence[v.Event]) -> str:
    """Return why the contract does not cover a queue; empty if it covers it."""
    if settings.partitioned is None or (settings.partitioned and settings.api_version is not None):
        return "its creation leaves open whether it is partitioned"
    for setting, why in _BEYOND.items():
        if getattr(settings, setting):
            return why
    if why := _outside_for_messages(events):
        return why
    ends = [event.returned or event.called for event in events]
    if any(later.called < end for end, later in zip(ends, events[1:], strict=False)):
        return "its requests overlap"
    return ""
