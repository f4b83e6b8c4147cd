"""Mutants of SIZE: sizes of entities, and when a partition is full."""

from collections.abc import Callable, Iterable
from typing import Any, Final

from busproof import vocabulary as v
from busproof.model.answers import Answer
from busproof.model.keys import SESSION_ID, Keys
from busproof.model.life_cycle import LOCKED_STATES, Action, State
from busproof.model.locks import Locks
from busproof.model.management import Management
from busproof.model.messages import Messages
from busproof.model.rules import Namespace
from busproof.model.sizes import Sizes
from busproof.model.state import Entity, QueuedMessage, ScheduledMessage, Transaction
from busproof.model.transactions import PLENTY, Transactions
from busproof.model.values import DIRECT, Key, Refusal
from busproof.mutants.mutant import mutant, run
from busproof.mutants.runs import (
    QUEUE,
    Request,
    Run,
    Settling,
    complete,
    create,
    dead_letter,
    defer,
    home,
    receive,
    schedule,
    send,
)
from busproof.mutants.wrappers import (
    afterwards,
    alters,
    instead,
    instead_of,
    refuses,
    refuses_as,
    refuses_yet,
    with_other,
)

GET: Final = v.GetQueue(queue=QUEUE)
QUOTA: Final = v.Error.QUOTA_EXCEEDED
LARGEST: Final = create(max_size=5)
REGULAR: Final = create(partitioned=False, max_size=1)
BULKY: Final[dict[str, Any]] = {"size": 10**8, "stands_in": True}
ENOUGH: Final = 12
"""So many bulky messages are surely more than 1 GB."""
FITTING: Final = 10
KEYED: Final[Run] = tuple(send(f"m{n}", partition_key="a", **BULKY) for n in range(ENOUGH))
SENT: Final[Run] = tuple(send(f"m{n}", **BULKY) for n in range(ENOUGH))
MORE: Final = send("more", **BULKY)
ELSEWHERE: Final = next(key for key in "bcdefg" if home(key) != home("a"))
"""A key of another partition than that of 'a'."""
SMALL: Final[Run] = tuple(send(f"m{n}") for n in range(4))
FULL: Final[Run] = (create(), *KEYED)
FULL_REGULAR: Final[Run] = (REGULAR, *SENT)
IN_TRANSACTION: Final[Run] = (
    *(create(), v.BeginTransaction(transaction="t")),
    *(send(f"m{n}", partition_key="a", within="t", **BULKY) for n in range(ENOUGH)),
    v.CommitTransaction(transaction="t"),
)


def each(dealt_with: Callable[[int], Settling] | None = None) -> Run:
    """Return a run that fills the queue, receives and handles the messages, and sends two more."""
    run: list[Request] = [REGULAR, *SENT[:FITTING], *(receive() for _ in range(FITTING))]
    if dealt_with is not None:
        run += [dealt_with(number) for number in range(FITTING)]
    return (*run, *SENT[FITTING:])


@mutant("SIZE-01", (LARGEST,))
class LargestSizeRefused(Sizes):
    """A queue of 5 GB is refused."""

    @refuses("SIZE-01")
    def granted_size(self, wanted: int | None) -> bool:
        return wanted == 5


@mutant("SIZE-01", (LARGEST, GET))
class SizeForgotten(Sizes):
    """Every queue has 1 GB, whatever size it was created with."""

    def granted_size(self, wanted: int | None) -> int:
        super().granted_size(wanted)
        return 1


@mutant("SIZE-02", (create(max_size=6), GET))
class AnySize(Sizes):
    """A queue can have any size."""

    def granted_size(self, wanted: int | None) -> int:
        return wanted or super().granted_size(wanted)


@mutant("SIZE-03", (create(), GET))
class LargeByDefault(Sizes):
    """A queue that is created without a size has 5 GB."""

    @with_other("wanted")
    def granted_size(self, wanted: int | None) -> int | None:
        return wanted or 5


@mutant("SIZE-04", (create(), GET))
class OnePartitionTold(Sizes):
    """A partitioned queue is described with the size of one partition."""

    def greatest_size(self, entity: Entity) -> int:
        return entity.settings.max_size


LARGER: Final = v.UpdateQueue(queue=QUEUE, max_size=2)


@mutant("SIZE-16", (create(partitioned=False), LARGER, GET))
class NewSizeIgnored(Sizes):
    """An update of the size changes nothing."""

    def resize(self, entity: Entity, size: int) -> None:
        """Change nothing."""


