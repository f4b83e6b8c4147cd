"""Mutants that are right for simple messages, and wrong in combinations of situations.

Each stands for a kind of fault: messages lost past a number, locks or values lost in an outage,
other things changed by an update or a refusal, and values changed on the way.
"""

from collections import Counter
from collections.abc import Callable
from itertools import chain
from typing import Final

import attrs

from busproof import vocabulary as v
from busproof.model.answers import DONE, Answer
from busproof.model.life_cycle import Action, State
from busproof.model.rules import Namespace
from busproof.model.state import Entity, QueuedMessage, Transaction
from busproof.model.transactions import keys_of_sends
from busproof.model.values import Key
from busproof.mutants.entities import Switch, held
from busproof.mutants.mutant import memory, mutant, run
from busproof.mutants.own_rules import RULES
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
from busproof.mutants.wrappers import afterwards, alters, asks, instead, only_where, refuses_yet

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
    """Return a run that sends a message and dead-letters it."""
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
Change = Callable[[QueuedMessage, v.MessageView], v.MessageView]


@mutant("TXN-12", "transactions.apply", how=only_where, deep=True)
@run(create(), BEGIN, SENT_WITHIN, down(HOME), COMMIT, up(HOME), TAKE)
def commit_in_an_outage_is_lost(transaction: Transaction) -> bool:
    """A commit succeeds while its messages' partition is down, and the messages are lost."""
    return not any(buffered.entity.base.down for buffered in transaction.sends)


@mutant("LOCK-08", "locks.settle", how=instead, deep=True)
@run(*KEYED, receive(), down(HOME), complete(0), up(HOME), wait(61), receive())
def completed_in_an_outage_comes_again(
    namespace: Namespace, command: v.Settlement
) -> Answer | None:
    """A message completed while its partition is down is delivered again."""
    entity = namespace.rules.topics.readable(command.queue)
    lost = isinstance(command, v.Complete) and entity.base.down and command.transaction is None
    return Answer(DONE) if lost else None


@mutant("LIFE-09", "messages.arrive", LATE, only_where, deep=True)
def message_past_a_hundred_is_lost(namespace: Namespace, entity: Entity) -> bool:
    """The 101st message of a queue is accepted and lost."""
    counts = memory(namespace, Counter[str])
    counts[entity.path] += 1
    return counts[entity.path] != MANY + 1


@mutant("DLQ-05", "dead_letters.enqueue", LATE_DEAD, only_where, deep=True)
def dead_letter_past_a_hundred_is_lost(namespace: Namespace, entity: Entity) -> bool:
    """The 101st dead letter of a queue is lost."""
    counts = memory(namespace, Counter[str])
    counts[entity.path] += 1
    return counts[entity.path] != MANY + 1


@shown("LIFE-01", (create(), send("m1", properties={"yes": True}), receive()), deep=True)
def truth_becomes_a_number(queued: QueuedMessage, view: v.MessageView) -> v.MessageView:
    """A property with the value true is received as 1."""
    numbers = {
        name: int(value) if isinstance(value, bool) else value
        for name, value in view.properties.items()
    }
    return attrs.evolve(view, properties=numbers)


@shown("LIFE-01", (create(), send("m1", properties={"none": ""}), receive()), deep=True)
def empty_text_is_lost(queued: QueuedMessage, view: v.MessageView) -> v.MessageView:
    """A property with an empty text is lost."""
    kept = {name: value for name, value in view.properties.items() if value != ""}
    return attrs.evolve(view, properties=kept)


@shown("LIFE-01", (create(), send("m1", subject="ñ"), receive()), deep=True)
def letters_are_replaced(queued: QueuedMessage, view: v.MessageView) -> v.MessageView:
    """Letters of a label outside of ASCII are received as question marks."""
    if view.subject is None:
        return view
    return attrs.evolve(view, subject=view.subject.encode("ascii", "replace").decode())


@mutant("BATCH-01", "batches.send_batch", (create(), TWO_VALUES, TAKE, TAKE), asks, deep=True)
def batch_shares_the_label_of_its_first(command: v.SendBatch) -> v.SendBatch:
    """Every message of a batch gets the label of the first one."""
    subjects = [message.subject for message in command.messages[:1]]
    alike = (attrs.evolve(message, subject=subjects[0]) for message in command.messages)
    return attrs.evolve(command, messages=tuple(alike))


def _recovered(namespace: Namespace, command: Switch) -> list[QueuedMessage]:
    """Return the messages of the partition that a command brings up."""
    entity = namespace.entities.get(command.queue)
    up_again = entity is not None and isinstance(command, v.BringPartitionUp)
    return list(held(entity, command.partition)) if entity is not None and up_again else []


@mutant("DLQ-01", "partitions.switch", how=afterwards, deep=True)
@run(*KEYED, receive(), wait(61), *IN_OUTAGE, receive())
def outage_forgets_deliveries(namespace: Namespace, command: Switch) -> None:
    """After an outage the delivery counts of its partition's messages start again."""
    for queued in _recovered(namespace, command):
        namespace.journal.touch(queued)
        queued.failed = 0


@mutant("LIFE-10", "partitions.switch", how=afterwards, deep=True)
@run(*HELD, *SESSION_OUTAGE, over("c2", ACCEPT))
def outage_frees_sessions(namespace: Namespace, command: Switch) -> None:
    """An outage ends the locks on the sessions of its partition."""
    recovered = _recovered(namespace, command)
    for session in {queued.session for queued in recovered if queued.session is not None}:
        if session.holder is not None:
            namespace.rules.sessions.release(session, counts=False)


