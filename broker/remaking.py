"""Messages as a bus shows them that may show them wrongly: nothing is taken from what was sent.

Only the bytes of the body are, where the bus names one that came in: a bus is told of a name, and
handles that in its place.
"""

import struct

import attrs

from busproof.broker.dispositions import value_of
from busproof.broker.encoding import long_of, string_of, symbol_of
from busproof.broker.messages import (
    APPLICATION,
    PARTITION_KEY,
    PROPERTIES,
    STANDS_FOR,
    Content,
)
from busproof.broker.writing import map_of
from busproof.vocabulary.messages import MessageView

__all__ = ["remade"]

NOTHING = b"\x40"


def remade(view: MessageView, kept: Content | None) -> Content:
    """What goes out of a message of which the bus shows this."""
    known = Content() if kept is None else kept
    count, annotations = 0, b""
    if view.partition_key is not None:
        count, annotations = 2, symbol_of(PARTITION_KEY) + string_of(view.partition_key)
    if view.size is not None and view.size > len(known.body):
        count += 2
        annotations += symbol_of(STANDS_FOR) + b"\x81" + long_of(view.size)
    return attrs.evolve(
        known,
        annotations=(count, annotations),
        properties=_properties(view),
        application=_application(view),
        body=known.body or b"\x00\x53\x75\xb0" + _sized(view.body.encode()),
    )


def _sized(raw: bytes) -> bytes:
    return struct.pack(">I", len(raw)) + raw


def _properties(view: MessageView) -> bytes:
    kind = view.content_type
    inside = [
        *(_text(view.message_id), NOTHING, _text(view.to), _text(view.subject)),
        *(_text(view.reply_to), _text(view.correlation_id)),
        NOTHING if kind is None else symbol_of(kind),
        *(NOTHING, NOTHING, NOTHING),
        *(_text(view.session_id), NOTHING, _text(view.reply_to_session_id)),
    ]
    fields = b"".join(inside)
    head = bytes([0, 0x53, PROPERTIES, 0xD0])
    return head + struct.pack(">II", len(fields) + 4, len(inside)) + fields


def _text(value: str | None) -> bytes:
    return NOTHING if value is None else string_of(value)


def _application(view: MessageView) -> bytes:
    inside = [string_of(name) + value_of(value) for name, value in view.properties.items()]
    return map_of(APPLICATION, 2 * len(inside), b"".join(inside)) if inside else b""
