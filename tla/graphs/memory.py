"""A client's memory of a run on the model: what the model forgets about messages.

A spec keeps the state of every message, but the model drops messages that are gone. So a comparison
remembers what a client would: the messages sent, the locks received and lost, the sessions held,
and how transactions ended. Everything else is read from the model's state.
"""

from collections.abc import Mapping
from typing import Final

import attrs
from immutables import Map

from busproof import vocabulary as v
from busproof.model.life_cycle import LOCKED_STATES
from busproof.model.rules import Namespace
from busproof.model.state import (
    BufferedSend,
    QueuedMessage,
    ScheduledMessage,
    Session,
)
from busproof.tla.graphs.command_mapping import NOBODYS, body_of

__all__ = ["NOTHING", "Ended", "Happened", "Held", "Memory", "Sent", "find_held", "remember"]

Held = QueuedMessage | ScheduledMessage | BufferedSend
TOO_MANY: Final = "MaxDeliveryCountExceeded"


@attrs.frozen(kw_only=True)
class Sent:
    """A message whose send was accepted.

    Attributes:
        message: the message as it was sent.
        queue: the queue that it was sent to.
        witnessed: the partition in the answer to its sender; `None` if there was none.
        transaction: the transaction that it was sent in.
        follows: the numbers of earlier messages with its key in the same queue.
        scheduled: the sequence number that its scheduling returned; `None` if it was not scheduled.
        path: the path of the entity where it is, or was last.
        partition: its partition in that entity.
        number: its latest sequence number outside of dead-letter queues.
        token: the token of its current lock, if a receiver has one.
        lost: the token of its latest lock that has ended.
        lost_in: the path of the entity where it had that lock.
        failed: how many of its deliveries failed.
        place: its place in the order of sends and activations.
        waiting: whether its partition has been down ever since it arrived there.
        gone: the operation that removed it; empty if it is still there.
    """

    message: v.Message
    queue: str
    witnessed: int | None
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
    """Names of transactions that are committed, undone, or sure to be undone (`spoilt`)."""

    committed: frozenset[str] = frozenset()
    undone: frozenset[str] = frozenset()
    spoilt: frozenset[str] = frozenset()


@attrs.frozen(kw_only=True)
class Memory:
    """A client's memory along one path; commands read it as `Known`.

    Attributes:
        sent: the accepted messages, in order.
        holders: session id to the connection that holds the session.
        expired: session id to the connections whose lock on the session expired.
        places: how many places in the order of messages have been assigned.
        ended: how transactions ended.
    """

    sent: tuple[Sent, ...] = ()
    holders: Map[str, str] = Map()
    expired: Map[str, frozenset[str]] = Map()
    places: int = 0
    ended: Ended = Ended()

    def of(self, message: int) -> Sent | None:
        """Return the memory of the n-th message, if it was accepted."""
        return self.sent[message - 1] if message <= len(self.sent) else None

    def fresh_body(self) -> str:
        """Return the body of the next message to send."""
        return body_of(len(self.sent) + 1)

    def token(self, message: int, *, is_held: bool) -> str | None:
        """Return the message's current lock token, or that of its last lost lock.

        `is_held` chooses the current one.
        """
        sent = self.of(message)
        return None if sent is None else sent.token if is_held else sent.lost

    def is_dead(self, message: int, *, is_held: bool) -> bool:
        """Return whether the lock was taken in a dead-letter queue.

        `is_held` chooses the message's current lock, otherwise its last lost one.
        """
        sent = self.of(message)
        return sent is not None and v.is_dead_letter_queue(sent.path if is_held else sent.lost_in)

    def scheduled(self, message: int) -> int:
        """Return the number that scheduling this message returned, or one that no message has."""
        sent = self.of(message)
        return NOBODYS + message if sent is None or sent.scheduled is None else sent.scheduled

    def number(self, message: int) -> int:
        """Return the message's latest sequence number, or one that no message has."""
        sent = self.of(message)
        return NOBODYS + message if sent is None or sent.number is None else sent.number


NOTHING: Final = Memory()


@attrs.frozen
class Happened:
    """A command that was executed, with its operation in the spec, outcome and partition."""

    operation: str
    command: v.Command
    connection: str
    outcome: v.Outcome
    partition: int | None


def find_held(namespace: Namespace) -> dict[str, Held] | None:
    """Return the messages in the model by body; `None` if a message is in two places."""
    by_body: dict[str, Held] = {}
    number = 0
    for entity in namespace.entities.values():
        for table in (entity.messages, entity.scheduled):
            for queued in table.values():
                by_body[queued.message.body] = queued
                number += 1
    for transaction in namespace.transactions.values():
        if not transaction.ended:
            for buffered in transaction.sends:
                by_body[buffered.message.body] = buffered
                number += 1
    return by_body if len(by_body) == number else None


def remember(
    memory: Memory, namespace: Namespace, by_body: Mapping[str, Held], happened: Happened
) -> Memory:
    """Return the memory after one more command was executed."""
    command, outcome = happened.command, happened.outcome
    sent, places = list(memory.sent), memory.places
    if isinstance(command, v.Send | v.Schedule) and isinstance(outcome, v.Done | v.Scheduled):
        sent.append(_remember_sent(memory, by_body, happened, places + 1))
        places += 1
    before, arriving = sent, []
    sent = [
        _now(earlier, by_body.get(earlier.message.body), happened.operation) for earlier in sent
    ]
    for number, (then, now) in enumerate(zip(before, sent, strict=True)):
        if _has_arrived(now) and not _has_arrived(then):
            arriving.append(number)
    for number in sorted(arriving, key=lambda index: _arrival(by_body, sent[index])):
        places += 1
        sent[number] = attrs.evolve(sent[number], place=places)
    updated = attrs.evolve(memory, sent=tuple(sent), places=places)
    if any(entity.settings.requires_session for entity in namespace.entities.values()):
        updated = _remember_sessions(updated, namespace, happened)
    if namespace.transactions:
        updated = attrs.evolve(
            updated, ended=_remember_ended(updated.ended, namespace, command, outcome)
        )
    return updated


