"""Mutants of PART: outages of partitions, and front ends with caches."""

from collections import Counter
from itertools import chain
from typing import Any, Final

import attrs

from busproof import vocabulary as v
from busproof.model.life_cycle import Action
from busproof.model.rules import Namespace
from busproof.model.state import Entity, QueuedMessage, Session
from busproof.model.values import DIRECT, EntityKind, Key, Refusal
from busproof.mutants.entities import Switch, held, partitions_up
from busproof.mutants.mutant import beside, memory, mutant, run
from busproof.mutants.own_rules import RULES
from busproof.mutants.runs import (
    PARTITIONS,
    Run,
    complete,
    create,
    down,
    home,
    over,
    receive,
    send,
    up,
    wait,
)
from busproof.mutants.wrappers import (
    afterwards,
    alters,
    beforehand,
    instead,
    only_where,
    refuses,
    refuses_yet,
)

View = v.MessageView
OTHER: Final = "other"
ALL_DOWN: Final[Run] = tuple(map(down, range(PARTITIONS)))
ALL_UP: Final[Run] = tuple(map(up, range(PARTITIONS)))
REGULAR: Final = create(partitioned=False)
HOME: Final = home("a")
BEFORE: Final = (HOME - 1) % PARTITIONS
KEYED: Final[Run] = (create(), send("m1", partition_key="a"))
ONE_EACH: Final[Run] = tuple(send(f"m{number}") for number in range(PARTITIONS))
TWO_QUEUES: Final[Run] = (create(), create(queue=OTHER), send("m1", queue=OTHER))
FIVE_OUTAGES: Final[Run] = (
    *(*KEYED, *(down(BEFORE), up(BEFORE)) * 4, down(BEFORE), send("m2", partition_key="a")),
)
KEPT: Final[Run] = (create(), *ALL_DOWN, send("m1"), *ALL_UP, receive())
LOCKED: Final[Run] = (*KEYED, receive(), *ALL_DOWN, *ALL_UP, wait(61), receive())
TWICE_DOWN: Final[Run] = (*KEYED, *(down(HOME), up(HOME)) * 2, receive(delete=True), receive())
LATEST: Final[Run] = (*TWO_QUEUES, *ALL_DOWN, receive(queue=OTHER))
COMPLETED: Final[Run] = (create(), *ONE_EACH, *(receive(),) * PARTITIONS, complete(1), receive())
SECOND_SETTLED: Final[Run] = (
    *(create(), *ONE_EACH, *(receive(), receive(), complete(1), wait(61))),
    *(receive(),) * PARTITIONS,
)
HUNDRED: Final[Run] = (
    *(create(), *(step for n in range(103) for step in (send(f"m{n}"), receive(), complete(n)))),
)


@mutant("PART-01", "keys.place_without_key", (REGULAR, down(0), send("m1")), instead)
def regular_sends_go_round(entity: Entity) -> int | None:
    """A regular queue accepts messages without a key while its store is down."""
    return 0 if not entity.settings.partitioned else None


@mutant("PART-01", "messages.give_next", (REGULAR, send("m1"), down(0), receive()), deep=True)
def regular_is_read_in_its_outage(
    namespace: Namespace, entity: Entity, session: Session | None, mode: v.ReceiveMode, *rest: Any
) -> View | None:
    """A regular queue gives messages while its store is down."""
    if entity.settings.partitioned or not entity.base.down:
        return RULES.messages.give_next(namespace, entity, session, mode, *rest)
    line = entity.partitions[0].line if session is None else session.line
    queued = line.first(entity.messages)
    return None if queued is None else namespace.rules.messages.give(queued, mode)


@mutant("PART-02", "keys.place", how=refuses("KEY-03", v.Error.UNAVAILABLE))
@run(*KEYED, down(BEFORE), send("m2", partition_key="a"))
def outage_stops_every_key(entity: Entity, key: Key | None) -> bool:
    """While any partition is down, every message with a key is refused."""
    return key is not None and bool(entity.base.down)


@beside("partitions.switch", beforehand)
def _count_outages(namespace: Namespace, command: Switch) -> None:
    memory(namespace, Counter[str])[""] += isinstance(command, v.TakePartitionDown)


