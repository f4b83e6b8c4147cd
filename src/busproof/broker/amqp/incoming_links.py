"""Links for a client's messages: transfers become sends, and answers become dispositions."""

import struct
from collections.abc import Generator, Iterator, Sequence
from typing import Any, Final

from proton import Delivery, Described, Link, ulong

from busproof import vocabulary as v
from busproof.broker.amqp import native
from busproof.broker.amqp.encoding import binary
from busproof.broker.amqp.engine import Connection
from busproof.broker.amqp.messages import Content, Parsed, inner_messages
from busproof.broker.amqp.native import Raw
from busproof.broker.amqp.nodes import Node, condition
from busproof.broker.amqp.refusals import (
    Refusal,
    insist,
    refuse_unauthorized,
    too_large,
    too_many_at_once,
)
from busproof.broker.amqp.sections import checking_parts
from busproof.broker.core import Hub

__all__ = [
    "PARSED_AT_ONCE",
    "Intake",
    "accept",
    "delay_of",
    "gather_message",
    "parsing",
    "refuse",
    "sending_of",
    "take_batch",
    "take_one",
    "tell",
    "transaction_of",
]

Arrived = tuple[Raw, bytes, str | None]
"""A delivery, the bytes of its message, and its transaction, if any."""

CREDIT: Final = 1000
DECIDED_AT_ONCE: Final = 50
"""Number of messages to decide together if they arrive in a row."""
COPIED_AT_ONCE: Final = 500
"""Number of copies to make together if messages for many subscriptions arrive in a row."""
LONG: Final = 16_384
"""Minimum size of a message that is parsed step by step, in bytes."""
LARGE: Final = 4_096
"""Minimum size of a message that is decided alone, because parsing may take long, in bytes."""
PARSED_AT_ONCE: Final = 50
"""Number of messages of a batch to parse before other clients may have a turn."""
TRANSACTIONAL: Final = 0x34
ACCEPTED: Final = Described(ulong(0x24), [])


def gather_message(
    connection: Connection, link: Raw, delivery: Raw, parts: dict[Raw, bytearray]
) -> bytes | None:
    """Return a message once all its transfers have arrived; `None` before and after that.

    Until then, `parts` holds what has arrived of a large message; an aborted one is dropped.

    Raises:
        Refusal: the incomplete messages exceed the limit.
    """
    if native.is_aborted(delivery):
        parts.pop(delivery, None)
        connection.unfinished.pop(link, None)
        native.settle(delivery)
        return None
    if not native.is_readable(delivery):
        # If parts for other links arrive in between, Proton emits an event for each part.
        return None
    data = native.content(link, delivery)
    most, is_partial = connection.hub.limits.unfinished, native.is_partial(delivery)
    if parts or is_partial:
        # Append in place: copying on each part would take quadratic time.
        whole = parts.setdefault(delivery, bytearray())
        whole += data
        # Limit each link and the whole connection: a client may have thousands of links.
        connection.unfinished[link] = size = sum(map(len, parts.values()))
        if (all_of_it := max(size, connection.unfinished.total)) > most:
            raise too_large(all_of_it, most)
        if is_partial:
            return None
        data = bytes(parts.pop(delivery))
        connection.unfinished.pop(link, None)
    if len(data) > most:
        raise too_large(len(data), most)
    return data


def transaction_of(delivery: Raw) -> str | None:
    """Return the transaction of a transfer or disposition, if it has one.

    Raises:
        Refusal: the transaction id cannot be read.
    """
    if native.state_of(delivery) != TRANSACTIONAL:
        return None
    # The id is binary in AMQP and text in the model: latin-1 maps each byte to a character.
    state: Any = native.whole(delivery).remote.data
    try:
        # `bytes` of a number would be that many zeros, so the type is checked.
        return binary(state[0]).decode("latin-1") if state else None
    except (LookupError, TypeError, ValueError) as error:
        raise Refusal("amqp:decode-error", f"The transaction cannot be read: {error}.") from None


def accept(delivery: Raw, transaction: str | None) -> None:
    """Accept a transfer, within its transaction if it has one."""
    if transaction is None:
        native.update(delivery, native.ACCEPTED)
        return
    # Within a transaction, AMQP wraps the outcome in a transactional state (section 4.5).
    tell(delivery, TRANSACTIONAL, ACCEPTED)


def tell(delivery: Raw, state: int, *values: Any) -> None:
    """Set the delivery's local state to the client's transaction id, followed by `values`."""
    whole = native.whole(delivery)
    named: Any = [*(whole.remote.data or [])[:1], *values]
    whole.local.data = named
    whole.update(state)


def refuse(delivery: Raw, refusal: Refusal) -> None:
    """Reject a transfer or a disposition with the reason, and settle it."""
    # The traceback's frames refer to the delivery, and Proton answers no drain until it is freed.
    refusal.__traceback__ = None
    whole = native.whole(delivery)
    whole.local.condition = condition(refusal.condition, refusal.description)
    whole.update(Delivery.REJECTED)
    native.settle(delivery)


