"""Mutants of SIZE: sizes of entities, and when a partition is full."""

from collections.abc import Callable, Iterable
from typing import Any, Final

from busproof import vocabulary as v
from busproof.model.answers import Answer
from busproof.model.keys import SESSION_ID
from busproof.model.life_cycle import LOCKED_STATES, Action, State
from busproof.model.rules import Namespace
from busproof.model.state import Entity, QueuedMessage, ScheduledMessage, Transaction
from busproof.model.transactions import PLENTY
from busproof.model.values import DIRECT, Key, Refusal
from busproof.mutants.mutant import mutant, run
from busproof.mutants.own_rules import RULES
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


@mutant("SIZE-01", "sizes.granted_size", (LARGEST,), refuses("SIZE-01"))
def largest_size_refused(wanted: int | None) -> bool:
    """A queue of 5 GB is refused."""
    return wanted == 5


@mutant("SIZE-01", "sizes.granted_size", (LARGEST, GET))
def size_forgotten(namespace: Namespace, wanted: int | None) -> int:
    """Every queue has 1 GB, whatever size it was created with."""
    RULES.sizes.granted_size(namespace, wanted)
    return 1


@mutant("SIZE-02", "sizes.granted_size", (create(max_size=6), GET))
def any_size(namespace: Namespace, wanted: int | None) -> int:
    """A queue can have any size."""
    return wanted or RULES.sizes.granted_size(namespace, wanted)


@mutant("SIZE-03", "sizes.granted_size", (create(), GET), with_other("wanted"))
def large_by_default(wanted: int | None) -> int | None:
    """A queue that is created without a size has 5 GB."""
    return wanted or 5


@mutant("SIZE-04", "sizes.greatest_size", (create(), GET))
def one_partition_told(entity: Entity) -> int:
    """A partitioned queue is described with the size of one partition."""
    return entity.settings.max_size


@mutant("SIZE-07", "sizes.capacity", FULL, alters)
def size_divided(usual: int, namespace: Namespace, *, partitioned: bool) -> int:
    """The partitions share the requested size, instead of each having it."""
    return usual // (namespace.profile.partitions if partitioned else 1)


@mutant("SIZE-05", "sizes.partition_count", (create(), *SMALL), alters)
def one_partition_too_many(usual: int, *, partitioned: bool) -> int:
    """A partitioned queue has one partition too many."""
    return usual + partitioned


@mutant("SIZE-05", "sizes.partition_count", (create(max_size=2), *SMALL), deep=True)
def partitions_by_size(namespace: Namespace, *, partitioned: bool, size: int) -> int:
    """A queue of several GB has as many times the partitions."""
    return namespace.profile.partitions * size if partitioned else 1


@mutant("SIZE-06", "sizes.greatest_size", (REGULAR, GET))
def regular_told_as_partitioned(namespace: Namespace, entity: Entity) -> int:
    """A regular queue is described as 16 times as large."""
    return entity.settings.max_size * namespace.profile.partitions


@mutant("SIZE-07", "sizes.has_room", FULL)
def partitions_pooled(namespace: Namespace, entity: Entity, size: int) -> bool:
    """A full partition uses storage that other partitions have left."""
    whole = entity.capacity * len(entity.partitions)
    return RULES.sizes.used(namespace, entity) + (size or 1) <= whole


@mutant("SIZE-07", "keys.place", deep=True)
@run(
    create(requires_session=True), *(send(f"m{n}", session_id="a", **BULKY) for n in range(ENOUGH))
)
def session_never_full(namespace: Namespace, entity: Entity, key: Key | None, *rest: Any) -> int:
    """A message of a session is accepted although its partition is full."""
    try:
        return RULES.keys.place(namespace, entity, key, *rest)
    except Refusal as refusal:
        if key is None or key.source != SESSION_ID or "SIZE-07" not in refusal.rules:
            raise
        return namespace.rules.keys.home(entity, key)


@mutant("SIZE-08", "sizes.has_room")
@run(
    *(create(), send("first", partition_key=ELSEWHERE), *KEYED),
    send("elsewhere", partition_key=ELSEWHERE, **BULKY),
)
def one_full_all_full(namespace: Namespace, entity: Entity, size: int) -> bool:
    """While one partition is full, messages with any key are refused."""
    has_room = RULES.sizes.has_room
    return all(
        has_room(namespace, entity, partition.number, size) for partition in entity.partitions
    )


@mutant("SIZE-10", "sizes.has_room", FULL_REGULAR)
def regular_never_full(namespace: Namespace, entity: Entity, partition: int, size: int) -> bool:
    """A regular queue accepts messages although it is full."""
    regular = len(entity.partitions) == 1
    return regular or RULES.sizes.has_room(namespace, entity, partition, size)


@mutant("SIZE-10", "messages.send", how=refuses_yet(v.Error.QUOTA_EXCEEDED), deep=True)
@run(*FULL_REGULAR, *(receive() for _ in range(ENOUGH)))
def full_keeps_what_it_refused(namespace: Namespace, command: v.Send) -> None:
    """A full queue refuses a message, but stores it."""
    entity = namespace.rules.topics.addressed(command.queue)
    namespace.rules.messages.arrive(entity, command.message, 0, DIRECT)


@mutant("SIZE-11", "keys.place", FULL, refuses_as(v.Error.UNAVAILABLE, QUOTA))
def full_called_down() -> None:
    """A send to a full entity is refused as unavailable."""


