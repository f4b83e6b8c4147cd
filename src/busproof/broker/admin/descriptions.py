"""Descriptions of entities, written for administration clients."""

from collections.abc import Iterable, Mapping
from typing import Final
from xml.etree import ElementTree as ET

import attrs

from busproof import vocabulary as v
from busproof.broker.admin import atom
from busproof.broker.bus import Bus, Description
from busproof.broker.client_descriptions import Written
from busproof.broker.configuration.durations import duration_text, for_ever, microseconds_in
from busproof.model.state import Entity
from busproof.model.values import EntityKind

__all__ = [
    "DEFAULTS",
    "GREATEST_MESSAGE",
    "SINCE",
    "Said",
    "describe_entity",
    "echo_description",
    "kind_of",
    "normalize",
    "settings_of",
    "title",
]

Said = Mapping[str, str]
"""Properties of an entity as a client wrote them: name to text."""

FOR_EVER: Final = "P10675199DT2H48M5.4775807S"
NEVER: Final = "0001-01-01T00:00:00"
"""The time of something that has not happened, as the service writes it."""
DEFAULTS: Final = {
    "AutoDeleteOnIdle": FOR_EVER,
    "DeadLetteringOnFilterEvaluationExceptions": "true",
    "EnableBatchedOperations": "true",
    "EnableExpress": "false",
    "EnableSubscriptionPartitioning": "false",
    "EntityAvailabilityStatus": "Available",
    "FilteringMessagesBeforePublishing": "false",
    "IsAnonymousAccessible": "false",
    "IsClientAffine": "false",
    "Status": "Active",
}
"""Properties that clients expect but that the model does not have."""
GREATEST_MESSAGE: Final = {v.Tier.BASIC: 256, v.Tier.STANDARD: 256, v.Tier.PREMIUM: 1024}
"""`MaxMessageSizeInKilobytes` of an entity whose creator did not set it."""

FIELDS: Final = {
    EntityKind.QUEUE: (
        "LockDuration",
        "MaxSizeInMegabytes",
        "RequiresDuplicateDetection",
        "RequiresSession",
        "DefaultMessageTimeToLive",
        "DeadLetteringOnMessageExpiration",
        "DuplicateDetectionHistoryTimeWindow",
        "MaxDeliveryCount",
        "EnableBatchedOperations",
        "SizeInBytes",
        "MessageCount",
        "IsAnonymousAccessible",
        "AuthorizationRules",
        "Status",
        "CreatedAt",
        "UpdatedAt",
        "AccessedAt",
        "UserMetadata",
        "SupportOrdering",
        "CountDetails",
        "AutoDeleteOnIdle",
        "EnablePartitioning",
        "EntityAvailabilityStatus",
        "EnableExpress",
        "ForwardTo",
        "ForwardDeadLetteredMessagesTo",
        "MaxMessageSizeInKilobytes",
    ),
    EntityKind.TOPIC: (
        "DefaultMessageTimeToLive",
        "MaxSizeInMegabytes",
        "RequiresDuplicateDetection",
        "DuplicateDetectionHistoryTimeWindow",
        "EnableBatchedOperations",
        "SizeInBytes",
        "FilteringMessagesBeforePublishing",
        "IsAnonymousAccessible",
        "AuthorizationRules",
        "Status",
        "CreatedAt",
        "UpdatedAt",
        "AccessedAt",
        "UserMetadata",
        "SupportOrdering",
        "CountDetails",
        "SubscriptionCount",
        "AutoDeleteOnIdle",
        "EnablePartitioning",
        "EntityAvailabilityStatus",
        "EnableSubscriptionPartitioning",
        "EnableExpress",
        "MaxMessageSizeInKilobytes",
        "SqlFilterCount",
        "CorrelationFilterCount",
    ),
    EntityKind.SUBSCRIPTION: (
        "LockDuration",
        "RequiresSession",
        "DefaultMessageTimeToLive",
        "DeadLetteringOnMessageExpiration",
        "DeadLetteringOnFilterEvaluationExceptions",
        "MessageCount",
        "MaxDeliveryCount",
        "EnableBatchedOperations",
        "Status",
        "ForwardTo",
        "CreatedAt",
        "UpdatedAt",
        "AccessedAt",
        "UserMetadata",
        "CountDetails",
        "ForwardDeadLetteredMessagesTo",
        "AutoDeleteOnIdle",
        "EntityAvailabilityStatus",
        "IsClientAffine",
    ),
}
"""The properties in a description, by kind of entity, in the order that was recorded."""
COUNTED: Final = frozenset(
    {"CorrelationFilterCount", "CountDetails", "SqlFilterCount", "SubscriptionCount"}
)
"""Properties that only a request to read an entity is told, not one that creates or updates it."""
SINCE: Final = {
    "CorrelationFilterCount": "2024-05",
    "EnableExpress": "2013-10",
    "EnablePartitioning": "2013-10",
    "IsClientAffine": "2021-05",
    "MaxMessageSizeInKilobytes": "2021-05",
    "SqlFilterCount": "2024-05",
}
"""The first api-version that knows a property; those of before leave it out of descriptions."""

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
WRITTEN_DURATIONS: Final = frozenset(
    {
        "AutoDeleteOnIdle",
        "DefaultMessageTimeToLive",
        "DuplicateDetectionHistoryTimeWindow",
        "LockDuration",
    }
)
"""Properties that are durations, by their names in the administration API."""


