"""FWD: automatic forwarding of messages and dead letters to another entity.

An entity that forwards stores none of its messages. Each is forwarded at once, keeps its
properties, and its key selects a partition as if it had been sent to the destination. A message is
forwarded at most four times in a row. One that cannot be forwarded is not lost: its source
dead-letters it, or keeps it in the transfer dead-letter queue (FORWARD-FAILED). A dead letter that
cannot go on waits in its queue, and may be tried again when its destination is enabled or has room.
"""

from typing import Final

from busproof import vocabulary as v
from busproof.model.ambiguities import (
    ForwardFailed,
    ForwardHops,
    ForwardLifetime,
    ForwardMessageId,
)
from busproof.model.family import Family
from busproof.model.life_cycle import ACTIVE
from busproof.model.state import NO_PARTITIONS, Entity, QueuedMessage
from busproof.model.values import DIRECT, EntitySettings, InTransit, Key, Refusal

__all__ = ["Forwarding"]

TOO_FAR: Final = "MaxTransferHopCountExceeded"
"""Dead-letter reason of a message that was forwarded too often; no other reason is documented."""
MOST_DEAD_LETTERS: Final = 4
"""Maximum number of hops of a dead letter, because entities may forward in a circle."""


RULES_OF_KINDS: Final[dict[tuple[bool, bool], v.RuleId]] = {
    (True, False): "FWD-01",
    (False, True): "FWD-02",
    (True, True): "FWD-03",
    (False, False): "FWD-06",
}
"""Whether source and destination are partitioned, to the rule by which the one forwards."""


