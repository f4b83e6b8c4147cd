"""Mutants of DLQ: delivery counts, dead-letter queues, and dead-lettering on request."""

from typing import Final

import attrs

from busproof import vocabulary as v
from busproof.model.answers import DONE, Answer
from busproof.model.dead_letters import DeadLetters
from busproof.model.life_cycle import Action, State
from busproof.model.locks import Locks
from busproof.model.messages import Messages
from busproof.model.partitions import Partitions
from busproof.model.rules import Namespace
from busproof.model.state import Entity, QueuedMessage
from busproof.model.topics import Topics
from busproof.model.values import DIRECT, EntityKind, InTransit, Refusal
from busproof.mutants.entities import Switch, find_once_locked, find_switched, messages_in
from busproof.mutants.mutant import memory, mutant, run
from busproof.mutants.runs import (
    DEAD,
    PARTITIONS,
    Run,
    abandon,
    create,
    dead_letter,
    down,
    home,
    receive,
    send,
    up,
    wait,
)
from busproof.mutants.wrappers import (
    afterwards,
    alters,
    asks,
    beforehand,
    instead,
    refuses_yet,
    with_other,
)

CREATED: Final = create(max_delivery_count=2)
LOCKED: Final[Run] = (CREATED, send("m1", message_id="1", partition_key="a"), receive())
AGAIN: Final[Run] = (*LOCKED, abandon(0), receive())
SPENT: Final[Run] = (*AGAIN, abandon(1))
FROM_DEAD: Final = receive(queue=DEAD)
DEAD_LETTERED: Final[Run] = (*LOCKED, dead_letter(0))
FOUND_DEAD: Final[Run] = (*DEAD_LETTERED, FROM_DEAD)
BEGIN: Final = v.BeginTransaction(transaction="t")
EXPIRED: Final = "TTLExpiredException"
TWICE: Final[Run] = (*FOUND_DEAD, abandon(1, DEAD), FROM_DEAD, abandon(2, DEAD), FROM_DEAD)
ONE_EACH: Final[Run] = (create(), *(send(f"m{number}") for number in range(PARTITIONS)))
ALL_DEAD: Final[Run] = tuple(map(dead_letter, range(PARTITIONS)))
DEAD_IN_ALL: Final[Run] = (
    *(*ONE_EACH, *(receive(),) * PARTITIONS),
    *(*ALL_DEAD, *(FROM_DEAD,) * PARTITIONS),
)
RECOVERED: Final[Run] = (*DEAD_LETTERED, down(home("a")), up(home("a")), FROM_DEAD)
SENT_WITHIN: Final[Run] = (CREATED, BEGIN, send("m2", queue=DEAD, partition_key="a", within="t"))
ELEVEN: Final[Run] = (
    *(create(), send("m1")),
    *(*(step for number in range(10) for step in (receive(), abandon(number))), receive()),
)
TWO_QUEUES: Final[Run] = (
    *(create(), create(queue="r"), send("m1", queue="r"), receive(queue="r"), dead_letter(0, "r")),
    FROM_DEAD,
)


@mutant("DLQ-01", AGAIN)
class DeliveryCountStays(Messages):
    """Every delivery of a message has the count 1."""

    @alters
    def give(self, usual: v.MessageView) -> v.MessageView:
        return usual if usual.delivery_count is None else attrs.evolve(usual, delivery_count=1)


@mutant("DLQ-01", (*LOCKED, wait(61), receive()), deep=True)
class LostLockNotCounted(Locks):
    """A delivery with an expired lock does not increase the next count."""

    def end(self, queued: QueuedMessage) -> None:
        before = queued.failed
        self.namespace.journal.touch(queued)
        queued.failed -= 1
        super().end(queued)
        if queued.token is not None:
            queued.failed = before


@mutant("DLQ-02", (*SPENT, receive()))
class DeliveredOnceTooOften(DeadLetters):
    """A message can be delivered once more than permitted."""

    def has_failed_too_often(self, queued: QueuedMessage) -> bool:
        entity = queued.entity
        return (
            entity.dead_letters is not None and queued.failed > entity.settings.max_delivery_count
        )


@mutant("DLQ-02", (*LOCKED, wait(61), receive(), wait(61), receive()), deep=True)
class ExpiredNeverSpent(Locks):
    """A message whose last permitted lock expires is redelivered without limit."""

    def end(self, queued: QueuedMessage) -> None:
        failed = queued.failed
        self.namespace.journal.touch(queued)
        queued.failed = 0
        super().end(queued)
        queued.failed = failed


@mutant("DLQ-02", (*SPENT, FROM_DEAD), literal=True)
class SpentIsLost(DeadLetters):
    """A message that reached its delivery limit is lost."""

    @instead
    def dead_letter(self, queued: QueuedMessage, reason: str) -> bool | None:
        if reason != "MaxDeliveryCountExceeded":
            return None
        self.rules.messages.remove(queued)
        return True


