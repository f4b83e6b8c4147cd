"""Parsing of requests to create or update entities."""

from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import unquote, urlencode

from busproof import vocabulary as v
from busproof.broker.admin import atom
from busproof.broker.admin.descriptions import (
    GREATEST_MESSAGE,
    SINCE,
    Said,
    kind_of,
    settings_of,
)
from busproof.broker.bounds import number_in
from busproof.broker.bus import Bus
from busproof.broker.configuration.durations import for_ever
from busproof.broker.entity_status import status_of
from busproof.model.values import EntitySettings

__all__ = [
    "APPLIED",
    "FORWARDING",
    "creation",
    "destination",
    "more_settings",
    "page_of",
    "update",
    "whole",
]

LIFETIME: Final = "DefaultMessageTimeToLive"
DEAD_LETTERING: Final = "DeadLetteringOnMessageExpiration"
FORWARDING: Final = "ForwardTo"
BURYING: Final = "ForwardDeadLetteredMessagesTo"
WINDOW: Final = "DuplicateDetectionHistoryTimeWindow"
SIZE: Final = "MaxSizeInMegabytes"
MB_IN_GB: Final = 1024
TODAY: Final = "2015"
"""First api-version of current clients; the documents mention earlier ones (MGMT-06)."""
OF_ALL: Final = {LIFETIME, "Name"}
OF_RECEIVERS: Final = {
    "LockDuration",
    "RequiresSession",
    "MaxDeliveryCount",
    FORWARDING,
    BURYING,
    DEAD_LETTERING,
}
OF_SENDERS: Final = {
    "EnablePartitioning",
    "RequiresDuplicateDetection",
    WINDOW,
}
APPLIED: Final = {
    "Queue": OF_ALL | OF_RECEIVERS | OF_SENDERS | {SIZE},
    "Topic": OF_ALL | OF_SENDERS | {SIZE},
    "Subscription": OF_ALL | OF_RECEIVERS,
}
"""Properties that have an effect, by kind of entity."""

IDLE: Final = "AutoDeleteOnIdle"
LEAST_IDLE: Final = 300 * v.MICROSECONDS
MOST_NOTES: Final = 1024
"""How many characters the notes of an entity may have."""
MESSAGE_SIZE: Final = "MaxMessageSizeInKilobytes"
LARGEST_MESSAGE: Final = 102_400
"""The largest `MaxMessageSizeInKilobytes` of the Premium tier."""


def creation(
    bus: Bus, path: str, kind: str, properties: Said, version: str | None = None
) -> v.CreateQueue | v.CreateTopic | v.CreateSubscription:
    """Return the command that creates an entity.

    Args:
        bus: the bus.
        path: the path of the entity.
        kind: the kind of the entity, as its description names it.
        properties: the properties of the entity, as a client wrote them.
        version: the api-version of the request.

    Raises:
        Unreadable: no entity can have these properties.
    """
    _check_message_size(bus, properties, version)
    _check_idle(properties)
    named = version if version and version < TODAY else None
    if kind == "TopicDescription":
        return v.CreateTopic(
            topic=path,
            partitioned=_truth_or_none(properties, "EnablePartitioning"),
            api_version=named,
            duplicate_detection=_truth(properties, "RequiresDuplicateDetection"),
            duplicate_window=_window(properties),
            max_size=_size(properties),
            time_to_live=_lifetime(properties),
        )
    if kind == "SubscriptionDescription":
        place = path.lower().find(v.SUBSCRIPTIONS)
        return v.CreateSubscription(
            topic=path[:place],
            subscription=path[place + len(v.SUBSCRIPTIONS) :],
            requires_session=_truth(properties, "RequiresSession"),
            lock_duration=_positive(properties.get("LockDuration", "PT1M"), "LockDuration"),
            max_delivery_count=_parse_count(properties.get("MaxDeliveryCount", "10")),
            forward_to=_target(bus, properties),
            time_to_live=_lifetime(properties),
            dead_letter_expired=_truth(properties, DEAD_LETTERING),
            forward_dead_letters_to=destination(bus, properties, BURYING),
        )
    return v.CreateQueue(
        queue=path,
        partitioned=_truth_or_none(properties, "EnablePartitioning"),
        api_version=named,
        requires_session=_truth(properties, "RequiresSession"),
        duplicate_detection=_truth(properties, "RequiresDuplicateDetection"),
        duplicate_window=_window(properties),
        lock_duration=_positive(properties.get("LockDuration", "PT1M"), "LockDuration"),
        max_delivery_count=_parse_count(properties.get("MaxDeliveryCount", "10")),
        max_size=_size(properties),
        forward_to=_target(bus, properties),
        time_to_live=_lifetime(properties),
        dead_letter_expired=_truth(properties, DEAD_LETTERING),
        forward_dead_letters_to=destination(bus, properties, BURYING),
    )


