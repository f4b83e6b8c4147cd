"""Received AMQP messages, split into what the model decides with and what is kept for delivery.

The model knows a message by a name (its `body`) and by the properties that matter to the bus.
Everything else is kept here and delivered unchanged.
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
    check_properties,
    pairs_of,
    sections_of,
    text_of,
)
from busproof.broker.bounds import check_bound

__all__ = [
    "SCHEDULED_TIME",
    "STANDS_FOR",
    "STANDS_IN",
    "Content",
    "Parsed",
    "inner_messages",
    "parse",
]

PARTITION_KEY: Final = "x-opt-partition-key"
STANDS_FOR: Final = "x-opt-busproof-size"
"""Annotation with the size that a message's body stands for, in bytes.

It is busproof's own, so that tests can fill an entity with little data.
"""
STANDS_IN: Final = "x-opt-busproof-stands-in"
"""Annotation that says whether the message may stand for several and exceed the size limit.

It may, unless the annotation is false.
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
"""Annotations that the bus sets; those of a forwarded copy are dropped."""

FOR_EVER_MS: Final = 0xFFFF_FFFF
"""Time to live in the header when the real one is too long for it, in milliseconds."""

MOST_FIELDS: Final = 100
"""Maximum number of fields to read from a header or properties, before they are refused."""
CREATION: Final = 9
"""Position of the creation time among the properties."""
NEW_IDS: Final = counting()
NEW_ID: Final = token_hex(8)
"""Prefix of the MessageIds that this process assigns, so that they differ between processes."""
# The last two bytes are a string's type and its length: each assigned MessageId has 32.
ONLY_ID: Final = b"\x00\x53\x73\xc0\x23\x01\xa1\x20"
"""Encoded properties that have only a MessageId, up to where the MessageId begins."""

Pairs = tuple[int, bytes]
"""Number of keys and values in a map, and their encoded bytes."""


@attrs.define
class Content:
    """The parts of a message that are delivered as they were sent.

    Treat it as immutable; a frozen class would take four times as long to create. `durable` and
    `priority` are `None` if the sender did not set them. `enqueued` is in milliseconds since 1970;
    `life` is the sender's time to live in microseconds.
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
        """Size of all parts, in bytes."""
        passed_on = len(self.delivery[1]) + len(self.annotations[1])
        return passed_on + len(self.properties) + len(self.application) + len(self.body)


@attrs.frozen
class Annotated:
    """Annotations that the sender set.

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
    """A received message: the model's part, the content for delivery, and when it is due.

    `due` is in milliseconds since 1970, and `None` if the message is not scheduled.
    """

    message: v.Message
    content: Content
    due: int | None = None

    def content_when_due(self) -> Content:
        """Return the content; a scheduled message's enqueued time is when it is due.

        A message that was overdue on arrival is enqueued at its arrival.
        """
        if self.due is None:
            return self.content
        # Clients compute the expiry from the enqueued time; a past one would expire at once.
        return attrs.evolve(self.content, enqueued=max(self.due, self.content.enqueued))


def parse(
    raw: bytes, name: str, enqueued: int, *, identified: bool = True, checked: bool = False
) -> Parsed:
    """Parse a received message; the model will know it by `name`.

    With `identified`, a message without a MessageId gets one (KEY-13). With `checked`, the caller
    has already validated its values by `checking_parts`.

    Raises:
        ValueError: the bytes are not an AMQP message.
    """
    try:
        return _parse(raw, name, enqueued, identified=identified, checked=checked)
    # Raise one kind of error for any malformed bytes, so that the caller refuses all of them.
    except (IndexError, OverflowError, TypeError, UnicodeDecodeError, struct.error) as error:
        raise ValueError(f"these bytes are no AMQP message: {error}") from None


