"""Mutants of BATCH: several messages in one request, sent or received."""

from collections.abc import Callable, Sequence
from typing import Any, Final

import attrs

from busproof import vocabulary as v
from busproof.model.answers import DONE, Answer
from busproof.model.rules import Namespace
from busproof.model.state import Entity
from busproof.model.values import Key, Refusal
from busproof.mutants.mutant import memory, mutant, run
from busproof.mutants.own_rules import RULES
from busproof.mutants.runs import QUEUE, Run, create, down, home, receive, send
from busproof.mutants.wrappers import afterwards, asks, instead, refuses

MB: Final = 1024 * 1024
MANY: Final = 20
"""A batch of more messages is a large one."""
BODIES: Final = tuple(f"m{number}" for number in range(1, MANY + 3))
KEY: Final[dict[str, Any]] = {"partition_key": "a"}
COPY: Final[dict[str, Any]] = {"message_id": "x", **KEY}


def batch(*bodies: str, within: str | None = None, **properties: Any) -> v.SendBatch:
    """Return a batch of messages that differ only in their bodies."""
    messages = tuple(v.Message(body=body, **properties) for body in bodies)
    return v.SendBatch(queue=QUEUE, messages=messages, transaction=within)


def batch_of(*messages: v.Message) -> v.SendBatch:
    """Return a batch of these messages."""
    return v.SendBatch(queue=QUEUE, messages=messages)


TWO: Final = batch("m1", "m2", **KEY)
TWO_KEYS: Final = batch_of(
    v.Message(body="m1", partition_key="a"), v.Message(body="m2", partition_key="b")
)
CONFLICT: Final = batch_of(
    v.Message(body="m1", session_id="b"), v.Message(body="m2", session_id="b", partition_key="c")
)
BEGIN: Final = v.BeginTransaction(transaction="t")
DETECTING: Final = create(duplicate_detection=True)
TAKE: Final = receive(delete=True)
ALL_TAKEN: Final[Run] = (create(), batch(*BODIES, **KEY), *(TAKE,) * len(BODIES))
SIX: Final[Run] = (create(), batch(*BODIES[:6], **KEY), receive())
AFTER_ONE: Final = (create(), send("m0", **KEY), batch("m1", "m2", "m3", **KEY), *(receive(),) * 4)
SPLIT: Final[Run] = (create(), TWO_KEYS, TAKE, receive())
TOO_LARGE: Final[Run] = (create(), batch("m1", "m2", "m3", size=100 * 1024, **KEY))
BUFFERED: Final[Run] = (create(), BEGIN, batch("m1", within="t", **KEY), receive())
ROLLED_BACK: Final[Run] = (
    *(create(), BEGIN, batch("m1", "m2", within="t", **KEY)),
    *(v.RollBackTransaction(transaction="t"), receive()),
)
COPY_OF_FIRST: Final[Run] = (
    *(DETECTING, send("m1", **COPY), TAKE),
    batch_of(v.Message(body="m2", **COPY), v.Message(body="m3", message_id="y", **KEY)),
    receive(),
)
IN_OUTAGE: Final[Run] = (create(), send("m0", **KEY), down(home("a")), batch("m1", **KEY))
Choose = Callable[[tuple[v.Message, ...]], Sequence[v.Message]]


def _sent(namespace: Namespace, command: v.SendBatch, connection: str, choose: Choose) -> Answer:
    """Accept the whole batch, but send only the chosen messages."""
    if not command.messages:
        return RULES.batches.send_batch(namespace, command, connection)
    chosen = tuple(choose(command.messages))
    return RULES.batches.send_batch(namespace, attrs.evolve(command, messages=chosen), connection)


@mutant("BATCH-01", "batches.send_batch", (create(), TWO, TAKE, receive()))
def batch_takes_the_first_only(
    namespace: Namespace, command: v.SendBatch, connection: str
) -> Answer:
    """Only the first message of a batch arrives."""
    return _sent(namespace, command, connection, lambda messages: messages[:1])


@mutant("BATCH-01", "batches.send_batch", ALL_TAKEN, deep=True)
def last_of_large_batch_lost(namespace: Namespace, command: v.SendBatch, connection: str) -> Answer:
    """The last message of a batch of more than 20 is lost."""
    most = len(command.messages) - (len(command.messages) > MANY)
    return _sent(namespace, command, connection, lambda messages: messages[:most])


@mutant("BATCH-02", "batches.send_batch", (create(), CONFLICT, receive()), deep=True)
def refused_batch_stays_in_part(namespace: Namespace, command: v.SendBatch, *rest: Any) -> Answer:
    """A batch is refused, but the messages before the wrong one arrive."""
    if command.transaction is not None or not command.messages:
        return RULES.batches.send_batch(namespace, command, *rest)
    namespace.rules.limits.check_batch(command.messages)
    for message in command.messages:
        one = v.Send(queue=command.queue, message=message, timeout=command.timeout)
        mark = namespace.journal.mark()
        try:
            answer = namespace.rules.messages.send(one, *rest)
        except Refusal as refusal:
            namespace.journal.refuse(mark)
            return Answer(v.Refused(error=refusal.error), rules=refusal.rules)
    return answer


@mutant("BATCH-03", "batches.send_batch", (create(), TWO, receive()))
def batch_reversed(namespace: Namespace, command: v.SendBatch, connection: str) -> Answer:
    """The messages of a batch arrive in reverse order."""
    return _sent(namespace, command, connection, lambda messages: messages[::-1])


@mutant("BATCH-03", "batches.send_batch", SIX, deep=True)
def large_batch_rotated(namespace: Namespace, command: v.SendBatch, connection: str) -> Answer:
    """The first message of a batch of more than 5 arrives after the others."""
    if len(command.messages) <= MANY // 4:
        return RULES.batches.send_batch(namespace, command, connection)
    return _sent(namespace, command, connection, lambda messages: (*messages[1:], messages[0]))


