"""Management operations on messages: peek, settle, renew, schedule, cancel and delete."""

from collections.abc import Generator, Iterable, Iterator
from itertools import islice
from typing import Any, Final
from uuid import UUID

import attrs
from proton import Data, int32, timestamp

from busproof.broker.amqp.dispositions import ACCEPTED as COMPLETED
from busproof.broker.amqp.dispositions import (
    DESCRIPTION,
    MODIFIED,
    REASON,
    REJECTED,
    Disposition,
    token_of,
    wire_token,
)
from busproof.broker.amqp.encoding import binary
from busproof.broker.amqp.framing import array
from busproof.broker.amqp.incoming_links import PARSED_AT_ONCE, delay_of, parsing
from busproof.broker.amqp.management.requests import Asking, Said
from busproof.broker.amqp.messages import Parsed
from busproof.broker.amqp.outgoing_links import effect_of, outgoing
from busproof.broker.amqp.refusals import Refusal, answer_too_large, insist
from busproof.broker.amqp.request_links import Reply
from busproof.broker.bounds import check_bound
from busproof.model import Answer
from busproof.vocabulary.commands import (
    CancelScheduled,
    DeleteBatch,
    ReceiveDeferred,
    RenewLock,
    RenewLocks,
    Schedule,
    Settlement,
)
from busproof.vocabulary.messages import Message, MessageState, MessageView
from busproof.vocabulary.outcomes import (
    Deleted,
    Peeked,
    ReceivedSeveral,
    Renewed,
    RenewedSeveral,
    Scheduled,
)
from busproof.vocabulary.values import Clock, ReceiveMode

__all__ = [
    "NO_CONTENT",
    "cancel",
    "delete_batch",
    "end_of_lock",
    "peek",
    "receive_deferred",
    "renew_lock",
    "schedule",
    "settle",
]

NO_CONTENT: Final = 204
MOST_PEEKED: Final = 250
"""Maximum number of messages in a peek, as in the service."""
LOOKED_AT: Final = 1_000
"""Number of messages to look at before other clients may have a turn."""
PEEKED_BYTES: Final = 1_048_576
"""Bytes of messages after which a peek ends, as it may anywhere; 250 large ones took 60 MB."""
MOST_DELETED: Final = 4000
"""Maximum number of messages that a request may delete."""
ENDLESS: Final = 2**62
"""An age that no message reaches, in microseconds."""

STATUSES: Final = {
    "completed": Disposition(COMPLETED),
    "abandoned": Disposition(MODIFIED),
    "defered": Disposition(MODIFIED, undeliverable=True),
    "deferred": Disposition(MODIFIED, undeliverable=True),
    "suspended": Disposition(REJECTED),
}
"""Settlements by their names in requests; `defered` is the protocol's spelling."""


def peek(asking: Asking, fields: Said) -> Generator[bool, None, Reply]:
    """Return messages from a sequence number on, without locking them."""
    first = check_bound("from-sequence-number", fields["from-sequence-number"])
    # A peek may return fewer messages than requested; clients continue after the last one.
    count = min(MOST_PEEKED, check_bound("message-count", fields["message-count"]))
    session_id = fields.get("session-id")
    if isinstance(session_id, str):
        first, count = yield from _place_in_session(asking, session_id, first, count)
    bus = asking.connection.hub.bus
    answer = bus.browse(asking.path, session_id, first, count)
    insist(answer, asking.path)
    peeked = answer.outcome.messages if isinstance(answer.outcome, Peeked) else ()
    views = list(_limit_bytes(asking, peeked, PEEKED_BYTES))
    # Clients expect this status, not an empty list.
    if not views:
        return Reply({}, NO_CONTENT, "No messages")
    shown = [outgoing(asking.connection.hub, asking.path, view)[0] for view in views]
    return Reply({"messages": [{"message": message} for message in shown]})


def _place_in_session(
    asking: Asking, session_id: str, first: int, count: int
) -> Generator[bool, None, tuple[int, int]]:
    """Return from which number on, and how many, messages of a session can be shown in a turn.

    An entity without sessions has no list of a session's messages: all are looked at, in slices.
    """
    bus = asking.connection.hub.bus
    entity = bus.entity(asking.path)
    if entity is None or entity.settings.requires_session or not bus.is_trusted:
        return first, count
    found = list[int]()
    passed = 0
    for partition in entity.partitions:
        start = first if partition.number not in entity.base.down else ENDLESS
        while some := list(islice(partition.line.behind(entity.messages, start), LOOKED_AT)):
            found += [each.number for each in some if each.message.session_id == session_id]
            passed += len(some) if found else 0
            if len(found) >= count or passed > LOOKED_AT:
                return found[0], min(count, len(found))
            start = some[-1].number + 1
            yield False
    # Without any, nothing is left to look at.
    return (found[0], len(found)) if found else (ENDLESS, count)