def kind_of(entity: Entity) -> str:
    """Return the kind of an entity, as spelled in descriptions."""
    return entity.kind.value.capitalize()


def describe_entity(
    bus: Bus,
    path: str,
    known: Written,
    times: Said,
    host: str,
    *,
    version: str | None = None,
    counted: bool = True,
) -> ET.Element:
    """Return the description of an entity as XML.

    Args:
        bus: the bus with the entity.
        path: the path of the entity.
        known: what clients wrote about the entity and the model does not have.
        times: when the entity was created, updated and accessed.
        host: the broker's host, as the client knows it.
        version: the api-version of the request; older ones know fewer properties.
        counted: whether the client reads the entity, and is told how many messages it has.
    """
    entity = bus.find_entity(path)
    dead, stuck = entity.dead_letters, entity.transfers
    later = len(entity.scheduled)
    letters = 0 if dead is None else len(dead.messages)
    counts = {
        "ActiveMessageCount": len(entity.messages),
        "DeadLetterMessageCount": letters,
        "ScheduledMessageCount": later,
        "TransferMessageCount": 0,
        "TransferDeadLetterMessageCount": 0 if stuck is None else len(stuck.messages),
    }
    properties: dict[str, str | ET.Element] = {
        **DEFAULTS,
        "SupportOrdering": _word(not entity.settings.partitioned),
        "MaxMessageSizeInKilobytes": str(GREATEST_MESSAGE[bus.namespace.profile.tier]),
        **normalize(known.said),
        **settings_of(bus, entity),
        **times,
        "AuthorizationRules": _keys_element(known),
    }
    if not counted and entity.kind is EntityKind.SUBSCRIPTION:
        properties["AccessedAt"] = NEVER
    elif not counted:
        del properties["AccessedAt"]
    for name in FORWARDING:
        if name in properties:
            properties[name] = f"sb://{host}/{properties[name]}"
    if entity.base.down:
        properties["EntityAvailabilityStatus"] = "Limited"
    properties["MessageCount"] = str(len(entity.messages) + letters + later)
    description = bus.own_description(path)
    subscriptions = entity.subscriptions or ()
    properties["SubscriptionCount"] = str(len(subscriptions))
    filters = [rule.filter for subscription in subscriptions for rule in subscription.rules]
    correlations = sum(isinstance(condition, v.CorrelationFilter) for condition in filters)
    properties["SqlFilterCount"] = str(len(filters) - correlations)
    properties["CorrelationFilterCount"] = str(correlations)
    properties |= _own_properties(description)
    if isinstance(description, v.QueueDescription):
        undeliverable = description.transfer_dead_letters
        counts["TransferDeadLetterMessageCount"] = undeliverable or 0
        if description.message_count is not None:
            # Service Bus counts dead letters among an entity's messages; the model does not.
            properties["MessageCount"] = str(description.message_count + letters)
    properties["CountDetails"] = atom.counts_element(counts)
    names = [name for name in FIELDS[entity.kind] if counted or name not in COUNTED]
    return _description(entity, names, properties, version)


