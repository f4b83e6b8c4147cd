"""The model as it stands on one way, with what a client remembers of that way."""

from collections.abc import Mapping
from typing import Any

import attrs
from immutables import Map

from busproof.model.life_cycle import LOCKED_STATES
from busproof.model.state import Entity, Namespace, QueuedMessage
from busproof.tla.graphs.command_mapping import NONE, QUEUE, tick_of
from busproof.tla.graphs.memory import Held, Memory, Sent
from busproof.tla.manifest import Setting
from busproof.tla.values import Function

__all__ = ["Standing", "connection_number", "record", "word"]


@attrs.frozen
class Standing:
    """What a projection reads.

    Attributes:
        namespace: the model.
        memory: of a client.
        held: what is where, by body.
        setting: how the configuration's clock ticks.
    """

    namespace: Namespace
    memory: Memory
    held: Mapping[str, Held]
    setting: Setting

    def queue(self, name: str = QUEUE) -> Entity:
        """The queue with this name, by default the only one."""
        return self.namespace.entities[name]

    def up(self, name: str = QUEUE) -> frozenset[int]:
        """The partitions of a queue that are up."""
        queue = self.queue(name)
        return frozenset(range(len(queue.partitions))) - queue.base.down

    def of(self, sent: Sent) -> Held | None:
        """Where a message is, if it is anywhere."""
        return self.held.get(sent.message.body)

    def ticks(self, moment: int, what: str = "locks") -> int:
        """Return how many ticks are left until then."""
        return max(0, -(-(moment - self.namespace.now) // tick_of(self.setting, what)))

    def lock(self, queued: QueuedMessage) -> int:
        """Return how many ticks are left of the message's lock; 0 if it has none."""
        return self.ticks(queued.locked_until) if queued.state in LOCKED_STATES else 0


def record(**fields: Any) -> Function:
    """A spec's record."""
    return Map(fields)


def word(value: str | None) -> str:
    """A property as the specs have it."""
    return NONE if value is None else value


def connection_number(connection: str | None) -> int:
    """A connection's number; 0 for none."""
    return 0 if connection is None else int(connection.removeprefix("c"))
