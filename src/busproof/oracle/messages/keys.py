"""Partition keys: which property is a message's key, and when two keys are the same."""

from collections.abc import Iterator
from typing import Any, Final

from busproof import vocabulary as v
from busproof.oracle.evolve import evolve
from busproof.oracle.queued_messages import Key
from busproof.oracle.state import Namespace, Queue, Transaction

SESSION_ID: Final = "SessionId"
PARTITION_KEY: Final = "PartitionKey"
MESSAGE_ID: Final = "MessageId"
ASSIGNED: Final = "assigned MessageId"
"""A MessageId that the client library assigns, unknown to the observer (KEY-13)."""


def interpretations(profile: v.Profile, message: v.Message) -> list[tuple[v.Profile, v.Message]]:
    """Return the possible readings of a message: an empty property counts as set, or as missing.

    EMPTY-KEY decides. If it leaves both readings open, a bus must keep to the one that it followed
    first, so each returned profile fixes one.
    """
    readings = [(profile, message)]
    if "" in (message.session_id, message.partition_key, message.message_id):
        for name in ("session_id", "partition_key", "message_id"):
            if getattr(message, name) == "":
                readings = [reading for known in readings for reading in _counted(*known, name)]
    return readings


def _counted(
    profile: v.Profile, message: v.Message, name: str
) -> Iterator[tuple[v.Profile, v.Message]]:
    settled = f"EMPTY-KEY of {name}"
    reading = profile.readings.get(settled, profile.readings.get("EMPTY-KEY"))
    for answer, value in (("set", ""), ("unset", None)):
        if reading in (answer, None, "either"):
            read = evolve(profile, readings=profile.readings.set(settled, answer))
            counted: dict[str, Any] = {name: value}
            yield read, evolve(message, **counted)


def keys_conflict(message: v.Message) -> bool:
    """KEY-08: return whether SessionId and PartitionKey are both set and differ."""
    return (
        message.session_id is not None
        and message.partition_key is not None
        and message.session_id != message.partition_key
    )


def effective_key(namespace: Namespace, settings: v.CreateQueue, message: v.Message) -> Key | None:
    """KEY-04, KEY-07, KEY-10, KEY-12: return the message's partition key, if it has one.

    It is the first of SessionId, PartitionKey and, with duplicate detection, MessageId. A regular
    queue has no partition keys.
    """
    # Nothing is selected by a key where there is only one partition.
    if not settings.partitioned:
        return None
    if message.session_id is not None:
        return Key(SESSION_ID, message.session_id)
    if message.partition_key is not None:
        return Key(PARTITION_KEY, message.partition_key)
    if settings.duplicate_detection and message.message_id is not None:
        return Key(MESSAGE_ID, message.message_id)
    if settings.duplicate_detection and namespace.observability.assigns_message_ids:
        # The assigned id is unknown, and the body stands for it because it identifies the message
        # too.
        return Key(ASSIGNED, message.body)
    return None


def transaction_key(
    namespace: Namespace, settings: v.CreateQueue, message: v.Message
) -> tuple[Key | None, ...]:
    """TXN-01, TXN-03: return the values that may count as the message's key in a transaction.

    Without duplicate detection a MessageId may count or not: in one place the documents call it a
    key for transactions, in another they do not (TXN-MESSAGE-ID).
    """
    key = effective_key(namespace, settings, message)
    if key is not None:
        return (key,)
    named = Key(MESSAGE_ID, message.message_id) if message.message_id is not None else None
    # KEY-13: an id that the client library assigns may be the key, too.
    if named is None and namespace.observability.assigns_message_ids:
        named = Key(ASSIGNED, message.body)
    match namespace.reading("TXN-MESSAGE-ID"):
        case "with-duplicate-detection":
            return (None,)
        case "always":
            return (named,)
        case _:
            return (named, None) if named is not None else (None,)


def settled_otherwise(
    namespace: Namespace, transaction: Transaction, queue: Queue, message: v.Message
) -> bool:
    """TXN-OTHER-OPERATIONS, TXN-ENTITIES: return whether earlier settlements may conflict.

    The documents do not say whether a settlement binds its transaction to a key and an entity, as a
    send does.
    """
    key = effective_key(namespace, queue.settings, message)
    others = [settlement.key for settlement in transaction.settlements]
    # A second entity in a transaction may be refused (TXN-ENTITIES), whatever its messages have as
    # keys.
    if any(
        settlement.command.queue != queue.settings.queue for settlement in transaction.settlements
    ):
        return True
    return bool(queue.settings.partitioned) and any(
        key is None or other is None or keys_may_differ(namespace.profile, key, other)
        for other in others
    )


def home_name(profile: v.Profile, key: Key) -> Key:
    """Return the name that the key's partition is remembered under (KEY-PROPERTIES)."""
    # Under this reading a SessionId and a PartitionKey with the same value lead to the same
    # partition.
    if profile.readings.get("KEY-PROPERTIES") == "one-key":
        return Key("", key.value)
    return key


def keys_may_be_same(profile: v.Profile, one: Key, two: Key) -> bool:
    """Return whether some reading of the documents treats the two keys as one."""
    if one.value != two.value:
        return False
    return one == two or profile.readings.get("KEY-PROPERTIES") != "two-keys"


def keys_may_differ(profile: v.Profile, one: Key, two: Key) -> bool:
    """Return whether some reading of the documents treats the two as different keys."""
    if one.value != two.value:
        return True
    return one != two and profile.readings.get("KEY-PROPERTIES") != "one-key"


def rule_of(settings: v.CreateQueue, message: v.Message, key: Key) -> tuple[v.RuleId, ...]:
    """Return the rules that make this property the message's key."""
    told_apart = settings.duplicate_detection and message.message_id is not None
    match key.taken_from:
        case "SessionId":
            rules: tuple[v.RuleId, ...] = (
                ("KEY-05", "KEY-04") if settings.requires_session else ("KEY-04",)
            )
        case "PartitionKey":
            rules = ("KEY-07",)
        case _:
            return ("KEY-10",)
    return ("KEY-24", *rules) if told_apart else rules
