"""Mutants of BATCH: several messages received or deleted in one request."""

from typing import Any, Final

import attrs

from busproof import vocabulary as v
from busproof.model.answers import Answer
from busproof.model.life_cycle import Action, State
from busproof.model.rules import Namespace
from busproof.model.state import Entity, QueuedMessage
from busproof.model.values import Refusal
from busproof.mutants.batches import KEY, TAKE, TWO
from busproof.mutants.mutant import beside, memory, mutant
from busproof.mutants.own_rules import RULES
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


@mutant("BATCH-12", RECEIVE, (*SENT, several(2)), asks)
def one_more_at_once(command: v.ReceiveBatch) -> v.ReceiveBatch:
    """A batch receive returns one message more than requested."""
    return attrs.evolve(command, count=command.count + 1)


@mutant("BATCH-12", RECEIVE, (*SENT, several(3)), GIVES, deep=True)
def first_twice_at_once(usual: Views) -> Views:
    """A batch receive of several messages returns the first one twice."""
    return (*usual[:-1], usual[0]) if len(usual) > 2 else usual


@mutant("BATCH-13", RECEIVE, (*SENT, several(3)), GIVES)
def newest_first_at_once(usual: Views) -> Views:
    """A batch receive returns its messages in reverse order."""
    return usual[::-1]


@mutant("BATCH-13", RECEIVE, (*SENT, several(4)), GIVES, deep=True)
def one_left_out_at_once(usual: Views) -> Views:
    """A batch receive of more than three messages skips the second."""
    return (usual[0], *usual[2:]) if len(usual) > 3 else usual


@mutant("BATCH-14", RECEIVE, (*SENT, several(3)), GIVES)
def one_lock_for_all(usual: Views) -> Views:
    """The messages of a batch receive have the same lock."""
    return tuple(attrs.evolve(view, lock_token=usual[0].lock_token) for view in usual)


@beside(RECEIVE, GIVES)
def _note_tokens(usual: Views, namespace: Namespace) -> Views:
    memory(namespace, list[set[str | None]]).append({view.lock_token for view in usual})
    return usual


@mutant("BATCH-14", "locks.apply", TWO_SETTLED, also=_note_tokens, deep=True)
def settling_one_settles_all(
    namespace: Namespace, queued: QueuedMessage, action: Action, reason: str
) -> None:
    """Completing one message of a batch receive completes the others."""
    batches = memory(namespace, list[set[str | None]])
    together = next((tokens for tokens in batches if queued.token in tokens), set[str | None]())
    others = [other for other in queued.entity.messages.values() if other.token in together]
    RULES.locks.apply(namespace, queued, action, reason)
    for other in others if action is Action.COMPLETE else ():
        if other.is_there:
            RULES.locks.apply(namespace, other, action, reason)


@mutant("FEAT-06", "batches.send_batch", (create(), TWO), beforehand)
def partitioned_takes_no_batch(namespace: Namespace, command: v.SendBatch) -> None:
    """A partitioned queue refuses batches."""
    if namespace.rules.topics.sendable(command.queue).settings.partitioned:
        raise Refusal(v.Error.INVALID_OPERATION)


@mutant("FEAT-07", RECEIVE, (*SENT, several(2)), beforehand)
def partitioned_gives_nothing_at_once(namespace: Namespace, command: v.ReceiveBatch) -> None:
    """A batch receive from a partitioned queue is refused."""
    if namespace.rules.topics.receivable(command.queue).settings.partitioned:
        raise Refusal(v.Error.INVALID_OPERATION)


REGULAR: Final[Run] = (create(partitioned=False), send("m1"), send("m2"), send("m3"))


def deleting(count: int, age: int | None = None) -> v.DeleteBatch:
    """Return a request to delete this many messages."""
    return v.DeleteBatch(queue=QUEUE, count=count, age=age)


@mutant("BATCH-15", "batches.delete_batch", (*REGULAR, deleting(1)), asks)
def one_more_deleted(command: v.DeleteBatch) -> v.DeleteBatch:
    """A request deletes one message more than requested, and reports it."""
    return attrs.evolve(command, count=command.count + 1)


@mutant("BATCH-15", "batches.delete_batch", (*REGULAR, deleting(3), receive()))
def deleted_ones_stay(namespace: Namespace, command: v.DeleteBatch) -> Answer:
    """A request reports deleted messages, and deletes none."""
    entity = namespace.rules.topics.receivable(command.queue)
    namespace.rules.batches.check_deletion(entity, command.count)
    deletable = namespace.rules.batches.deletable(entity, command.age)
    return Answer(v.Deleted(count=min(command.count, len(deletable))), rules=("BATCH-15",))


@mutant("BATCH-15", "batches.delete_batch", (*REGULAR, deleting(1), TAKE, TAKE, TAKE), deep=True)
def more_deleted_than_told(namespace: Namespace, command: v.DeleteBatch, *rest: Any) -> Answer:
    """A request deletes one message more than requested, and does not report it."""
    more = attrs.evolve(command, count=command.count + 1)
    answer = RULES.batches.delete_batch(namespace, more, *rest)
    count = min(command.count, getattr(answer.outcome, "count", 0))
    return Answer(v.Deleted(count=count), rules=answer.rules)


@mutant("BATCH-16", "batches.deletable", (*REGULAR, receive(), deleting(9)), alters)
def locked_ones_deleted(
    usual: list[QueuedMessage], namespace: Namespace, entity: Entity
) -> list[QueuedMessage]:
    """A request deletes locked messages as well."""
    locked = [queued for queued in entity.messages.values() if queued.state is State.LOCKED]
    for queued in locked:
        namespace.journal.touch(queued)
        queued.state = State.ACTIVE
    return [*locked, *usual]


@mutant("BATCH-17", "batches.deletable", (*REGULAR, deleting(9, 20 * v.MICROSECONDS)))
def new_ones_deleted(namespace: Namespace, entity: Entity) -> list[QueuedMessage]:
    """A request deletes messages of any age."""
    return RULES.batches.deletable(namespace, entity, None)
