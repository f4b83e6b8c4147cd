"""Messages that are delivered with other contents than they were sent with.

A bus other than the model may deliver wrong contents, which its clients must see. So only the
body's bytes are taken from the sent message, and only if the bus returns the name that it stores in
their place. If the action of a subscription rule has changed a message, everything that the bus
does not know is taken from the sent message.
"""

import struct

import attrs

from busproof import vocabulary as v
from busproof.broker.amqp.dispositions import value_of
from busproof.broker.amqp.encoding import (
    elements_of,
    end_of,
    long_of,
    pairs,
    section,
    string_of,
    symbol_of,
)
from busproof.broker.amqp.messages import PARTITION_KEY, STANDS_FOR, Content
from busproof.broker.amqp.sections import APPLICATION, PROPERTIES
from busproof.broker.amqp.writing import map_of

__all__ = ["changed", "remade"]

NOTHING = b"\x40"
KNOWN_FIELDS = (0, 2, 3, 4, 5, 6, 10, 12)
"""Positions of the AMQP properties that the bus knows."""


def remade(view: v.MessageView, kept: Content | None) -> Content:
    """Return the content of a message as the bus presents it."""
    known = Content() if kept is None else kept
    count, annotations = 0, b""
    if view.partition_key is not None:
        count, annotations = 2, symbol_of(PARTITION_KEY) + string_of(view.partition_key)
    # A message that stands for a larger one has a size that its bytes do not show.
    if view.size is not None and view.size > len(known.body):
        count += 2
        annotations += symbol_of(STANDS_FOR) + b"\x81" + long_of(view.size)
    return attrs.evolve(
        known,
        delivery=(0, b""),
        annotations=(count, annotations),
        properties=_listed(_fields(view)),
        application=_application(view),
        # A body that was not sent here is shown as the bus names it, so that the error is visible.
        body=known.body or b"\x00\x53\x75\xb0" + _sized(view.body.encode()),
    )


def changed(view: v.MessageView, kept: Content) -> Content:
    """Return the content of a message that the action of a subscription rule has changed."""
    fields = _fields(view)
    if kept.properties:
        # The sender may have left out fields at the end that the action has set.
        fields = [*_elements(kept.properties), *fields[len(_elements(kept.properties)) :]]
        # The user-id, times and other fields that filters cannot use stay as they were sent.
        for place in KNOWN_FIELDS:
            fields[place] = _fields(view)[place]
    left, inside = dict(view.properties), list[bytes]()
    if kept.application:
        for key, value, both in pairs(kept.application, section(kept.application, 0)[1]):
            name = key.decode("utf-8", "replace") if isinstance(key, bytes) else str(key)
            shown = left.get(name)
            # An unchanged property keeps its bytes, because Python's value has lost its AMQP type.
            if not isinstance(value, v.PropertyValue) or (type(shown), shown) == (
                type(value),
                value,
            ):
                left.pop(name, None)
                inside.append(both)
    inside += [string_of(name) + value_of(value) for name, value in left.items()]
    application = map_of(APPLICATION, 2 * len(inside), b"".join(inside)) if inside else b""
    return attrs.evolve(kept, properties=_listed(fields), application=application)


def _elements(properties: bytes) -> list[bytes]:
    place, count = elements_of(properties, section(properties, 0)[1])
    elements = []
    for _ in range(count):
        end = end_of(properties, place)
        elements.append(properties[place:end])
        place = end
    return elements


def _sized(raw: bytes) -> bytes:
    return struct.pack(">I", len(raw)) + raw


def _fields(view: v.MessageView) -> list[bytes]:
    kind = view.content_type
    return [
        *(_text(view.message_id), NOTHING, _text(view.to), _text(view.subject)),
        *(_text(view.reply_to), _text(view.correlation_id)),
        NOTHING if kind is None else symbol_of(kind),
        *(NOTHING, NOTHING, NOTHING),
        *(_text(view.session_id), NOTHING, _text(view.reply_to_session_id)),
    ]


def _listed(fields: list[bytes]) -> bytes:
    inside = b"".join(fields)
    head = bytes([0, 0x53, PROPERTIES, 0xD0])
    return head + struct.pack(">II", len(inside) + 4, len(fields)) + inside


def _text(value: str | None) -> bytes:
    return NOTHING if value is None else string_of(value)


def _application(view: v.MessageView) -> bytes:
    inside = [string_of(name) + value_of(value) for name, value in view.properties.items()]
    return map_of(APPLICATION, 2 * len(inside), b"".join(inside)) if inside else b""
