"""Mutants of PART: outages of partitions, and front ends with caches."""

from collections import Counter
from itertools import chain
from typing import Final

import attrs

from busproof import vocabulary as v
from busproof.model.keys import Keys
from busproof.model.life_cycle import Action
from busproof.model.locks import Locks
from busproof.model.messages import Messages
from busproof.model.partitions import Partitions
from busproof.model.rules import Namespace
from busproof.model.state import Entity, QueuedMessage, Session
from busproof.model.values import DIRECT, EntityKind, Key, Refusal
from busproof.mutants.entities import Switch, messages_in, partitions_up
from busproof.mutants.mutant import HTTP, memory, mutant, run
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


@mutant("PART-01", (REGULAR, down(0), send("m1")))
class RegularSendsGoRound(Keys):
    """A regular queue accepts messages without a key while its store is down."""

    @instead
    def place_without_key(self, entity: Entity) -> int | None:
        return 0 if not entity.settings.partitioned else None


@mutant("PART-01", (REGULAR, send("m1"), down(0), receive()), deep=True)
class RegularIsReadInItsOutage(Messages):
    """A regular queue gives messages while its store is down."""

    def give_next(
        self, entity: Entity, session: Session | None, mode: v.ReceiveMode, connection: str
    ) -> v.MessageView | None:
        if entity.settings.partitioned or not entity.base.down:
            return super().give_next(entity, session, mode, connection)
        line = entity.partitions[0].line if session is None else session.line
        queued = line.first(entity.messages)
        return None if queued is None else self.give(queued, mode)


@mutant("PART-02")
@run(*KEYED, down(BEFORE), send("m2", partition_key="a"))
class OutageStopsEveryKey(Keys):
    """While any partition is down, every message with a key is refused."""

    @refuses("KEY-03", v.Error.UNAVAILABLE)
    def place(self, entity: Entity, key: Key | None) -> bool:
        return key is not None and bool(entity.base.down)


class _CountOutages(Partitions):
    @beforehand
    def switch(self, command: Switch) -> None:
        memory(self.rules.namespace, Counter[str])[""] += isinstance(command, v.TakePartitionDown)


STOPPED: Final = refuses("KEY-03", v.Error.UNAVAILABLE)


@mutant("PART-02", FIVE_OUTAGES, also=(_CountOutages,), deep=True)
class OutageStopsTheNextPartition(Keys):
    """After four outages, messages for the partition after one that is down are refused, too."""

    @STOPPED
    def place(self, entity: Entity, key: Key | None) -> bool:
        if key is None or memory(self.rules.namespace, Counter[str])[""] <= 4:
            return False
        before = self.home(entity, key) - 1
        return before % len(entity.partitions) in entity.base.down


def _is_all_down(entity: Entity) -> bool:
    return entity.settings.partitioned and len(entity.base.down) == len(entity.partitions)


@mutant("PART-03", (create(), *ALL_DOWN, send("m1")))
class TakenWithAllDown(Keys):
    """A message without a key is accepted while every partition is down."""

    @instead
    def place_without_key(self, entity: Entity) -> int | None:
        return 0 if _is_all_down(entity) else None


@mutant("PART-03", KEPT, deep=True)
class RefusedWithAllDownAndKept(Messages):
    """A message refused while every partition is down arrives after the outage."""

    @refuses_yet(in_transactions=False)
    def send(self, command: v.Send) -> None:
        entity = self.namespace.entities.get(command.queue)
        if entity is not None and _is_all_down(entity):
            self.arrive(entity, command.message, 0, DIRECT)


def _find_recovered(namespace: Namespace, command: Switch) -> list[QueuedMessage]:
    """Return the messages of the partition that a command brings up."""
    entity = namespace.entities.get(command.queue)
    if not isinstance(command, v.BringPartitionUp) or entity is None:
        return []
    is_down = command.partition in entity.base.down
    return list(messages_in(entity, command.partition)) if is_down else []


@mutant("PART-04", (*KEYED, *ALL_DOWN, *ALL_UP, receive()))
class OutageEmptiesItsPartition(Partitions):
    """A partition loses its messages in an outage."""

    @beforehand
    def switch(self, command: Switch) -> None:
        for queued in _find_recovered(self.rules.namespace, command):
            self.rules.messages.remove(queued)


class _NoteLocked(Partitions):
    @beforehand
    def switch(self, command: Switch) -> None:
        entity = self.namespace.entities.get(command.queue)
        if isinstance(command, v.TakePartitionDown) and entity is not None:
            there = messages_in(entity, command.partition)
            locked = (queued for queued in there if queued.token is not None)
            memory(self.rules.namespace, set[QueuedMessage]).update(locked)


@mutant("PART-04", LOCKED, also=(_NoteLocked,), deep=True)
class LockedIsLostInAnOutage(Locks):
    """A message that is locked when its partition goes down is lost when its lock ends."""

    @afterwards
    def release(self, queued: QueuedMessage) -> None:
        if queued in memory(self.rules.namespace, set[QueuedMessage]) and queued.is_there:
            self.rules.messages.remove(queued)


@mutant("PART-04", TWICE_DOWN, deep=True)
class OutageDoublesMessages(Partitions):
    """After its second outage, a partition delivers its messages twice."""

    @beforehand
    def switch(self, command: Switch) -> None:
        outages = memory(self.rules.namespace, Counter[tuple[str, int]])
        recovered = _find_recovered(self.rules.namespace, command)
        which = (command.queue, command.partition)
        outages[which] += isinstance(command, v.TakePartitionDown)
        for queued in recovered if outages[which] == 2 else ():
            self.rules.messages.enqueue(queued.entity, queued.message, queued.partition, DIRECT)


