"""Arguments of projections: the model's state, with the memory of a client."""

from collections.abc import Mapping
from typing import Any

import attrs
from immutables import Map

from busproof.model.life_cycle import LOCKED_STATES
from busproof.model.rules import Namespace
from busproof.model.state import Entity, QueuedMessage
from busproof.tla.graphs.command_mapping import NONE, QUEUE, tick_of
from busproof.tla.graphs.memory import Held, Memory, Sent
from busproof.tla.manifest import Setting
from busproof.tla.values import Function

__all__ = ["Standing", "connection_number", "record", "word"]


@attrs.frozen
class Standing:
    """Arguments of a projection.

    Attributes:
        namespace: the model's namespace.
        memory: the client's memory.
        by_body: the messages in the model, by body.
        setting: the setting of the configuration, with the ticks of its clock.
    """

    namespace: Namespace
    memory: Memory
    by_body: Mapping[str, Held]
    setting: Setting

    def queue(self, name: str = QUEUE) -> Entity:
        """Return the queue with this name; without a name, the only one."""
        return self.namespace.entities[name]

    def up(self, name: str = QUEUE) -> frozenset[int]:
        """Return the partitions of a queue that are not down."""
        queue = self.queue(name)
        return frozenset(range(len(queue.partitions))) - queue.base.down

    def of(self, sent: Sent) -> Held | None:
        """Return the record of a message in the model; `None` if it is gone."""
        return self.by_body.get(sent.message.body)

    def ticks(self, moment: int, what: str = "locks") -> int:
        """Return the number of ticks from now until a moment."""
        return max(0, -(-(moment - self.namespace.now) // tick_of(self.setting, what)))

    def lock(self, queued: QueuedMessage) -> int:
        """Return the ticks until a message's lock ends; 0 if it is not locked."""
        return self.ticks(queued.locked_until) if queued.state in LOCKED_STATES else 0


def record(**fields: Any) -> Function:
    """Return a TLA+ record."""
    return Map(fields)


def word(value: str | None) -> str:
    """Return a property in the form of the specs, which have a value for none."""
    return NONE if value is None else value


def connection_number(connection: str | None) -> int:
    """Return the number of a connection; 0 if there is none."""
    return 0 if connection is None else int(connection.removeprefix("c"))