STOPPED: Final = refuses("KEY-03", v.Error.UNAVAILABLE)


@mutant("PART-02", "keys.place", FIVE_OUTAGES, STOPPED, also=_count_outages, deep=True)
def outage_stops_the_next_partition(namespace: Namespace, entity: Entity, key: Key | None) -> bool:
    """After four outages, messages for the partition after one that is down are refused, too."""
    if key is None or memory(namespace, Counter[str])[""] <= 4:
        return False
    before = namespace.rules.keys.home(entity, key) - 1
    return before % len(entity.partitions) in entity.base.down


def _is_all_down(entity: Entity) -> bool:
    return entity.settings.partitioned and len(entity.base.down) == len(entity.partitions)


@mutant("PART-03", "keys.place_without_key", (create(), *ALL_DOWN, send("m1")), instead)
def taken_with_all_down(entity: Entity) -> int | None:
    """A message without a key is accepted while every partition is down."""
    return 0 if _is_all_down(entity) else None


@mutant("PART-03", "messages.send", KEPT, refuses_yet(in_transactions=False), deep=True)
def refused_with_all_down_and_kept(namespace: Namespace, command: v.Send) -> None:
    """A message refused while every partition is down arrives after the outage."""
    entity = namespace.entities.get(command.queue)
    if entity is not None and _is_all_down(entity):
        RULES.messages.arrive(namespace, entity, command.message, 0, DIRECT)


def _recovered(namespace: Namespace, command: Switch) -> list[QueuedMessage]:
    """Return the messages of the partition that a command brings up."""
    entity = namespace.entities.get(command.queue)
    if not isinstance(command, v.BringPartitionUp) or entity is None:
        return []
    is_down = command.partition in entity.base.down
    return list(held(entity, command.partition)) if is_down else []


@mutant("PART-04", "partitions.switch", (*KEYED, *ALL_DOWN, *ALL_UP, receive()), beforehand)
def outage_empties_its_partition(namespace: Namespace, command: Switch) -> None:
    """A partition loses its messages in an outage."""
    for queued in _recovered(namespace, command):
        RULES.messages.remove(namespace, queued)


@beside("partitions.switch", beforehand)
def _note_locked(namespace: Namespace, command: Switch) -> None:
    entity = namespace.entities.get(command.queue)
    if isinstance(command, v.TakePartitionDown) and entity is not None:
        there = held(entity, command.partition)
        locked = (queued for queued in there if queued.token is not None)
        memory(namespace, set[QueuedMessage]).update(locked)


@mutant("PART-04", "locks.release", LOCKED, afterwards, also=_note_locked, deep=True)
def locked_is_lost_in_an_outage(namespace: Namespace, queued: QueuedMessage) -> None:
    """A message that is locked when its partition goes down is lost when its lock ends."""
    if queued in memory(namespace, set[QueuedMessage]) and queued.is_there:
        RULES.messages.remove(namespace, queued)


@mutant("PART-04", "partitions.switch", TWICE_DOWN, beforehand, deep=True)
def outage_doubles_messages(namespace: Namespace, command: Switch) -> None:
    """After its second outage, a partition delivers its messages twice."""
    outages = memory(namespace, Counter[tuple[str, int]])
    recovered, which = _recovered(namespace, command), (command.queue, command.partition)
    outages[which] += isinstance(command, v.TakePartitionDown)
    for queued in recovered if outages[which] == 2 else ():
        RULES.messages.enqueue(namespace, queued.entity, queued.message, queued.partition, DIRECT)


@mutant("PART-05", "partitions.switch", how=beforehand)
@run(*TWO_QUEUES, *ALL_DOWN, send("m2", queue=OTHER))
def outage_hits_every_entity(namespace: Namespace, command: Switch, connection: str) -> None:
    """An outage of one entity affects every queue and topic."""
    for other in namespace.entities.values():
        if other.base is other and command.partition < len(other.partitions):
            RULES.partitions.switch(namespace, attrs.evolve(command, queue=other.path), connection)


@mutant("PART-05", "messages.next_available", LATEST, only_where, deep=True)
def outage_hits_the_latest_entity(namespace: Namespace, entity: Entity) -> bool:
    """While all partitions of some queue are down, the queue created last gives no messages."""
    queues = [other for other in namespace.entities.values() if other.kind is EntityKind.QUEUE]
    return entity not in queues[-1:] or not any(map(_is_all_down, queues))


