"""KEY: the partition that takes a message.

A message of a partitioned entity has at most one partition key: its SessionId, or else its
PartitionKey, or else, with duplicate detection, its MessageId. A key always selects the same
partition. While that is down, the send is refused and not sent to another one. A message without a
key goes to any partition that is up and has room, in turn.
"""

from typing import Final

from busproof import vocabulary as v
from busproof.model.ambiguities import (
    EmptyKey,
    ErrorPrecedence,
    FullUnkeyed,
    RegularKeys,
    RoundRobin,
    ShortTimeout,
)
from busproof.model.family import Family
from busproof.model.state import Entity
from busproof.model.values import Key, Refusal

__all__ = ["MESSAGE_ID", "SHORT_TIMEOUT", "Keys"]

SESSION_ID: Final = "SessionId"
PARTITION_KEY: Final = "PartitionKey"
MESSAGE_ID: Final = "MessageId"
SHORT_TIMEOUT: Final = 15 * v.MICROSECONDS
"""KEY-15, KEY-18: a timeout; only sends with a longer one must avoid a partition that is down."""


RULES_OF_KEYS: Final[dict[str, tuple[v.RuleId, ...]]] = {
    SESSION_ID: ("KEY-04",),
    PARTITION_KEY: ("KEY-07",),
    MESSAGE_ID: ("KEY-10",),
}
"""Property that is the key, to the rule by which it selects the partition."""


