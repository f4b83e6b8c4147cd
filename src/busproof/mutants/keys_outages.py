"""Mutants of KEY: messages with and without a key while partitions are down."""

from collections import Counter
from typing import Final

from busproof import vocabulary as v
from busproof.model.keys import SHORT_TIMEOUT, Keys
from busproof.model.messages import Messages
from busproof.model.partitions import Partitions
from busproof.model.rules import Namespace
from busproof.model.state import Entity
from busproof.model.values import DIRECT, Key
from busproof.mutants.entities import Switch
from busproof.mutants.keys import HOME, RECEIVE_TWO, message_id
from busproof.mutants.mutant import memory, mutant, run
from busproof.mutants.runs import PARTITIONS, Run, create, down, home, send, up
from busproof.mutants.wrappers import (
    alters,
    beforehand,
    instead,
    only_where,
    refuses,
    refuses_yet,
    with_other,
)

PLACE: Final = "keys.place_without_key"
ROUTE_REFUSED: Final = refuses("KEY-15", v.Error.UNAVAILABLE)
ENOUGH: Final = 25 * PARTITIONS
"""Number of messages without a key within which every partition must be used."""
IN_OUTAGE: Final[Run] = (
    create(),
    send("m1", partition_key="a"),
    down(HOME),
    send("m2", partition_key="a"),
)
NO_TURN: Final[Run] = (create(), *(send(f"m{number}") for number in range(ENOUGH)))
KEY_RECOVERED: Final[Run] = (*IN_OUTAGE, up(HOME), send("m3", partition_key="a"))


@mutant("KEY-03", IN_OUTAGE)
class DeadPartitionStores(Keys):
    """A message whose partition is down is accepted and stored there."""

    @instead
    def place(self, entity: Entity, key: Key | None) -> int | None:
        return None if key is None else self.home(entity, key)


class _Swallowed(Messages):
    @only_where
    def arrive(self, entity: Entity, partition: int) -> bool:
        return partition not in entity.base.down


@mutant("KEY-03", IN_OUTAGE, also=(_Swallowed,))
class DeadPartitionSwallows(Keys):
    """A message whose partition is down is accepted and lost."""

    @instead
    def place(self, entity: Entity, key: Key | None) -> int | None:
        return None if key is None else self.home(entity, key)


@mutant("KEY-03")
@run(*IN_OUTAGE, up(HOME), *RECEIVE_TWO)
class DeadPartitionRefusesYetStores(Messages):
    """A message whose partition is down is refused, and appears after the outage."""

    @refuses_yet("KEY-03", in_transactions=False)
    def send(self, command: v.Send) -> None:
        entity = self.rules.topics.sendable(command.queue)
        key = self.rules.keys.effective_key(entity, command.message)
        if key is not None:
            partition = self.rules.keys.home(entity, key)
            self.accept(entity, command.message, key, partition, DIRECT)


@mutant("KEY-12")
@run(create(), down(home("1")), send("m1", message_id="1"))
class MessageIdPins(Keys):
    """Without duplicate detection, the MessageId is the key of a message without another key."""

    @alters
    def effective_key(self, usual: Key | None, entity: Entity, message: v.Message) -> Key | None:
        return usual or message_id(entity, message)


@mutant("KEY-14", NO_TURN)
class LastPartitionUnused(Keys):
    """The last partition gets no messages without a key."""

    @with_other("down")
    def any_partition(self, entity: Entity, down: frozenset[int]) -> frozenset[int]:
        last = {len(entity.partitions) - 1} if len(entity.partitions) > 1 else set()
        return down | last


@mutant("KEY-14", NO_TURN)
class AllInOnePartition(Keys):
    """All messages without a key go to one partition."""

    def any_partition(self, entity: Entity, down: frozenset[int]) -> int | None:
        return next(
            (number for number in range(len(entity.partitions)) if number not in down), None
        )


def next_turn(namespace: Namespace, entity: Entity) -> int:
    """Return the next partition in turn, counted by the mutant itself."""
    turns = memory(namespace, Counter[str])
    turns[entity.path] += 1
    return (turns[entity.path] - 1) % len(entity.partitions)


@mutant("KEY-15", (create(), down(0), send("m1")))
class NoRerouting(Keys):
    """A message without a key is refused if its turn is that of a partition that is down."""

    @ROUTE_REFUSED
    def place_without_key(self, entity: Entity) -> bool:
        is_down = next_turn(self.rules.namespace, entity) in entity.base.down
        return is_down and entity.settings.partitioned


@mutant("KEY-15", (create(), down(0), down(1), send("m1")), deep=True)
class NoReroutingWithManyDown(Keys):
    """A message without a key is refused if both the next partition and the one after are down."""

    @ROUTE_REFUSED
    def place_without_key(self, entity: Entity) -> bool:
        turn = next_turn(self.rules.namespace, entity)
        down = entity.base.down
        both = turn in down and (turn + 1) % len(entity.partitions) in down
        return both and entity.settings.partitioned


@mutant("KEY-25", (create(), send("m1", seconds=15)))
class ShortTimeoutFails(Keys):
    """With a timeout of at most 15 s a message without a key is refused, even without an outage."""

    @ROUTE_REFUSED
    def place_without_key(self, entity: Entity, timeout: int) -> bool:
        return timeout <= SHORT_TIMEOUT and entity.settings.partitioned


@mutant("KEY-20", IN_OUTAGE)
class ReroutedWithKey(Keys):
    """A message with a key goes to another partition while its own is down."""

    @instead
    def place(self, entity: Entity, key: Key | None) -> int | None:
        down = entity.base.down
        others = [number for number in range(len(entity.partitions)) if number not in down]
        is_down = key is not None and self.home(entity, key) in down
        return others[-1] if others and is_down else None


class NoteOutage(Partitions):
    """Remember the partitions that were down."""

    @beforehand
    def switch(self, command: Switch) -> None:
        if isinstance(command, v.TakePartitionDown):
            memory(self.rules.namespace, set[tuple[str, int]]).add(
                (command.queue, command.partition)
            )


@mutant("KEY-20", KEY_RECOVERED, also=(NoteOutage,), deep=True)
class KeyMovesAfterOutage(Keys):
    """After an outage of its partition a key selects another one."""

    def home(self, entity: Entity, key: Key) -> int:
        partition = super().home(entity, key)
        were_down = memory(self.rules.namespace, set[tuple[str, int]])
        moved = partition not in entity.base.down and (entity.base.path, partition) in were_down
        return (partition + moved) % len(entity.partitions)