@mutant("DLQ-02", (*SPENT, FROM_DEAD))
class SpentForAnotherReason(DeadLetters):
    """A message that reached its delivery limit is dead-lettered with another reason."""

    @with_other("reason")
    def dead_letter(self, reason: str) -> str:
        is_spent = reason == "MaxDeliveryCountExceeded"
        return EXPIRED if is_spent else reason


@mutant("DLQ-03", AGAIN)
class DeadTooEarly(DeadLetters):
    """A message is dead-lettered one delivery too early."""

    def has_failed_too_often(self, queued: QueuedMessage) -> bool:
        most = max(queued.entity.settings.max_delivery_count - 1, 1)
        return queued.entity.dead_letters is not None and queued.failed >= most


@mutant("DLQ-05", FOUND_DEAD)
class DeadLetterIsLost(DeadLetters):
    """A message that is dead-lettered is lost."""

    def dead_letter(self, queued: QueuedMessage, reason: str) -> None:
        self.rules.messages.remove(queued)


@mutant("DLQ-14", (*DEAD_LETTERED, receive()))
class DeadLetterStays(DeadLetters):
    """A message that is dead-lettered can be received again."""

    def dead_letter(self, queued: QueuedMessage, reason: str) -> None:
        entity = queued.entity
        message = queued.message
        partition = queued.partition
        transit = DIRECT._replace(reason=reason)
        self.enqueue(entity, message, partition, transit)
        queued.state = State.ACTIVE
        queued.line.give_back(queued)


@mutant("DLQ-05", FOUND_DEAD)
class ReasonLost(Locks):
    """A dead letter has another reason than its receiver gave."""

    @asks
    def settle(self, command: v.Settlement) -> v.Settlement:
        if isinstance(command, v.DeadLetter):
            command = attrs.evolve(command, reason="none")
        return command


@mutant("DLQ-05", FOUND_DEAD)
class ReasonNotShown(DeadLetters):
    """A dead letter has no reason."""

    @with_other("reason")
    def dead_letter(self, reason: str) -> None:
        pass


@mutant("LOCK-06", (*LOCKED, wait(61), dead_letter(0)), deep=True)
class DeadLetteredAfterExpiry(Locks):
    """A lock that has expired still dead-letters its message."""

    @instead
    def settle(self, command: v.Settlement) -> Answer | None:
        queued = find_once_locked(self.rules.namespace, command)
        lost = (
            queued is not None and queued.token is None and queued.entity.dead_letters is not None
        )
        if queued is None or not lost or not isinstance(command, v.DeadLetter):
            return None
        self.rules.dead_letters.dead_letter(queued, command.reason)
        return Answer(DONE)


@mutant("LOCK-06", (*DEAD_LETTERED, dead_letter(0)))
class DeadLetteredTwice(Locks):
    """A message can be dead-lettered twice, the second time without effect."""

    def settle(self, command: v.Settlement, connection: str) -> Answer:
        used = memory(self.rules.namespace, set[str])
        if not isinstance(command, v.DeadLetter):
            return super().settle(command, connection)
        if command.lock_token in used:
            return Answer(DONE)
        answer = super().settle(command, connection)
        used.add(command.lock_token)
        return answer


@mutant("DLQ-06", FOUND_DEAD)
class DeadLetterChanged(DeadLetters):
    """A dead letter loses its MessageId."""

    @with_other("message")
    def enqueue(self, message: v.Message) -> v.Message:
        return attrs.evolve(message, message_id=None)


@mutant("DLQ-09", TWICE, deep=True)
class DeadLetterGivenUp(Locks):
    """A dead letter is lost once it was released as often as its entity permits deliveries."""

    @afterwards
    def release(self, queued: QueuedMessage) -> None:
        is_dead_letter = queued.entity.dead_letters is None and queued.is_there
        if is_dead_letter and queued.failed >= queued.entity.settings.max_delivery_count:
            self.rules.messages.remove(queued)


@mutant("DLQ-07", (*FOUND_DEAD, abandon(1, DEAD), FROM_DEAD))
class DeadLetterNotGivenBack(Locks):
    """A dead letter that is abandoned is lost."""

    @afterwards
    def release(self, queued: QueuedMessage, action: Action) -> None:
        if queued.entity.dead_letters is None and action is Action.ABANDON:
            self.rules.messages.remove(queued)


@mutant("DLQ-12", DEAD_IN_ALL)
class DeadLettersOfOnePartition(Messages):
    """Only dead letters in the first partition can be received."""

    def next_available(self, entity: Entity) -> QueuedMessage | None:
        if entity.dead_letters is not None:
            return super().next_available(entity)
        is_down = 0 in entity.base.down
        return None if is_down else entity.partitions[0].line.first(entity.messages)