@mutant("SESS-19", "sessions.set_state", how=instead, deep=True)
@run(
    *(*HELD, down(home("s")), v.SetSessionState(queue=QUEUE, session_id="s", state="x")),
    *(up(home("s")), v.GetSessionState(queue=QUEUE, session_id="s")),
)
def state_set_in_an_outage_is_lost(
    namespace: Namespace, command: v.SetSessionState
) -> Answer | None:
    """A session state set while its partition is down is lost."""
    entity = namespace.entities.get(command.queue)
    return Answer(DONE) if entity is not None and entity.base.down else None


@mutant("MGMT-12", "management.apply_update", how=afterwards, deep=True)
@run(create(max_delivery_count=4), UPDATE_LOCKS, wait(200), v.GetQueue(queue=QUEUE))
def update_of_locks_forgets_deliveries(entity: Entity, command: v.UpdateQueue) -> None:
    """An update of the lock duration resets the delivery limit to the default."""
    if command.lock_duration is not None:
        entity.settings = attrs.evolve(entity.settings, max_delivery_count=10)


@mutant("LOCK-01", "management.apply_update", deep=True)
@run(*KEYED, receive(), UPDATE_LOCKS, wait(10), complete(0))
def update_of_locks_shortens_those_under_way(
    namespace: Namespace, entity: Entity, command: v.UpdateQueue
) -> None:
    """An update of the lock duration changes the ends of current locks."""
    RULES.management.apply_update(namespace, entity, command)
    if command.lock_duration is None:
        return
    for queued in entity.messages.values():
        if queued.token is not None and queued.session is None:
            namespace.journal.touch(queued)
            queued.locked_until = namespace.now + command.lock_duration
            entity.look_at("locks.end", queued.locked_until, queued, queued.number)


@mutant("LOCK-01", "management.update_queue", how=refuses_yet(), deep=True)
@run(*KEYED, receive(), v.UpdateQueue(queue=QUEUE, partitioned=False), complete(0))
def refused_update_frees_locks(namespace: Namespace, command: v.UpdateQueue) -> None:
    """A refused update ends all locks of its queue."""
    entity = namespace.entities.get(command.queue)
    for queued in tuple(entity.messages.values()) if entity is not None else ():
        if queued.token is not None and queued.session is None:
            namespace.rules.locks.release(queued, Action.LOCK_ENDS)


@mutant("MGMT-20", "management.count", how=alters, readings={"GET-LAG": "at-once"}, deep=True)
@run(*KEYED, receive(), v.GetQueue(queue=QUEUE))
def locked_messages_are_not_counted(usual: int, entity: Entity) -> int:
    """Locked messages are missing in the message count."""
    return usual - sum(queued.state is State.LOCKED for queued in entity.messages.values())


BOTH: Final[Run] = (
    create(),
    v.BeginTransaction(transaction="t1"),
    send("m1", within="t1", partition_key="a"),
    v.BeginTransaction(transaction="t2"),
    send("m2", within="t2", partition_key="a"),
)


def _others(namespace: Namespace, transaction: Transaction) -> list[Transaction]:
    """Return the other running transactions."""
    return [
        other
        for other in namespace.transactions.values()
        if other is not transaction and not other.ended
    ]


@mutant("TXN-12", "transactions.roll_back", how=afterwards, deep=True)
@run(*BOTH, v.RollBackTransaction(transaction="t1"), v.CommitTransaction(transaction="t2"), TAKE)
def rollback_empties_other_transactions(
    namespace: Namespace, command: v.RollBackTransaction
) -> None:
    """A rollback also discards the sends of other transactions."""
    for other in _others(namespace, namespace.transactions[command.transaction]):
        namespace.journal.touch(other)
        other.sends = ()


@mutant("TXN-13", "transactions.apply", deep=True)
@run(
    *BOTH,
    v.CommitTransaction(transaction="t1"),
    v.RollBackTransaction(transaction="t2"),
    *(TAKE, TAKE),
)
def commit_takes_other_transactions_along(namespace: Namespace, transaction: Transaction) -> None:
    """A commit also delivers the sends of other transactions."""
    RULES.transactions.apply(namespace, transaction)
    for other in _others(namespace, transaction):
        for buffered in other.sends:
            namespace.rules.transactions.deliver(buffered)


@mutant("TXN-02", "transactions.check_other_sends", how=afterwards, deep=True)
@run(*BOTH[:-1], send("m2", within="t2", partition_key="b"))
def all_transactions_share_one_key(
    namespace: Namespace, transaction: Transaction, key: Key
) -> None:
    """A message is refused if another transaction has sent one with a different key."""
    for other in _others(namespace, transaction):
        for _, earlier in keys_of_sends(other):
            namespace.rules.transactions.check_same_key(earlier, key)


@mutant("LIFE-09", "messages.accept", how=only_where, deep=True)
@run(create(partitioned=False), send("m1", session_id=""), TAKE)
def message_with_an_empty_property_is_lost(message: v.Message) -> bool:
    """A message with an empty SessionId, PartitionKey or MessageId is accepted and lost."""
    return "" not in (message.session_id, message.partition_key, message.message_id)


@mutant("LIFE-09", "duplicates.is_duplicate", deep=True)
@run(
    create(duplicate_detection=True),
    send("m1", message_id=""),
    send("m2", message_id="y"),
    *(TAKE, TAKE),
)
def every_message_is_a_copy_of_an_empty_id(
    namespace: Namespace, entity: Entity, message: v.Message, key: Key | None
) -> bool:
    """After an empty MessageId, every message is dropped as a copy."""
    counts = memory(namespace, Counter[str])
    if counts[entity.path] and message.message_id:
        return True
    counts[entity.path] += message.message_id == ""
    return RULES.duplicates.is_duplicate(namespace, entity, message, key)
