"""What a bus does by itself, and when: forward a message, or move one to the dead-letter queue.

No document says how soon (FORWARD-DELAY, DEAD-LETTER-DELAY, each two minutes at most unless read
otherwise). So a message that is to go on waits where it is, out of reach of receivers, until a
timer fires that the replay's clock may let fire late. When forwarding begins, the messages that are
there may go or stay; when it ends, those on their way may have stayed.
"""

from typing import Final

import attrs

from busproof import vocabulary as v
from busproof.judging.coverage.notes import coverage_of
from busproof.judging.replay.bindings import Bindings
from busproof.judging.replay.guide import Guide
from busproof.model.dead_letters import DeadLetters
from busproof.model.family import Family
from busproof.model.forwarding import Forwarding
from busproof.model.life_cycle import ACTIVE, State
from busproof.model.management import Management
from busproof.model.state import Entity, QueuedMessage
from busproof.model.values import DIRECT, InTransit

__all__ = ["DelayedDeadLetters", "DelayedForwarding", "DelayedManagement"]


SPENT: Final = "MaxDeliveryCountExceeded"
"""Reason of a dead letter whose deliveries have all failed."""


def guide_of(family: Family) -> Guide:
    """Return the policy of the replay."""
    guide = family.namespace.choices
    assert isinstance(guide, Guide)  # noqa: S101 - a replay has no other policy
    return guide


def bindings_of(family: Family) -> Bindings:
    """Return what the replay has noted of messages."""
    return guide_of(family).bindings


def hold_back(family: Family, queued: QueuedMessage, rule: str) -> None:
    """Let a message wait where it is until the rule's timer fires."""
    family.namespace.journal.touch(queued)
    queued.state = State.SCHEDULED
    queued.entity.look_at(rule, family.namespace.now, queued, queued.number)


def place_of(entity: Entity, suffix: str, message: v.Message, usual: int) -> int:
    """DLQ-PARTITIONS: return the partition of a dead letter, its message's or another one."""
    namespace = entity.namespace
    guide = namespace.choices
    assert isinstance(guide, Guide)  # noqa: S101 - a replay has no other policy
    same = namespace.profile.readings.get("DLQ-PARTITIONS") == "same-partition"
    count = len(entity.partitions)
    shown = [] if same else guide.places_of_copy(entity.path + suffix, message.body, count)
    if not shown or count == 1:
        return usual
    return guide.take("DLQ-PARTITIONS", list(dict.fromkeys((*shown, usual))), entity.base.path)


class DelayedForwarding(Forwarding):
    """Forwarding that takes its time (FORWARD-DELAY)."""

    def forward(
        self, source: Entity, message: v.Message, partition: int, transit: InTransit
    ) -> None:
        """FWD-04: let a message wait at its source until it goes on."""
        queued = self.rules.messages.enqueue(source, message, partition, transit)
        bindings_of(self).note_transit(queued, transit)
        hold_back(self, queued, "forwarding.go_on")

    def forward_dead_letter(
        self, source: Entity, message: v.Message, partition: int, transit: InTransit
    ) -> None:
        """FWD-35: let a dead letter wait in its queue until it goes on."""
        queued = self.rules.messages.enqueue(source, message, partition, transit)
        bindings_of(self).note_transit(queued, transit)
        hold_back(self, queued, "forwarding.go_on")

    def keep(
        self, source: Entity, message: v.Message, partition: int, transit: InTransit, reason: str
    ) -> None:
        """DLQ-12, FWD-19: keep a message that cannot go on in the partition where it is seen."""
        place = place_of(source, v.TRANSFERS, message, partition)
        super().keep(source, message, place, transit, reason)

    def go_on(self, queued: QueuedMessage) -> None:
        """FWD-05, FWD-35: forward a message, or let it stay if forwarding has ended meanwhile."""
        source, message, partition = queued.entity, queued.message, queued.partition
        if not queued.is_there:
            return
        if source.settings.forward_to is None:
            self.namespace.journal.touch(queued)
            queued.state = ACTIVE
            queued.line.give_back(queued)
            return
        transit = bindings_of(self).take_transit(queued)
        self.rules.messages.remove(queued)
        with coverage_of(self).resumed(queued):
            if v.is_dead_letter_queue(source.path):
                super().forward_dead_letter(source, message, partition, transit)
            else:
                super().forward(source, message, partition, transit)

    def go_too(self, queued: QueuedMessage) -> None:
        """FWD-05: forward a message that was there before forwarding began, unless it is held."""
        if queued.is_there and queued.state is ACTIVE and queued.entity.settings.forward_to:
            self.go_on(queued)


class DelayedDeadLetters(DeadLetters):
    """Dead letters that the service moves by itself, some time later (DEAD-LETTER-DELAY)."""

    def dead_letter(self, queued: QueuedMessage, reason: str) -> None:
        """DLQ-02, TTL-07: let a message that the service moves by itself wait where it is.

        A bus without dead letters may deliver a message as often as it likes.
        """
        guide = guide_of(self)
        is_spent = reason == SPENT and queued.state is ACTIVE
        if is_spent and not guide.has_dead_letters:
            stays = guide.take("DLQ-02", (False, True), queued.entity.base.path)
            if stays:
                return
        delay = self.namespace.profile.readings.get("DEAD-LETTER-DELAY")
        if queued.state is not ACTIVE or delay == "at-once":
            super().dead_letter(queued, reason)
            return
        bindings_of(self).note_transit(queued, DIRECT._replace(reason=reason))
        hold_back(self, queued, "dead_letters.move")

    def enqueue(
        self, entity: Entity, message: v.Message, partition: int, transit: InTransit
    ) -> None:
        """DLQ-12, DLQ-13: add a dead letter to the partition in which it is seen."""
        super().enqueue(
            entity, message, place_of(entity, v.DEAD_LETTERS, message, partition), transit
        )

    def move(self, queued: QueuedMessage) -> None:
        """DLQ-02, TTL-07: move a message that has waited."""
        if queued.is_there:
            super().dead_letter(queued, bindings_of(self).take_transit(queued).reason or "")


class DelayedManagement(Management):
    """Updates that begin to forward the messages which are there already, or do not (FWD-05)."""

    def apply_update(self, entity: Entity, command: v.UpdateQueue) -> None:
        """FWD-05: let each message that is there go on at some time, or stay."""
        before = entity.settings.forward_to
        dead = entity.dead_letters
        locks = 0 if dead is None else dead.settings.lock_duration
        super().apply_update(entity, command)
        if dead is not None and dead.settings.lock_duration != locks:
            # Whether dead letters have the locks of their entity's update is not said.
            guide = guide_of(self)
            kept = guide.take("MGMT-12", (dead.settings.lock_duration, locks), guide.place)
            dead.settings = attrs.evolve(dead.settings, lock_duration=kept)
        if before is None and entity.settings.forward_to is not None:
            for queued in entity.messages.values():
                queued.entity.look_at(
                    "forwarding.go_too", self.namespace.now, queued, queued.number
                )