def _limit_bytes(asking: Asking, views: Iterable[MessageView], most: int) -> Iterator[MessageView]:
    """Yield messages until so many bytes are reached."""
    size = 0
    for view in views:
        yield view
        size += asking.connection.hub.contents.size(view.body)
        if size >= most:
            break


def receive_deferred(asking: Asking, fields: Said) -> Reply:
    """Receive deferred messages by their sequence numbers."""
    # The documents specify a ubyte and Python sends a uint, so only the number matters.
    settle = check_bound("receiver-settle-mode", int(fields.get("receiver-settle-mode") or 0))
    numbers = _numbers(asking, fields)
    _check_size(asking, numbers)
    command = ReceiveDeferred(
        queue=asking.path,
        sequence_numbers=numbers,
        mode=ReceiveMode.PEEK_LOCK if settle else ReceiveMode.RECEIVE_AND_DELETE,
        session_id=fields.get("session-id"),
    )
    outcome = asking.ask(command, command.session_id).outcome
    received = outcome.messages if isinstance(outcome, ReceivedSeveral) else ()
    # The model has locked them by now, but clients expect the state that they were received from.
    views = [attrs.evolve(view, state=MessageState.DEFERRED) for view in received]
    return Reply({"messages": [_hand_out(asking, view) for view in views]})


def _check_size(asking: Asking, numbers: Iterable[int]) -> None:
    """Check that messages fit into an answer, before they are locked for it."""
    hub = asking.connection.hub
    entity = hub.bus.entity(asking.path)
    known = {} if entity is None else entity.messages
    bodies = [known[number].message.body for number in numbers if number in known]
    size = sum(hub.contents.size(body) for body in bodies)
    if size > (most := hub.limits.answers):
        raise answer_too_large(size, most)


def _numbers(asking: Asking, fields: Said) -> tuple[int, ...]:
    """Return the sequence numbers of a request."""
    name = "sequence-numbers"
    return tuple(check_bound(name, number) for number in asking.several(fields[name]))


def _hand_out(asking: Asking, view: MessageView) -> dict[str, Any]:
    entry: dict[str, Any] = {"message": outgoing(asking.connection.hub, asking.path, view)[0]}
    if view.lock_token is not None:
        entry["lock-token"] = wire_token(view.lock_token)
    return entry


def renew_lock(asking: Asking, fields: Said) -> Reply:
    """LOCK-15 to LOCK-18: renew the locks of messages."""
    tokens = [token_of(_token(token)) for token in asking.several(fields["lock-tokens"])]
    if len(tokens) == 1:
        answer = asking.ask(RenewLock(queue=asking.path, lock_token=tokens[0]))
        return Reply({"expirations": array(Data.TIMESTAMP, [end_of_lock(asking, answer)])})
    outcome = asking.ask(RenewLocks(queue=asking.path, lock_tokens=tuple(tokens))).outcome
    until = outcome.locked_until if isinstance(outcome, RenewedSeveral) else ()
    ends = [_moment(asking, moment) for moment in until]
    return Reply({"expirations": array(Data.TIMESTAMP, ends)})


def end_of_lock(asking: Asking, answer: Answer) -> timestamp:
    """Return when the renewed lock expires."""
    until = answer.outcome.locked_until if isinstance(answer.outcome, Renewed) else None
    return _moment(asking, until)


def _moment(asking: Asking, until: int | None) -> timestamp:
    return timestamp(asking.connection.hub.bus.epoch_ms(until or 0))


def settle(asking: Asking, fields: Said) -> Reply:
    """LOCK-14 to LOCK-17: settle messages by lock token, at once or when a transaction commits."""
    disposition = _disposition(fields)
    tokens = [token_of(_token(token)) for token in asking.several(fields["lock-tokens"])]
    settlements = [disposition.settlement(asking.path, token) for token in tokens]
    # Check first: if one message would get too many properties, none is settled.
    added = sum(len(name) + len(value) for name, value in disposition.more().items())
    asking.connection.hub.check_added(added * len(tokens))
    effects = [effect_of(asking.connection, settlement, disposition) for settlement in settlements]
    if asking.transaction is not None:
        _settle_later(asking, asking.transaction, settlements, disposition)
        return Reply({})
    together = disposition.together(asking.path, tokens) if len(tokens) != 1 else settlements[0]
    bus = asking.connection.hub.bus
    answer = bus.ask(together, asking.holder(fields.get("session-id")))
    for token, effect in zip(tokens, effects, strict=True):
        # Even a refusal may have settled some of them (SETTLE-LOST), which need their properties.
        if bus.find_locked(asking.path, token) is None:
            effect()
    insist(answer, asking.path)
    return Reply({})


