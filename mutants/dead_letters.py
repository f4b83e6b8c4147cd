"""Mutants of DLQ: delivery counts, dead-letter queues, and dead-lettering on request."""

from typing import Final

import attrs

from busproof import vocabulary as v
from busproof.model.answers import DONE, Answer
from busproof.model.life_cycle import Action, State
from busproof.model.rules import Namespace
from busproof.model.state import Entity, QueuedMessage
from busproof.model.values import DIRECT, EntityKind, InTransit, Refusal
from busproof.mutants.entities import Switch, held, once_locked, switched
from busproof.mutants.mutant import beside, memory, mutant, run
from busproof.mutants.own_rules import RULES
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


@mutant("DLQ-01", "messages.give", AGAIN, alters)
def delivery_count_stays(usual: v.MessageView) -> v.MessageView:
    """Every delivery of a message has the count 1."""
    return usual if usual.delivery_count is None else attrs.evolve(usual, delivery_count=1)


@mutant("DLQ-01", "locks.end", (*LOCKED, wait(61), receive()), deep=True)
def lost_lock_not_counted(namespace: Namespace, queued: QueuedMessage) -> None:
    """A delivery with an expired lock does not increase the next count."""
    before = queued.failed
    namespace.journal.touch(queued)
    queued.failed -= 1
    RULES.locks.end(namespace, queued)
    if queued.token is not None:
        queued.failed = before


@mutant("DLQ-02", "dead_letters.has_failed_too_often", (*SPENT, receive()))
def delivered_once_too_often(queued: QueuedMessage) -> bool:
    """A message can be delivered once more than permitted."""
    entity = queued.entity
    return entity.dead_letters is not None and queued.failed > entity.settings.max_delivery_count


@mutant("DLQ-02", "locks.end", (*LOCKED, wait(61), receive(), wait(61), receive()), deep=True)
def expired_never_spent(namespace: Namespace, queued: QueuedMessage) -> None:
    """A message whose last permitted lock expires is redelivered without limit."""
    failed = queued.failed
    namespace.journal.touch(queued)
    queued.failed = 0
    RULES.locks.end(namespace, queued)
    queued.failed = failed


@mutant("DLQ-02", "dead_letters.dead_letter", (*SPENT, FROM_DEAD), instead, literal=True)
def spent_is_lost(namespace: Namespace, queued: QueuedMessage, reason: str) -> bool | None:
    """A message that reached its delivery limit is lost."""
    if reason != "MaxDeliveryCountExceeded":
        return None
    RULES.messages.remove(namespace, queued)
    return True


@mutant("DLQ-02", "dead_letters.dead_letter", (*SPENT, FROM_DEAD), with_other("reason"))
def spent_for_another_reason(reason: str) -> str:
    """A message that reached its delivery limit is dead-lettered with another reason."""
    is_spent = reason == "MaxDeliveryCountExceeded"
    return EXPIRED if is_spent else reason


@mutant("DLQ-03", "dead_letters.has_failed_too_often", AGAIN)
def dead_too_early(queued: QueuedMessage) -> bool:
    """A message is dead-lettered one delivery too early."""
    most = max(queued.entity.settings.max_delivery_count - 1, 1)
    return queued.entity.dead_letters is not None and queued.failed >= most


@mutant("DLQ-05", "dead_letters.dead_letter", FOUND_DEAD)
def dead_letter_is_lost(namespace: Namespace, queued: QueuedMessage) -> None:
    """A message that is dead-lettered is lost."""
    RULES.messages.remove(namespace, queued)


@mutant("DLQ-14", "dead_letters.dead_letter", (*DEAD_LETTERED, receive()))
def dead_letter_stays(namespace: Namespace, queued: QueuedMessage, reason: str) -> None:
    """A message that is dead-lettered can be received again."""
    entity, message, partition = queued.entity, queued.message, queued.partition
    transit = DIRECT._replace(reason=reason)
    namespace.rules.dead_letters.enqueue(entity, message, partition, transit)
    queued.state = State.ACTIVE
    queued.line.give_back(queued)


