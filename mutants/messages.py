"""Mutants of LIFE and SEQ: the life of a message, and its sequence numbers."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import attrs

from busproof import vocabulary as v
from busproof.model.answers import DONE, Answer
from busproof.model.life_cycle import ACTIVE, Action, State
from busproof.model.rules import RULES
from busproof.model.state import Entity, Namespace, QueuedMessage, Session
from busproof.mutants.locks import has_run_out, lock_again, once_locked
from busproof.mutants.mutant import Family, Function, memory
from busproof.mutants.runs import (
    PARTITIONS,
    QUEUE,
    Run,
    abandon,
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
from busproof.mutants.sessions import session_of
from busproof.mutants.wrappers import alters

__all__ = ["MUTANTS", "peeked", "showing"]

mutant = Family(__name__)

PEEK: Final = v.Peek(queue=QUEUE)
PEEK_TWO: Final = v.Peek(queue=QUEUE, count=2)
ACCEPT: Final = v.AcceptSession(queue=QUEUE, session_id="s")
LOCKED: Final[Run] = (create(), send("m1", message_id="1"), receive())
EXPIRED: Final[Run] = (*LOCKED, wait(61))
PEEKED: Final[Run] = (create(), send("m1"), PEEK, receive())
HELD: Final[Run] = (create(requires_session=True), send("m1", session_id="s"), ACCEPT)
TWO: Final[Run] = (create(), *(send(body, partition_key="a") for body in ("m1", "m2")))
RECEIVE_TWO: Final[Run] = (receive(), receive())
COMMIT_TWO: Final[Run] = (
    v.BeginTransaction(transaction="t"),
    *(send(body, within="t", partition_key="a") for body in ("m1", "m2")),
    v.CommitTransaction(transaction="t"),
)
MANY: Final = 1 << 40
"""More numbers than any partition of a test assigns."""
CACHED: Final[Run] = (
    *(create(), send("m1"), send("m2"), receive(), complete(0), over("c2", receive()), wait(61)),
    over("c2", receive()),
)
SENT_EACH: Final[Run] = (create(), *(send(f"m{number}") for number in range(PARTITIONS)))
ONE_EACH: Final[Run] = (*SENT_EACH, *(receive(),) * PARTITIONS)
RECOVERED: Final[Run] = (
    *(create(), send("m1", partition_key="a"), down(home("a")), up(home("a"))),
    *(send("m2", partition_key="a"), *RECEIVE_TWO),
)
REGULAR: Final[Run] = (
    *(create(partitioned=False, requires_session=True), send("m1", session_id="s")),
    *(send("m2", session_id="s"), ACCEPT, receive("s"), receive("s")),
)
MANY_SENT: Final[Run] = tuple(send(f"m{number}") for number in range(41))
FORTY_ONE: Final[Run] = (create(partitioned=False), *MANY_SENT, *(receive(delete=True),) * 41)
SECOND_COMMIT: Final[Run] = (
    *(create(), v.BeginTransaction(transaction="t0"), v.RollBackTransaction(transaction="t0")),
    *(*COMMIT_TWO, *RECEIVE_TWO),
)


def showing(
    change: Callable[[QueuedMessage, v.MessageView], v.MessageView],
) -> Mapping[str, Callable[..., Any]]:
    """The functions that show messages, replaced so that they show them changed."""

    def give(namespace: Namespace, queued: QueuedMessage, mode: v.ReceiveMode) -> v.MessageView:
        return change(queued, RULES.messages.give(namespace, queued, mode))

    def hand_out(namespace: Namespace, queued: QueuedMessage, mode: v.ReceiveMode) -> v.MessageView:
        return change(queued, RULES.partitions.hand_out(namespace, queued, mode))

    def deferred(namespace: Namespace, queued: QueuedMessage, mode: v.ReceiveMode) -> v.MessageView:
        return change(queued, RULES.deferral.give(namespace, queued, mode))

    def peek(namespace: Namespace, command: v.Peek, connection: str) -> Answer:
        there = namespace.rules.topics.readable(namespace, command.queue).messages

        def changed(views: tuple[v.MessageView, ...]) -> Iterable[v.MessageView]:
            for view in views:
                queued = there.get(view.sequence_number or 0)
                yield view if queued is None else change(queued, view)

        return peeked(namespace, command, connection, changed)

    return {
        "messages.give": give,
        "partitions.hand_out": hand_out,
        "deferral.give": deferred,
        "partitions.peek": peek,
    }


def peeked(
    namespace: Namespace,
    command: v.Peek,
    connection: str,
    change: Callable[[tuple[v.MessageView, ...]], Iterable[v.MessageView]],
) -> Answer:
    """Peek, and change what is shown."""
    answer = RULES.partitions.peek(namespace, command, connection)
    if isinstance(answer.outcome, v.Peeked):
        answer.outcome = v.Peeked(messages=tuple(change(answer.outcome.messages)))
    return answer


def shown(rule: v.RuleId, run: Run, **more: Any) -> Callable[[Function], Function]:
    """Return the decorator of a function that changes what is shown of a message."""

    def collect(change: Function) -> Function:
        also = {**showing(change), **more.pop("also", {})}
        return mutant(rule, "", run, also=also, **more)(change)

    return collect


@shown("LIFE-01", (create(), send("m1", partition_key="a"), receive()))
def property_lost(queued: QueuedMessage, view: v.MessageView) -> v.MessageView:
    """A message comes back without its PartitionKey."""
    return attrs.evolve(view, partition_key=None)


@shown("LIFE-01", (*LOCKED, abandon(0), receive()), deep=True)
def property_lost_at_redelivery(queued: QueuedMessage, view: v.MessageView) -> v.MessageView:
    """A redelivered message loses its MessageId."""
    return view if queued.deliveries < 2 else attrs.evolve(view, message_id=None)


@mutant("LIFE-02", "messages.give_next", (*LOCKED, receive()))
def locked_given_again(
    namespace: Namespace, entity: Entity, session: Session | None, mode: v.ReceiveMode, *rest: Any
) -> v.MessageView | None:
    """A locked message is given to the next receive."""
    for queued in entity.messages.values():
        locked = queued.state is State.LOCKED and queued.session is session
        if locked and queued.partition not in entity.base.down:
            RULES.locks.unlock(namespace, queued, Action.LOCK_ENDS)
            queued.line.give_back(queued)
            return namespace.rules.messages.give(namespace, queued, mode)
    return RULES.messages.give_next(namespace, entity, session, mode, *rest)


@mutant("LIFE-03", "locks.apply", (*LOCKED, complete(0), receive()))
def completed_comes_back(
    namespace: Namespace, queued: QueuedMessage, action: Action, reason: str
) -> None:
    """A completed message can be received again."""
    action = Action.ABANDON if action is Action.COMPLETE else action
    RULES.locks.apply(namespace, queued, action, reason)


@mutant("LIFE-03", "messages.consume", (create(), send("m1"), receive(delete=True), receive()))
def deleted_comes_back(namespace: Namespace, queued: QueuedMessage, action: Action) -> None:
    """A message received in receive-and-delete mode can be received once more."""
    before, name = memory(namespace, set[tuple[str, int]]), (queued.entity.path, queued.number)
    if action is Action.EXPIRE or name in before:
        RULES.messages.consume(namespace, queued, action)
    before.add(name)


@mutant("LIFE-04", "locks.apply", (*LOCKED, abandon(0), receive()))
def abandoned_is_lost(
    namespace: Namespace, queued: QueuedMessage, action: Action, reason: str
) -> None:
    """An abandoned message is lost."""
    action = Action.COMPLETE if action is Action.ABANDON else action
    RULES.locks.apply(namespace, queued, action, reason)


@mutant("LIFE-05", "locks.release", (*EXPIRED, receive()))
def expired_is_lost(namespace: Namespace, queued: QueuedMessage, action: Action) -> None:
    """A message whose lock expires is lost."""
    if action is Action.LOCK_ENDS and has_run_out(namespace, queued):
        RULES.locks.unlock(namespace, queued, Action.COMPLETE)
        namespace.rules.messages.remove(namespace, queued)
    else:
        RULES.locks.release(namespace, queued, action)


@mutant("LIFE-06", "locks.settle", (*EXPIRED, complete(0)))
def settles_after_expiry(namespace: Namespace, command: v.Settlement, connection: str) -> Answer:
    """A lock that has expired still settles its message."""
    queued = once_locked(namespace, command)
    if queued is not None and queued.token is None:
        lock_again(namespace, queued, command.lock_token)
    elif queued is not None and queued.token is not None:
        command = attrs.evolve(command, lock_token=queued.token)
    return RULES.locks.settle(namespace, command, connection)


@mutant("LIFE-06", "locks.settle", (*LOCKED, complete(0), complete(0)))
def settles_twice(namespace: Namespace, command: v.Settlement, connection: str) -> Answer:
    """A lock that a settlement has used up settles once more, to no effect."""
    used, name = memory(namespace, set[tuple[str, str]]), (command.queue, command.lock_token)
    if name in used:
        return Answer(DONE)
    answer = RULES.locks.settle(namespace, command, connection)
    if command.transaction is None:
        used.add(name)
    return answer


def _peeked_messages(namespace: Namespace, command: v.Peek, answer: Answer) -> list[QueuedMessage]:
    views = answer.outcome.messages if isinstance(answer.outcome, v.Peeked) else ()
    there = namespace.entities[command.queue].messages
    found = (there.get(view.sequence_number or 0) for view in views)
    return [queued for queued in found if queued is not None]


@mutant("LIFE-07", "partitions.peek", PEEKED, alters)
def peek_removes(answer: Answer, namespace: Namespace, command: v.Peek, *_: Any) -> Answer:
    """A message that was peeked is lost."""
    for queued in _peeked_messages(namespace, command, answer):
        namespace.rules.messages.remove(namespace, queued)
    return answer


@mutant("LIFE-07", "partitions.peek", PEEKED, alters)
def peek_locks(answer: Answer, namespace: Namespace, command: v.Peek, *_: Any) -> Answer:
    """A message that was peeked is locked."""
    for queued in _peeked_messages(namespace, command, answer):
        if queued.state is ACTIVE:
            namespace.rules.locks.lock(namespace, queued, Action.RECEIVE)
    return answer


@mutant("LIFE-07", "partitions.peek", (*TWO, PEEK_TWO))
def peek_out_of_order(namespace: Namespace, command: v.Peek, connection: str) -> Answer:
    """A peek shows the newest message first."""
    return peeked(namespace, command, connection, reversed)


@mutant("LIFE-13", "messages.give_next", CACHED)
def cache_never_expires(
    namespace: Namespace,
    entity: Entity,
    session: Session | None,
    mode: v.ReceiveMode,
    connection: str,
) -> v.MessageView | None:
    """A message cached for one connection is never given to another."""
    if session is not None:
        return RULES.messages.give_next(namespace, entity, session, mode, connection)
    cached = memory(namespace, dict[tuple[str, int], str])
    up = [each for each in entity.partitions if each.number not in entity.base.down]
    offered = [queued for each in up for queued in RULES.messages.offered(namespace, entity, each)]
    for each in offered:
        cached.setdefault((entity.path, each.number), connection)
    mine = (each for each in offered if cached[entity.path, each.number] == connection)
    queued = next(mine, None)
    return None if queued is None else namespace.rules.messages.give(namespace, queued, mode)


@mutant("LIFE-09", "messages.next_available", ONE_EACH)
def last_partition_never_read(namespace: Namespace, entity: Entity) -> QueuedMessage | None:
    """The messages of the last partition are never given."""
    last = len(entity.partitions) - 1
    for _ in entity.partitions:
        queued = RULES.messages.next_available(namespace, entity)
        if queued is None or last == 0 or queued.partition < last:
            return queued
    return None


@mutant("LIFE-10", "sessions.accept", (*HELD, over("c2", ACCEPT)))
def session_given_twice(namespace: Namespace, command: v.AcceptSession, connection: str) -> Answer:
    """A session that is locked can be locked by another."""
    session = session_of(namespace, command)
    holder = None if session is None else session.holder
    answer = RULES.sessions.accept(namespace, command, holder or connection)
    if session is not None and holder is not None:
        session.holder = connection
    return answer


@mutant("LIFE-10", "sessions.of_receive", (*HELD, over("c2", receive("s"))))
def session_read_without_lock(
    namespace: Namespace, entity: Entity, name: str | None, connection: str
) -> Session | None:
    """While a session is locked, every connection is given its messages."""
    session = entity.sessions.get(name or "")
    holder = None if session is None else session.holder
    return RULES.sessions.of_receive(namespace, entity, name, holder or connection)


def _numbered(queued: QueuedMessage, view: v.MessageView, number: int) -> v.MessageView:
    """Show a message under another number of its partition."""
    return attrs.evolve(view, sequence_number=(queued.partition << v.SEQUENCE_BITS) + number)


def _number(queued: QueuedMessage) -> int:
    """The number of a message within its partition."""
    return queued.number - (queued.partition << v.SEQUENCE_BITS)


@shown("LIFE-12", (*LOCKED, abandon(0), receive()))
def sequence_number_changes(queued: QueuedMessage, view: v.MessageView) -> v.MessageView:
    """A redelivered message has a new sequence number."""
    return _numbered(queued, view, _number(queued) + 1000 * max(queued.deliveries - 1, 0))


@shown("LIFE-12", (create(), send("m1"), receive()))
def sequence_number_names_other_partition(
    queued: QueuedMessage, view: v.MessageView
) -> v.MessageView:
    """A sequence number names the partition after the one that took the message."""
    wrong = (queued.partition + 1) % len(queued.entity.partitions)
    return attrs.evolve(view, sequence_number=(wrong << v.SEQUENCE_BITS) + _number(queued))


@shown("SEQ-01", (*TWO, *RECEIVE_TWO))
def numbers_fall(queued: QueuedMessage, view: v.MessageView) -> v.MessageView:
    """Each number that a partition assigns is below the one before."""
    if not queued.entity.settings.partitioned:
        return view
    return _numbered(queued, view, MANY - _number(queued))


def _note_outage(
    namespace: Namespace, command: v.TakePartitionDown | v.BringPartitionUp, connection: str
) -> Answer:
    answer = RULES.partitions.switch(namespace, command, connection)
    for entity in namespace.entities.values() if isinstance(command, v.BringPartitionUp) else ():
        if entity.base.path == command.queue:
            known = memory(namespace, dict[tuple[str, int], int])
            arrivals = entity.partitions[command.partition].arrivals
            known.setdefault((entity.path, command.partition), arrivals)
    return answer


@shown("SEQ-01", RECOVERED, also={"partitions.switch": _note_outage}, deep=True)
def numbers_begin_anew_after_outage(queued: QueuedMessage, view: v.MessageView) -> v.MessageView:
    """A partition that was down continues with lower numbers than before."""
    known = memory(queued.entity.namespace, dict[tuple[str, int], int])
    last = known.get((queued.entity.path, queued.partition), MANY)
    return view if _number(queued) > last else _numbered(queued, view, MANY + _number(queued))


@shown("SEQ-05", REGULAR)
def regular_numbers_fall(queued: QueuedMessage, view: v.MessageView) -> v.MessageView:
    """An entity that is not partitioned counts backwards."""
    if queued.entity.settings.partitioned:
        return view
    return _numbered(queued, view, MANY - _number(queued))


@shown("SEQ-03", FORTY_ONE, deep=True)
def number_given_again(queued: QueuedMessage, view: v.MessageView) -> v.MessageView:
    """After 40 messages the numbers begin again."""
    return _numbered(queued, view, (_number(queued) - 1) % 40 + 1)


@shown("SEQ-03", (*TWO, *RECEIVE_TWO))
def two_with_one_number(queued: QueuedMessage, view: v.MessageView) -> v.MessageView:
    """Every other message has the number of the one before."""
    return _numbered(queued, view, _number(queued) - (_number(queued) + 1) % 2)


@shown("SEQ-04", PEEKED)
def peek_tells_another_number(queued: QueuedMessage, view: v.MessageView) -> v.MessageView:
    """A message that nobody received has another number."""
    return view if queued.deliveries else _numbered(queued, view, MANY + _number(queued))


@shown("SEQ-04", (create(), send("m1"), receive(), abandon(0), receive()))
def abandoned_is_numbered_anew(queued: QueuedMessage, view: v.MessageView) -> v.MessageView:
    """An abandoned message has a new number."""
    return _numbered(queued, view, _number(queued) + MANY * max(queued.deliveries - 1, 0))


@attrs.define
class _Commits:
    """The numbers that each commit gave out in a partition, first and last of them."""

    numbers: dict[tuple[str, int], list[tuple[int, int]]] = attrs.field(factory=dict)
    rolled_back: bool = False

    def of(self, queued: QueuedMessage) -> tuple[int, int]:
        """Those of the commit that a message came with, or its own."""
        number = _number(queued)
        groups = self.numbers.get((queued.entity.path, queued.partition), ())
        found = (group for group in groups if group[0] <= number <= group[1])
        return next(found, (number, number))


def _note_commit(namespace: Namespace, command: v.CommitTransaction, connection: str) -> Answer:
    entities = namespace.entities.values()
    before = [(each.path, part, part.arrivals) for each in entities for part in each.partitions]
    answer = RULES.transactions.commit(namespace, command, connection)
    for path, part, arrivals in before:
        if arrivals < part.arrivals:
            numbers = memory(namespace, _Commits).numbers.setdefault((path, part.number), [])
            numbers.append((arrivals + 1, part.arrivals))
    return answer


@shown("SEQ-07", (create(), *COMMIT_TWO, *RECEIVE_TWO), also={"transactions.commit": _note_commit})
def commit_numbers_backwards(queued: QueuedMessage, view: v.MessageView) -> v.MessageView:
    """A commit numbers its messages from the last on."""
    first, last = memory(queued.entity.namespace, _Commits).of(queued)
    return _numbered(queued, view, first + last - _number(queued))


def _note_rollback(namespace: Namespace, command: v.RollBackTransaction, connection: str) -> Answer:
    memory(namespace, _Commits).rolled_back = True
    return RULES.transactions.roll_back(namespace, command, connection)


@shown(
    "SEQ-07",
    SECOND_COMMIT,
    also={"transactions.commit": _note_commit, "transactions.roll_back": _note_rollback},
    deep=True,
)
def commit_numbers_its_first_last(queued: QueuedMessage, view: v.MessageView) -> v.MessageView:
    """After a transaction was rolled back, the first message of a later one is numbered last."""
    commits, number = memory(queued.entity.namespace, _Commits), _number(queued)
    first, last = commits.of(queued)
    if not commits.rolled_back or first == last:
        return view
    return _numbered(queued, view, last if number == first else number - 1)


MUTANTS: Final = mutant.all()
