"""Mutants that are right for one message, and wrong late, in an outage or after something else.

Each stands for a kind: what is lost past a number, what an outage frees or forgets, what an update
or a refusal takes along, a value that changes on its way.
"""

from collections import Counter
from collections.abc import Callable
from itertools import chain
from typing import Any, Final

import attrs

from busproof import vocabulary as v
from busproof.model.answers import DONE, Answer
from busproof.model.life_cycle import Action, State
from busproof.model.rules import RULES
from busproof.model.state import Entity, Namespace, QueuedMessage, Transaction
from busproof.mutants.mutant import memory, mutant
from busproof.mutants.runs import (
    DEAD,
    QUEUE,
    Run,
    complete,
    create,
    dead_letter,
    down,
    home,
    over,
    receive,
    send,
    up,
    wait,
)
from busproof.mutants.views import shown
from busproof.mutants.wrappers import afterwards, instead, only_where, refuses_yet

MANY: Final = 100
HOME: Final = home("a")
TAKE: Final = receive(delete=True)
KEYED: Final[Run] = (create(), send("m1", partition_key="a"))
BEGIN: Final = v.BeginTransaction(transaction="t")
COMMIT: Final = v.CommitTransaction(transaction="t")
SENT_WITHIN: Final = send("m1", within="t", partition_key="a")
ACCEPT: Final = v.AcceptSession(queue=QUEUE, session_id="s")
HELD: Final[Run] = (create(requires_session=True), send("m1", session_id="s"), ACCEPT)
IN_OUTAGE: Final[Run] = (down(HOME), up(HOME))
SESSION_OUTAGE: Final[Run] = (down(home("s")), up(home("s")))
UPDATE_LOCKS: Final = v.UpdateQueue(queue=QUEUE, lock_duration=5 * v.MICROSECONDS)
MANY_SENT: Final[Run] = tuple(send(f"m{number}", partition_key="a") for number in range(MANY + 1))
LATE: Final[Run] = (create(), *MANY_SENT, *(TAKE,) * (MANY + 1))


def _dead_letter(number: int) -> Run:
    """Send a message and dead-letter it."""
    return (send(f"m{number}", partition_key="a"), receive(), dead_letter(number))


LATE_DEAD: Final[Run] = (
    create(),
    *chain.from_iterable(map(_dead_letter, range(MANY + 1))),
    *(receive(queue=DEAD, delete=True),) * (MANY + 1),
)
TWO_VALUES: Final = v.SendBatch(
    queue=QUEUE,
    messages=(
        v.Message(body="m1", partition_key="a", subject="x"),
        v.Message(body="m2", partition_key="a", subject="y"),
    ),
)
Switch = v.TakePartitionDown | v.BringPartitionUp
Change = Callable[[QueuedMessage, v.MessageView], v.MessageView]


@mutant(
    "TXN-12",
    "transactions.apply",
    (
        create(),
        BEGIN,
        send("m1", within="t", partition_key="a"),
        down(HOME),
        COMMIT,
        up(HOME),
        TAKE,
    ),
    deep=True,
)
def commit_in_an_outage_is_lost(namespace: Namespace, transaction: Transaction) -> None:
    """A commit is acknowledged while the partition of its messages is down, and they are lost."""
    if not any(buffered.entity.base.down for buffered in transaction.sends):
        RULES.transactions.apply(namespace, transaction)


@mutant(
    "LOCK-08",
    "locks.settle",
    (*KEYED, receive(), down(HOME), complete(0), up(HOME), wait(61), receive()),
    deep=True,
)
def completed_in_an_outage_comes_again(
    namespace: Namespace, command: v.Settlement, connection: str
) -> Answer:
    """A completion is acknowledged while the partition is down, and its message comes again."""
    entity = namespace.rules.topics.readable(namespace, command.queue)
    if isinstance(command, v.Complete) and entity.base.down and command.transaction is None:
        return Answer(DONE)
    return RULES.locks.settle(namespace, command, connection)


@mutant("LIFE-09", "messages.arrive", LATE, only_where, deep=True)
def message_past_a_hundred_is_lost(namespace: Namespace, entity: Entity) -> bool:
    """The hundred and first message of a queue is accepted and lost."""
    counts = memory(namespace, Counter[str])
    counts[entity.path] += 1
    return counts[entity.path] != MANY + 1


@mutant("DLQ-05", "dead_letters.enqueue", LATE_DEAD, only_where, deep=True)
def dead_letter_past_a_hundred_is_lost(namespace: Namespace, entity: Entity) -> bool:
    """The hundred and first dead letter of a queue is lost."""
    counts = memory(namespace, Counter[str])
    counts[entity.path] += 1
    return counts[entity.path] != MANY + 1


@shown("LIFE-01", (create(), send("m1", properties={"yes": True}), receive()), deep=True)
def truth_becomes_a_number(queued: QueuedMessage, view: v.MessageView) -> v.MessageView:
    """A property that is true comes back as 1."""
    numbers = {
        name: int(value) if isinstance(value, bool) else value
        for name, value in view.properties.items()
    }
    return attrs.evolve(view, properties=numbers)


@shown("LIFE-01", (create(), send("m1", properties={"none": ""}), receive()), deep=True)
def empty_text_is_lost(queued: QueuedMessage, view: v.MessageView) -> v.MessageView:
    """A property that is an empty text does not come back."""
    kept = {name: value for name, value in view.properties.items() if value != ""}
    return attrs.evolve(view, properties=kept)