def _remember_sent(
    memory: Memory, by_body: Mapping[str, Held], happened: Happened, place: int
) -> Sent:
    command, outcome, partition = happened.command, happened.outcome, happened.partition
    if not isinstance(command, v.Send | v.Schedule):
        raise AssertionError(f"{command!r} sends nothing")  # noqa: TRY004 - no input gets here
    message = command.message
    return Sent(
        message=message,
        queue=command.queue,
        witnessed=partition,
        partition=partition,
        path=command.queue,
        transaction=command.transaction,
        follows=frozenset(_messages_before(memory, by_body, command))
        if command.transaction
        else frozenset(),
        scheduled=outcome.sequence_number if isinstance(outcome, v.Scheduled) else None,
        place=place,
    )


def _messages_before(
    memory: Memory, by_body: Mapping[str, Held], command: v.Send | v.Schedule
) -> list[int]:
    """KEY-17: return the messages with the same key that are in the queue before this one."""
    key = _key(command.message)
    return [
        number
        for number, sent in enumerate(memory.sent, start=1)
        if isinstance(by_body.get(sent.message.body), QueuedMessage)
        and sent.queue == command.queue
        and _key(sent.message) == key
    ]


def _key(message: v.Message) -> str | None:
    return message.session_id or message.partition_key or message.message_id


def _now(sent: Sent, stored: Held | None, operation: str) -> Sent:
    """Return a message's memory, updated with what the model's state shows."""
    if stored is None:
        if sent.gone:
            return sent
        return attrs.evolve(_unlock(sent), gone=operation)
    if not isinstance(stored, QueuedMessage):
        return (
            sent
            if sent.partition == stored.partition
            else attrs.evolve(sent, partition=stored.partition)
        )
    locked = stored.state in LOCKED_STATES
    token = stored.token if locked and stored.cached_by is None else None
    if sent.token != token:
        sent = _unlock(sent)
    path, is_down = stored.entity.path, stored.partition in stored.entity.base.down
    is_dead, is_new = v.is_dead_letter_queue(path), sent.number != stored.number
    failed = sent.failed
    if not is_dead:
        failed = stored.failed - locked
    elif stored.reason == TOO_MANY and not v.is_dead_letter_queue(sent.path):
        failed += 1
    return attrs.evolve(
        sent,
        path=path,
        partition=stored.partition,
        number=sent.number if is_dead else stored.number,
        token=token,
        failed=failed,
        waiting=is_down and (sent.waiting or (is_new and not is_dead)),
    )


def _unlock(sent: Sent) -> Sent:
    """Return the memory of a message whose lock, if it had one, has ended."""
    if sent.token is None:
        return sent
    return attrs.evolve(sent, token=None, lost=sent.token, lost_in=sent.path)


def _has_arrived(sent: Sent) -> bool:
    """Return whether a scheduled message has arrived; it has not while its partition is down."""
    return sent.scheduled is not None and sent.number is not None and not sent.waiting


def _arrival(by_body: Mapping[str, Held], sent: Sent) -> int:
    stored = by_body.get(sent.message.body)
    return stored.arrival if isinstance(stored, QueuedMessage) else 0


def _remember_sessions(memory: Memory, namespace: Namespace, happened: Happened) -> Memory:
    """Return the memory with the present holders of sessions, and with locks that expired."""
    command, expired = happened.command, memory.expired
    sessions: dict[str, Session] = {}
    for entity in namespace.entities.values():
        sessions.update(entity.sessions)
    holders = Map(
        {name: session.holder for name, session in sessions.items() if session.holder is not None}
    )
    if isinstance(command, v.AdvanceClock):
        for name, holder in memory.holders.items():
            if name not in holders:
                expired = expired.set(name, expired.get(name, frozenset()) | {holder})
    accepted = _accepted_session(command, happened.outcome)
    if accepted is not None and accepted in expired:
        expired = expired.set(accepted, expired[accepted] - {happened.connection})
    return attrs.evolve(memory, holders=holders, expired=expired)


def _accepted_session(command: v.Command, outcome: v.Outcome) -> str | None:
    """Return the session that a command accepted; `None` if it accepted none."""
    if isinstance(outcome, v.SessionAccepted):
        return outcome.session_id
    if isinstance(command, v.AcceptSession) and isinstance(outcome, v.Done):
        return command.session_id
    return None


def _remember_ended(
    ended: Ended, namespace: Namespace, command: v.Command, outcome: v.Outcome
) -> Ended:
    name, done = getattr(command, "transaction", None), isinstance(outcome, v.Done)
    if name is None:
        return ended
    transaction = namespace.transactions[name]
    if isinstance(command, v.Send):
        spoils = done and transaction.doomed
        return attrs.evolve(ended, spoilt=ended.spoilt | {name}) if spoils else ended
    if not transaction.ended:
        return ended
    if isinstance(command, v.CommitTransaction) and done:
        return attrs.evolve(ended, committed=ended.committed | {name})
    return attrs.evolve(ended, undone=ended.undone | {name}, spoilt=ended.spoilt - {name})