def update(bus: Bus, path: str, properties: Said, version: str | None = None) -> v.UpdateQueue:
    """Return the command for an updated description; omitted properties keep their values.

    An exception is the forwarding target: omitting it ends forwarding, as in the service.

    Raises:
        Unreadable: a property cannot be changed here, or cannot be parsed.
    """
    _check_message_size(bus, properties, version)
    _check_idle(properties)
    entity = bus.find_entity(path)
    applied = APPLIED[kind_of(entity)]
    life = _lifetime(properties)
    if life is None and entity.settings.time_to_live is not None and LIFETIME in properties:
        raise atom.Unreadable(f"{LIFETIME} of '{path}' cannot be taken away again here.", 501)
    changed = {name: text for name, text in properties.items() if name in applied}
    lock, count = changed.get("LockDuration"), changed.get("MaxDeliveryCount")
    return v.UpdateQueue(
        queue=path,
        partitioned=_truth_or_none(changed, "EnablePartitioning"),
        requires_session=_truth_or_none(changed, "RequiresSession"),
        duplicate_detection=_truth_or_none(changed, "RequiresDuplicateDetection"),
        lock_duration=None if lock is None else _positive(lock, "LockDuration"),
        max_delivery_count=None if count is None else _parse_count(count),
        time_to_live=life,
        forward_to=_new_target(bus, entity.settings, properties),
        status=status_of(entity, properties["Status"]) if "Status" in properties else None,
        max_size=_new_size(bus, path, properties),
    )


def _new_size(bus: Bus, path: str, properties: Said) -> int | None:
    """Return the size that an update gives to an entity, in GB; `None` if it stays as it is.

    Raises:
        Unreadable: it is not a size, or the number of partitions would depend on it.
    """
    entity = bus.find_entity(path)
    current = settings_of(bus, entity)
    if SIZE not in APPLIED[kind_of(entity)] or SIZE not in properties:
        return None
    if _same(properties[SIZE], current[SIZE]):
        return None
    size = _size(properties)
    if entity.settings.partitioned and _is_read(bus, "GB-PARTITIONS", "per-gb"):
        raise atom.Unreadable(
            f"{SIZE} of '{path}' is {current[SIZE]} and cannot be changed, because a "
            "partitioned entity has partitions for each GB here; delete the entity and create "
            "it anew.",
            501,
        )
    return size


def more_settings(bus: Bus, path: str, properties: Said) -> dict[str, Any]:
    """Return the settings changed by a description that no update command has.

    Omitting the forwarding target for dead letters ends their forwarding, as in the service.

    Raises:
        Unreadable: a property cannot be changed here, or cannot be parsed.
    """
    entity = bus.find_entity(path)
    before, current = entity.settings, settings_of(bus, entity)
    applied, changes = APPLIED[kind_of(entity)], dict[str, Any]()
    if BURYING in applied:
        changes["forward_dead_letters_to"] = destination(bus, properties, BURYING)
    if DEAD_LETTERING in applied and DEAD_LETTERING in properties:
        changes["dead_letter_expired"] = _truth(properties, DEAD_LETTERING)
    if (
        WINDOW in applied
        and WINDOW in properties
        and not _same(properties[WINDOW], current[WINDOW])
    ):
        changes["duplicate_window"] = _window(properties)
    return {name: value for name, value in changes.items() if value != getattr(before, name)}


def _is_read(bus: Bus, name: str, reading: str) -> bool:
    """Return whether the bus has a certain reading of an ambiguity, as far as that is decided."""
    namespace = bus.namespace
    return reading == (namespace.readings.get(name) or namespace.profile.readings.get(name))


def _check_idle(properties: Said) -> None:
    """Check the time without use after which the service deletes an entity, and its notes.

    The references of Azure Resource Manager and of the client for .NET say both limits.
    """
    text = properties.get(IDLE)
    notes = properties.get("UserMetadata", "")
    if text is not None and _positive(text, IDLE) < LEAST_IDLE:
        raise atom.Unreadable(f"{IDLE} is '{text[:80]}'; it has to be PT5M or longer.")
    if len(notes) > MOST_NOTES:
        raise atom.Unreadable(
            f"UserMetadata has {len(notes)} characters; at most {MOST_NOTES} are allowed."
        )