@mutant("DLQ-05", "locks.settle", FOUND_DEAD, asks)
def reason_lost(command: v.Settlement) -> v.Settlement:
    """A dead letter has another reason than its receiver gave."""
    if isinstance(command, v.DeadLetter):
        command = attrs.evolve(command, reason="none")
    return command


@mutant("DLQ-05", "dead_letters.dead_letter", FOUND_DEAD, with_other("reason"))
def reason_not_shown(reason: str) -> None:
    """A dead letter has no reason."""


@mutant("LOCK-06", "locks.settle", (*LOCKED, wait(61), dead_letter(0)), instead, deep=True)
def dead_lettered_after_expiry(namespace: Namespace, command: v.Settlement) -> Answer | None:
    """A lock that has expired still dead-letters its message."""
    queued = once_locked(namespace, command)
    lost = queued is not None and queued.token is None and queued.entity.dead_letters is not None
    if queued is None or not lost or not isinstance(command, v.DeadLetter):
        return None
    RULES.dead_letters.dead_letter(namespace, queued, command.reason)
    return Answer(DONE)


@mutant("LOCK-06", "locks.settle", (*DEAD_LETTERED, dead_letter(0)))
def dead_lettered_twice(namespace: Namespace, command: v.Settlement, connection: str) -> Answer:
    """A message can be dead-lettered twice, the second time without effect."""
    used = memory(namespace, set[str])
    if not isinstance(command, v.DeadLetter):
        return RULES.locks.settle(namespace, command, connection)
    if command.lock_token in used:
        return Answer(DONE)
    answer = RULES.locks.settle(namespace, command, connection)
    used.add(command.lock_token)
    return answer


@mutant("DLQ-06", "dead_letters.enqueue", FOUND_DEAD, with_other("message"))
def dead_letter_changed(message: v.Message) -> v.Message:
    """A dead letter loses its MessageId."""
    return attrs.evolve(message, message_id=None)


@mutant("DLQ-09", "locks.release", TWICE, afterwards, deep=True)
def dead_letter_given_up(namespace: Namespace, queued: QueuedMessage) -> None:
    """A dead letter is lost once it was released as often as its entity permits deliveries."""
    is_dead_letter = queued.entity.dead_letters is None and queued.is_there
    if is_dead_letter and queued.failed >= queued.entity.settings.max_delivery_count:
        RULES.messages.remove(namespace, queued)


@mutant("DLQ-07", "locks.release", (*FOUND_DEAD, abandon(1, DEAD), FROM_DEAD), afterwards)
def dead_letter_not_given_back(namespace: Namespace, queued: QueuedMessage, action: Action) -> None:
    """A dead letter that is abandoned is lost."""
    if queued.entity.dead_letters is None and action is Action.ABANDON:
        RULES.messages.remove(namespace, queued)


@mutant("DLQ-12", "messages.next_available", DEAD_IN_ALL)
def dead_letters_of_one_partition(namespace: Namespace, entity: Entity) -> QueuedMessage | None:
    """Only dead letters in the first partition can be received."""
    if entity.dead_letters is not None:
        return RULES.messages.next_available(namespace, entity)
    is_down = 0 in entity.base.down
    return None if is_down else entity.partitions[0].line.first(entity.messages)


@mutant("DLQ-12", "partitions.switch", RECOVERED, beforehand, deep=True)
def dead_letters_lost_in_outage(namespace: Namespace, command: Switch) -> None:
    """An outage of a partition loses its dead letters."""
    for entity in switched(namespace, command):
        if entity.kind is EntityKind.DEAD_LETTERS:
            for queued in tuple(held(entity, command.partition)):
                RULES.messages.remove(namespace, queued)