def echo_description(
    entity: Entity, description: atom.Description, keys: Written, version: str | None
) -> ET.Element:
    """Return the answer to the update of a queue or topic: what the client wrote.

    It has no more than that, in the order of descriptions, and a time of the update that says
    nothing.
    """
    properties: dict[str, str | ET.Element] = dict(normalize(description.said()))
    properties["UpdatedAt"] = f"{NEVER}Z"
    if description.child("AuthorizationRules") is not None:
        properties["AuthorizationRules"] = _keys_element(keys)
    return _description(entity, FIELDS[entity.kind], properties, version)


def _description(
    entity: Entity,
    names: Iterable[str],
    properties: Mapping[str, str | ET.Element],
    version: str | None,
) -> ET.Element:
    """Return those of the properties that the api-version knows, in the order of their names."""
    known = [name for name in names if version is None or version >= SINCE.get(name, "")]
    told = {name: properties[name] for name in known if name in properties}
    return atom.write_description(f"{kind_of(entity)}Description", told)


def _keys_element(known: Written) -> ET.Element:
    """Return the authorization rules of an entity as XML, an empty element if it has none."""
    if known.keys:
        return atom.strip_namespaces(atom.element_of(known.keys))
    return ET.Element("AuthorizationRules")


def normalize(said: Said) -> dict[str, str]:
    """Return properties as the service writes them: durations in their shortest form."""
    texts = dict(said)
    for name in WRITTEN_DURATIONS & texts.keys():
        duration = microseconds_in(texts[name])
        if duration is not None:
            texts[name] = FOR_EVER if for_ever(duration) else duration_text(duration)
    return texts


def _own_properties(description: Description | None) -> dict[str, str]:
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
            properties[HTTP_NAMES[name]] = duration_text(value)
        else:
            properties[HTTP_NAMES[name]] = value * 1024 if name == "max_size" else value
    return {name: str(value) for name, value in properties.items()}


def settings_of(bus: Bus, entity: Entity) -> dict[str, str]:
    """Return an entity's settings and size in bytes, by their names in the administration API."""
    settings, sizes = bus.requested_settings(entity), bus.namespace.rules.sizes
    size = sizes.greatest_size(entity)
    life = settings.time_to_live
    properties = {
        "LockDuration": duration_text(settings.lock_duration),
        "MaxSizeInMegabytes": str(1024 * size),
        "RequiresSession": _word(settings.requires_session),
        "RequiresDuplicateDetection": _word(settings.duplicate_detection),
        "DuplicateDetectionHistoryTimeWindow": duration_text(settings.duplicate_window),
        "DefaultMessageTimeToLive": FOR_EVER if life is None else duration_text(life),
        "DeadLetteringOnMessageExpiration": _word(settings.dead_letter_expired),
        "MaxDeliveryCount": str(settings.max_delivery_count),
        "EnablePartitioning": _word(settings.partitioned),
        "SizeInBytes": str(sizes.used(entity)),
    }
    if settings.forward_to is not None:
        properties["ForwardTo"] = settings.forward_to
    if settings.forward_dead_letters_to is not None:
        properties["ForwardDeadLetteredMessagesTo"] = settings.forward_dead_letters_to
    return properties


def _word(truth: bool) -> str:
    return "true" if truth else "false"


def title(path: str) -> str:
    """Return the name of an entity; for a subscription, without its topic."""
    return path.partition(v.SUBSCRIPTIONS)[2] or path
