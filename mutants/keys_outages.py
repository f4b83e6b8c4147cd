"""Mutants of KEY: messages with and without key while partitions are down."""

from collections import Counter
from typing import Any, Final

from busproof import vocabulary as v
from busproof.model.answers import Answer
from busproof.model.keys import SHORT_TIMEOUT
from busproof.model.rules import RULES
from busproof.model.state import Entity, Namespace
from busproof.model.values import DIRECT, InTransit, Key, Refusal
from busproof.mutants.keys import message_id
from busproof.mutants.keys_order import HOME, RECEIVE_TWO
from busproof.mutants.mutant import memory, mutant
from busproof.mutants.runs import PARTITIONS, Run, create, down, home, send, up
from busproof.mutants.wrappers import with_other

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


@mutant("KEY-03", "keys.place", IN_OUTAGE)
def dead_partition_stores(namespace: Namespace, entity: Entity, key: Key | None, *rest: Any) -> int:
    """A message whose partition is down is accepted and stored there."""
    if key is not None:
        return namespace.rules.keys.home(namespace, entity, key)
    return RULES.keys.place(namespace, entity, key, *rest)


def _swallowed(
    namespace: Namespace, entity: Entity, message: v.Message, partition: int, transit: InTransit
) -> None:
    if partition not in entity.base.down:
        RULES.messages.arrive(namespace, entity, message, partition, transit)


@mutant("KEY-03", "keys.place", IN_OUTAGE, also={"messages.arrive": _swallowed})
def dead_partition_swallows(namespace: Namespace, entity: Entity, *rest: Any) -> int:
    """A message whose partition is down is accepted and lost."""
    return dead_partition_stores(namespace, entity, *rest)


@mutant("KEY-03", "messages.send", (*IN_OUTAGE, up(HOME), *RECEIVE_TWO))
def dead_partition_refuses_yet_stores(namespace: Namespace, command: v.Send, *rest: Any) -> Answer:
    """A message whose partition is down is refused, and appears after the outage."""
    try:
        return RULES.messages.send(namespace, command, *rest)
    except Refusal as refusal:
        entity = namespace.rules.topics.sendable(namespace, command.queue)
        key = RULES.keys.effective_key(namespace, entity, command.message)
        if key is None or command.transaction is not None or "KEY-03" not in refusal.rules:
            raise
        partition = RULES.keys.home(namespace, entity, key)
        RULES.messages.accept(namespace, entity, command.message, key, partition, DIRECT)
        return Answer(v.Refused(error=refusal.error), rules=refusal.rules)


@mutant("KEY-12", "keys.effective_key", (create(), down(home("1")), send("m1", message_id="1")))
def message_id_pins(namespace: Namespace, entity: Entity, message: v.Message) -> Key | None:
    """Without duplicate detection the MessageId is the key where no other property is."""
    key = RULES.keys.effective_key(namespace, entity, message)
    return key or message_id(entity, message)


@mutant("KEY-14", "keys.any_partition", NO_TURN, with_other("down"))
def last_partition_unused(entity: Entity, down: frozenset[int]) -> frozenset[int]:
    """The last partition gets no message without key."""
    last = {len(entity.partitions) - 1} if len(entity.partitions) > 1 else set()
    return down | last


@mutant("KEY-14", "keys.any_partition", NO_TURN)
def all_in_one_partition(entity: Entity, down: frozenset[int]) -> int | None:
    """All messages without key go to one partition."""
    return next((number for number in range(len(entity.partitions)) if number not in down), None)


def _refused_if(
    namespace: Namespace, entity: Entity, size: int, timeout: int, refused: bool
) -> int:
    if refused and entity.settings.partitioned:
        raise Refusal(v.Error.UNAVAILABLE, "KEY-15")
    return RULES.keys.place_without_key(namespace, entity, size, timeout)


def next_turn(namespace: Namespace, entity: Entity) -> int:
    """Return the next partition by this bus' own count."""
    turns = memory(namespace, Counter[str])
    turns[entity.path] += 1
    return (turns[entity.path] - 1) % len(entity.partitions)


@mutant("KEY-15", "keys.place_without_key", (create(), down(0), send("m1")))
def no_rerouting(namespace: Namespace, entity: Entity, size: int, timeout: int) -> int:
    """A message without key whose turn falls on a partition that is down is refused."""
    refused = next_turn(namespace, entity) in entity.base.down
    return _refused_if(namespace, entity, size, timeout, refused)


@mutant("KEY-15", "keys.place_without_key", (create(), down(0), down(1), send("m1")), deep=True)
def no_rerouting_with_many_down(
    namespace: Namespace, entity: Entity, size: int, timeout: int
) -> int:
    """A message without key is refused where two partitions that follow each other are down."""
    turn, down = next_turn(namespace, entity), entity.base.down
    refused = turn in down and (turn + 1) % len(entity.partitions) in down
    return _refused_if(namespace, entity, size, timeout, refused)


@mutant("KEY-25", "keys.place_without_key", (create(), send("m1", seconds=15)))
def short_timeout_fails(namespace: Namespace, entity: Entity, size: int, timeout: int) -> int:
    """With a timeout of 15 s or less a message without key is refused, even with all up."""
    return _refused_if(namespace, entity, size, timeout, timeout <= SHORT_TIMEOUT)


@mutant("KEY-20", "keys.place", IN_OUTAGE)
def rerouted_with_key(namespace: Namespace, entity: Entity, key: Key | None, *rest: Any) -> int:
    """A message whose partition is down goes to another one, in spite of its key."""
    down = entity.base.down
    others = [number for number in range(len(entity.partitions)) if number not in down]
    if key is not None and others and namespace.rules.keys.home(namespace, entity, key) in down:
        return others[-1]
    return RULES.keys.place(namespace, entity, key, *rest)


def _note_outage(
    namespace: Namespace, command: v.TakePartitionDown | v.BringPartitionUp, connection: str
) -> Answer:
    if isinstance(command, v.TakePartitionDown):
        memory(namespace, set[tuple[str, int]]).add((command.queue, command.partition))
    return RULES.partitions.switch(namespace, command, connection)


RECORDING_OUTAGES: Final = {"partitions.switch": _note_outage}


@mutant("KEY-20", "keys.home", KEY_RECOVERED, also=RECORDING_OUTAGES, deep=True)
def key_moves_after_outage(namespace: Namespace, entity: Entity, key: Key) -> int:
    """After an outage of its partition a key selects another one."""
    partition = RULES.keys.home(namespace, entity, key)
    were_down = memory(namespace, set[tuple[str, int]])
    moved = partition not in entity.base.down and (entity.base.path, partition) in were_down
    return (partition + moved) % len(entity.partitions)