@mutant("SIZE-16", (create(partitioned=False), LARGER))
class NewSizeRefused(Sizes):
    """No size can be changed."""

    @refuses("SIZE-16")
    def size_after_update(self, entity: Entity, wanted: int | None) -> bool:
        return wanted not in (None, entity.settings.max_size)


@mutant("SIZE-17", (create(partitioned=False), LARGER), readings={"SIZE-UPDATE": "refused"})
class NewSizeGranted(Sizes):
    """A size can be changed, against the reading."""

    def size_after_update(self, entity: Entity, wanted: int | None) -> int:
        return wanted or entity.settings.max_size


@mutant("SIZE-07", FULL)
class SizeDivided(Sizes):
    """The partitions share the requested size, instead of each having it."""

    @alters
    def capacity(self, usual: int, *, partitioned: bool) -> int:
        return usual // (self.namespace.profile.partitions if partitioned else 1)


@mutant("SIZE-05", (create(), *SMALL))
class OnePartitionTooMany(Sizes):
    """A partitioned queue has one partition too many."""

    @alters
    def partition_count(self, usual: int, *, partitioned: bool) -> int:
        return usual + partitioned


@mutant("SIZE-05", (create(max_size=2), *SMALL), deep=True)
class PartitionsBySize(Sizes):
    """A queue of several GB has as many times the partitions."""

    def partition_count(self, *, partitioned: bool, size: int) -> int:
        return self.namespace.profile.partitions * size if partitioned else 1


@mutant("SIZE-06", (REGULAR, GET))
class RegularToldAsPartitioned(Sizes):
    """A regular queue is described as 16 times as large."""

    def greatest_size(self, entity: Entity) -> int:
        return entity.settings.max_size * self.namespace.profile.partitions


@mutant("SIZE-07", FULL)
class PartitionsPooled(Sizes):
    """A full partition uses storage that other partitions have left."""

    def has_room(self, entity: Entity, partition: int, size: int) -> bool:
        whole = entity.capacity * len(entity.partitions)
        return self.used(entity) + (size or 1) <= whole


@mutant("SIZE-07", deep=True)
@run(
    create(requires_session=True), *(send(f"m{n}", session_id="a", **BULKY) for n in range(ENOUGH))
)
class SessionNeverFull(Keys):
    """A message of a session is accepted although its partition is full."""

    def place(self, entity: Entity, key: Key | None, size: int, timeout: int) -> int:
        try:
            return super().place(entity, key, size, timeout)
        except Refusal as refusal:
            if key is None or key.source != SESSION_ID or "SIZE-07" not in refusal.rules:
                raise
            return self.home(entity, key)


@mutant("SIZE-08")
@run(
    *(create(), send("first", partition_key=ELSEWHERE), *KEYED),
    send("elsewhere", partition_key=ELSEWHERE, **BULKY),
)
class OneFullAllFull(Sizes):
    """While one partition is full, messages with any key are refused."""

    def has_room(self, entity: Entity, partition: int, size: int) -> bool:
        has_room = super().has_room
        return all(has_room(entity, part.number, size) for part in entity.partitions)


@mutant("SIZE-10", FULL_REGULAR)
class RegularNeverFull(Sizes):
    """A regular queue accepts messages although it is full."""

    def has_room(self, entity: Entity, partition: int, size: int) -> bool:
        regular = len(entity.partitions) == 1
        return regular or super().has_room(entity, partition, size)


@mutant("SIZE-10", deep=True)
@run(*FULL_REGULAR, *(receive() for _ in range(ENOUGH)))
class FullKeepsWhatItRefused(Messages):
    """A full queue refuses a message, but stores it."""

    @refuses_yet(v.Error.QUOTA_EXCEEDED)
    def send(self, command: v.Send) -> None:
        entity = self.rules.topics.addressed(command.queue)
        self.arrive(entity, command.message, 0, DIRECT)


@mutant("SIZE-11", FULL)
class FullCalledDown(Keys):
    """A send to a full entity is refused as unavailable."""

    @refuses_as(v.Error.UNAVAILABLE, QUOTA)
    def place(self) -> None:
        pass


@mutant("SIZE-11", FULL)
class FullCalledInvalid(Keys):
    """A send to a full entity is refused as an invalid operation."""

    @refuses_as(v.Error.INVALID_OPERATION, QUOTA)
    def place(self) -> None:
        pass


def _is_full(namespace: Namespace, entity: Entity) -> bool:
    has_room = namespace.rules.sizes.has_room
    return not all(has_room(entity, partition.number, 10**8) for partition in entity.partitions)


@mutant("SIZE-11", deep=True)
@run(*FULL_REGULAR, receive())
class FullGivesNothing(Messages):
    """A full queue gives no messages."""

    @refuses("SIZE-11", QUOTA)
    def receive(self, command: v.Receive) -> bool:
        return _is_full(self.rules.namespace, self.rules.topics.receivable(command.queue))