def _note_batch(namespace: Namespace, command: v.SendBatch, connection: str) -> Answer:
    together = memory(namespace, set[str])
    together.add(command.queue)
    try:
        return RULES.batches.send_batch(namespace, command, connection)
    finally:
        together.clear()


@mutant("BATCH-04", "keys.place", AFTER_ONE, also={"batches.send_batch": _note_batch})
def batch_by_turns(namespace: Namespace, entity: Entity, key: Key | None, *rest: Any) -> int:
    """The messages of a batch go to the partitions in turn, whatever their key."""
    if memory(namespace, set[str]):
        return RULES.keys.place_without_key(namespace, entity, *rest)
    return RULES.keys.place(namespace, entity, key, *rest)


ANY_KEYS: Final = {"batches.check_keys": lambda *_: None}


@mutant("BATCH-01", "batches.send_batch", SPLIT, also=ANY_KEYS, deep=True)
def two_keys_half_acknowledged(
    namespace: Namespace, command: v.SendBatch, connection: str
) -> Answer:
    """A batch with two keys is accepted, and only the messages with the first key arrive."""
    entity = namespace.rules.topics.sendable(command.queue)
    keys = [RULES.keys.effective_key(namespace, entity, message) for message in command.messages]
    pairs = zip(command.messages, keys, strict=True)
    first = [message for message, key in pairs if key == keys[0]]
    return _sent(namespace, command, connection, lambda _: first)


@mutant("BATCH-06", "batches.check_keys", how=refuses("BATCH-05"))
@run(create(partitioned=False), TWO_KEYS)
def regular_batch_needs_one_key(messages: tuple[v.Message, ...]) -> bool:
    """A regular queue refuses a batch whose messages have different keys."""
    return len({(message.session_id, message.partition_key) for message in messages}) > 1


@mutant("BATCH-07", "limits.check_batch", TOO_LARGE)
def batch_of_any_size() -> None:
    """A batch may have any size."""


@mutant("BATCH-08", "batches.send_batch", BUFFERED, asks)
def batch_outside_transaction(command: v.SendBatch) -> v.SendBatch:
    """A batch sent in a transaction arrives at once."""
    return attrs.evolve(command, transaction=None)


@mutant("BATCH-08", "batches.send_batch", ROLLED_BACK, afterwards, deep=True)
def rolled_back_batch_leaves_one(namespace: Namespace, command: v.SendBatch, *rest: Any) -> None:
    """The last message of a batch sent in a transaction arrives at once."""
    if command.transaction is not None:
        last = v.Send(queue=command.queue, message=command.messages[-1])
        namespace.rules.messages.send(last, *rest)


@mutant("BATCH-09", "batches.send_batch", COPY_OF_FIRST, instead)
def batch_dropped_for_a_copy(namespace: Namespace, command: v.SendBatch) -> Answer | None:
    """A whole batch is dropped if it has a copy of an earlier message."""
    entity = namespace.rules.topics.sendable(command.queue)
    for message in command.messages:
        key = RULES.keys.effective_key(namespace, entity, message)
        if (key, message.message_id) in entity.duplicates:
            return Answer(DONE)
    return None


Known = dict[str, frozenset[Any]]


def _note_known(namespace: Namespace, command: v.SendBatch, connection: str) -> Answer:
    entity, known = namespace.entities.get(command.queue), memory(namespace, Known)
    known[command.queue] = frozenset(() if entity is None else entity.duplicates)
    try:
        return RULES.batches.send_batch(namespace, command, connection)
    finally:
        known.clear()


@mutant("BATCH-09", "duplicates.is_duplicate", also={"batches.send_batch": _note_known}, deep=True)
@run(DETECTING, batch("m1", "m2", **COPY), TAKE, receive())
def copies_within_a_batch_arrive(
    namespace: Namespace, entity: Entity, message: v.Message, key: Key | None
) -> bool:
    """Two messages with one MessageId in the same batch both arrive."""
    known = memory(namespace, Known).get(entity.path)
    is_copy = RULES.duplicates.is_duplicate(namespace, entity, message, key)
    return is_copy and (known is None or (key, message.message_id) in known)


@mutant("BATCH-10", "batches.send_batch")
@run(create(max_size=1), batch("m1", "m2", "m3", "m4", "m5", size=300 * MB, stands_in=True, **KEY))
def batch_taken_as_far_as_there_is_room(
    namespace: Namespace, command: v.SendBatch, connection: str
) -> Answer:
    """A batch that does not fit is cut to the messages that fit."""
    mark = namespace.journal.mark()
    try:
        return RULES.batches.send_batch(namespace, command, connection)
    except Refusal as refusal:
        if refusal.error is not v.Error.QUOTA_EXCEEDED:
            raise
        namespace.journal.refuse(mark)
        fewer = command.messages[:-1]
        if not fewer:
            return Answer(DONE)
        shorter = attrs.evolve(command, messages=fewer)
        return batch_taken_as_far_as_there_is_room(namespace, shorter, connection)


@mutant("BATCH-11", "keys.place", IN_OUTAGE, also={"batches.send_batch": _note_batch})
def batch_goes_round_an_outage(
    namespace: Namespace, entity: Entity, key: Key | None, size: int, timeout: int
) -> int:
    """A batch whose key's partition is down goes to another partition."""
    try:
        return RULES.keys.place(namespace, entity, key, size, timeout)
    except Refusal as refusal:
        if "KEY-03" not in refusal.rules or not memory(namespace, set[str]):
            raise
        return RULES.keys.place_without_key(namespace, entity, size, timeout)
