"""What a client of the model remembers, and the model does not.

The specs keep what became of each message for ever; the model forgets what is gone. So whoever
compares them remembers, as a client would: what was sent, which locks it was given and lost, which
sessions it held, how its transactions ended. Everything else is read from the model's state.
"""

from collections.abc import Mapping
from typing import Final

import attrs
from immutables import Map

from busproof import vocabulary as v
from busproof.model.life_cycle import LOCKED_STATES
from busproof.model.state import (
    BufferedSend,
    Namespace,
    QueuedMessage,
    ScheduledMessage,
    Session,
    TransactionState,
)
from busproof.tla.graphs.command_mapping import NOBODYS, body_of
from busproof.vocabulary.paths import is_dead_letter_queue

__all__ = ["NOTHING", "Ended", "Happened", "Held", "Memory", "Sent", "held_in", "remembered"]

Held = QueuedMessage | ScheduledMessage | BufferedSend
TOO_MANY: Final = "MaxDeliveryCountExceeded"


@attrs.frozen(kw_only=True)
class Sent:
    """One accepted message.

    Attributes:
        message: as it was sent.
        queue: to which.
        told: the partition that the sender was told.
        transaction: in which it was sent.
        follows: the numbers of the messages of its key that were there before.
        scheduled: the number under which it was scheduled.
        path: the entity where it is, or was last.
        partition: the one there.
        number: its latest sequence number outside of dead-letter queues.
        token: of the lock under way that a receiver was given.
        lost: the token of such a lock that is over.
        lost_in: the entity in which that lock was.
        failed: how many of its deliveries have failed.
        place: in the order in which messages were sent and became active.
        waiting: whether it came to a partition that was down and has been down since.
        gone: the operation with which it went.
    """

    message: v.Message
    queue: str
    told: int | None
    transaction: str | None = None
    follows: frozenset[int] = frozenset()
    scheduled: int | None = None
    path: str = ""
    partition: int | None = None
    number: int | None = None
    token: str | None = None
    lost: str | None = None
    lost_in: str = ""
    failed: int = 0
    place: int = 0
    waiting: bool = False
    gone: str = ""


@attrs.frozen(kw_only=True)
class Ended:
    """How transactions ended or will: by their names."""

    committed: frozenset[str] = frozenset()
    undone: frozenset[str] = frozenset()
    spoilt: frozenset[str] = frozenset()


@attrs.frozen(kw_only=True)
class Memory:
    """What is remembered on one way; it knows what commands refer to.

    Attributes:
        sent: the accepted messages, in their order.
        holders: session to the connection that holds it.
        expired: session to the connections whose lock of it expired.
        places: how many places in the order of messages were taken.
        ended: what became of transactions.
    """

    sent: tuple[Sent, ...] = ()
    holders: Map[str, str] = Map()
    expired: Map[str, frozenset[str]] = Map()
    places: int = 0
    ended: Ended = Ended()

    def of(self, message: int) -> Sent | None:
        """What is remembered of the n-th message."""
        return self.sent[message - 1] if message <= len(self.sent) else None

    def fresh_body(self) -> str:
        """The body of the next message that is sent."""
        return body_of(len(self.sent) + 1)

    def token(self, message: int, *, held: bool) -> str | None:
        """The lock token that the message has or, not `held`, one that it had, if any."""
        sent = self.of(message)
        return None if sent is None else sent.token if held else sent.lost

    def is_dead(self, message: int, *, held: bool) -> bool:
        """Return whether it has or had that lock in a dead-letter queue."""
        sent = self.of(message)
        return sent is not None and is_dead_letter_queue(sent.path if held else sent.lost_in)

    def scheduled(self, message: int) -> int:
        """The number under which it was scheduled; else one that no message has."""
        sent = self.of(message)
        return NOBODYS + message if sent is None or sent.scheduled is None else sent.scheduled

    def number(self, message: int) -> int:
        """Its latest sequence number; else one that no message has."""
        sent = self.of(message)
        return NOBODYS + message if sent is None or sent.number is None else sent.number


NOTHING: Final = Memory()


@attrs.frozen
class Happened:
    """One command: what it was for the spec, and what came of it."""

    operation: str
    command: v.Command
    connection: str
    outcome: v.Outcome
    partition: int | None


def held_in(namespace: Namespace) -> dict[str, Held] | None:
    """What is where in the model, by body; `None` if something is in two places."""
    held: dict[str, Held] = {}
    number = 0
    for entity in namespace.entities.values():
        for table in (entity.messages, entity.scheduled):
            for queued in table.values():
                held[queued.message.body] = queued
                number += 1
    for transaction in namespace.transactions.values():
        if transaction.state is TransactionState.RUNNING:
            for buffered in transaction.sends:
                held[buffered.message.body] = buffered
                number += 1
    return held if len(held) == number else None


def remembered(
    memory: Memory, namespace: Namespace, held: Mapping[str, Held], happened: Happened
) -> Memory:
    """The memory after one more command."""
    command, outcome = happened.command, happened.outcome
    sent, places = list(memory.sent), memory.places
    if isinstance(command, v.Send | v.Schedule) and isinstance(outcome, v.Done | v.Scheduled):
        sent.append(_sent(memory, held, happened, places + 1))
        places += 1
    before, arriving = sent, []
    sent = [_now(each, held.get(each.message.body), happened.operation) for each in sent]
    for number, (then, now) in enumerate(zip(before, sent, strict=True)):
        if _has_arrived(now) and not _has_arrived(then):
            arriving.append(number)
    for number in sorted(arriving, key=lambda each: _arrival(held, sent[each])):
        places += 1
        sent[number] = attrs.evolve(sent[number], place=places)
    found = attrs.evolve(memory, sent=tuple(sent), places=places)
    if any(entity.settings.requires_session for entity in namespace.entities.values()):
        found = _with_sessions(found, namespace, happened)
    if namespace.transactions:
        found = attrs.evolve(found, ended=_ended(found.ended, namespace, command, outcome))
    return found