@mutant("PART-05")
@run(*TWO_QUEUES, *ALL_DOWN, send("m2", queue=OTHER))
class OutageHitsEveryEntity(Partitions):
    """An outage of one entity affects every queue and topic."""

    @beforehand
    def switch(self, command: Switch, connection: str) -> None:
        for other in self.namespace.entities.values():
            if other.base is other and command.partition < len(other.partitions):
                super().switch(attrs.evolve(command, queue=other.path), connection)


@mutant("PART-05", LATEST, deep=True)
class OutageHitsTheLatestEntity(Messages):
    """While all partitions of some queue are down, the queue created last gives no messages."""

    @only_where
    def next_available(self, entity: Entity) -> bool:
        queues = [
            other for other in self.namespace.entities.values() if other.kind is EntityKind.QUEUE
        ]
        return entity not in queues[-1:] or not any(map(_is_all_down, queues))


Caches = dict[tuple[str, str], list[QueuedMessage]]


def _read_cache(namespace: Namespace, entity: Entity, connection: str) -> list[QueuedMessage]:
    """Return the front end's cache: what each partition answered to the first receive."""
    caches = memory(namespace, Caches)
    if (entity.path, connection) not in caches:
        heads = (partition.line.first(entity.messages) for partition in partitions_up(entity))
        caches[entity.path, connection] = [queued for queued in heads if queued is not None]
    return caches[entity.path, connection]


@mutant("PART-09", (create(), *ONE_EACH, receive(), receive()))
class CachedIsNeverGiven(Messages):
    """A front end gives only one of the messages that it cached at first."""

    def give_next(
        self, entity: Entity, session: Session | None, mode: v.ReceiveMode, connection: str
    ) -> v.MessageView | None:
        is_first = (entity.path, connection) not in memory(self.rules.namespace, Caches)
        cached = _read_cache(self.rules.namespace, entity, connection)
        if is_first or session is not None or len(entity.partitions) == 1:
            return super().give_next(entity, session, mode, connection)
        lines = (partition.line.available(entity.messages) for partition in partitions_up(entity))
        others = (queued for queued in chain.from_iterable(lines) if queued not in cached)
        queued = min(others, key=lambda candidate: candidate.arrival, default=None)
        return None if queued is None else self.give(queued, mode)


SAME_PARTITION: Final[Run] = (create(), *(send(f"m{n}", partition_key="a") for n in (1, 2)))


@mutant("PART-25", (*SAME_PARTITION, receive(), receive()), needs=HTTP)
class EachRequestHasAFrontEnd(Partitions):
    """Each receive has a front end of its own, although its connection is kept alive."""

    def fill_cache(
        self, entity: Entity, partition: int, connection: str, mode: v.ReceiveMode
    ) -> None:
        queued = entity.partitions[partition].line.first(entity.messages)
        if queued is not None and not entity.caches and len(entity.partitions) > 1:
            self.cache(queued, connection, mode)

    def take_cached(self, entity: Entity, connection: str) -> QueuedMessage | None:
        return None


class _NoteCache(Messages):
    @beforehand
    def give_next(self, entity: Entity, session: Session | None, connection: str) -> None:
        if session is None and entity.settings.partitioned:
            _read_cache(self.rules.namespace, entity, connection)


@mutant("PART-09", COMPLETED, also=(_NoteCache,), deep=True)
class CacheIsGivenTwice(Locks):
    """A message in a front end's cache is given again after it was completed."""

    @instead
    def apply(self, queued: QueuedMessage, action: Action) -> bool | None:
        caches = memory(self.rules.namespace, Caches)
        kept = next((cache for cache in caches.values() if queued in cache[1:]), None)
        if kept is None or action is not Action.COMPLETE:
            return None
        kept.remove(queued)
        self.release(queued, Action.ABANDON)
        return True


@mutant("PART-10", (create(), send("m1"), receive(), over("c2", receive())))
class TwoFrontEndsLockOneMessage(Messages):
    """A message that one connection has locked is given to every other connection."""

    def give_next(
        self, entity: Entity, session: Session | None, mode: v.ReceiveMode, connection: str
    ) -> v.MessageView | None:
        if session is not None or not entity.settings.partitioned:
            return super().give_next(entity, session, mode, connection)
        holders = memory(self.rules.namespace, dict[str, str])
        for queued in entity.messages.values():
            if queued.token is not None and holders.get(queued.token, connection) != connection:
                self.rules.locks.unlock(queued, Action.LOCK_ENDS)
                queued.line.give_back(queued)
        view = super().give_next(entity, session, mode, connection)
        if view is not None and view.lock_token is not None:
            holders[view.lock_token] = connection
        return view


@mutant("PART-12", SECOND_SETTLED)
class SettlesByPlace(Locks):
    """A settlement finds its message by its position in the partition, not by its lock token."""

    @alters
    def locked_under(self, usual: QueuedMessage, entity: Entity) -> QueuedMessage:
        if not entity.settings.partitioned:
            return usual
        return next(queued for queued in entity.messages.values() if queued.token is not None)


@mutant("PART-12", HUNDRED, deep=True)
class SettlesInTheFirstPartition(Locks):
    """After 99 settlements, a queue accepts only lock tokens of its first partition."""

    @beforehand
    def settle(self, command: v.Settlement) -> None:
        settled = memory(self.rules.namespace, Counter[str])
        settled[command.queue] += 1
        if settled[command.queue] >= 100:
            entity = self.rules.topics.readable(command.queue)
            if self.locked_under(entity, command.lock_token).partition:
                raise Refusal(v.Error.LOCK_LOST, "LIFE-06")
