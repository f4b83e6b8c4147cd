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
from busproof.model.batches import Batches
from busproof.model.dead_letters import DeadLetters
from busproof.model.duplicates import Duplicates
from busproof.model.life_cycle import Action, State
from busproof.model.locks import Locks
from busproof.model.management import Management
from busproof.model.messages import Messages
from busproof.model.partitions import Partitions
from busproof.model.rules import Namespace
from busproof.model.sessions import Sessions
from busproof.model.state import Entity, QueuedMessage, Transaction
from busproof.model.transactions import Transactions, keys_of_sends
from busproof.model.values import Key
from busproof.mutants.entities import Switch, messages_in
from busproof.mutants.mutant import memory, mutant, run
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
from busproof.mutants.views import changes_view
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


@mutant("TXN-12", deep=True)
@run(create(), BEGIN, SENT_WITHIN, down(HOME), COMMIT, up(HOME), TAKE)
class CommitInAnOutageIsLost(Transactions):
    """A commit succeeds while its messages' partition is down, and the messages are lost."""

    @only_where
    def apply(self, transaction: Transaction) -> bool:
        return not any(buffered.entity.base.down for buffered in transaction.sends)


@mutant("LOCK-08", deep=True)
@run(*KEYED, receive(), down(HOME), complete(0), up(HOME), wait(61), receive())
class CompletedInAnOutageComesAgain(Locks):
    """A message completed while its partition is down is delivered again."""

    @instead
    def settle(self, command: v.Settlement) -> Answer | None:
        entity = self.rules.topics.readable(command.queue)
        lost = isinstance(command, v.Complete) and entity.base.down and command.transaction is None
        return Answer(DONE) if lost else None


@mutant("LIFE-09", LATE, deep=True)
class MessagePastAHundredIsLost(Messages):
    """The 101st message of a queue is accepted and lost."""

    @only_where
    def arrive(self, entity: Entity) -> bool:
        counts = memory(self.rules.namespace, Counter[str])
        counts[entity.path] += 1
        return counts[entity.path] != MANY + 1


@mutant("DLQ-05", LATE_DEAD, deep=True)
class DeadLetterPastAHundredIsLost(DeadLetters):
    """The 101st dead letter of a queue is lost."""

    @only_where
    def enqueue(self, entity: Entity) -> bool:
        counts = memory(self.rules.namespace, Counter[str])
        counts[entity.path] += 1
        return counts[entity.path] != MANY + 1


@changes_view("LIFE-01", (create(), send("m1", properties={"yes": True}), receive()), deep=True)
def truth_becomes_a_number(queued: QueuedMessage, view: v.MessageView) -> v.MessageView:
    """A property with the value true is received as 1."""
    numbers = {
        name: int(value) if isinstance(value, bool) else value
        for name, value in view.properties.items()
    }
    return attrs.evolve(view, properties=numbers)


@changes_view("LIFE-01", (create(), send("m1", properties={"none": ""}), receive()), deep=True)
def empty_text_is_lost(queued: QueuedMessage, view: v.MessageView) -> v.MessageView:
    """A property with an empty text is lost."""
    kept = {name: value for name, value in view.properties.items() if value != ""}
    return attrs.evolve(view, properties=kept)


@changes_view("LIFE-01", (create(), send("m1", properties={"none": None}), receive()))
def null_becomes_a_text(queued: QueuedMessage, view: v.MessageView) -> v.MessageView:
    """A property that is null is received as a text."""
    texts = {n: "None" if own is None else own for n, own in view.properties.items()}
    return attrs.evolve(view, properties=texts)


@changes_view("LIFE-01", (create(), send("m1", subject="ñ"), receive()), deep=True)
def letters_are_replaced(queued: QueuedMessage, view: v.MessageView) -> v.MessageView:
    """Letters of a label outside of ASCII are received as question marks."""
    if view.subject is None:
        return view
    return attrs.evolve(view, subject=view.subject.encode("ascii", "replace").decode())


@mutant("BATCH-01", (create(), TWO_VALUES, TAKE, TAKE), deep=True)
class BatchSharesTheLabelOfItsFirst(Batches):
    """Every message of a batch gets the label of the first one."""

    @asks
    def send_batch(self, command: v.SendBatch) -> v.SendBatch:
        subjects = [message.subject for message in command.messages[:1]]
        alike = (attrs.evolve(message, subject=subjects[0]) for message in command.messages)
        return attrs.evolve(command, messages=tuple(alike))


def _find_recovered(namespace: Namespace, command: Switch) -> list[QueuedMessage]:
    """Return the messages of the partition that a command brings up."""
    entity = namespace.entities.get(command.queue)
    up_again = entity is not None and isinstance(command, v.BringPartitionUp)
    return list(messages_in(entity, command.partition)) if entity is not None and up_again else []


@mutant("DLQ-01", deep=True)
@run(*KEYED, receive(), wait(61), *IN_OUTAGE, receive())
class OutageForgetsDeliveries(Partitions):
    """After an outage the delivery counts of its partition's messages start again."""

    @afterwards
    def switch(self, command: Switch) -> None:
        for queued in _find_recovered(self.rules.namespace, command):
            self.namespace.journal.touch(queued)
            queued.failed = 0


