"""Binary encoding of the parts of a message that the model does not have."""

import json
import struct
from collections.abc import Mapping
from typing import Final

from busproof.broker.amqp.messages import Content

__all__ = ["check_packed", "decode_additions", "encode_additions", "pack", "unpack"]

HEAD: Final = struct.Struct(">bhqqIIIIII")
"""The header of an encoded content.

Durable and priority (`UNSET` if not set), time to live (-1 if unlimited), enqueued time, numbers of
delivery annotations and of message annotations, then the sizes of both, of the properties and of
the application properties. The body follows at the end.
"""
UNSET: Final = -1


def pack(content: Content) -> bytes:
    """Encode the content of a message."""
    (passing, delivery), (count, annotations) = content.delivery, content.annotations
    life = -1 if content.life is None else content.life
    head = HEAD.pack(
        UNSET if content.durable is None else content.durable,
        UNSET if content.priority is None else content.priority,
        life,
        content.enqueued,
        passing,
        count,
        len(delivery),
        len(annotations),
        len(content.properties),
        len(content.application),
    )
    return head + delivery + annotations + content.properties + content.application + content.body


def check_packed(data: bytes) -> bytes:
    """Return encoded content unchanged if it is long enough to have a header.

    Raises:
        ValueError: the data is too short.
    """
    if len(data) < HEAD.size:
        raise ValueError(f"{len(data)} bytes are no message")
    return data


def unpack(data: bytes) -> Content:
    """Decode the content of a message.

    Raises:
        ValueError: the data is not such content.
    """
    durable, priority, life, enqueued, passing, count, *sizes = HEAD.unpack_from(check_packed(data))
    place, parts = HEAD.size, list[bytes]()
    for size in sizes:
        parts.append(data[place : place + size])
        place += size
    delivery, annotations, properties, application = parts
    return Content(
        durable=None if durable == UNSET else bool(durable),
        priority=None if priority == UNSET else priority,
        life=None if life < 0 else life,
        delivery=(passing, delivery),
        annotations=(count, annotations),
        properties=properties,
        application=application,
        body=data[place:],
        enqueued=enqueued,
    )


def encode_additions(more: Mapping[str, bytes]) -> str | None:
    """Encode the properties that settlements added to a message; `None` if there are none."""
    return json.dumps({name: value.hex() for name, value in more.items()}) if more else None


def decode_additions(text: str | None) -> dict[str, bytes]:
    """Decode the properties that settlements added to a message.

    Raises:
        ValueError: the text does not encode properties.
    """
    if text is None:
        return {}
    try:
        return {name: bytes.fromhex(value) for name, value in json.loads(text).items()}
    except (AttributeError, TypeError) as error:
        raise ValueError(f"{text[:80]!r} does not encode properties: {error}") from None