def _check_message_size(bus: Bus, properties: Said, version: str | None) -> None:
    """Check the maximum size of a message, which only the Premium tier sets."""
    if MESSAGE_SIZE not in properties or not bus.is_trusted:
        return
    if version is not None and version < SINCE[MESSAGE_SIZE]:
        raise atom.Unreadable(
            f"{MESSAGE_SIZE} is unknown to api-version '{version}'; use {SINCE[MESSAGE_SIZE]} or "
            "later."
        )
    tier, size = bus.namespace.profile.tier, whole(properties[MESSAGE_SIZE], MESSAGE_SIZE)
    if tier is not v.Tier.PREMIUM and size != GREATEST_MESSAGE[tier]:
        raise atom.Unreadable(
            f"{MESSAGE_SIZE} is {size}, and can only be set in the Premium tier; leave it out, or "
            'serve a namespace of "Tier": "premium".'
        )
    if tier is v.Tier.PREMIUM and not GREATEST_MESSAGE[tier] <= size <= LARGEST_MESSAGE:
        raise atom.Unreadable(
            f"{MESSAGE_SIZE} is {size}; it has to be from {GREATEST_MESSAGE[tier]} to "
            f"{LARGEST_MESSAGE}."
        )


def _target(bus: Bus, properties: Said) -> str | None:
    """Return where messages are forwarded; nowhere if the entity requires sessions.

    The service takes a description that asks for both (FWD-25), and forwards nothing.
    """
    if bus.is_trusted and _truth(properties, "RequiresSession"):
        return None
    return destination(bus, properties, FORWARDING)


def _new_target(bus: Bus, settings: EntitySettings, properties: Said) -> str | None:
    """Return the new forwarding target, empty to end forwarding; `None` if it is unchanged."""
    if bus.is_trusted and settings.requires_session:
        return None
    wanted = destination(bus, properties, FORWARDING) or ""
    return None if wanted == (settings.forward_to or "") else wanted


def _same(one: str, other: str) -> bool:
    """Return whether two texts are equal, or are spellings of the same duration."""
    if one.lower() == other.lower():
        return True
    try:
        return atom.microseconds(one, "") == atom.microseconds(other, "")
    except atom.Unreadable:
        return False


def whole(text: str, name: str) -> int:
    """Parse the number in a field of a description.

    Raises:
        Unreadable: the text is not a number in the field's range.
    """
    try:
        return number_in(name, text)
    except ValueError as error:
        raise atom.Unreadable(f"{error}.") from None


def _parse_count(text: str) -> int:
    return whole(text, "MaxDeliveryCount")


def _positive(text: str, name: str) -> int:
    duration = atom.microseconds(text, name)
    if duration < 1:
        raise atom.Unreadable(f"{name} is {text!r}; it has to be longer than 0.")
    return duration


def _window(properties: Said) -> int:
    return _positive(properties.get(WINDOW, "PT10M"), WINDOW)


def _lifetime(properties: Said) -> int | None:
    """Return the time to live in microseconds; `None` if it is unlimited or omitted."""
    if LIFETIME not in properties:
        return None
    duration = _positive(properties[LIFETIME], LIFETIME)
    return None if for_ever(duration) else duration


def _size(properties: Said) -> int | None:
    """Return the maximum size of the entity in GB, or `None` if it is omitted."""
    if SIZE not in properties:
        return None
    size, rest = divmod(whole(properties[SIZE], SIZE), MB_IN_GB)
    if rest or not size:
        raise atom.Unreadable(
            f"{SIZE} is {properties[SIZE]!r}; it has to be a multiple of {MB_IN_GB}."
        )
    return size


def destination(bus: Bus, properties: Said, name: str) -> str | None:
    """Return a forwarding target in the case that it was created with.

    Most clients write the target as an address with a host.
    """
    address = properties.get(name)
    if address and "://" in address:
        address = unquote(address.partition("://")[2].partition("/")[2])
    return bus.path(address) if address else None


MOST_OF_A_PAGE: Final = 100
"""Maximum number of entities or rules in one page of a list."""


def _truth_or_none(properties: Said, name: str) -> bool | None:
    return _truth(properties, name) if name in properties else None


def _truth(properties: Said, name: str) -> bool:
    text = properties.get(name, "false").lower()
    if text not in ("true", "false"):
        raise atom.Unreadable(f"{name} is {text!r}; it has to be true or false.")
    return text == "true"


def page_of(names: Sequence[str], query: Mapping[str, str]) -> tuple[Sequence[str], str | None]:
    """Return the page of a list that a query selects, and the query for the next page, if any."""
    skip, top = whole(query.get("$skip", "0"), "$skip"), whole(query.get("$top", "100"), "$top")
    # As by the service: more would keep others waiting, 5,000 queues for 794 ms.
    top = min(top, MOST_OF_A_PAGE)
    after = {**query, "$skip": str(skip + top), "$top": str(top)}
    following = urlencode(after, safe="$") if top and skip + top < len(names) else None
    return names[skip : skip + top], following