@mutant("LIFE-10", deep=True)
@run(*HELD, *SESSION_OUTAGE, over("c2", ACCEPT))
class OutageFreesSessions(Partitions):
    """An outage ends the locks on the sessions of its partition."""

    @afterwards
    def switch(self, command: Switch) -> None:
        recovered = _find_recovered(self.rules.namespace, command)
        for session in {queued.session for queued in recovered if queued.session is not None}:
            if session.holder is not None:
                self.rules.sessions.release(session, counts=False)


@mutant("SESS-19", deep=True)
@run(
    *(*HELD, down(home("s")), v.SetSessionState(queue=QUEUE, session_id="s", state="x")),
    *(up(home("s")), v.GetSessionState(queue=QUEUE, session_id="s")),
)
class StateSetInAnOutageIsLost(Sessions):
    """A session state set while its partition is down is lost."""

    @instead
    def set_state(self, command: v.SetSessionState) -> Answer | None:
        entity = self.namespace.entities.get(command.queue)
        return Answer(DONE) if entity is not None and entity.base.down else None


@mutant("MGMT-12", deep=True)
@run(create(max_delivery_count=4), UPDATE_LOCKS, wait(200), v.GetQueue(queue=QUEUE))
class UpdateOfLocksForgetsDeliveries(Management):
    """An update of the lock duration resets the delivery limit to the default."""

    @afterwards
    def apply_update(self, entity: Entity, command: v.UpdateQueue) -> None:
        if command.lock_duration is not None:
            entity.settings = attrs.evolve(entity.settings, max_delivery_count=10)


@mutant("LOCK-01", deep=True)
@run(*KEYED, receive(), UPDATE_LOCKS, wait(10), complete(0))
class UpdateOfLocksShortensThoseUnderWay(Management):
    """An update of the lock duration changes the ends of current locks."""

    def apply_update(self, entity: Entity, command: v.UpdateQueue) -> None:
        super().apply_update(entity, command)
        if command.lock_duration is None:
            return
        for queued in entity.messages.values():
            if queued.token is not None and queued.session is None:
                self.namespace.journal.touch(queued)
                queued.locked_until = self.namespace.now + command.lock_duration
                entity.look_at("locks.end", queued.locked_until, queued, queued.number)


@mutant("LOCK-01", deep=True)
@run(*KEYED, receive(), v.UpdateQueue(queue=QUEUE, partitioned=False), complete(0))
class RefusedUpdateFreesLocks(Management):
    """A refused update ends all locks of its queue."""

    @refuses_yet()
    def update_queue(self, command: v.UpdateQueue) -> None:
        entity = self.namespace.entities.get(command.queue)
        for queued in tuple(entity.messages.values()) if entity is not None else ():
            if queued.token is not None and queued.session is None:
                self.rules.locks.release(queued, Action.LOCK_ENDS)


@mutant("MGMT-20", readings={"GET-LAG": "at-once"}, deep=True)
@run(*KEYED, receive(), v.GetQueue(queue=QUEUE))
class LockedMessagesAreNotCounted(Management):
    """Locked messages are missing in the message count."""

    @alters
    def count(self, usual: int, entity: Entity) -> int:
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


@mutant("TXN-12", deep=True)
@run(*BOTH, v.RollBackTransaction(transaction="t1"), v.CommitTransaction(transaction="t2"), TAKE)
class RollbackEmptiesOtherTransactions(Transactions):
    """A rollback also discards the sends of other transactions."""

    @afterwards
    def roll_back(self, command: v.RollBackTransaction) -> None:
        for other in _others(
            self.rules.namespace, self.namespace.transactions[command.transaction]
        ):
            self.namespace.journal.touch(other)
            other.sends = ()


@mutant("TXN-13", deep=True)
@run(
    *BOTH,
    v.CommitTransaction(transaction="t1"),
    v.RollBackTransaction(transaction="t2"),
    *(TAKE, TAKE),
)
class CommitTakesOtherTransactionsAlong(Transactions):
    """A commit also delivers the sends of other transactions."""

    def apply(self, transaction: Transaction) -> None:
        super().apply(transaction)
        for other in _others(self.rules.namespace, transaction):
            for buffered in other.sends:
                self.deliver(buffered)


@mutant("TXN-02", deep=True)
@run(*BOTH[:-1], send("m2", within="t2", partition_key="b"))
class AllTransactionsShareOneKey(Transactions):
    """A message is refused if another transaction has sent one with a different key."""

    @afterwards
    def check_other_sends(self, transaction: Transaction, key: Key) -> None:
        for other in _others(self.rules.namespace, transaction):
            for _, earlier in keys_of_sends(other):
                self.check_same_key(earlier, key)


@mutant("LIFE-09", deep=True)
@run(create(partitioned=False), send("m1", session_id=""), TAKE)
class MessageWithAnEmptyPropertyIsLost(Messages):
    """A message with an empty SessionId, PartitionKey or MessageId is accepted and lost."""

    @only_where
    def accept(self, message: v.Message) -> bool:
        return "" not in (message.session_id, message.partition_key, message.message_id)


@mutant("LIFE-09", deep=True)
@run(
    create(duplicate_detection=True),
    send("m1", message_id=""),
    send("m2", message_id="y"),
    *(TAKE, TAKE),
)
class EveryMessageIsACopyOfAnEmptyId(Duplicates):
    """After an empty MessageId, every message is dropped as a copy."""

    def is_duplicate(self, entity: Entity, message: v.Message, key: Key | None) -> bool:
        counts = memory(self.rules.namespace, Counter[str])
        if counts[entity.path] and message.message_id:
            return True
        counts[entity.path] += message.message_id == ""
        return super().is_duplicate(entity, message, key)
