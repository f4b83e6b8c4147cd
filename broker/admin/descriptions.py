"""Descriptions of entities, written for administration clients."""

from collections.abc import Mapping
from typing import Final
from xml.etree import ElementTree as ET

import attrs

from busproof import vocabulary as v
from busproof.broker.admin import atom
from busproof.broker.bus import Bus, Description
from busproof.model.state import Entity
from busproof.model.values import EntityKind

__all__ = ["DEFAULTS", "Said", "described", "kind_of", "settings_of", "title"]

Said = Mapping[str, str]
"""Properties of an entity as a client wrote them: name to text."""

FOR_EVER: Final = "P10675199DT2H48M5.4775807S"
DEFAULTS: Final = {
    "AutoDeleteOnIdle": FOR_EVER,
    "EnableBatchedOperations": "true",
    "Status": "Active",
    "SupportOrdering": "true",
    "EnableExpress": "false",
    "EntityAvailabilityStatus": "Available",
}
"""Properties that clients expect of every entity but that the model does not have."""
OF_SUBSCRIPTIONS: Final = {"DeadLetteringOnFilterEvaluationExceptions": "true"}
"""Further properties of subscriptions; the JavaScript client requires them."""

HTTP_NAMES: Final = {
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
"""Fields of the vocabulary's descriptions, and their names in Atom."""
FORWARDING: Final = ("ForwardTo", "ForwardDeadLetteredMessagesTo")
"""Properties that the service writes as addresses."""
DURATIONS: Final = frozenset({"duplicate_window", "lock_duration", "time_to_live"})


def kind_of(entity: Entity) -> str:
    """Return the kind of an entity, as spelled in descriptions."""
    return entity.kind.value.capitalize()


def described(bus: Bus, path: str, written: Said, times: Said, host: str) -> ET.Element:
    """Return the description of an entity as XML.

    Args:
        bus: the bus with the entity.
        path: the path of the entity.
        written: the properties that a client wrote and the model does not have.
        times: when the entity was created, updated and accessed.
        host: the broker's host, as the client knows it.
    """
    entity = bus.known(path)
    dead, stuck = entity.dead_letters, entity.transfers
    kind, later = kind_of(entity), len(entity.scheduled)
    letters = 0 if dead is None else len(dead.messages)
    counts = {
        "ActiveMessageCount": len(entity.messages),
        "DeadLetterMessageCount": letters,
        "ScheduledMessageCount": later,
        "TransferMessageCount": 0,
        "TransferDeadLetterMessageCount": 0 if stuck is None else len(stuck.messages),
    }
    own = OF_SUBSCRIPTIONS if entity.kind is EntityKind.SUBSCRIPTION else {}
    properties = {**DEFAULTS, **own, **written, **settings_of(bus, entity), **times}
    for name in FORWARDING:
        if name in properties:
            properties[name] = f"sb://{host}/{properties[name]}"
    if entity.base.down:
        properties["EntityAvailabilityStatus"] = "Limited"
    properties["MessageCount"] = str(len(entity.messages) + letters + later)
    description = bus.described(path)
    if entity.kind is EntityKind.TOPIC:
        properties["SubscriptionCount"] = str(len(entity.subscriptions or ()))
        filters = [
            rule.filter
            for subscription in entity.subscriptions or ()
            for rule in subscription.rules
        ]
        correlations = sum(isinstance(condition, v.CorrelationFilter) for condition in filters)
        properties["SqlFilterCount"] = str(len(filters) - correlations)
        properties["CorrelationFilterCount"] = str(correlations)
    properties |= _as_told(description)
    if isinstance(description, v.QueueDescription):
        undeliverable = description.transfer_dead_letters
        counts["TransferDeadLetterMessageCount"] = undeliverable or 0
        if description.message_count is not None:
            # Service Bus counts dead letters among an entity's messages; the model does not.
            properties["MessageCount"] = str(description.message_count + letters)
    return atom.written(f"{kind}Description", properties, counts)


def _as_told(description: Description | None) -> dict[str, str]:
    """Return the properties that a bus other than the model states in its description."""
    if description is None:
        return {}
    properties: dict[str, object] = {}
    for name, value in attrs.asdict(description).items():
        if value is None or name not in HTTP_NAMES:
            continue
        if name == "availability":
            properties[HTTP_NAMES[name]] = (
                "Limited" if value is v.Availability.LIMITED else "Available"
            )
        elif isinstance(value, bool):
            properties[HTTP_NAMES[name]] = _word(value)
        elif name in DURATIONS:
            properties[HTTP_NAMES[name]] = _written(value)
        else:
            properties[HTTP_NAMES[name]] = value * 1024 if name == "max_size" else value
    return {name: str(value) for name, value in properties.items()}


def settings_of(bus: Bus, entity: Entity) -> dict[str, str]:
    """Return an entity's settings and size in bytes, by their names in the administration API."""
    settings, sizes = bus.announced(entity), bus.namespace.rules.sizes
    size = sizes.greatest_size(bus.namespace, entity)
    life = settings.time_to_live
    properties = {
        "LockDuration": _written(settings.lock_duration),
        "MaxSizeInMegabytes": str(1024 * size),
        "RequiresSession": _word(settings.requires_session),
        "RequiresDuplicateDetection": _word(settings.duplicate_detection),
        "DuplicateDetectionHistoryTimeWindow": _written(settings.duplicate_window),
        "DefaultMessageTimeToLive": FOR_EVER if life is None else _written(life),
        "DeadLetteringOnMessageExpiration": _word(settings.dead_letter_expired),
        "MaxDeliveryCount": str(settings.max_delivery_count),
        "EnablePartitioning": _word(settings.partitioned),
        "SizeInBytes": str(sizes.used(bus.namespace, entity)),
    }
    if settings.forward_to is not None:
        properties["ForwardTo"] = settings.forward_to
    if settings.forward_dead_letters_to is not None:
        properties["ForwardDeadLetteredMessagesTo"] = settings.forward_dead_letters_to
    return properties


def _word(truth: bool) -> str:
    return "true" if truth else "false"


def _written(duration: int) -> str:
    seconds, rest = divmod(duration, 1_000_000)
    return f"PT{seconds}S" if not rest else f"PT{seconds}.{rest:06}S"


def title(path: str) -> str:
    """Return the name of an entity; for a subscription, without its topic."""
    return path.partition(v.SUBSCRIPTIONS)[2] or path
