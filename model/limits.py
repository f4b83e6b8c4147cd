"""LIMIT: limits on lengths, sizes and counts in one request.

The limits are from public documentation; the documents on partitioning state none. How many bytes a
KB has is open (KB-BYTES), and so is the size of a message beyond its body. This bus measures bodies
and properties as they are written. A message that replaces many, to fill an entity quickly, may
have any size.
"""

from collections.abc import Iterable
from typing import Final

from busproof import vocabulary as v
from busproof.model.ambiguities import KbBytes
from busproof.model.family import Family
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


class Limits(Family):
    """The rules of LIMIT."""

    def exceeds(self, size: int, most: int, most_in_premium: int) -> bool:
        """KB-BYTES: return whether a size in bytes exceeds the KB that the tier permits."""
        if size < most * 1000:
            # The size is allowed for every size of a KB. The reading is chosen only when it
            # matters.
            return False
        allowed = most_in_premium if self.namespace.profile.is_premium else most
        decimal = self.namespace.reading(KbBytes) is KbBytes.DECIMAL
        return size > allowed * (1000 if decimal else 1024)

    def check_message(self, message: v.Message) -> None:
        """LIMIT-01 to LIMIT-14: check the size of a message and the length of its keys."""
        if message.size is not None and not message.stands_in:
            self.check_size(message.size)
        if message.message_id is not None:
            self.check_key(message.message_id, "LIMIT-08")
        if message.session_id is not None:
            self.check_key(message.session_id, "LIMIT-10")
        if message.partition_key is not None:
            self.check_key(message.partition_key, "LIMIT-12")
        if message.properties:
            self.check_properties(message)

    def check_size(self, size: int) -> None:
        """LIMIT-02, LIMIT-04: check that a body is not larger than its tier permits."""
        if self.exceeds(size, LARGEST, LARGEST_IN_PREMIUM):
            rule = "LIMIT-04" if self.namespace.profile.is_premium else "LIMIT-02"
            raise Refusal(v.Error.MESSAGE_TOO_LARGE, rule)

    def check_key(self, key: str, rule: v.RuleId) -> None:
        """LIMIT-07 to LIMIT-12: check the length of a MessageId, SessionId or PartitionKey."""
        if len(key) > LONGEST_KEY:
            raise Refusal(v.Error.INVALID_OPERATION, rule)

    def check_properties(self, message: v.Message) -> None:
        """LIMIT-13, LIMIT-14: check the size of each property, and of all together.

        The documents do not say how values other than texts count; for this bus each takes eight
        bytes.
        """
        sizes = [
            len(name.encode()) + (len(value.encode()) if isinstance(value, str) else 8)
            for name, value in message.properties.items()
        ]
        if self.exceeds(max(sizes), PROPERTY, PROPERTY):
            raise Refusal(v.Error.INVALID_OPERATION, "LIMIT-13")
        if self.exceeds(sum(sizes), PROPERTIES, PROPERTIES):
            raise Refusal(v.Error.INVALID_OPERATION, "LIMIT-14")

    def check_batch(self, messages: Iterable[v.Message]) -> None:
        """BATCH-07: check that a batch is not larger than the maximum message size."""
        size = sum(message.size or 0 for message in messages if not message.stands_in)
        if self.exceeds(size, LARGEST, LARGEST_BATCH_IN_PREMIUM):
            raise Refusal(v.Error.MESSAGE_TOO_LARGE, "BATCH-07")

    def check_state(self, state: str | None) -> None:
        """LIMIT-19, LIMIT-20: check the size of a session state."""
        if self.exceeds(len((state or "").encode()), LARGEST_STATE, LARGEST_STATE_IN_PREMIUM):
            raise Refusal(v.Error.MESSAGE_TOO_LARGE, "LIMIT-20")

    def check_count(self, count: int) -> None:
        """LIMIT-15, LIMIT-16: check that a transaction may take one more message."""
        if count >= MOST_IN_TRANSACTION:
            raise Refusal(v.Error.INVALID_OPERATION, "LIMIT-16")

    def check_name(self, name: str) -> None:
        """LIMIT-17, LIMIT-18: check the length of a queue's or topic's name."""
        if len(name) > LONGEST_NAME:
            raise Refusal(v.Error.INVALID_OPERATION, "LIMIT-18")

    def check_short_name(self, name: str, rule: v.RuleId) -> None:
        """TOPIC-17, TOPIC-18, FILTER-26, FILTER-27: check the name of a subscription or rule."""
        if len(name) > LONGEST_SHORT_NAME:
            raise Refusal(v.Error.INVALID_OPERATION, rule)