def _sent(memory: Memory, held: Mapping[str, Held], happened: Happened, place: int) -> Sent:
    command, outcome, partition = happened.command, happened.outcome, happened.partition
    if not isinstance(command, v.Send | v.Schedule):
        raise AssertionError(f"{command!r} sends nothing")  # noqa: TRY004 - our own belief
    message = command.message
    return Sent(
        message=message,
        queue=command.queue,
        told=partition,
        partition=partition,
        path=command.queue,
        transaction=command.transaction,
        follows=frozenset(_before(memory, held, command)) if command.transaction else frozenset(),
        scheduled=outcome.sequence_number if isinstance(outcome, v.Scheduled) else None,
        place=place,
    )


def _before(memory: Memory, held: Mapping[str, Held], command: v.Send | v.Schedule) -> list[int]:
    """KEY-17: which messages of its key are in its queue when it is sent."""
    key = _key(command.message)
    return [
        number
        for number, sent in enumerate(memory.sent, start=1)
        if isinstance(held.get(sent.message.body), QueuedMessage)
        and sent.queue == command.queue
        and _key(sent.message) == key
    ]


def _key(message: v.Message) -> str | None:
    return message.session_id or message.partition_key or message.message_id


def _now(sent: Sent, found: Held | None, operation: str) -> Sent:
    """A message's memory, brought up to where it is now."""
    if found is None:
        if sent.gone:
            return sent
        return attrs.evolve(_unlocked(sent), gone=operation)
    if not isinstance(found, QueuedMessage):
        return (
            sent
            if sent.partition == found.partition
            else attrs.evolve(sent, partition=found.partition)
        )
    locked = found.state in LOCKED_STATES
    token = found.token if locked and found.cached_by is None else None
    if sent.token != token:
        sent = _unlocked(sent)
    path, is_down = found.entity.path, found.partition in found.entity.base.down
    is_dead, is_new = is_dead_letter_queue(path), sent.number != found.number
    failed = sent.failed
    if not is_dead:
        failed = found.failed - locked
    elif found.reason == TOO_MANY and not is_dead_letter_queue(sent.path):
        failed += 1
    return attrs.evolve(
        sent,
        path=path,
        partition=found.partition,
        number=sent.number if is_dead else found.number,
        token=token,
        failed=failed,
        waiting=is_down and (sent.waiting or (is_new and not is_dead)),
    )


def _unlocked(sent: Sent) -> Sent:
    """A message's memory after its lock is over, if it had one."""
    if sent.token is None:
        return sent
    return attrs.evolve(sent, token=None, lost=sent.token, lost_in=sent.path)


def _has_arrived(sent: Sent) -> bool:
    """Return whether what was scheduled is active; what waits for its partition is not yet."""
    return sent.scheduled is not None and sent.number is not None and not sent.waiting


def _arrival(held: Mapping[str, Held], sent: Sent) -> int:
    found = held.get(sent.message.body)
    return found.arrival if isinstance(found, QueuedMessage) else 0


def _with_sessions(memory: Memory, namespace: Namespace, happened: Happened) -> Memory:
    """The memory, with who holds sessions now and whose locks of them expired."""
    command, expired = happened.command, memory.expired
    sessions: dict[str, Session] = {}
    for entity in namespace.entities.values():
        sessions.update(entity.sessions)
    holders = Map({name: each.holder for name, each in sessions.items() if each.holder is not None})
    if isinstance(command, v.AdvanceClock):
        for name, holder in memory.holders.items():
            if name not in holders:
                expired = expired.set(name, expired.get(name, frozenset()) | {holder})
    accepted = _accepted(command, happened.outcome)
    if accepted is not None and accepted in expired:
        expired = expired.set(accepted, expired[accepted] - {happened.connection})
    return attrs.evolve(memory, holders=holders, expired=expired)


def _accepted(command: v.Command, outcome: v.Outcome) -> str | None:
    """The session that was accepted just now."""
    if isinstance(outcome, v.SessionAccepted):
        return outcome.session_id
    if isinstance(command, v.AcceptSession) and isinstance(outcome, v.Done):
        return command.session_id
    return None


def _ended(ended: Ended, namespace: Namespace, command: v.Command, outcome: v.Outcome) -> Ended:
    name, done = getattr(command, "transaction", None), isinstance(outcome, v.Done)
    if name is None:
        return ended
    transaction = namespace.transactions[name]
    if isinstance(command, v.Send):
        spoils = done and transaction.doomed
        return attrs.evolve(ended, spoilt=ended.spoilt | {name}) if spoils else ended
    if transaction.state is TransactionState.RUNNING:
        return ended
    if isinstance(command, v.CommitTransaction) and done:
        return attrs.evolve(ended, committed=ended.committed | {name})
    return attrs.evolve(ended, undone=ended.undone | {name}, spoilt=ended.spoilt - {name})
