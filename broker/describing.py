"""Entities as administration clients are told of them."""

from collections.abc import Mapping
from typing import Final
from xml.etree import ElementTree as ET

import attrs

from busproof.broker import atom
from busproof.broker.bus import Bus, Description
from busproof.oracle.sizes import told_size
from busproof.oracle.state import Namespace, Queue, Subscription, Topic
from busproof.vocabulary.commands import CreateQueue
from busproof.vocabulary.entity_settings import Availability
from busproof.vocabulary.outcomes import QueueDescription
from busproof.vocabulary.paths import DEAD_LETTERS, SUBSCRIPTIONS, TRANSFERS
from busproof.vocabulary.values import Tier

__all__ = ["DEFAULTS", "Said", "described", "kind_of", "settings_of", "title"]

Said = Mapping[str, str]
"""What was written of an entity: name of a property to text."""

FOR_EVER: Final = "P10675199DT2H48M5.4775807S"
DEFAULTS: Final = {
    "AutoDeleteOnIdle": FOR_EVER,
    "EnableBatchedOperations": "true",
    "Status": "Active",
    "SupportOrdering": "true",
    "EnableExpress": "false",
    "EntityAvailabilityStatus": "Available",
}
"""What is told of each entity and does not come from the model."""


TOLD: Final = {
    "partitioned": "EnablePartitioning",
    "requires_session": "RequiresSession",
    "duplicate_detection": "RequiresDuplicateDetection",
    "duplicate_window": "DuplicateDetectionHistoryTimeWindow",
    "lock_duration": "LockDuration",
    "max_delivery_count": "MaxDeliveryCount",
    "time_to_live": "DefaultMessageTimeToLive",
    "max_size": "MaxSizeInMegabytes",
    "message_count": "MessageCount",
    "size": "SizeInBytes",
    "availability": "EntityAvailabilityStatus",
    "subscription_count": "SubscriptionCount",
}
"""What the vocabulary calls what is told of an entity, and what clients call it."""
DURATIONS: Final = frozenset({"duplicate_window", "lock_duration", "time_to_live"})


def kind_of(queue: Queue) -> str:
    """What an entity is, as descriptions call it."""
    if isinstance(queue.role, Topic):
        return "Topic"
    return "Subscription" if isinstance(queue.role, Subscription) else "Queue"


def described(bus: Bus, path: str, said: Said, times: Said) -> ET.Element:
    """The description of an entity.

    Args:
        bus: with the entity in it.
        path: its path.
        said: what was written of it and is not the model's.
        times: when it was created, changed and used.
    """
    queues = bus.namespace.queues
    queue, dead = queues[path], queues.get(path + DEAD_LETTERS)
    stuck = queues.get(path + TRANSFERS)
    kind, later = kind_of(queue), len(queue.calendar.entries)
    letters = 0 if dead is None else len(dead.messages)
    counts = {
        "ActiveMessageCount": len(queue.messages),
        "DeadLetterMessageCount": letters,
        "ScheduledMessageCount": later,
        "TransferMessageCount": 0,
        "TransferDeadLetterMessageCount": 0 if stuck is None else len(stuck.messages),
    }
    told = {**DEFAULTS, **said, **settings_of(bus, queue), **times}
    partitions = queues[queue.role.topic] if isinstance(queue.role, Subscription) else queue
    if partitions.outages.down:
        told["EntityAvailabilityStatus"] = "Limited"
    told["MessageCount"] = str(len(queue.messages) + letters + later)
    description = bus.described(path)
    if isinstance(queue.role, Topic):
        told["SubscriptionCount"] = str(len(queue.role.subscriptions))
    told |= _as_told(description)
    if isinstance(description, QueueDescription):
        stranded = description.transfer_dead_letters
        counts["TransferDeadLetterMessageCount"] = stranded or 0
    return atom.written(f"{kind}Description", told, counts)


def _as_told(description: Description | None) -> dict[str, str]:
    """What a bus tells of an entity that is not the model."""
    if description is None:
        return {}
    told: dict[str, object] = {}
    for name, value in attrs.asdict(description).items():
        if value is None or name not in TOLD:
            continue
        if name == "availability":
            told[TOLD[name]] = "Limited" if value is Availability.LIMITED else "Available"
        elif isinstance(value, bool):
            told[TOLD[name]] = _word(value)
        elif name in DURATIONS:
            told[TOLD[name]] = _written(value)
        else:
            told[TOLD[name]] = value * 1024 if name == "max_size" else value
    return {name: str(value) for name, value in told.items()}


def settings_of(bus: Bus, queue: Queue) -> dict[str, str]:
    """What an entity was created with or changed to."""
    settings = bus.announced(queue.settings)
    size = told_size(bus.namespace, settings) or _size(bus.namespace, settings)
    life = settings.time_to_live
    told = {
        "LockDuration": _written(settings.lock_duration),
        "MaxSizeInMegabytes": str(1024 * size),
        "RequiresSession": _word(settings.requires_session),
        "RequiresDuplicateDetection": _word(settings.duplicate_detection),
        "DuplicateDetectionHistoryTimeWindow": _written(settings.duplicate_window),
        "DefaultMessageTimeToLive": FOR_EVER if life is None else _written(life),
        "DeadLetteringOnMessageExpiration": _word(settings.dead_letter_expired),
        "MaxDeliveryCount": str(settings.max_delivery_count),
        "EnablePartitioning": _word(bool(settings.partitioned)),
        "SizeInBytes": str(sum(queue.room.held.values())),
    }
    if settings.forward_to is not None:
        told["ForwardTo"] = settings.forward_to
    if settings.forward_dead_letters_to is not None:
        told["ForwardDeadLetteredMessagesTo"] = settings.forward_dead_letters_to
    return told


def _size(namespace: Namespace, settings: CreateQueue) -> int:
    """The greatest size in GB where no rule says how it is told: that of all partitions."""
    spread = settings.partitioned and namespace.profile.tier is not Tier.PREMIUM
    return (settings.max_size or 1) * (namespace.profile.partitions if spread else 1)


def _word(truth: bool) -> str:
    return "true" if truth else "false"


def _written(duration: int) -> str:
    seconds, rest = divmod(duration, 1_000_000)
    return f"PT{seconds}S" if not rest else f"PT{seconds}.{rest:06}S"


def title(path: str) -> str:
    """The name of an entity, of a subscription without its topic."""
    return path.partition(SUBSCRIPTIONS)[2] or path