class Forwarding(Family):
    """The rules of FWD."""

    def check_settings(self, settings: EntitySettings) -> None:
        """FWD-25, FWD-29: check that the destination exists and the source requires no sessions."""
        if settings.forward_to is not None and settings.requires_session:
            raise Refusal(v.Error.INVALID_OPERATION, "FWD-25")
        for path in (settings.forward_to, settings.forward_dead_letters_to):
            if path is not None:
                destination = self.namespace.entities.get(path)
                # Neither subscriptions nor dead-letter queues accept messages (TOPIC-06, DLQ-11).
                if destination is None or destination.base is not destination:
                    raise Refusal(v.Error.INVALID_OPERATION, "FWD-29")

    def forward(
        self, source: Entity, message: v.Message, partition: int, transit: InTransit
    ) -> None:
        """FWD-01 to FWD-05, FWD-14 to FWD-18: forward a message to its source's destination."""
        reason: str | None = TOO_FAR
        if transit.hops < self.most_hops():
            onward = InTransit(transit.hops + 1, transit.dead_letters, transit.reason)
            reason = self.deliver(source, message, onward)
        if reason is not None:
            self.keep(source, message, partition, transit, reason)

    def rules_of_source(self, source: Entity) -> tuple[v.RuleId, ...]:
        """FWD-01 to FWD-04, FWD-06: return the rules by which what is sent to a source goes on."""
        destination = self.namespace.entities.get(source.settings.forward_to or "")
        if destination is None:
            return ("FWD-20",)
        kinds = source.settings.partitioned, destination.settings.partitioned
        return (RULES_OF_KINDS[kinds], "FWD-04")

    def most_hops(self) -> int:
        """FWD-16 to FWD-18: return how often in a row a message may be forwarded (FORWARD-HOPS)."""
        return 4 if self.namespace.reading(ForwardHops) is ForwardHops.FOUR else 3

    def forward_dead_letter(
        self, source: Entity, message: v.Message, partition: int, transit: InTransit
    ) -> None:
        """FWD-35, FWD-36: forward a dead letter with its reason, or keep it if it cannot go on."""
        reason: str | None = TOO_FAR
        if transit.dead_letters < MOST_DEAD_LETTERS:
            onward = InTransit(0, transit.dead_letters + 1, transit.reason)
            reason = self.deliver(source, message, onward)
        if reason is None:
            return
        queued = self.rules.messages.enqueue(source, message, partition, transit)
        if reason is not TOO_FAR:
            self.let_wait(queued)

    def let_wait(self, queued: QueuedMessage) -> None:
        """FWD-37: let a dead letter wait for its destination, if that may take it later."""
        destination = self.namespace.entities.get(queued.entity.settings.forward_to or "")
        if destination is not None:
            destination.awaited_by[queued] = None

    def try_waiting(self, destination: Entity) -> None:
        """FWD-37: try again soon what waits for a destination that was enabled or has more room."""
        waiting = destination.awaited_by
        while waiting:
            first = next(iter(waiting))
            known = self.namespace.entities.get(first.entity.path) is first.entity
            if known and first.is_there and first.state is ACTIVE:
                now = self.namespace.now
                first.entity.look_at("forwarding.try_again", now, first, first.number)
                return
            del waiting[first]

    def try_again(self, queued: QueuedMessage) -> None:
        """FWD-37: forward a dead letter that could not go on, or let it wait further.

        Nobody says whether a bus tries again (FORWARD-FAILED). After one that goes on, the next.
        """
        source = queued.entity
        if not queued.is_there or queued.state is not ACTIVE:
            return
        if self.namespace.prefers("FWD-37", "stays", to="tried-again"):
            return
        onward = DIRECT._replace(dead_letters=1, reason=queued.reason)
        if self.deliver(source, queued.message, onward) is None:
            self.rules.messages.remove(queued)
            self.try_waiting(self.namespace.entities[source.settings.forward_to or ""])

    def deliver(self, source: Entity, message: v.Message, onward: InTransit) -> str | None:
        """FWD-07 to FWD-13, FWD-19 to FWD-21: deliver a message, or return why it stays."""
        destination = self.namespace.entities.get(source.settings.forward_to or "")
        if destination is None:
            return "DestinationNotFound"
        if not destination.status.takes:
            return "DestinationDisabled"
        key = self.key_of(source, destination, message)
        place = self.place(destination, message, key)
        if place is None:
            return "DestinationFull"
        self.rules.messages.accept(destination, message, key, place, self.aging(source, onward))
        return None

    def aging(self, source: Entity, onward: InTransit) -> InTransit:
        """TTL-04: return what a message brings, with its source's time to live if it keeps that.

        The documents do not say whether its life starts again (FORWARD-LIFETIME). A dead letter
        has none.
        """
        lives = source.settings.time_to_live if source.owner is source else None
        if lives is None or self.namespace.reading(ForwardLifetime) is ForwardLifetime.ANEW:
            return onward
        return onward._replace(lifetime=min(lives, onward.lifetime or lives))

    def key_of(self, source: Entity, destination: Entity, message: v.Message) -> Key | None:
        """FWD-08 to FWD-12: return the key of a message at its destination, as if sent there.

        A MessageId that was the key at the source may keep the message in its partition even if the
        destination has no duplicate detection (FORWARD-MESSAGE-ID).
        """
        key = self.rules.keys.effective_key(destination, message)
        if key is None and message.message_id is not None and destination.settings.partitioned:
            before = self.rules.keys.effective_key(source, message)
            if (
                before is not None
                and self.namespace.reading(ForwardMessageId) is ForwardMessageId.KEY
            ):
                return before
        return key

    def place(self, destination: Entity, message: v.Message, key: Key | None) -> int | None:
        """FWD-08, FWD-09, FWD-21, FWD-22, FWD-24: return the partition for a forwarded message.

        It is `None` if no partition has room. In a partition that is down, the message waits.
        """
        size = message.size or 0
        if key is not None:
            home = self.rules.keys.home(destination, key)
            return home if self.rules.sizes.has_room(destination, home, size) else None
        chosen = self.rules.keys.any_partition(destination, destination.base.down)
        if chosen is None:
            chosen = self.rules.keys.any_partition(destination, NO_PARTITIONS)
        if chosen is not None and self.rules.sizes.has_room(destination, chosen, size):
            return chosen
        for number in range(len(destination.partitions)):
            if self.rules.sizes.has_room(destination, number, size):
                return number
        return None

    def keep(
        self,
        source: Entity,
        message: v.Message,
        partition: int,
        transit: InTransit,
        reason: str,
    ) -> None:
        """FWD-17 to FWD-21, FWD-32: keep a message that cannot be forwarded as a dead letter.

        Two pages of the documents name different places for it (FORWARD-FAILED). Where dead letters
        are forwarded, it was seen to stay nevertheless (FWD-36).
        """
        failed = transit._replace(reason=reason)
        dead_letters = source.dead_letters
        transfers = source.transfers
        if (
            transfers is not None
            and self.namespace.reading(ForwardFailed) is ForwardFailed.TRANSFER
        ):
            self.rules.messages.enqueue(transfers, message, partition, failed)
        elif (
            dead_letters is not None
            and dead_letters.settings.forward_to is not None
            and self.namespace.prefers("FWD-36", "stays", to="forwarded")
        ):
            self.rules.messages.enqueue(dead_letters, message, partition, failed)
        else:
            self.rules.dead_letters.enqueue(source, message, partition, failed)

    def reject_sessionless(
        self, entity: Entity, message: v.Message, partition: int, transit: InTransit
    ) -> None:
        """FWD-27: dead-letter a message without SessionId at an entity that requires sessions."""
        failed = transit._replace(reason="SessionIdMissing")
        self.rules.dead_letters.enqueue(entity, message, partition, failed)
