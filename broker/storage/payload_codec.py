"""What the model is not told of a message, as bytes, and back."""

import json
import struct
from collections.abc import Mapping
from typing import Final

from busproof.broker.amqp.messages import Content

__all__ = ["checked", "given", "packed", "told", "unpacked"]

HEAD: Final = struct.Struct(">?BqqIIIIII")
"""Durable, priority, time to live (-1: for ever), when taken, how many annotations of the delivery
and of the message and their bytes, and the bytes of the properties and of the application's; what
is left is the body."""


def packed(content: Content) -> bytes:
    """What is kept of a message, as bytes."""
    (passing, delivery), (count, annotations) = content.delivery, content.annotations
    life = -1 if content.life is None else content.life
    head = HEAD.pack(
        content.durable,
        content.priority,
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


def checked(data: bytes) -> bytes:
    """These bytes, which are enough for a message.

    Raises:
        ValueError: they are not.
    """
    if len(data) < HEAD.size:
        raise ValueError(f"{len(data)} bytes are no message")
    return data


def unpacked(data: bytes) -> Content:
    """What these bytes were made of.

    Raises:
        ValueError: nothing was packed like this.
    """
    durable, priority, life, enqueued, passing, count, *sizes = HEAD.unpack_from(checked(data))
    place, parts = HEAD.size, list[bytes]()
    for size in sizes:
        parts.append(data[place : place + size])
        place += size
    delivery, annotations, properties, application = parts
    return Content(
        durable=durable,
        priority=priority,
        life=None if life < 0 else life,
        delivery=(passing, delivery),
        annotations=(count, annotations),
        properties=properties,
        application=application,
        body=data[place:],
        enqueued=enqueued,
    )


def told(more: Mapping[str, bytes]) -> str | None:
    """The properties that a message was given by who settled it, as a text; `None` if none."""
    return json.dumps({name: value.hex() for name, value in more.items()}) if more else None


def given(text: str | None) -> dict[str, bytes]:
    """The properties that a text was made of.

    Raises:
        ValueError: it was made of none.
    """
    if text is None:
        return {}
    try:
        return {name: bytes.fromhex(value) for name, value in json.loads(text).items()}
    except (AttributeError, TypeError) as error:
        raise ValueError(f"{text[:80]!r} tells of no properties: {error}") from None