@mutant("SIZE-11", "keys.place", FULL, refuses_as(v.Error.INVALID_OPERATION, QUOTA))
def full_called_invalid() -> None:
    """A send to a full entity is refused as an invalid operation."""


def _is_full(namespace: Namespace, entity: Entity) -> bool:
    has_room = namespace.rules.sizes.has_room
    return not all(has_room(entity, partition.number, 10**8) for partition in entity.partitions)


@mutant("SIZE-11", "messages.receive", how=refuses("SIZE-11", QUOTA), deep=True)
@run(*FULL_REGULAR, receive())
def full_gives_nothing(namespace: Namespace, command: v.Receive) -> bool:
    """A full queue gives no messages."""
    return _is_full(namespace, namespace.rules.topics.receivable(command.queue))


@mutant("SIZE-11", "management.availability", how=instead, readings={"GET-LAG": "at-once"})
@run(*FULL_REGULAR, GET)
def full_is_limited(namespace: Namespace, entity: Entity) -> v.Availability | None:
    """A full queue is described as having limited availability."""
    return v.Availability.LIMITED if _is_full(namespace, entity) else None


def _waste(namespace: Namespace, queued: QueuedMessage) -> None:
    """Count removed messages as if they still used storage."""
    size = queued.message.size or 0
    namespace.rules.sizes.charge(queued.entity, queued.partition, size)


@mutant("SIZE-12", "locks.apply", how=afterwards, literal=True)
@run(*FULL_REGULAR, receive(), complete(0), MORE)
def completed_keeps_room(namespace: Namespace, queued: QueuedMessage, action: Action) -> None:
    """A completed message uses storage forever."""
    if action is Action.COMPLETE:
        _waste(namespace, queued)


@mutant("SIZE-12", "messages.consume", how=afterwards, deep=True, literal=True)
@run(*FULL_REGULAR, receive(delete=True), MORE)
def deleted_keeps_room(namespace: Namespace, queued: QueuedMessage, action: Action) -> None:
    """A message that was received and deleted uses storage forever."""
    if action is not Action.EXPIRE:
        _waste(namespace, queued)


def _has_room_without(
    ignored: Iterable[QueuedMessage | ScheduledMessage],
    namespace: Namespace,
    entity: Entity,
    partition: int,
    size: int,
) -> bool:
    """Return whether there is room if some of the messages use no storage."""
    there = sum(queued.message.size or 0 for queued in ignored if queued.partition == partition)
    return RULES.sizes.has_room(namespace, entity, partition, size - there)


@mutant("SIZE-13", "sizes.has_room", each())
def locked_takes_no_room(namespace: Namespace, entity: Entity, partition: int, size: int) -> bool:
    """A locked message uses no storage."""
    locked = (queued for queued in entity.messages.values() if queued.state in LOCKED_STATES)
    return _has_room_without(locked, namespace, entity, partition, size)


@mutant("SIZE-13", "sizes.has_room", each(defer))
def deferred_takes_no_room(namespace: Namespace, entity: Entity, partition: int, size: int) -> bool:
    """A deferred message uses no storage."""
    aside = (queued for queued in entity.messages.values() if queued.state is State.DEFERRED)
    return _has_room_without(aside, namespace, entity, partition, size)


@mutant("SIZE-13", "sizes.has_room", each(dead_letter))
def dead_takes_no_room(namespace: Namespace, entity: Entity, partition: int, size: int) -> bool:
    """Dead letters do not count towards the size of their queue."""
    dead = () if entity.dead_letters is None else entity.dead_letters.messages.values()
    return _has_room_without(dead, namespace, entity, partition, size)


@mutant("SIZE-13", "sizes.has_room")
@run(REGULAR, *(schedule(f"m{n}", 3600, **BULKY) for n in range(ENOUGH)), MORE)
def scheduled_takes_no_room(namespace: Namespace, entity: Entity, *rest: Any) -> bool:
    """A scheduled message uses no storage until it is due."""
    later = entity.scheduled.values()
    return _has_room_without(later, namespace, entity, *rest)


def _place_alone(
    namespace: Namespace,
    entity: Entity,
    transaction: Transaction,
    message: v.Message,
    key: Key | None,
) -> int:
    """Select the partition for a message as if no other message waited for the commit."""
    return namespace.rules.keys.place(entity, key, message.size or 0, PLENTY)


ALONE: Final = {"transactions.place": _place_alone}


@mutant("SIZE-14", "transactions.check_commit", IN_TRANSACTION, instead_of("SIZE-14"), also=ALONE)
def transaction_never_full() -> None:
    """A transaction is committed although its messages do not fit."""


@mutant("SIZE-14", "transactions.commit", (*IN_TRANSACTION, receive()), also=ALONE, deep=True)
def transaction_in_part(namespace: Namespace, command: v.CommitTransaction, *rest: Any) -> Answer:
    """The commit of a transaction that does not fit stores the messages that do."""
    answer, rules = RULES.transactions.commit(namespace, command, *rest), namespace.rules
    for sent in namespace.transactions[command.transaction].sends:
        size = sent.message.size or 0
        fits = rules.sizes.has_room(sent.entity, sent.partition, size)
        if "SIZE-14" in answer.rules and fits and sent.scheduled is None:
            rules.transactions.deliver(sent)
    return answer