Caches = dict[tuple[str, str], list[QueuedMessage]]


def _cached(namespace: Namespace, entity: Entity, connection: str) -> list[QueuedMessage]:
    """Return the front end's cache: what each partition answered to the first receive."""
    caches = memory(namespace, Caches)
    if (entity.path, connection) not in caches:
        heads = (partition.line.first(entity.messages) for partition in partitions_up(entity))
        caches[entity.path, connection] = [queued for queued in heads if queued is not None]
    return caches[entity.path, connection]


@mutant("PART-09", "messages.give_next", (create(), *ONE_EACH, receive(), receive()))
def cached_is_never_given(
    namespace: Namespace,
    entity: Entity,
    session: Session | None,
    mode: v.ReceiveMode,
    connection: str,
) -> View | None:
    """A front end gives only one of the messages that it cached at first."""
    is_first = (entity.path, connection) not in memory(namespace, Caches)
    cached = _cached(namespace, entity, connection)
    if is_first or session is not None or len(entity.partitions) == 1:
        return RULES.messages.give_next(namespace, entity, session, mode, connection)
    lines = (partition.line.available(entity.messages) for partition in partitions_up(entity))
    others = (queued for queued in chain.from_iterable(lines) if queued not in cached)
    queued = min(others, key=lambda candidate: candidate.arrival, default=None)
    return None if queued is None else namespace.rules.messages.give(queued, mode)


@beside("messages.give_next", beforehand)
def _note_cache(
    namespace: Namespace, entity: Entity, session: Session | None, connection: str
) -> None:
    if session is None and entity.settings.partitioned:
        _cached(namespace, entity, connection)


@mutant("PART-09", "locks.apply", COMPLETED, instead, also=_note_cache, deep=True)
def cache_is_given_twice(
    namespace: Namespace, queued: QueuedMessage, action: Action
) -> bool | None:
    """A message in a front end's cache is given again after it was completed."""
    caches = memory(namespace, Caches)
    kept = next((cache for cache in caches.values() if queued in cache[1:]), None)
    if kept is None or action is not Action.COMPLETE:
        return None
    kept.remove(queued)
    RULES.locks.release(namespace, queued, Action.ABANDON)
    return True


@mutant("PART-10", "messages.give_next", (create(), send("m1"), receive(), over("c2", receive())))
def two_front_ends_lock_one_message(
    namespace: Namespace,
    entity: Entity,
    session: Session | None,
    mode: v.ReceiveMode,
    connection: str,
) -> View | None:
    """A message that one connection has locked is given to every other connection."""
    if session is not None or not entity.settings.partitioned:
        return RULES.messages.give_next(namespace, entity, session, mode, connection)
    holders = memory(namespace, dict[str, str])
    for queued in entity.messages.values():
        if queued.token is not None and holders.get(queued.token, connection) != connection:
            RULES.locks.unlock(namespace, queued, Action.LOCK_ENDS)
            queued.line.give_back(queued)
    view = RULES.messages.give_next(namespace, entity, session, mode, connection)
    if view is not None and view.lock_token is not None:
        holders[view.lock_token] = connection
    return view


@mutant("PART-12", "locks.locked_under", SECOND_SETTLED, alters)
def settles_by_place(usual: QueuedMessage, entity: Entity) -> QueuedMessage:
    """A settlement finds its message by its position in the partition, not by its lock token."""
    if not entity.settings.partitioned:
        return usual
    return next(queued for queued in entity.messages.values() if queued.token is not None)


@mutant("PART-12", "locks.settle", HUNDRED, beforehand, deep=True)
def settles_in_the_first_partition(namespace: Namespace, command: v.Settlement) -> None:
    """After 99 settlements, a queue accepts only lock tokens of its first partition."""
    settled = memory(namespace, Counter[str])
    settled[command.queue] += 1
    if settled[command.queue] >= 100:
        entity = namespace.rules.topics.readable(command.queue)
        if RULES.locks.locked_under(namespace, entity, command.lock_token).partition:
            raise Refusal(v.Error.LOCK_LOST, "LIFE-06")
