"""Mutants of KEY: messages with and without a key while partitions are down."""

from collections import Counter
from typing import Final

from busproof import vocabulary as v
from busproof.model.keys import SHORT_TIMEOUT
from busproof.model.rules import Namespace
from busproof.model.state import Entity
from busproof.model.values import DIRECT, Key
from busproof.mutants.entities import Switch
from busproof.mutants.keys import HOME, RECEIVE_TWO, message_id
from busproof.mutants.mutant import beside, memory, mutant, run
from busproof.mutants.own_rules import RULES
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


@mutant("KEY-03", "keys.place", IN_OUTAGE, instead)
def dead_partition_stores(namespace: Namespace, entity: Entity, key: Key | None) -> int | None:
    """A message whose partition is down is accepted and stored there."""
    return None if key is None else namespace.rules.keys.home(entity, key)


@beside("messages.arrive", only_where)
def _swallowed(entity: Entity, partition: int) -> bool:
    return partition not in entity.base.down


@mutant("KEY-03", "keys.place", IN_OUTAGE, instead, also=_swallowed)
def dead_partition_swallows(namespace: Namespace, entity: Entity, key: Key | None) -> int | None:
    """A message whose partition is down is accepted and lost."""
    return dead_partition_stores(namespace, entity, key)


@mutant("KEY-03", "messages.send", how=refuses_yet("KEY-03", in_transactions=False))
@run(*IN_OUTAGE, up(HOME), *RECEIVE_TWO)
def dead_partition_refuses_yet_stores(namespace: Namespace, command: v.Send) -> None:
    """A message whose partition is down is refused, and appears after the outage."""
    entity = namespace.rules.topics.sendable(command.queue)
    key = RULES.keys.effective_key(namespace, entity, command.message)
    if key is not None:
        partition = RULES.keys.home(namespace, entity, key)
        RULES.messages.accept(namespace, entity, command.message, key, partition, DIRECT)


@mutant("KEY-12", "keys.effective_key", how=alters)
@run(create(), down(home("1")), send("m1", message_id="1"))
def message_id_pins(usual: Key | None, entity: Entity, message: v.Message) -> Key | None:
    """Without duplicate detection, the MessageId is the key of a message without another key."""
    return usual or message_id(entity, message)


@mutant("KEY-14", "keys.any_partition", NO_TURN, with_other("down"))
def last_partition_unused(entity: Entity, down: frozenset[int]) -> frozenset[int]:
    """The last partition gets no messages without a key."""
    last = {len(entity.partitions) - 1} if len(entity.partitions) > 1 else set()
    return down | last


@mutant("KEY-14", "keys.any_partition", NO_TURN)
def all_in_one_partition(entity: Entity, down: frozenset[int]) -> int | None:
    """All messages without a key go to one partition."""
    return next((number for number in range(len(entity.partitions)) if number not in down), None)


def next_turn(namespace: Namespace, entity: Entity) -> int:
    """Return the next partition in turn, counted by the mutant itself."""
    turns = memory(namespace, Counter[str])
    turns[entity.path] += 1
    return (turns[entity.path] - 1) % len(entity.partitions)


@mutant("KEY-15", PLACE, (create(), down(0), send("m1")), ROUTE_REFUSED)
def no_rerouting(namespace: Namespace, entity: Entity) -> bool:
    """A message without a key is refused if its turn is that of a partition that is down."""
    is_down = next_turn(namespace, entity) in entity.base.down
    return is_down and entity.settings.partitioned


@mutant("KEY-15", PLACE, (create(), down(0), down(1), send("m1")), ROUTE_REFUSED, deep=True)
def no_rerouting_with_many_down(namespace: Namespace, entity: Entity) -> bool:
    """A message without a key is refused if both the next partition and the one after are down."""
    turn, down = next_turn(namespace, entity), entity.base.down
    both = turn in down and (turn + 1) % len(entity.partitions) in down
    return both and entity.settings.partitioned


@mutant("KEY-25", PLACE, (create(), send("m1", seconds=15)), ROUTE_REFUSED)
def short_timeout_fails(entity: Entity, timeout: int) -> bool:
    """With a timeout of at most 15 s a message without a key is refused, even without an outage."""
    return timeout <= SHORT_TIMEOUT and entity.settings.partitioned


@mutant("KEY-20", "keys.place", IN_OUTAGE, instead)
def rerouted_with_key(namespace: Namespace, entity: Entity, key: Key | None) -> int | None:
    """A message with a key goes to another partition while its own is down."""
    down = entity.base.down
    others = [number for number in range(len(entity.partitions)) if number not in down]
    is_down = key is not None and namespace.rules.keys.home(entity, key) in down
    return others[-1] if others and is_down else None


@beside("partitions.switch", beforehand)
def note_outage(namespace: Namespace, command: Switch) -> None:
    """Remember the partitions that were down."""
    if isinstance(command, v.TakePartitionDown):
        memory(namespace, set[tuple[str, int]]).add((command.queue, command.partition))


@mutant("KEY-20", "keys.home", KEY_RECOVERED, also=note_outage, deep=True)
def key_moves_after_outage(namespace: Namespace, entity: Entity, key: Key) -> int:
    """After an outage of its partition a key selects another one."""
    partition = RULES.keys.home(namespace, entity, key)
    were_down = memory(namespace, set[tuple[str, int]])
    moved = partition not in entity.base.down and (entity.base.path, partition) in were_down
    return (partition + moved) % len(entity.partitions)
