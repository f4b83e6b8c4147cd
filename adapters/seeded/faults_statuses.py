"""Faults of queues that are disabled: MGMT-26 to MGMT-28."""

from typing import Final

from busproof.adapters.seeded.bus import QueueCommand, SeededBus
from busproof.adapters.seeded.fault import Faults
from busproof.adapters.seeded.queues import Queue
from busproof.vocabulary.commands import Receive, Schedule, Send, SendBatch
from busproof.vocabulary.entity_settings import EntityStatus

__all__ = ["FAULTS"]

faulty = Faults()


@faulty(
    "disabled-takes",
    "MGMT-26",
    "A queue that is disabled for who sends takes messages all the same.",
)
class _DisabledTakes(SeededBus):
    def is_disabled_for(self, queue: Queue, command: QueueCommand | Send | SendBatch) -> bool:
        sends = isinstance(command, Send | Schedule)
        return not sends and super().is_disabled_for(queue, command)


@faulty(
    "disabled-keeps-for-later",
    "MGMT-26",
    "What a disabled queue refuses arrives all the same.",
)
class _DisabledKeeps(SeededBus):
    def is_disabled_for(self, queue: Queue, command: QueueCommand | Send | SendBatch) -> bool:
        refused = super().is_disabled_for(queue, command)
        if refused and isinstance(command, Send) and command.transaction is None:
            self.send(queue, command)
        return refused


@faulty(
    "disabled-gives",
    "MGMT-27",
    "A queue that is disabled for who receives gives messages all the same.",
)
class _DisabledGives(SeededBus):
    def is_disabled_for(self, queue: Queue, command: QueueCommand | Send | SendBatch) -> bool:
        return not isinstance(command, Receive) and super().is_disabled_for(queue, command)


@faulty("disabling-empties", "MGMT-27", "A queue that is disabled loses what it holds.")
class _DisablingEmpties(SeededBus):
    def put_status(self, queue: Queue, status: EntityStatus) -> None:
        if not status.gives:
            queue.messages.clear()
        super().put_status(queue, status)


@faulty(
    "disabled-for-one-is-disabled-for-all",
    "MGMT-28",
    "A queue that is disabled for who sends gives nothing, and one for who receives takes nothing.",
)
class _DisabledForAll(SeededBus):
    def put_status(self, queue: Queue, status: EntityStatus) -> None:
        active = status is EntityStatus.ACTIVE
        super().put_status(queue, status if active else EntityStatus.DISABLED)


FAULTS: Final = faulty.all()
