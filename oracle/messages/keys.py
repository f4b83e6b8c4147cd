"""Partition keys: which property is the key, and which messages have the same key."""

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
"""A MessageId assigned by the client library, unknown to the test (KEY-13)."""


def interpretations(profile: v.Profile, message: v.Message) -> list[tuple[v.Profile, v.Message]]:
    """Return the message with each empty property taken as set or as not set (EMPTY-KEY).

    If either is possible, each branch keeps its answer: the returned profile fixes it for that
    property.
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
    """KEY-08: SessionId and PartitionKey are both set and differ."""
    return (
        message.session_id is not None
        and message.partition_key is not None
        and message.session_id != message.partition_key
    )


def effective_key(namespace: Namespace, settings: v.CreateQueue, message: v.Message) -> Key | None:
    """KEY-04, KEY-07, KEY-10, KEY-12: the first of SessionId, PartitionKey, and MessageId.

    The MessageId counts only with duplicate detection; a regular queue has no partition keys.
    """
    if not settings.partitioned:
        return None
    if message.session_id is not None:
        return Key(SESSION_ID, message.session_id)
    if message.partition_key is not None:
        return Key(PARTITION_KEY, message.partition_key)
    if settings.duplicate_detection and message.message_id is not None:
        return Key(MESSAGE_ID, message.message_id)
    if settings.duplicate_detection and namespace.observability.assigns_message_ids:
        return Key(ASSIGNED, message.body)
    return None


def transaction_key(
    namespace: Namespace, settings: v.CreateQueue, message: v.Message
) -> tuple[Key | None, ...]:
    """TXN-01, TXN-03: return what may count as the message's key in a transaction.

    There is more than one answer for a MessageId without duplicate detection: the documents call it
    a key for transactions, and also not a key (TXN-MESSAGE-ID).
    """
    key = effective_key(namespace, settings, message)
    if key is not None:
        return (key,)
    named = Key(MESSAGE_ID, message.message_id) if message.message_id is not None else None
    # KEY-13: the id that the client library assigns may be the key.
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

    A settlement may have given the transaction its key, and its one entity.
    """
    key = effective_key(namespace, queue.settings, message)
    others = [settlement.key for settlement in transaction.settlements]
    if any(
        settlement.command.queue != queue.settings.queue for settlement in transaction.settlements
    ):
        return True
    return bool(queue.settings.partitioned) and any(
        key is None or other is None or keys_may_differ(namespace.profile, key, other)
        for other in others
    )


def home_name(profile: v.Profile, key: Key) -> Key:
    """Return the name for remembering the key's partition (KEY-PROPERTIES)."""
    if profile.readings.get("KEY-PROPERTIES") == "one-key":
        return Key("", key.value)
    return key


def keys_may_be_same(profile: v.Profile, one: Key, two: Key) -> bool:
    """Return whether some reading treats the two as the same key."""
    if one.value != two.value:
        return False
    return one == two or profile.readings.get("KEY-PROPERTIES") != "two-keys"


def keys_may_differ(profile: v.Profile, one: Key, two: Key) -> bool:
    """Return whether some reading treats the two as different keys."""
    if one.value != two.value:
        return True
    return one != two and profile.readings.get("KEY-PROPERTIES") != "one-key"


def rule_of(settings: v.CreateQueue, message: v.Message, key: Key) -> tuple[v.RuleId, ...]:
    """Return the rules that make this property the key of this message."""
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
