"""AMQP messages: the part that the model gets, and the rest that is kept for delivery.

The model knows a message by a name (its `body`) and by the properties that matter to the bus.
Everything else is kept here and delivered as it was sent.
"""

import struct
from collections.abc import Iterator
from itertools import count as counting
from secrets import token_hex
from typing import Any, Final

import attrs
from immutables import Map

from busproof import vocabulary as v
from busproof.broker.amqp.encoding import (
    elements_of,
    end_of,
    items,
    section,
    string_of,
    value_at,
)
from busproof.broker.amqp.sections import (
    ANNOTATIONS,
    APPLICATION,
    DATA,
    DELIVERY,
    HEADER,
    PROPERTIES,
    check_header,
    check_kind,
    checked_properties,
    pairs_of,
    sections_of,
    text_of,
)
from busproof.broker.bounds import bounded

__all__ = [
    "SCHEDULED_TIME",
    "STANDS_FOR",
    "Content",
    "Parsed",
    "inner_messages",
    "parse",
]

PARTITION_KEY: Final = "x-opt-partition-key"
STANDS_FOR: Final = "x-opt-busproof-size"
"""Annotation: the size that a message's body stands for, in bytes.

It is our own, so that tests fill entities with little data.
"""
STANDS_IN: Final = "x-opt-busproof-stands-in"
"""Annotation: whether the message may stand for several and exceed the message limit.

It may unless this is false.
"""
SCHEDULED_TIME: Final = "x-opt-scheduled-enqueue-time"
GIVEN_BY_THE_BUS: Final = frozenset(
    {
        "x-opt-sequence-number",
        "x-opt-enqueued-time",
        "x-opt-locked-until",
        "x-opt-enqueue-sequence-number",
        "x-opt-message-state",
        "x-opt-deadletter-source",
        "x-opt-lock-token",
    }
)
"""Annotations that the bus sets; those that a sender copies from another message are dropped."""

FOR_EVER_MS: Final = 0xFFFF_FFFF
"""Time to live that clients send when theirs does not fit into the header, in milliseconds."""

NO_PROPERTIES: Final[Map[str, v.PropertyValue]] = Map()
MOST_FIELDS: Final = 100
"""Maximum number of fields of a header or of properties that are read, to refuse them."""
CREATION: Final = 9
"""Position of the creation time among the properties."""
NEW_IDS: Final = counting()
NEW_ID: Final = token_hex(8)
"""Prefix of the MessageIds that are given by this process, so that another gives other ones."""
# It ends with the length of each MessageId that is given, which is 32.
ONLY_ID: Final = b"\x00\x53\x73\xc0\x23\x01\xa1\x20"
"""The properties of a message without any, up to the MessageId that it is given."""

Pairs = tuple[int, bytes]
"""Number of keys and values of a map, and their bytes."""


@attrs.define
class Content:
    """The parts of a message that are delivered as they were sent.

    It never changes, but is not frozen, which would make it four times as slow to create.
    `durable` and `priority` are `None` if the sender did not set them.
    `enqueued` is the enqueued time, in milliseconds since 1970; `life` is the time to live that the
    sender set, in microseconds.
    """

    durable: bool | None = None
    priority: int | None = None
    life: int | None = None
    delivery: Pairs = (0, b"")
    annotations: Pairs = (0, b"")
    properties: bytes = b""
    application: bytes = b""
    body: bytes = b""
    enqueued: int = 0

    @property
    def size(self) -> int:
        """The number of bytes of all parts."""
        passed_on = len(self.delivery[1]) + len(self.annotations[1])
        return passed_on + len(self.properties) + len(self.application) + len(self.body)


@attrs.frozen
class Annotated:
    """Annotations from the sender.

    Attributes:
        passed_on: the annotations to deliver unchanged.
        partition_key: the partition key.
        due: when a scheduled message is due, in milliseconds since 1970.
        stands_for: the size that the body stands for, in bytes.
        stands_in: whether the message may stand for several and exceed the message limit.
    """

    passed_on: Pairs = (0, b"")
    partition_key: str | None = None
    due: int | None = None
    stands_for: int = 0
    stands_in: bool = True


UNANNOTATED: Final = Annotated()


@attrs.define
class Parsed:
    """A received message: the model's part, the rest, and when it is due if it is scheduled.

    `due` is in milliseconds since 1970.
    """

    message: v.Message
    content: Content
    due: int | None = None

    def content_when_due(self) -> Content:
        """Return the content; the enqueued time of a scheduled message is when it is due.

        A message that was overdue when it arrived is enqueued at once.
        """
        if self.due is None:
            return self.content
        # Clients reckon the end of a message from here: from a past time it would be over at once.
        return attrs.evolve(self.content, enqueued=max(self.due, self.content.enqueued))


def parse(
    raw: bytes, name: str, enqueued: int, *, identified: bool = True, checked: bool = False
) -> Parsed:
    """Parse a received message, which the model will know by `name`.

    If `identified` is set, a message without a MessageId is given one (KEY-13); if `checked` is
    set, `checking_parts` has validated its values.

    Raises:
        ValueError: the bytes are not an AMQP message.
    """
    try:
        return _parsed(raw, name, enqueued, identified=identified, checked=checked)
    # One kind of error, whatever is wrong with the bytes, so that each of them is a refusal.
    except (IndexError, OverflowError, TypeError, UnicodeDecodeError, struct.error) as error:
        raise ValueError(f"these bytes are no AMQP message: {error}") from None


