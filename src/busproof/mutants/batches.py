"""Mutants of BATCH: several messages in one request, sent or received."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

import attrs

from busproof import vocabulary as v
from busproof.model.answers import DONE, Answer
from busproof.model.batches import Batches
from busproof.model.duplicates import Duplicates
from busproof.model.keys import Keys
from busproof.model.limits import Limits
from busproof.model.rules import Namespace
from busproof.model.state import Entity
from busproof.model.values import Key, Refusal
from busproof.mutants.mutant import memory, mutant, run
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


def _send_chosen(
    namespace: Namespace, command: v.SendBatch, connection: str, choose: Choose
) -> Answer:
    """Accept the whole batch, but send only the chosen messages."""
    if not command.messages:
        return Batches.send_batch(namespace.rules.batches, command, connection)
    chosen = tuple(choose(command.messages))
    return Batches.send_batch(
        namespace.rules.batches, attrs.evolve(command, messages=chosen), connection
    )


@mutant("BATCH-01", (create(), TWO, TAKE, receive()))
class BatchTakesTheFirstOnly(Batches):
    """Only the first message of a batch arrives."""

    def send_batch(self, command: v.SendBatch, connection: str) -> Answer:
        return _send_chosen(
            self.rules.namespace, command, connection, lambda messages: messages[:1]
        )


@mutant("BATCH-01", ALL_TAKEN, deep=True)
class LastOfLargeBatchLost(Batches):
    """The last message of a batch of more than 20 is lost."""

    def send_batch(self, command: v.SendBatch, connection: str) -> Answer:
        most = len(command.messages) - (len(command.messages) > MANY)
        return _send_chosen(
            self.rules.namespace, command, connection, lambda messages: messages[:most]
        )


@mutant("BATCH-02", (create(), CONFLICT, receive()), deep=True)
class RefusedBatchStaysInPart(Batches):
    """A batch is refused, but the messages before the wrong one arrive."""

    def send_batch(self, command: v.SendBatch, connection: str) -> Answer:
        if command.transaction is not None or not command.messages:
            return super().send_batch(command, connection)
        self.rules.limits.check_batch(command.messages)
        for message in command.messages:
            one = v.Send(queue=command.queue, message=message, timeout=command.timeout)
            mark = self.namespace.journal.mark()
            try:
                answer = self.rules.messages.send(one, connection)
            except Refusal as refusal:
                self.namespace.journal.refuse(mark)
                return Answer(v.Refused(error=refusal.error), rules=refusal.rules)
        return answer


@mutant("BATCH-03", (create(), TWO, receive()))
class BatchReversed(Batches):
    """The messages of a batch arrive in reverse order."""

    def send_batch(self, command: v.SendBatch, connection: str) -> Answer:
        return _send_chosen(
            self.rules.namespace, command, connection, lambda messages: messages[::-1]
        )


@mutant("BATCH-03", SIX, deep=True)
class LargeBatchRotated(Batches):
    """The first message of a batch of more than 5 arrives after the others."""

    def send_batch(self, command: v.SendBatch, connection: str) -> Answer:
        if len(command.messages) <= MANY // 4:
            return super().send_batch(command, connection)
        return _send_chosen(
            self.rules.namespace, command, connection, lambda messages: (*messages[1:], messages[0])
        )


class _NoteBatch(Batches):
    def send_batch(self, command: v.SendBatch, connection: str) -> Answer:
        together = memory(self.rules.namespace, set[str])
        together.add(command.queue)
        try:
            return super().send_batch(command, connection)
        finally:
            together.clear()


@mutant("BATCH-04", AFTER_ONE, also=(_NoteBatch,))
class BatchByTurns(Keys):
    """The messages of a batch go to the partitions in turn, whatever their key."""

    def place(self, entity: Entity, key: Key | None, size: int, timeout: int) -> int:
        if memory(self.rules.namespace, set[str]):
            return self.place_without_key(entity, size, timeout)
        return super().place(entity, key, size, timeout)


@mutant("BATCH-01", SPLIT, deep=True)
class TwoKeysHalfAcknowledged(Batches):
    """A batch with two keys is accepted, and only the messages with the first key arrive."""

    def check_keys(self, entity: Entity, messages: tuple[v.Message, ...]) -> None:
        pass

    def send_batch(self, command: v.SendBatch, connection: str) -> Answer:
        entity = self.rules.topics.sendable(command.queue)
        keys = [self.rules.keys.effective_key(entity, message) for message in command.messages]
        pairs = zip(command.messages, keys, strict=True)
        first = [message for message, key in pairs if key == keys[0]]
        return _send_chosen(self.rules.namespace, command, connection, lambda _: first)


@mutant("BATCH-06")
@run(create(partitioned=False), TWO_KEYS)
class RegularBatchNeedsOneKey(Batches):
    """A regular queue refuses a batch whose messages have different keys."""

    @refuses("BATCH-05")
    def check_keys(self, messages: tuple[v.Message, ...]) -> bool:
        return len({(message.session_id, message.partition_key) for message in messages}) > 1


@mutant("BATCH-07", TOO_LARGE)
class BatchOfAnySize(Limits):
    """A batch may have any size."""

    def check_batch(self, messages: Iterable[v.Message]) -> None:
        pass


@mutant("BATCH-08", BUFFERED)
class BatchOutsideTransaction(Batches):
    """A batch sent in a transaction arrives at once."""

    @asks
    def send_batch(self, command: v.SendBatch) -> v.SendBatch:
        return attrs.evolve(command, transaction=None)


@mutant("BATCH-08", ROLLED_BACK, deep=True)
class RolledBackBatchLeavesOne(Batches):
    """The last message of a batch sent in a transaction arrives at once."""

    @afterwards
    def send_batch(self, command: v.SendBatch, *rest: Any) -> None:
        if command.transaction is not None:
            last = v.Send(queue=command.queue, message=command.messages[-1])
            self.rules.messages.send(last, *rest)


@mutant("BATCH-09", COPY_OF_FIRST)
class BatchDroppedForACopy(Batches):
    """A whole batch is dropped if it has a copy of an earlier message."""

    @instead
    def send_batch(self, command: v.SendBatch) -> Answer | None:
        entity = self.rules.topics.sendable(command.queue)
        for message in command.messages:
            key = self.rules.keys.effective_key(entity, message)
            if (key, message.message_id) in entity.duplicates:
                return Answer(DONE)
        return None


Known = dict[str, frozenset[Any]]


class _NoteKnown(Batches):
    def send_batch(self, command: v.SendBatch, connection: str) -> Answer:
        entity = self.namespace.entities.get(command.queue)
        known = memory(self.rules.namespace, Known)
        known[command.queue] = frozenset(() if entity is None else entity.duplicates)
        try:
            return super().send_batch(command, connection)
        finally:
            known.clear()


@mutant("BATCH-09", also=(_NoteKnown,), deep=True)
@run(DETECTING, batch("m1", "m2", **COPY), TAKE, receive())
class CopiesWithinABatchArrive(Duplicates):
    """Two messages with one MessageId in the same batch both arrive."""

    def is_duplicate(self, entity: Entity, message: v.Message, key: Key | None) -> bool:
        known = memory(self.rules.namespace, Known).get(entity.path)
        is_copy = super().is_duplicate(entity, message, key)
        return is_copy and (known is None or (key, message.message_id) in known)


@mutant("BATCH-10")
@run(create(max_size=1), batch("m1", "m2", "m3", "m4", "m5", size=300 * MB, stands_in=True, **KEY))
class BatchTakenAsFarAsThereIsRoom(Batches):
    """A batch that does not fit is cut to the messages that fit."""

    def send_batch(self, command: v.SendBatch, connection: str) -> Answer:
        mark = self.namespace.journal.mark()
        try:
            return super().send_batch(command, connection)
        except Refusal as refusal:
            if refusal.error is not v.Error.QUOTA_EXCEEDED:
                raise
            self.namespace.journal.refuse(mark)
            fewer = command.messages[:-1]
            if not fewer:
                return Answer(DONE)
            shorter = attrs.evolve(command, messages=fewer)
            return self.send_batch(shorter, connection)


@mutant("BATCH-11", IN_OUTAGE, also=(_NoteBatch,))
class BatchGoesRoundAnOutage(Keys):
    """A batch whose key's partition is down goes to another partition."""

    def place(self, entity: Entity, key: Key | None, size: int, timeout: int) -> int:
        try:
            return super().place(entity, key, size, timeout)
        except Refusal as refusal:
            if "KEY-03" not in refusal.rules or not memory(self.rules.namespace, set[str]):
                raise
            return self.place_without_key(entity, size, timeout)