@shown("LIFE-01", (create(), send("m1", subject="ñ"), receive()), deep=True)
def letters_are_replaced(queued: QueuedMessage, view: v.MessageView) -> v.MessageView:
    """Letters of a label that are not ASCII come back as question marks."""
    if view.subject is None:
        return view
    return attrs.evolve(view, subject=view.subject.encode("ascii", "replace").decode())


@mutant("BATCH-01", "batches.send_batch", (create(), TWO_VALUES, TAKE, TAKE), deep=True)
def batch_shares_the_label_of_its_first(
    namespace: Namespace, command: v.SendBatch, connection: str
) -> Answer:
    """Every message of a batch has the label of the first."""
    if not command.messages:
        return RULES.batches.send_batch(namespace, command, connection)
    subject = command.messages[0].subject
    alike = tuple(attrs.evolve(message, subject=subject) for message in command.messages)
    alike_command = attrs.evolve(command, messages=alike)
    return RULES.batches.send_batch(namespace, alike_command, connection)


def _recovered(namespace: Namespace, command: Switch, connection: str) -> tuple[Answer, Any]:
    """Switch, and return what is held in the partition if it is up again."""
    answer = RULES.partitions.switch(namespace, command, connection)
    entity = namespace.entities.get(command.queue)
    if entity is None or isinstance(command, v.TakePartitionDown):
        return answer, ()
    return answer, [
        queued for queued in entity.messages.values() if queued.partition == command.partition
    ]


@mutant(
    "DLQ-01", "partitions.switch", (*KEYED, receive(), wait(61), *IN_OUTAGE, receive()), deep=True
)
def outage_forgets_deliveries(namespace: Namespace, command: Switch, connection: str) -> Answer:
    """After an outage the deliveries of what its partition holds are counted from the start."""
    answer, recovered = _recovered(namespace, command, connection)
    for queued in recovered:
        namespace.journal.touch(queued)
        queued.failed = 0
    return answer


@mutant("LIFE-10", "partitions.switch", (*HELD, *SESSION_OUTAGE, over("c2", ACCEPT)), deep=True)
def outage_frees_sessions(namespace: Namespace, command: Switch, connection: str) -> Answer:
    """After an outage nobody holds the sessions of its partition any more."""
    answer, recovered = _recovered(namespace, command, connection)
    for session in {queued.session for queued in recovered if queued.session is not None}:
        if session.holder is not None:
            namespace.rules.sessions.release(namespace, session, counts=False)
    return answer


@mutant(
    "SESS-19",
    "sessions.set_state",
    (
        *(*HELD, down(home("s")), v.SetSessionState(queue=QUEUE, session_id="s", state="x")),
        *(up(home("s")), v.GetSessionState(queue=QUEUE, session_id="s")),
    ),
    instead,
    deep=True,
)
def state_set_in_an_outage_is_lost(
    namespace: Namespace, command: v.SetSessionState
) -> Answer | None:
    """A session's state is accepted while its partition is down, and is lost."""
    entity = namespace.entities.get(command.queue)
    return Answer(DONE) if entity is not None and entity.base.down else None


@mutant(
    "MGMT-12",
    "management.apply_update",
    (create(max_delivery_count=4), UPDATE_LOCKS, wait(200), v.GetQueue(queue=QUEUE)),
    afterwards,
    deep=True,
)
def update_of_locks_forgets_deliveries(entity: Entity, command: v.UpdateQueue) -> None:
    """An update of the lock duration sets the maximum delivery count to the default."""
    if command.lock_duration is not None:
        entity.settings = attrs.evolve(entity.settings, max_delivery_count=10)


@mutant(
    "LOCK-01",
    "management.apply_update",
    (*KEYED, receive(), UPDATE_LOCKS, wait(10), complete(0)),
    deep=True,
)
def update_of_locks_shortens_those_under_way(
    namespace: Namespace, entity: Entity, command: v.UpdateQueue
) -> None:
    """An update of the lock duration changes the end of the locks under way."""
    RULES.management.apply_update(namespace, entity, command)
    if command.lock_duration is None:
        return
    for queued in entity.messages.values():
        if queued.token is not None and queued.session is None:
            namespace.journal.touch(queued)
            queued.locked_until = namespace.now + command.lock_duration
            entity.look_at("locks.end", queued.locked_until, queued, queued.number)


@mutant(
    "LOCK-01",
    "management.update_queue",
    (*KEYED, receive(), v.UpdateQueue(queue=QUEUE, partitioned=False), complete(0)),
    refuses_yet(),
    deep=True,
)
def refused_update_frees_locks(namespace: Namespace, command: v.UpdateQueue) -> None:
    """An update that is refused takes all locks away."""
    entity = namespace.entities.get(command.queue)
    for queued in tuple(entity.messages.values()) if entity is not None else ():
        if queued.token is not None and queued.session is None:
            namespace.rules.locks.release(namespace, queued, Action.LOCK_ENDS)


@mutant(
    "MGMT-20",
    "management.count",
    (*KEYED, receive(), v.GetQueue(queue=QUEUE)),
    readings={"GET-LAG": "at-once"},
    deep=True,
)
def locked_messages_are_not_counted(namespace: Namespace, entity: Entity) -> int:
    """A message that is locked is not among those that are counted."""
    locked = sum(queued.state is State.LOCKED for queued in entity.messages.values())
    return RULES.management.count(namespace, entity) - locked