def sending_of(
    hub: Hub, path: str, parsed: Parsed, transaction: str | None = None
) -> v.Send | v.Schedule:
    """Return the command for a received message: a send, or a schedule if it is due later."""
    if parsed.due is None or (delay := delay_of(hub, parsed, path)) <= 0:
        return v.Send(queue=path, message=parsed.message, transaction=transaction)
    return v.Schedule(queue=path, message=parsed.message, delay=delay, transaction=transaction)


def parsing(hub: Hub, raw: bytes) -> Generator[bool, None, Parsed]:
    """Parse a message; a long one yields between its parts, so that other clients have turns.

    Raises:
        Refusal: it cannot be read.
    """
    if len(raw) <= LONG:
        return _parse(hub, raw)
    try:
        for _ in checking_parts(raw):
            yield False
    except (IndexError, OverflowError, TypeError, ValueError, struct.error) as error:
        raise Refusal("amqp:decode-error", f"this is not an AMQP message: {error}") from None
    return _parse(hub, raw, checked=True)


def _parse(hub: Hub, raw: bytes, *, checked: bool = False) -> Parsed:
    try:
        return hub.parse_message(raw, checked=checked)
    except ValueError as error:
        raise Refusal("amqp:decode-error", str(error)) from None


def delay_of(hub: Hub, parsed: Parsed, path: str) -> int:
    """Return the delay until a message is due, in microseconds; negative if it is overdue."""
    if parsed.due is None:
        return 0
    delay = parsed.due * 1000 - hub.bus.epoch - hub.bus.now
    # Clients name milliseconds, and all messages due in one microsecond are enqueued in one step:
    # 40,000 of them once blocked all clients for 240 ms.
    if delay <= 0 or hub.bus.clock is not v.Clock.REAL:
        return delay
    return delay + hub.spread.next(hub.copies.of(path))


def take_one(
    hub: Hub, path: str, parsed: Parsed, client: str, transaction: str | None = None
) -> None:
    """Let the bus decide a message of a client, and keep its content.

    Raises:
        Refusal: the bus refuses it, or too many copies would be made.
    """
    hub.check_copies(path, 1)
    insist(hub.bus.ask(sending_of(hub, path, parsed, transaction), client), path)
    hub.contents.keep(parsed.message.body, parsed.content_when_due())


def take_batch(
    hub: Hub,
    path: str,
    commands: Sequence[v.Send | v.Schedule],
    contents: Sequence[Content],
    client: str,
) -> None:
    """Let the bus decide a batch at one moment, singly if some messages are scheduled.

    Raises:
        Refusal: the bus refuses it, or it is too large for one moment.
    """
    if commands and all(isinstance(command, v.Send) for command in commands):
        hub.check_copies(path, len(commands))
        messages = tuple(command.message for command in commands)
        together = v.SendBatch(queue=path, messages=messages, transaction=commands[0].transaction)
        answers = [hub.bus.ask(together, client)]
    else:
        # Scheduled messages are separate commands, so fewer of them fit into a turn.
        if len(commands) > (most := hub.limits.at_once):
            raise too_many_at_once(len(commands), most)
        answers = hub.bus.ask_all(commands, client)
    # The bus stops at the first refusal, so only the last answer can be one.
    if answers:
        insist(answers[-1], path)
    for command, content in zip(commands, contents, strict=True):
        hub.contents.keep(command.message.body, content)


