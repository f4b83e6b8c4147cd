"""LIMIT: limits on lengths, sizes and counts in one request.

The limits are from public documentation; the documents on partitioning state none. How many bytes a
KB has is open (KB-BYTES), and so is the size of a message beyond its body. This bus measures bodies
and properties as they are written. A message that replaces many, to fill an entity quickly, may
have any size.
"""

from collections.abc import Callable, Iterable
from typing import Final

import attrs

from busproof import vocabulary as v
from busproof.model.state import Namespace
from busproof.model.values import Refusal

__all__ = ["Limits"]

LARGEST: Final = 256
LARGEST_IN_PREMIUM: Final = 100 * 1024
LARGEST_BATCH_IN_PREMIUM: Final = 1024
PROPERTY, PROPERTIES = 32, 64
LARGEST_STATE, LARGEST_STATE_IN_PREMIUM = 256, 1024
"""LIMIT-19, LIMIT-20: maximum size of a session state, in KB."""
LONGEST_KEY, LONGEST_NAME, LONGEST_SHORT_NAME = 128, 260, 50
"""Maximum lengths of keys, of queue and topic names, and of other names, in characters."""
MOST_IN_TRANSACTION: Final = 100
"""LIMIT-15, LIMIT-16: maximum number of messages in one transaction."""


def exceeds(namespace: Namespace, size: int, most: int, most_in_premium: int) -> bool:
    """KB-BYTES: return whether a size in bytes exceeds the KB that the namespace's tier permits."""
    if size < most * 1000:
        # The size is allowed for every size of a KB. The reading is chosen only when it matters.
        return False
    allowed = most_in_premium if namespace.profile.is_premium else most
    decimal = namespace.reading("KB-BYTES", "binary", "decimal") == "decimal"
    return size > allowed * (1000 if decimal else 1024)


def check_message(namespace: Namespace, message: v.Message) -> None:
    """LIMIT-01 to LIMIT-14: check the size of a message and the length of its keys."""
    if message.size is not None and not message.stands_in:
        namespace.rules.limits.check_size(namespace, message.size)
    if message.message_id is not None:
        namespace.rules.limits.check_key(message.message_id, "LIMIT-08")
    if message.session_id is not None:
        namespace.rules.limits.check_key(message.session_id, "LIMIT-10")
    if message.partition_key is not None:
        namespace.rules.limits.check_key(message.partition_key, "LIMIT-12")
    if message.properties:
        namespace.rules.limits.check_properties(namespace, message)


def check_size(namespace: Namespace, size: int) -> None:
    """LIMIT-02, LIMIT-04: check that a body is not larger than its tier permits."""
    if exceeds(namespace, size, LARGEST, LARGEST_IN_PREMIUM):
        rule = "LIMIT-04" if namespace.profile.is_premium else "LIMIT-02"
        raise Refusal(v.Error.MESSAGE_TOO_LARGE, rule)


def check_key(key: str, rule: v.RuleId) -> None:
    """LIMIT-07 to LIMIT-12: check the length of a MessageId, SessionId or PartitionKey."""
    if len(key) > LONGEST_KEY:
        raise Refusal(v.Error.INVALID_OPERATION, rule)


def check_properties(namespace: Namespace, message: v.Message) -> None:
    """LIMIT-13, LIMIT-14: check the size of each property, and of all together.

    The documents do not say how values other than texts count; for this bus each takes eight bytes.
    """
    sizes = [
        len(name.encode()) + (len(value.encode()) if isinstance(value, str) else 8)
        for name, value in message.properties.items()
    ]
    if exceeds(namespace, max(sizes), PROPERTY, PROPERTY):
        raise Refusal(v.Error.INVALID_OPERATION, "LIMIT-13")
    if exceeds(namespace, sum(sizes), PROPERTIES, PROPERTIES):
        raise Refusal(v.Error.INVALID_OPERATION, "LIMIT-14")


def check_batch(namespace: Namespace, messages: Iterable[v.Message]) -> None:
    """BATCH-07: check that a batch is not larger than the maximum message size."""
    size = sum(message.size or 0 for message in messages if not message.stands_in)
    if exceeds(namespace, size, LARGEST, LARGEST_BATCH_IN_PREMIUM):
        raise Refusal(v.Error.MESSAGE_TOO_LARGE, "BATCH-07")


def check_state(namespace: Namespace, state: str | None) -> None:
    """LIMIT-19, LIMIT-20: check the size of a session state."""
    if exceeds(namespace, len((state or "").encode()), LARGEST_STATE, LARGEST_STATE_IN_PREMIUM):
        raise Refusal(v.Error.MESSAGE_TOO_LARGE, "LIMIT-20")


def check_count(namespace: Namespace, count: int) -> None:
    """LIMIT-15, LIMIT-16: check that a transaction may take one more message."""
    if count >= MOST_IN_TRANSACTION:
        raise Refusal(v.Error.INVALID_OPERATION, "LIMIT-16")


def check_name(namespace: Namespace, name: str) -> None:
    """LIMIT-17, LIMIT-18: check the length of a queue's or topic's name."""
    if len(name) > LONGEST_NAME:
        raise Refusal(v.Error.INVALID_OPERATION, "LIMIT-18")


def check_short_name(namespace: Namespace, name: str, rule: v.RuleId) -> None:
    """TOPIC-17, TOPIC-18, FILTER-26, FILTER-27: check a subscription's or rule's name length."""
    if len(name) > LONGEST_SHORT_NAME:
        raise Refusal(v.Error.INVALID_OPERATION, rule)


@attrs.frozen
class Limits:
    """Functions that decide the LIMIT rules; a mutant replaces one of them."""

    check_message: Callable[[Namespace, v.Message], None] = check_message
    check_size: Callable[[Namespace, int], None] = check_size
    check_key: Callable[[str, v.RuleId], None] = check_key
    check_properties: Callable[[Namespace, v.Message], None] = check_properties
    check_batch: Callable[[Namespace, Iterable[v.Message]], None] = check_batch
    check_state: Callable[[Namespace, str | None], None] = check_state
    check_count: Callable[[Namespace, int], None] = check_count
    check_name: Callable[[Namespace, str], None] = check_name
    check_short_name: Callable[[Namespace, str, v.RuleId], None] = check_short_name