class Keys(Family):
    """The rules of KEY."""

    def effective_key(self, entity: Entity, message: v.Message) -> Key | None:
        """KEY-04, KEY-07, KEY-10, KEY-12: return the partition key; regular entities have none.

        The documents do not say whether an empty text counts as a key (EMPTY-KEY).
        """
        settings = entity.settings
        if not settings.partitioned:
            return None
        session_id, partition_key = message.session_id, message.partition_key
        if session_id is not None and (session_id or self._counts()):
            return Key(SESSION_ID, session_id)
        if partition_key is not None and (partition_key or self._counts()):
            return Key(PARTITION_KEY, partition_key)
        message_id = message.message_id
        if not settings.duplicate_detection or message_id is None:
            return None
        return Key(MESSAGE_ID, message_id) if message_id or self._counts() else None

    def _counts(self) -> bool:
        """EMPTY-KEY: return whether a property that may be an empty text counts as a key."""
        return self.namespace.reading(EmptyKey) is EmptyKey.SET

    def check_agreement(self, entity: Entity, message: v.Message) -> None:
        """KEY-08, KEY-09: check that SessionId and PartitionKey agree if both are set.

        The documents do not say so for regular entities (REGULAR-KEYS); this bus then accepts the
        message. While every partition is down, this error or the outage's may be returned
        (ERROR-PRECEDENCE).
        """
        session_id, partition_key = message.session_id, message.partition_key
        if session_id is None or partition_key is None or session_id == partition_key:
            return
        if "" in (session_id, partition_key) and not self._counts():
            return
        if not entity.settings.partitioned:
            if self.namespace.reading(RegularKeys) is not RegularKeys.REFUSED:
                return
        elif len(entity.base.down) == len(entity.partitions):
            is_open = self.namespace.reading(ErrorPrecedence) is ErrorPrecedence.EITHER
            named = ("key-first", "outage-first")
            if is_open and self.namespace.choices.pick("ERROR-PRECEDENCE", named) == named[1]:
                raise Refusal(v.Error.UNAVAILABLE, "KEY-03")
        raise Refusal(v.Error.INVALID_OPERATION, "KEY-08")

    def rules_of_place(
        self, entity: Entity, message: v.Message, key: Key | None, timeout: int
    ) -> tuple[v.RuleId, ...]:
        """KEY-04, KEY-05, KEY-07, KEY-10, KEY-14: return the rules by which a message was placed.

        Besides these what else matters: an outage (PART-02, KEY-15, KEY-18), a short timeout
        (KEY-25), and other properties that might have been the key (KEY-09, KEY-24).
        """
        settings, is_down = entity.settings, bool(entity.base.down)
        if not settings.partitioned:
            return ("LIFE-01",)
        if key is None:
            short = timeout <= SHORT_TIMEOUT
            if is_down:
                return ("KEY-14", "KEY-18" if short else "KEY-15")
            return ("KEY-14", "KEY-25") if short else ("KEY-14",)
        rules = RULES_OF_KEYS[key.source]
        if key.source == SESSION_ID and settings.requires_session:
            rules += ("KEY-05",)
        if message.session_id is not None and message.session_id == message.partition_key:
            rules += ("KEY-09",)
        is_apart = settings.duplicate_detection and message.message_id is not None
        if is_apart and key.source != MESSAGE_ID:
            rules += ("KEY-24",)
        return (*rules, "PART-02") if is_down else rules

    def home(self, entity: Entity, key: Key) -> int:
        """KEY-02, KEY-20: return the partition that a key selects, always the same for one value.

        The hash is not published: unless the policy computes one, the partition is chosen once.
        Even a refusal in an outage tells a client which one it is, so the choice is revealed.
        """
        base, choices = entity.base, self.namespace.choices
        partition = choices.home(key.value, len(entity.partitions))
        if partition is None:
            partition = base.homes.get(key.value)
        if partition is None:
            partition = choices.partition("KEY-02", base.path, len(entity.partitions), None) or 0
            self.namespace.journal.reveal(base.homes, key.value, partition)
        return partition

    def place(self, entity: Entity, key: Key | None, size: int, timeout: int) -> int:
        """KEY-01, KEY-03: return the partition for a message, or refuse the message."""
        if key is None:
            return self.place_without_key(entity, size, timeout)
        partition = self.home(entity, key)
        if partition in entity.base.down:
            of_topic = ("TOPIC-10",) if entity.subscriptions is not None else ()
            raise self.rules.partitions.outage("KEY-03", *of_topic)
        if not self.rules.sizes.has_room(entity, partition, size):
            raise Refusal(v.Error.QUOTA_EXCEEDED, "SIZE-07")
        return partition

    def place_without_key(self, entity: Entity, size: int, timeout: int) -> int:
        """KEY-14, KEY-15, KEY-18, SIZE-09, SIZE-10: return any partition that is up and has room.

        The documents leave open whether an outage makes a send with a short timeout fail
        (SHORT-TIMEOUT), and whether a message avoids a full partition (FULL-UNKEYED).
        """
        down = entity.base.down
        if down and timeout <= SHORT_TIMEOUT and entity.settings.partitioned:
            must_fail = self.namespace.reading(ShortTimeout) is ShortTimeout.MUST_FAIL
            goes_round = ("goes-round", "must-fail")
            if must_fail or self.namespace.choices.pick("SHORT-TIMEOUT", goes_round) == "must-fail":
                raise self.rules.partitions.outage("KEY-18")
        partition = self.next_partition(entity, down)
        if partition is None:
            rule = "PART-03" if entity.settings.partitioned else "PART-01"
            raise self.rules.partitions.outage(rule)
        if self.rules.sizes.has_room(entity, partition, size):
            return partition
        if self.namespace.reading(FullUnkeyed) is FullUnkeyed.GOES_ROUND:
            for number in range(len(entity.partitions)):
                if number not in down and self.rules.sizes.has_room(entity, number, size):
                    return number
        rule = "SIZE-09" if entity.settings.partitioned else "SIZE-10"
        raise Refusal(v.Error.QUOTA_EXCEEDED, rule)

    def next_partition(self, entity: Entity, down: frozenset[int]) -> int | None:
        """KEY-14: return a partition that is up, in strict turn if ROUND-ROBIN requires that."""
        if (
            self.namespace.reading(RoundRobin) is not RoundRobin.STRICT
            or len(entity.partitions) == 1
        ):
            return self.any_partition(entity, down)
        base, count = entity.base, len(entity.partitions)
        if base.last < 0:
            first = self.namespace.choices.partition("KEY-14", base.path, count, None)
            self.namespace.journal.touch(base)
            base.last = (first or 0) - 1
        turns = ((base.last + ahead) % count for ahead in range(1, count + 1))
        chosen = next((number for number in turns if number not in down), None)
        if chosen is not None:
            self.namespace.journal.touch(base)
            base.last = chosen
        return chosen

    def any_partition(self, entity: Entity, down: frozenset[int]) -> int | None:
        """KEY-14: return any partition that is up."""
        count = len(entity.partitions)
        if count == 1:
            return None if down else 0
        is_up = (lambda number: number not in down) if down else None
        return self.namespace.choices.partition("KEY-14", entity.base.path, count, is_up)