def _parse(raw: bytes, name: str, enqueued: int, *, identified: bool, checked: bool) -> Parsed:
    header: list[Any] = []
    properties: list[Any] = []
    annotated = delivery = UNANNOTATED
    application = v.NO_PROPERTIES
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
            annotated = _read_annotations(raw, begins, checked=checked)
        elif code == DELIVERY:
            delivery = _read_annotations(raw, begins, checked=checked)
        else:
            body.append(raw[place:end])
    texts = check_properties(properties)
    # Add the MessageId before the model decides: filters and duplicate detection use it.
    if identified and texts[0] is None:
        texts[0] = message_id = f"{NEW_ID}{next(NEW_IDS):016x}"
        kept_properties = _add_message_id(kept_properties, message_id, has_fields=bool(properties))
    # AMQP permits a sender to omit the last fields of a list.
    durable = priority = ttl = None
    if header:
        durable, priority, ttl = (*header[:3], None, None, None)[:3]
        check_header(durable, priority, ttl)
    content = Content(
        # What the sender left out stays left out on delivery, as in the service.
        None if durable is None else bool(durable),
        None if priority is None else int(priority),
        # Most messages have no time to live; for these, the call is avoided.
        _life(ttl, properties) if ttl is not None or len(properties) > CREATION else None,
        delivery.passed_on,
        annotated.passed_on,
        kept_properties,
        kept_application,
        # A body may have several data sections, which are delivered as they arrived.
        body[0] if len(body) == 1 else b"".join(body),
        enqueued,
    )
    return Parsed(_message(name, texts, application, annotated, content), content, annotated.due)


def _life(ttl: int | None, properties: list[Any]) -> int | None:
    """Return the sender's time to live in microseconds, or `None` if there is none.

    A time too long for the header is the difference of the expiry and creation times.
    """
    # The header has 32 bits of milliseconds, about 50 days.
    if ttl is not None and ttl != FOR_EVER_MS:
        return max(1, ttl * 1000)
    expiry, created = properties[8:10] if len(properties) > 9 else (None, None)
    if isinstance(expiry, int) and isinstance(created, int):
        # Clients without a time to live write the longest time that they can represent.
        return None if expiry - created >= FOR_EVER_MS * 1000 else max(1, (expiry - created) * 1000)
    # Without those two times, the header's largest value means what it says: about 50 days.
    return None if ttl is None else ttl * 1000


def _add_message_id(properties: bytes, message_id: str, *, has_fields: bool) -> bytes:
    """KEY-13: add a MessageId to properties that have none, as client libraries do.

    Clients expect every received message to have one, and the JavaScript client cannot settle it
    otherwise. The model gets the same MessageId, so that its decisions fit what receivers see.
    """
    if not has_fields:
        return ONLY_ID + message_id.encode()
    _, begins, end = section(properties, 0)
    # The MessageId is the first field, so the other fields are copied in one piece.
    first, count = elements_of(properties, begins)
    inside = string_of(message_id) + properties[end_of(properties, first) : end]
    return b"\x00\x53\x73\xd0" + struct.pack(">II", len(inside) + 4, count) + inside


def _read_annotations(raw: bytes, place: int, *, checked: bool) -> Annotated:
    stands_for, stands_in = 0, True
    passed_on: list[bytes] = []
    key: str | None = None
    due: int | None = None
    for name, value, both in pairs_of(raw, place, checked=checked):
        if name == PARTITION_KEY:
            key = None if value is None else text_of(value)
        elif name == SCHEDULED_TIME:
            due = None if value is None else check_bound(SCHEDULED_TIME, value)
        elif name == STANDS_FOR:
            stands_for = check_bound(STANDS_FOR, value)
        elif name == STANDS_IN:
            stands_in = value is not False
        # A received message that is sent on carries the bus's annotations of its first delivery,
        # which would appear beside the new ones.
        if name not in GIVEN_BY_THE_BUS:
            passed_on.append(both)
    return Annotated((2 * len(passed_on), b"".join(passed_on)), key, due, stands_for, stands_in)


def inner_messages(raw: bytes) -> Iterator[bytes]:
    """Yield the messages of a batch: each data section of its envelope is a whole message.

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
        # A comparison is cheaper than `max`, and each message needs one.
        size if size > stands_for else stands_for,
        stands_for > size and annotated.stands_in,
        content.life,
    )


def _filterable(raw: bytes, place: int, *, checked: bool) -> Map[str, v.PropertyValue]:
    """Return the application properties that filters can compare."""
    properties: dict[str, v.PropertyValue] = {}
    for key, value, _ in pairs_of(raw, place, checked=checked):
        # Properties of other types are delivered, but no filter can compare them.
        if isinstance(value, v.PropertyValue):
            properties[text_of(key)] = value
    return Map(properties)
