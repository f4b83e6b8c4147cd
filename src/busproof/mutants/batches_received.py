"""Mutants of BATCH: several messages received or deleted in one request."""

from typing import Final

import attrs

from busproof import vocabulary as v
from busproof.model.answers import Answer
from busproof.model.batches import Batches, Deletable
from busproof.model.life_cycle import Action, State
from busproof.model.locks import Locks
from busproof.model.state import Entity, QueuedMessage
from busproof.model.values import Refusal
from busproof.mutants.batches import KEY, TAKE, TWO
from busproof.mutants.mutant import AMQP, memory, mutant
from busproof.mutants.runs import QUEUE, Run, complete, create, receive, send
from busproof.mutants.views import Views
from busproof.mutants.wrappers import alters, asks, beforehand, tells


def several(count: int) -> v.ReceiveBatch:
    """Return a request for this many messages."""
    return v.ReceiveBatch(queue=QUEUE, count=count)


RECEIVE: Final = "batches.receive_batch"


GIVES: Final = tells("messages")


SENT: Final[Run] = (create(), *(send(f"m{number}", **KEY) for number in range(1, 6)))
TWO_SETTLED: Final[Run] = (*SENT, several(3), complete(0), complete(1))


@mutant("BATCH-12", (*SENT, several(2)))
class OneMoreAtOnce(Batches):
    """A batch receive returns one message more than requested."""

    @asks
    def receive_batch(self, command: v.ReceiveBatch) -> v.ReceiveBatch:
        return attrs.evolve(command, count=command.count + 1)


@mutant("BATCH-12", (*SENT, several(3)), deep=True)
class FirstTwiceAtOnce(Batches):
    """A batch receive of several messages returns the first one twice."""

    @GIVES
    def receive_batch(self, usual: Views) -> Views:
        return (*usual[:-1], usual[0]) if len(usual) > 2 else usual


@mutant("PART-13", (*SENT, several(3)), needs=AMQP)
class LastTwiceWhenPrefetched(Batches):
    """A receiver that prefetches from a partitioned queue is given the last message twice."""

    @GIVES
    def receive_batch(self, command: v.ReceiveBatch, usual: Views) -> Views:
        partitioned = self.rules.topics.receivable(command.queue).settings.partitioned
        return (*usual[1:], usual[-1]) if partitioned and len(usual) > 2 else usual


@mutant("BATCH-13", (*SENT, several(3)))
class NewestFirstAtOnce(Batches):
    """A batch receive returns its messages in reverse order."""

    @GIVES
    def receive_batch(self, usual: Views) -> Views:
        return usual[::-1]


@mutant("BATCH-13", (*SENT, several(4)), deep=True)
class OneLeftOutAtOnce(Batches):
    """A batch receive of more than three messages skips the second."""

    @GIVES
    def receive_batch(self, usual: Views) -> Views:
        return (usual[0], *usual[2:]) if len(usual) > 3 else usual


@mutant("BATCH-14", (*SENT, several(3)))
class OneLockForAll(Batches):
    """The messages of a batch receive have the same lock."""

    @GIVES
    def receive_batch(self, usual: Views) -> Views:
        return tuple(attrs.evolve(view, lock_token=usual[0].lock_token) for view in usual)


class _NoteTokens(Batches):
    @GIVES
    def receive_batch(self, usual: Views) -> Views:
        memory(self.rules.namespace, list[set[str | None]]).append(
            {view.lock_token for view in usual}
        )
        return usual


@mutant("BATCH-14", TWO_SETTLED, also=(_NoteTokens,), deep=True)
class SettlingOneSettlesAll(Locks):
    """Completing one message of a batch receive completes the others."""

    def apply(self, queued: QueuedMessage, action: Action, reason: str) -> None:
        batches = memory(self.rules.namespace, list[set[str | None]])
        together = next((tokens for tokens in batches if queued.token in tokens), set[str | None]())
        others = [other for other in queued.entity.messages.values() if other.token in together]
        super().apply(queued, action, reason)
        for other in others if action is Action.COMPLETE else ():
            if other.is_there:
                super().apply(other, action, reason)


@mutant("FEAT-06", (create(), TWO), needs=AMQP)
class PartitionedTakesNoBatch(Batches):
    """A partitioned queue refuses batches."""

    @beforehand
    def send_batch(self, command: v.SendBatch) -> None:
        if self.rules.topics.sendable(command.queue).settings.partitioned:
            raise Refusal(v.Error.INVALID_OPERATION)


@mutant("FEAT-07", (*SENT, several(2)), needs=AMQP)
class PartitionedGivesNothingAtOnce(Batches):
    """A batch receive from a partitioned queue is refused."""

    @beforehand
    def receive_batch(self, command: v.ReceiveBatch) -> None:
        if self.rules.topics.receivable(command.queue).settings.partitioned:
            raise Refusal(v.Error.INVALID_OPERATION)


REGULAR: Final[Run] = (create(partitioned=False), send("m1"), send("m2"), send("m3"))


def deleting(count: int, age: int | None = None) -> v.DeleteBatch:
    """Return a request to delete this many messages."""
    return v.DeleteBatch(queue=QUEUE, count=count, age=age)


@mutant("BATCH-15", (*REGULAR, deleting(1)))
class OneMoreDeleted(Batches):
    """A request deletes one message more than requested, and reports it."""

    @asks
    def delete_batch(self, command: v.DeleteBatch) -> v.DeleteBatch:
        return attrs.evolve(command, count=command.count + 1)


@mutant("BATCH-15", (*REGULAR, deleting(3), receive()))
class DeletedOnesStay(Batches):
    """A request reports deleted messages, and deletes none."""

    def remove(self, chosen: Deletable) -> None:
        pass


@mutant("BATCH-15", (*REGULAR, deleting(1), TAKE, TAKE, TAKE), deep=True)
class MoreDeletedThanTold(Batches):
    """A request deletes one message more than requested, and does not report it."""

    def delete_batch(self, command: v.DeleteBatch, connection: str) -> Answer:
        more = attrs.evolve(command, count=command.count + 1)
        answer = super().delete_batch(more, connection)
        count = min(command.count, getattr(answer.outcome, "count", 0))
        return Answer(v.Deleted(count=count), rules=answer.rules)


@mutant("BATCH-16", (*REGULAR, receive(), deleting(9)))
class LockedOnesDeleted(Batches):
    """A request deletes locked messages as well."""

    @alters
    def deletable(self, usual: list[Deletable], entity: Entity) -> list[Deletable]:
        locked = [queued for queued in entity.messages.values() if queued.state is State.LOCKED]
        for queued in locked:
            self.namespace.journal.touch(queued)
            queued.state = State.ACTIVE
        return [*locked, *usual]


@mutant("BATCH-17", (*REGULAR, deleting(9, 20 * v.MICROSECONDS)))
class NewOnesDeleted(Batches):
    """A request deletes messages of any age."""

    def is_old(self, queued: QueuedMessage, age: int | None) -> bool:
        return True