def _settle_later(
    asking: Asking, transaction: str, settlements: list[Settlement], disposition: Disposition
) -> None:
    stage = asking.connection.hub.stage
    for settlement in settlements:
        effect = effect_of(asking.connection, settlement, disposition)
        answer = stage.settle(transaction, settlement, asking.connection.name, effect)
        insist(answer, asking.path)


def _disposition(fields: Said) -> Disposition:
    status = str(fields["disposition-status"]).lower()
    disposition = STATUSES.get(status)
    if disposition is None:
        raise Refusal("com.microsoft:argument-error", f"There is no settlement {status!r}.")
    details = {str(key): value for key, value in (fields.get("properties-to-modify") or {}).items()}
    if disposition.outcome == REJECTED:
        details[REASON] = fields.get("deadletter-reason")
        details[DESCRIPTION] = fields.get("deadletter-description")
    return Disposition(disposition.outcome, disposition.undeliverable, details)


def schedule(asking: Asking, fields: Said) -> Generator[bool, None, Reply]:
    """Schedule messages: all or none."""
    hub = asking.connection.hub
    # Check before parsing, which is wasted work on a full disk.
    hub.check_room()
    hub.check_copies(asking.path, 1)
    parsed = list[Parsed]()
    for entry in asking.several(fields["messages"]):
        parsed.append((yield from parsing(hub, binary(entry["message"]))))
    # All are decided in one step, so many of them wait for a fresh turn.
    yield len(parsed) > PARSED_AT_ONCE
    answers = asking.ask_all([_later(asking, item) for item in parsed])
    for item in parsed:
        hub.contents.keep(item.message.body, item.content_when_due())
    numbers = [
        answer.outcome.sequence_number or 0
        for answer in answers
        if isinstance(answer.outcome, Scheduled)
    ]
    # The documents specify an array of longs, where Proton would write a list.
    return Reply({"sequence-numbers": array(Data.LONG, numbers)})


def _later(asking: Asking, parsed: Parsed) -> Schedule:
    # Even an overdue message is scheduled: the reply has to contain its sequence number, which only
    # this command returns.
    hub = asking.connection.hub
    delay = delay_of(hub, parsed, asking.path)
    if delay <= 0 and hub.bus.clock is Clock.REAL:
        # Overdue messages would otherwise all be enqueued in the next step.
        delay = hub.spread.next(hub.copies.of(asking.path))
    return Schedule(
        queue=asking.path,
        message=parsed.message,
        delay=delay,
        transaction=asking.transaction,
    )


def cancel(asking: Asking, fields: Said) -> Reply:
    """Cancel scheduled messages by sequence number: all or none."""
    numbers = _numbers(asking, fields)
    asking.ask_all(
        [CancelScheduled(queue=asking.path, sequence_number=number) for number in numbers]
    )
    return Reply({})


def delete_batch(asking: Asking, fields: Said) -> Generator[bool, None, Reply]:
    """BATCH-15 to BATCH-20: delete unlocked messages, up to a number and an enqueued time.

    On an entity that requires sessions the model decides nothing: the oldest messages of the named
    session are deleted.
    """
    count = check_bound("message-count", fields["message-count"])
    # Premium permits this many in one request, Standard 500.
    if not 1 <= count <= MOST_DELETED:
        raise Refusal(
            "com.microsoft:argument-out-of-range",
            f"message-count is {count}; it has to be from 1 to {MOST_DELETED}.",
        )
    before = check_bound("enqueued-time-utc", fields["enqueued-time-utc"])

    def is_old(message: Message) -> bool:
        content = asking.connection.hub.contents.get(message.body)
        # Clients compare with the enqueued time that they see, which the broker keeps.
        return content is None or content.enqueued <= before

    bus = asking.connection.hub.bus
    entity = bus.entity(asking.path)
    if entity is not None and entity.settings.requires_session and not entity.settings.partitioned:
        messages = yield from bus.oldest(asking.path, count, is_old, fields.get("session-id"))
        # Deleting is a single step, however many messages there are, so it waits for a fresh turn.
        yield True
        deleted = bus.delete(messages)
    else:
        # Messages are in order of age, so those before a time are the first of the entity.
        old = len((yield from bus.oldest(asking.path, count, is_old)))
        yield True
        # The model decides even if none is old enough, because it may refuse the request.
        command = DeleteBatch(queue=asking.path, count=count, age=None if old else ENDLESS)
        outcome = asking.ask(attrs.evolve(command, count=old) if old else command).outcome
        deleted = outcome.count if isinstance(outcome, Deleted) else 0
    if not deleted:
        return Reply({}, NO_CONTENT, "No messages")
    return Reply({"message-count": int32(deleted)})


def _token(value: Any) -> UUID:
    return value if isinstance(value, UUID) else UUID(str(value))