class Intake(Node):
    """A client's link for sending to an entity."""

    def __init__(self, connection: Connection, link: Link, path: str) -> None:
        self._connection = connection
        self._link = link
        self._raw = native.raw(link)
        self._path = path
        self.needs = ("Send", path)
        self._credit = connection.hub.disturbances.credit or CREDIT
        self._parts: dict[Raw, bytearray] = {}
        self._batches: set[Raw] = set()
        self._arrived: list[Arrived] = []

    def grant(self) -> None:
        """Give the client credit."""
        # Clients send nothing before their first credit; Python waits for it when it opens a link.
        self._link.flow(self._credit)

    def on_credit(self) -> None:
        """Give credit again to a client that was asked to give it back, and has."""
        if native.credit(self._raw) == 0:
            native.grant(self._raw, self._credit)

    def on_delivery(self, delivery: Raw, *, batch: bool) -> None:
        """Take a message, or a part of one."""
        # Only a message's first frame carries the format, so later parts are not marked as a batch.
        if batch:
            self._batches.add(delivery)
        if native.is_aborted(delivery):
            # Proton reuses a freed delivery's memory, and the next one must not count as a batch.
            self._batches.discard(delivery)
        raw = gather_message(self._connection, self._raw, delivery, self._parts)
        if raw is None:
            return
        several = delivery in self._batches
        self._batches.discard(delivery)
        native.advance(self._raw)
        if (credit := native.credit(self._raw)) < self._credit / 2:
            # Grant credit in bulk, because a flow frame for each message would be expensive.
            native.grant(self._raw, self._credit - credit)
        transaction = transaction_of(delivery)
        # Earlier messages are decided first, so that all are enqueued in the order of arrival.
        if several or len(raw) > LONG:
            self.finish()
            steps = self._batch if several else self._one
            self._connection.work(steps(delivery, raw, transaction))
            return
        self._arrived.append((delivery, raw, transaction))
        if len(self._arrived) >= self._most_at_once() or len(raw) > LARGE:
            self.finish()

    def _most_at_once(self) -> int:
        """Return the number of messages to decide before others may have a turn."""
        copies = self._connection.hub.copies.of(self._path)
        return max(1, min(DECIDED_AT_ONCE, COPIED_AT_ONCE // copies))

    def finish(self) -> None:
        """Parse the messages that have arrived, let the bus decide them, and answer."""
        if not self._arrived:
            return
        arrived, self._arrived = self._arrived, []
        # Parsing all before deciding any takes a quarter less time: see `Node.finish`.
        for delivery, transaction in self._take_all(list(self._parse_all(arrived))):
            accept(delivery, transaction)
            native.settle(delivery)
        self._connection.hub.schedule_serving()

    def _parse_all(self, arrived: list[Arrived]) -> Iterator[tuple[Raw, Parsed, int, str | None]]:
        """Yield the parsed messages with their sizes; reject those that cannot be parsed."""
        for delivery, raw, transaction in arrived:
            try:
                self._check(raw)
                yield delivery, _parse(self._connection.hub, raw), len(raw), transaction
            except Refusal as refusal:
                refuse(delivery, refusal)

    def _take_all(
        self, messages: list[tuple[Raw, Parsed, int, str | None]]
    ) -> list[tuple[Raw, str | None]]:
        """Let the bus decide messages; reject those that it refuses, and return the others."""
        taken: list[tuple[Raw, str | None]] = []
        for delivery, parsed, size, transaction in messages:
            try:
                self._take(parsed, size, transaction)
                taken.append((delivery, transaction))
            except Refusal as refusal:
                refuse(delivery, refusal)
        return taken

    def _one(self, delivery: Raw, raw: bytes, transaction: str | None) -> Iterator[bool]:
        """Handle a long message step by step."""
        try:
            self._check(raw)
            parsed = yield from parsing(self._connection.hub, raw)
            self._take(parsed, len(raw), transaction)
        except Refusal as refusal:
            refuse(delivery, refusal)
        else:
            accept(delivery, transaction)
            native.settle(delivery)
        self._connection.hub.schedule_serving()

    def _batch(self, delivery: Raw, raw: bytes, transaction: str | None) -> Iterator[bool]:
        """Handle a batch step by step."""
        try:
            self._check(raw)
            contents, commands = list[Content](), list[v.Send | v.Schedule]()
            for inner in self._messages_in(raw):
                message = yield from parsing(self._connection.hub, inner)
                contents.append(message.content_when_due())
                commands.append(sending_of(self._connection.hub, self._path, message, transaction))
                if len(contents) % PARSED_AT_ONCE == 0:
                    yield False
            # All of a batch is decided in one step, so a large batch waits for a fresh turn.
            yield len(contents) > PARSED_AT_ONCE
            hub = self._connection.hub
            take_batch(hub, self._path, commands, contents, self._connection.name)
            if transaction is not None:
                hub.count_in(transaction, len(raw))
        except Refusal as refusal:
            refuse(delivery, refusal)
        else:
            accept(delivery, transaction)
            native.settle(delivery)
        self._connection.hub.schedule_serving()

    def _check(self, raw: bytes) -> None:
        hub = self._connection.hub
        if len(raw) > hub.max_message:
            raise too_large(len(raw), hub.max_message)
        # Since the link was attached, the token may have expired or the entity been disabled.
        if not self._connection.permits("Send", self._path):
            raise refuse_unauthorized("Send", self._path)
        hub.statuses.check("Send", self._path)
        hub.check_room()
        hub.disturbances.meet("send", self._path, self._connection, self._link)

    def _take(self, parsed: Parsed, size: int, transaction: str | None) -> None:
        connection, hub = self._connection, self._connection.hub
        take_one(hub, self._path, parsed, connection.name, transaction)
        if transaction is not None:
            hub.count_in(transaction, size)

    def _messages_in(self, raw: bytes) -> Iterator[bytes]:
        """Yield the messages of a batch one by one."""
        try:
            for number, inner in enumerate(inner_messages(raw)):
                # Count while reading, so that nothing beyond the limit is read.
                if number >= (most := self._connection.hub.limits.batch):
                    raise too_many_at_once(number + 1, most)
                yield inner
        except ValueError as error:
            raise Refusal("amqp:decode-error", str(error)) from None