@mutant("SIZE-11", readings={"GET-LAG": "at-once"})
@run(*FULL_REGULAR, GET)
class FullIsLimited(Management):
    """A full queue is described as having limited availability."""

    @instead
    def availability(self, entity: Entity) -> v.Availability | None:
        return v.Availability.LIMITED if _is_full(self.rules.namespace, entity) else None


def _waste(namespace: Namespace, queued: QueuedMessage) -> None:
    """Count removed messages as if they still used storage."""
    size = queued.message.size or 0
    namespace.rules.sizes.charge(queued.entity, queued.partition, size)


@mutant("SIZE-12", literal=True)
@run(*FULL_REGULAR, receive(), complete(0), MORE)
class CompletedKeepsRoom(Locks):
    """A completed message uses storage forever."""

    @afterwards
    def apply(self, queued: QueuedMessage, action: Action) -> None:
        if action is Action.COMPLETE:
            _waste(self.rules.namespace, queued)


@mutant("SIZE-12", deep=True, literal=True)
@run(*FULL_REGULAR, receive(delete=True), MORE)
class DeletedKeepsRoom(Messages):
    """A message that was received and deleted uses storage forever."""

    @afterwards
    def consume(self, queued: QueuedMessage, action: Action) -> None:
        if action is not Action.EXPIRE:
            _waste(self.rules.namespace, queued)


def _has_room_without(
    ignored: Iterable[QueuedMessage | ScheduledMessage],
    namespace: Namespace,
    entity: Entity,
    partition: int,
    size: int,
) -> bool:
    """Return whether there is room if some of the messages use no storage."""
    there = sum(queued.message.size or 0 for queued in ignored if queued.partition == partition)
    return Sizes.has_room(namespace.rules.sizes, entity, partition, size - there)


@mutant("SIZE-13", each())
class LockedTakesNoRoom(Sizes):
    """A locked message uses no storage."""

    def has_room(self, entity: Entity, partition: int, size: int) -> bool:
        locked = (queued for queued in entity.messages.values() if queued.state in LOCKED_STATES)
        return _has_room_without(locked, self.rules.namespace, entity, partition, size)


@mutant("SIZE-13", each(defer))
class DeferredTakesNoRoom(Sizes):
    """A deferred message uses no storage."""

    def has_room(self, entity: Entity, partition: int, size: int) -> bool:
        aside = (queued for queued in entity.messages.values() if queued.state is State.DEFERRED)
        return _has_room_without(aside, self.rules.namespace, entity, partition, size)


@mutant("SIZE-13", each(dead_letter))
class DeadTakesNoRoom(Sizes):
    """Dead letters do not count towards the size of their queue."""

    def has_room(self, entity: Entity, partition: int, size: int) -> bool:
        dead = () if entity.dead_letters is None else entity.dead_letters.messages.values()
        return _has_room_without(dead, self.rules.namespace, entity, partition, size)


@mutant("SIZE-13")
@run(REGULAR, *(schedule(f"m{n}", 3600, **BULKY) for n in range(ENOUGH)), MORE)
class ScheduledTakesNoRoom(Sizes):
    """A scheduled message uses no storage until it is due."""

    def has_room(self, entity: Entity, partition: int, size: int) -> bool:
        later = entity.scheduled.values()
        return _has_room_without(later, self.rules.namespace, entity, partition, size)


class _Alone(Transactions):
    def place(
        self, entity: Entity, transaction: Transaction, message: v.Message, key: Key | None
    ) -> int:
        """Select the partition as if no other message waited for the commit."""
        return self.rules.keys.place(entity, key, message.size or 0, PLENTY)


@mutant("SIZE-14", IN_TRANSACTION)
class TransactionNeverFull(_Alone):
    """A transaction is committed although its messages do not fit."""

    @instead_of("SIZE-14")
    def check_commit(self) -> None:
        pass


@mutant("SIZE-14", (*IN_TRANSACTION, receive()), deep=True)
class TransactionInPart(_Alone):
    """The commit of a transaction that does not fit stores the messages that do."""

    def commit(self, command: v.CommitTransaction, connection: str) -> Answer:
        answer = super().commit(command, connection)
        for sent in self.namespace.transactions[command.transaction].sends:
            size = sent.message.size or 0
            fits = self.rules.sizes.has_room(sent.entity, sent.partition, size)
            if "SIZE-14" in answer.rules and fits and sent.scheduled is None:
                self.deliver(sent)
        return answer