@mutant("DLQ-10", "locks.apply", (*FOUND_DEAD, dead_letter(1, DEAD)), with_other("action"))
def dead_lettered_again(queued: QueuedMessage, action: Action) -> Action:
    """A dead letter can be dead-lettered, and is then lost."""
    again = action is Action.DEAD_LETTER and queued.entity.dead_letters is None
    return Action.COMPLETE if again else action


def _sent_anywhere(namespace: Namespace, command: v.Send) -> Answer:
    """Accept a message that is sent to a dead-letter queue."""
    entity, message = namespace.rules.topics.readable(command.queue), command.message
    rules = namespace.rules
    if command.transaction is not None:
        return rules.transactions.send(entity, (message,), command.transaction)
    key = rules.keys.effective_key(entity, message)
    partition = rules.keys.place(entity, key, message.size or 0, command.timeout)
    rules.messages.enqueue(entity, message, partition, DIRECT)
    return Answer(DONE, partition)


@mutant("DLQ-11", "messages.send", (CREATED, send("m2", queue=DEAD, partition_key="a")), instead)
def sent_to_dead_letters(namespace: Namespace, command: v.Send) -> Answer | None:
    """A message can be sent to a dead-letter queue."""
    return _sent_anywhere(namespace, command) if v.is_dead_letter_queue(command.queue) else None


@mutant("DLQ-11", "messages.send", SENT_WITHIN, instead, deep=True)
def sent_to_dead_letters_in_transaction(namespace: Namespace, command: v.Send) -> Answer | None:
    """In a transaction a message can be sent to a dead-letter queue."""
    within = v.is_dead_letter_queue(command.queue) and command.transaction is not None
    return _sent_anywhere(namespace, command) if within else None


@mutant("DLQ-04", "dead_letters.has_failed_too_often", ELEVEN)
def eleven_deliveries(namespace: Namespace, queued: QueuedMessage) -> bool:
    """The default delivery limit is 11."""
    by_default = queued.entity.settings.max_delivery_count == 10 and queued.failed == 10
    return not by_default and RULES.dead_letters.has_failed_too_often(namespace, queued)


@mutant("DLQ-08", "topics.readable", (create(), FROM_DEAD), alters)
def no_dead_letters_at_first(usual: Entity) -> Entity:
    """A dead-letter queue does not exist before its first message."""
    unused = not any(partition.arrivals for partition in usual.partitions)
    if usual.dead_letters is None and unused:
        raise Refusal(v.Error.NOT_FOUND, "MGMT-10")
    return usual


def _first(namespace: Namespace) -> Entity:
    """Return the oldest entity that has a dead-letter queue."""
    return next(entity for entity in namespace.entities.values() if entity.dead_letters is not None)


@beside("topics.readable", alters)
def _read_from_first(usual: Entity, namespace: Namespace) -> Entity:
    letters = usual.kind is EntityKind.DEAD_LETTERS
    return (_first(namespace).dead_letters if letters else None) or usual


@mutant("DLQ-08", "dead_letters.enqueue", TWO_QUEUES, also=_read_from_first, deep=True)
def one_grave_for_all(
    namespace: Namespace, message: v.Message, partition: int, transit: InTransit
) -> None:
    """All queues share one dead-letter queue."""
    first = _first(namespace)
    partition %= len(first.partitions)
    RULES.dead_letters.enqueue(namespace, first, message, partition, transit)


@mutant("DLQ-14", "locks.settle", how=refuses_yet(in_transactions=False), deep=True)
@run(*LOCKED, wait(61), dead_letter(0), FROM_DEAD)
def refused_and_buried(namespace: Namespace, command: v.Settlement) -> None:
    """Dead-lettering with a lost lock is refused, but adds a copy to the dead-letter queue."""
    queued = once_locked(namespace, command)
    if queued is not None and isinstance(command, v.DeadLetter) and queued.entity.dead_letters:
        transit = DIRECT._replace(reason=command.reason)
        enqueue = namespace.rules.dead_letters.enqueue
        enqueue(queued.entity, queued.message, queued.partition, transit)
