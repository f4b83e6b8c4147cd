"""Messages that are delivered with other contents than they were sent with.

A bus other than the model may deliver wrong contents, which its clients must see. So only the
body's bytes are taken from the sent message, and only if the bus returns the name that it stores in
their place. If the action of a subscription rule has changed a message, everything that the bus
does not know is taken from the sent message.
"""

import attrs

from busproof import vocabulary as v
from busproof.broker.amqp.dispositions import value_of
from busproof.broker.amqp.encoding import (
    elements_of,
    end_of,
    items,
    long_of,
    pairs,
    section,
    string_of,
    symbol_of,
)
from busproof.broker.amqp.messages import PARTITION_KEY, STANDS_FOR, Content
from busproof.broker.amqp.sections import APPLICATION, PROPERTIES, check_properties
from busproof.broker.amqp.writing import add_size, list_of, map_of

__all__ = ["overlay_action", "remade"]

NOTHING = b"\x40"
CONTENT_TYPE = 6
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
        # The bus knows no delivery annotations, so none is delivered.
        delivery=(0, b""),
        annotations=(count, annotations),
        properties=list_of(PROPERTIES, _fields(view)),
        application=_application(view),
        # A body that was not sent here is shown as the bus names it, so that the error is visible.
        body=known.body or b"\x00\x53\x75\xb0" + add_size(view.body.encode()),
    )


def overlay_action(view: v.MessageView, kept: Content) -> Content:
    """Return the content of a message that the action of a subscription rule has changed."""
    fields = _fields(view)
    if kept.properties:
        sent = _elements(kept.properties)
        texts = check_properties(items(kept.properties, section(kept.properties, 0)[1], len(sent)))
        left_alone = [old == new for old, new in zip(texts, _texts(view), strict=True)]
        for place, element in enumerate(sent):
            # An id that is a number stays one. The user-id, times and other fields that filters
            # cannot use stay as they were sent.
            if left_alone[place] or place not in KNOWN_FIELDS:
                fields[place] = element
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
    return attrs.evolve(kept, properties=list_of(PROPERTIES, fields), application=application)


def _elements(properties: bytes) -> list[bytes]:
    place, count = elements_of(properties, section(properties, 0)[1])
    elements = []
    for _ in range(count):
        end = end_of(properties, place)
        elements.append(properties[place:end])
        place = end
    return elements


def _texts(view: v.MessageView) -> list[str | None]:
    """Return the AMQP properties that the bus knows, and `None` in place of the others."""
    return [
        *(view.message_id, None, view.to, view.subject, view.reply_to, view.correlation_id),
        *(view.content_type, None, None, None),
        *(view.session_id, None, view.reply_to_session_id),
    ]


def _fields(view: v.MessageView) -> list[bytes]:
    # In AMQP the content type is a symbol; the other texts are strings.
    return [
        NOTHING if text is None else symbol_of(text) if place == CONTENT_TYPE else string_of(text)
        for place, text in enumerate(_texts(view))
    ]


def _application(view: v.MessageView) -> bytes:
    inside = [string_of(name) + value_of(value) for name, value in view.properties.items()]
    return map_of(APPLICATION, 2 * len(inside), b"".join(inside)) if inside else b""