@mutant("DLQ-12", RECOVERED, deep=True)
class DeadLettersLostInOutage(Partitions):
    """An outage of a partition loses its dead letters."""

    @beforehand
    def switch(self, command: Switch) -> None:
        for entity in find_switched(self.rules.namespace, command):
            if entity.kind is EntityKind.DEAD_LETTERS:
                for queued in tuple(messages_in(entity, command.partition)):
                    self.rules.messages.remove(queued)


@mutant("DLQ-10", (*FOUND_DEAD, dead_letter(1, DEAD)))
class DeadLetteredAgain(Locks):
    """A dead letter can be dead-lettered, and is then lost."""

    @with_other("action")
    def apply(self, queued: QueuedMessage, action: Action) -> Action:
        again = action is Action.DEAD_LETTER and queued.entity.dead_letters is None
        return Action.COMPLETE if again else action


def _send_anywhere(namespace: Namespace, command: v.Send) -> Answer:
    """Accept a message that is sent to a dead-letter queue."""
    entity = namespace.rules.topics.readable(command.queue)
    message = command.message
    rules = namespace.rules
    if command.transaction is not None:
        return rules.transactions.send(entity, (message,), command.transaction)
    key = rules.keys.effective_key(entity, message)
    partition = rules.keys.place(entity, key, message.size or 0, command.timeout)
    rules.messages.enqueue(entity, message, partition, DIRECT)
    return Answer(DONE, partition)


@mutant("DLQ-11", (CREATED, send("m2", queue=DEAD, partition_key="a")))
class SentToDeadLetters(Messages):
    """A message can be sent to a dead-letter queue."""

    @instead
    def send(self, command: v.Send) -> Answer | None:
        return (
            _send_anywhere(self.rules.namespace, command)
            if v.is_dead_letter_queue(command.queue)
            else None
        )


@mutant("DLQ-11", SENT_WITHIN, deep=True)
class SentToDeadLettersInTransaction(Messages):
    """In a transaction a message can be sent to a dead-letter queue."""

    @instead
    def send(self, command: v.Send) -> Answer | None:
        within = v.is_dead_letter_queue(command.queue) and command.transaction is not None
        return _send_anywhere(self.rules.namespace, command) if within else None


@mutant("DLQ-04", ELEVEN)
class ElevenDeliveries(DeadLetters):
    """The default delivery limit is 11."""

    def has_failed_too_often(self, queued: QueuedMessage) -> bool:
        by_default = queued.entity.settings.max_delivery_count == 10 and queued.failed == 10
        return not by_default and super().has_failed_too_often(queued)


@mutant("DLQ-08", (create(), FROM_DEAD))
class NoDeadLettersAtFirst(Topics):
    """A dead-letter queue does not exist before its first message."""

    @alters
    def readable(self, usual: Entity) -> Entity:
        unused = not any(partition.arrivals for partition in usual.partitions)
        if usual.dead_letters is None and unused:
            raise Refusal(v.Error.NOT_FOUND, "MGMT-10")
        return usual


def _first(namespace: Namespace) -> Entity:
    """Return the oldest entity that has a dead-letter queue."""
    return next(entity for entity in namespace.entities.values() if entity.dead_letters is not None)


class _ReadFromFirst(Topics):
    @alters
    def readable(self, usual: Entity) -> Entity:
        letters = usual.kind is EntityKind.DEAD_LETTERS
        return (_first(self.rules.namespace).dead_letters if letters else None) or usual


@mutant("DLQ-08", TWO_QUEUES, also=(_ReadFromFirst,), deep=True)
class OneGraveForAll(DeadLetters):
    """All queues share one dead-letter queue."""

    def enqueue(
        self, entity: Entity, message: v.Message, partition: int, transit: InTransit
    ) -> None:
        first = _first(self.rules.namespace)
        partition %= len(first.partitions)
        super().enqueue(first, message, partition, transit)


@mutant("DLQ-14", deep=True)
@run(*LOCKED, wait(61), dead_letter(0), FROM_DEAD)
class RefusedAndBuried(Locks):
    """Dead-lettering with a lost lock is refused, but adds a copy to the dead-letter queue."""

    @refuses_yet(in_transactions=False)
    def settle(self, command: v.Settlement) -> None:
        queued = find_once_locked(self.rules.namespace, command)
        if queued is not None and isinstance(command, v.DeadLetter) and queued.entity.dead_letters:
            transit = DIRECT._replace(reason=command.reason)
            enqueue = self.rules.dead_letters.enqueue
            enqueue(queued.entity, queued.message, queued.partition, transit)
