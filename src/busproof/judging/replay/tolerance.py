"""The model's families where the documents do not say how a bus measures.

They define neither the overhead of a message nor how many bytes a GB has, nor how soon the storage
of a removed message is free again; and a bus need not declare that it keeps to limits at all.
Between what surely fits and what surely does not, the recorded answer decides.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from busproof import vocabulary as v
from busproof.judging.replay.guide import Guide
from busproof.model.ambiguities import FullPartition, KbBytes
from busproof.model.life_cycle import State
from busproof.model.limits import LARGEST, Limits
from busproof.model.sizes import GB, Sizes
from busproof.model.state import Entity, NamespaceState
from busproof.model.values import Refusal

if TYPE_CHECKING:
    from busproof.model.rules import Rules

__all__ = ["TolerantLimits", "TolerantSizes"]

OVERHEAD: Final = 4096
"""Greatest overhead in bytes of a message beyond its body and properties, or of a state."""
WIDEST: Final = 4
"""Maximum number of bytes that one character takes."""
TEXTS: Final = (
    *("message_id", "session_id", "partition_key", "correlation_id", "to", "reply_to"),
    *("subject", "reply_to_session_id", "content_type"),
)
"""The properties of a message that take storage."""
LEAST_GB: Final = 10**9
LITTLE: Final = 50_000_000
"""Number of bytes that surely fit into any partition, which spares most sends the sums."""
MANY: Final = 1000
"""Number of messages whose overhead is allowed for."""
SHORT, LITTLE_KB = 1_000, 100_000
"""Characters and bytes that are far within every limit."""
LARGEST_MESSAGE: Final = 100 * 10**6
MOST_IN_BATCH: Final = 4_500
MOST_IN_BATCH_OF_PREMIUM: Final = 15_900
"""LIMIT-23: number of messages beyond which the service was seen to refuse a batch."""
SURELY_TAKEN_IN_PREMIUM: Final = 1000
"""LIMIT-03: size in KB that Premium always accepts: the least that 1 MB can be."""


def most(message: v.Message) -> int:
    """Return the greatest number of bytes that a message uses."""
    characters = sum(len(text) for name in TEXTS if (text := getattr(message, name)) is not None)
    characters += sum(len(name) + len(str(value)) for name, value in message.properties.items())
    body = max(message.size or 0, WIDEST * len(message.body))
    return body + WIDEST * characters + OVERHEAD


def is_small(message: v.Message) -> bool:
    """Return whether a message is so small that it need not be measured, as nearly all are."""
    if message.properties or len(message.body) > SHORT or (message.size or 0) > LITTLE_KB:
        return False
    texts = (message.subject, message.to, message.reply_to, message.correlation_id)
    return all(text is None or len(text) < SHORT for text in texts)


class TolerantLimits(Limits):
    """Limits that are kept where a bus declares them, as far as they can be measured."""

    def tolerate(self, refusal: Refusal) -> None:
        """Refuse what exceeds a limit, unless the bus does not declare limits and accepts it."""
        guide = self.guide
        if guide.keeps_limits or guide.choose_refusal(refusal.rules[0]):
            raise refusal

    @property
    def guide(self) -> Guide:
        """The guide of the replay."""
        guide = self.namespace.choices
        assert isinstance(guide, Guide)  # noqa: S101 - a replay has no other policy
        return guide

    @property
    def _surely_taken(self) -> int:
        """LIMIT-01, LIMIT-03: the greatest size in bytes that the bus surely accepts."""
        premium = self.namespace.profile.is_premium
        binary = self.namespace.known_reading(KbBytes) is KbBytes.BINARY
        return (SURELY_TAKEN_IN_PREMIUM if premium else LARGEST) * (1024 if binary else 1000)

    def check_message(self, message: v.Message) -> None:
        """LIMIT-01 to LIMIT-14: check a message, whose overhead nobody knows."""
        try:
            super().check_message(message)
        except Refusal as refusal:
            self.tolerate(refusal)
            return
        if is_small(message):
            return
        if most(message) > self._surely_taken and self.guide.choose_refusal("LIMIT-02"):
            raise Refusal(v.Error.MESSAGE_TOO_LARGE, "LIMIT-02")

    def check_batch(self, messages: Iterable[v.Message]) -> None:
        """BATCH-07, LIMIT-23: check a batch; its size in Premium and its messages are open."""
        messages = tuple(messages)
        count = MOST_IN_BATCH_OF_PREMIUM if self.namespace.profile.is_premium else MOST_IN_BATCH
        if len(messages) > count and self.guide.choose_refusal("LIMIT-23"):
            raise Refusal(v.Error.OTHER, "LIMIT-23")
        size = sum(map(most, messages))
        if size <= self._surely_taken:
            return
        try:
            super().check_batch(messages)
        except Refusal as refusal:
            if self.namespace.profile.is_premium and not self.guide.choose_refusal("BATCH-07"):
                return
            self.tolerate(refusal)
            return
        if self.guide.choose_refusal("BATCH-07"):
            raise Refusal(v.Error.MESSAGE_TOO_LARGE, "BATCH-07")

    def check_state(self, state: str | None) -> None:
        """LIMIT-19, LIMIT-20: check the size of a session state, whose overhead nobody knows."""
        try:
            super().check_state(state)
        except Refusal as refusal:
            self.tolerate(refusal)
            return
        size = WIDEST * len(state or "") + OVERHEAD
        if size > LARGEST * 1000 and self.guide.choose_refusal("LIMIT-20"):
            raise Refusal(v.Error.MESSAGE_TOO_LARGE, "LIMIT-20")

    def check_count(self, count: int) -> None:
        """LIMIT-15, LIMIT-16: check the number of messages in a transaction."""
        try:
            super().check_count(count)
        except Refusal as refusal:
            self.tolerate(refusal)

    def check_name(self, name: str) -> None:
        """LIMIT-17, LIMIT-18: check the length of a queue's or topic's name."""
        try:
            super().check_name(name)
        except Refusal as refusal:
            self.tolerate(refusal)

    def check_short_name(self, name: str, rule: v.RuleId) -> None:
        """TOPIC-17, TOPIC-18, FILTER-26, FILTER-27: check a subscription's or rule's name."""
        try:
            super().check_short_name(name, rule)
        except Refusal as refusal:
            self.tolerate(refusal)


class TolerantSizes(Sizes):
    """Room in a partition, as far as it can be known."""

    def __init__(self, namespace: NamespaceState, rules: "Rules") -> None:
        super().__init__(namespace, rules)
        self._ever: dict[tuple[Entity, int], int] = {}

    def charge(self, entity: Entity, partition: int, size: int) -> None:
        """Note all bytes that ever came: nobody says when those of a removed message are free."""
        super().charge(entity, partition, size)
        self.reserve(entity, partition, size)

    def reserve(self, entity: Entity, partition: int, size: int) -> None:
        """SIZE-14: note bytes that may take room already, such as those of a transaction."""
        if size > 0:
            self._note(entity, partition, size)

    def _note(self, entity: Entity, partition: int, size: int) -> None:
        """Note bytes in an entity; a copy may take room of its topic, too (COPIES-SIZE)."""
        topic, under, _ = entity.owner.path.partition(v.SUBSCRIPTIONS)
        for owner in (entity.owner, self.namespace.entities.get(topic) if under else None):
            if owner is not None:
                place = (owner, partition)
                self.namespace.journal.put(self._ever, place, self._ever.get(place, 0) + size)

    def move(self, entity: Entity, partition: int, other: int, size: int) -> None:
        """Count the bytes of a message in another partition, as if they had never been here."""
        for number, change in ((partition, -size), (other, size)):
            counters = entity.partitions[number]
            self.namespace.journal.touch(counters)
            counters.bytes += change
            self._note(entity, number, change)

    def surely_has_room(self, entity: Entity, size: int) -> bool:
        """Return whether a message surely fits into whichever partition, and always has."""
        if not size:
            return True
        ever = sum(self._ever.get((entity, number), 0) for number in range(len(entity.partitions)))
        return ever + size < LITTLE

    def has_room(self, entity: Entity, partition: int, size: int) -> bool:
        """SIZE-07 to SIZE-10: return whether a message fits, or may fit.

        A bus may find that a partition is full one message earlier or later.
        """
        owner = entity.owner
        count = len(entity.partitions)
        # Each copy of a topic's message may take room there (COPIES-SIZE).
        copies = max(len(owner.subscriptions or ()), 1)
        size *= copies
        if self._guide.has_waited_for_room(owner):
            ever = [here.bytes for here in owner.partitions]
        else:
            ever = [self._ever.get((owner, number), 0) for number in range(count)]
        if sum(ever) + 2 * size < LITTLE:
            return True
        margin = max(size, LARGEST_MESSAGE) + OVERHEAD * MANY
        least = entity.capacity // GB * LEAST_GB
        if not self._is_size_known(entity):
            least //= count
        reading = self.namespace.known_reading(FullPartition)
        has_room_here = ever[partition] + margin <= least
        has_room_somewhere = sum(ever) + margin <= least * count
        if (has_room_here or reading is FullPartition.POOLED) and has_room_somewhere:
            return True
        onward = self._going_on(entity)
        is_full = entity.partitions[partition].bytes - onward >= entity.capacity or (
            self.used(entity) - onward >= entity.capacity * count
        )
        if is_full and self._is_bounded(entity) and self._is_filled(entity, partition):
            return super().has_room(entity, partition, size // copies)
        taken = entity.partitions[partition].bytes + size // copies
        came = self._guide.has_come_to(entity.path)
        is_usual = taken > entity.capacity if came is None else not came
        return not self._guide.choose_refusal("SIZE-07", is_usual=is_usual)

    def _going_on(self, entity: Entity) -> int:
        """Return the bytes of what is to be forwarded, which may have gone by now."""
        if entity.settings.forward_to is None:
            return 0
        waiting = (one for one in entity.messages.values() if one.state is State.SCHEDULED)
        return sum(one.message.size or 0 for one in waiting)

    def _is_filled(self, entity: Entity, partition: int) -> bool:
        """Return whether what is in a partition surely is there.

        Who sees no partitions knows that messages with one key share one, and no more.
        """
        if self._guide.sees_partitions:
            return True
        total = self.used(entity)
        if total >= entity.capacity * len(entity.partitions):
            return True
        key = self._guide.key
        effective_key = self.rules.keys.effective_key
        return key is not None and entity.capacity <= sum(
            queued.message.size or 0
            for queued in entity.messages.values()
            if queued.partition == partition and effective_key(entity, queued.message) == key
        )

    @property
    def _guide(self) -> Guide:
        guide = self.namespace.choices
        assert isinstance(guide, Guide)  # noqa: S101 - a replay has no other policy
        return guide

    def _is_size_known(self, entity: Entity) -> bool:
        """SIZE-07, PREM-03: return whether each partition surely has the size that was asked for.

        Of the partitioned entities that Premium still has nothing is said.
        """
        profile = self.namespace.profile
        is_from_before = profile.is_premium and not profile.is_partitioned
        return self.is_each_as_large(entity) and not (
            is_from_before and entity.settings.partitioned
        )

    def _is_bounded(self, entity: Entity) -> bool:
        """SIZE-07, BASIC-SIZES: return whether a partition surely is full at its size."""
        profile = self.namespace.profile
        is_basic = profile.tier is v.Tier.BASIC
        return self._is_size_known(entity) and not (
            is_basic and profile.readings.get("BASIC-SIZES") != "like-standard"
        )