def _parsed(raw: bytes, name: str, enqueued: int, *, identified: bool, checked: bool) -> Parsed:
    header: list[Any] = []
    properties: list[Any] = []
    annotated = delivery = UNANNOTATED
    application: Map[str, v.PropertyValue] = NO_PROPERTIES
    kept_properties = kept_application = b""
    body: list[bytes] = []
    for code, place, begins, end in sections_of(raw):
        check_kind(code, raw, begins, checked=checked)
        if code == DATA:
            body.append(raw[place:end])
        elif code == HEADER:
            header = items(raw, begins, MOST_FIELDS)
        elif code == PROPERTIES:
            properties, kept_properties = items(raw, begins, MOST_FIELDS), raw[place:end]
        elif code == APPLICATION:
            application = _filterable(raw, begins, checked=checked)
            kept_application = raw[place:end]
        elif code == ANNOTATIONS:
            annotated = _annotated(raw, begins, checked=checked)
        elif code == DELIVERY:
            delivery = _annotated(raw, begins, checked=checked)
        else:
            body.append(raw[place:end])
    texts = checked_properties(properties)
    # Before the model decides: filters see the MessageId, and duplicates are detected by it.
    if identified and texts[0] is None:
        texts[0] = message_id = f"{NEW_ID}{next(NEW_IDS):016x}"
        kept_properties = _identified(kept_properties, message_id, has_fields=bool(properties))
    durable = priority = ttl = None
    if header:
        durable, priority, ttl = (*header[:3], None, None, None)[:3]
        check_header(durable, priority, ttl)
    content = Content(
        # A message is delivered without what its sender left out, as by the service.
        None if durable is None else bool(durable),
        None if priority is None else int(priority),
        _life(ttl, properties) if ttl is not None or len(properties) > CREATION else None,
        delivery.passed_on,
        annotated.passed_on,
        kept_properties,
        kept_application,
        # A body may have many data sections; all are passed on as they came.
        body[0] if len(body) == 1 else b"".join(body),
        enqueued,
    )
    return Parsed(_message(name, texts, application, annotated, content), content, annotated.due)


def _life(ttl: int | None, properties: list[Any]) -> int | None:
    """Return the time to live that the sender set, in microseconds; `None` if it is unlimited.

    One that is too long for the header is the difference of the creation and expiry times.
    """
    # The header has 32 bits of milliseconds, some 50 days; clients write longer times as moments.
    if ttl is not None and ttl != FOR_EVER_MS:
        return max(1, ttl * 1000)
    expiry, created = properties[8:10] if len(properties) > 9 else (None, None)
    if isinstance(expiry, int) and isinstance(created, int):
        # Clients write the longest time that they know for one without an end.
        return None if expiry - created >= FOR_EVER_MS * 1000 else max(1, (expiry - created) * 1000)
    return None if ttl is None else ttl * 1000


def _identified(properties: bytes, message_id: str, *, has_fields: bool) -> bytes:
    """KEY-13: add a MessageId to properties that have none, as client libraries do.

    Clients expect every received message to have one; the JavaScript client cannot settle it
    otherwise. The model decides with it, so that the answers agree with what receivers see.
    """
    if not has_fields:
        return ONLY_ID + message_id.encode()
    _, begins, end = section(properties, 0)
    # The MessageId is the first field, so the others can be copied in one piece.
    first, count = elements_of(properties, begins)
    inside = string_of(message_id) + properties[end_of(properties, first) : end]
    return b"\x00\x53\x73\xd0" + struct.pack(">II", len(inside) + 4, count) + inside


def _annotated(raw: bytes, place: int, *, checked: bool) -> Annotated:
    stands_for, stands_in = 0, True
    passed_on: list[bytes] = []
    key: str | None = None
    due: int | None = None
    for name, value, both in pairs_of(raw, place, checked=checked):
        if name == PARTITION_KEY:
            key = None if value is None else text_of(value)
        elif name == SCHEDULED_TIME:
            due = None if value is None else bounded(SCHEDULED_TIME, value)
        elif name == STANDS_FOR:
            stands_for = bounded(STANDS_FOR, value)
        elif name == STANDS_IN:
            stands_in = value is not False
        # A client that sends on a message it was given has the bus's annotations on it, which would
        # come again beside the new ones.
        if name not in GIVEN_BY_THE_BUS:
            passed_on.append(both)
    return Annotated((2 * len(passed_on), b"".join(passed_on)), key, due, stands_for, stands_in)


def inner_messages(raw: bytes) -> Iterator[bytes]:
    """Yield the messages of a batch: each data section of the envelope is a whole message.

    Raises:
        ValueError: the bytes are not an AMQP message.
    """
    for code, _, begins, _ in sections_of(raw):
        if code == DATA and isinstance(inner := value_at(raw, begins), bytes):
            yield inner


def _message(
    name: str,
    texts: list[str | None],
    application: Map[str, v.PropertyValue],
    annotated: Annotated,
    content: Content,
) -> v.Message:
    size, stands_for = len(content.body), annotated.stands_for
    message_id, _, to, subject, reply_to, correlation_id, content_type = texts[:7]
    return v.Message.of(
        name,
        message_id,
        texts[10],
        annotated.partition_key,
        correlation_id,
        to,
        reply_to,
        subject,
        texts[12],
        content_type,
        application,
        size if size > stands_for else stands_for,
        stands_for > size and annotated.stands_in,
        content.life,
    )


def _filterable(raw: bytes, place: int, *, checked: bool) -> Map[str, v.PropertyValue]:
    """Return the application properties whose types the model's filters support."""
    properties: dict[str, v.PropertyValue] = {}
    for key, value, _ in pairs_of(raw, place, checked=checked):
        # Properties of other types are passed on, but no filter can compare them.
        if isinstance(value, str | int | float | bool):
            properties[text_of(key)] = value
    return Map(properties)
