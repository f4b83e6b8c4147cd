"""Properties that no rule reads, of every type and long ones, added to messages that have none.

A bus may change a value only in certain places: in a batch, in a dead-letter queue, when it
forwards. So messages carry such values wherever they go, and the judge compares them wherever a
message is seen.
"""

import zlib
from collections.abc import Mapping
from typing import Any, Final

import attrs

from busproof import vocabulary as v
from busproof.judging.required_capabilities import FILTERED

__all__ = ["CARGO", "LONG_CARGO", "laden", "unusual"]

CARGO: Final[Mapping[str, Any]] = {
    "correlation_id": "c",
    "to": "x",
    "reply_to": "r",
    "subject": "ñ",
    "reply_to_session_id": "s",
    "content_type": "text/plain",
    "properties": {
        "Whole": 2147483648,
        "least": -1,
        "zero": 0,
        "part": 2.5,
        "yes": True,
        "no": False,
        "none": "",
        "Text": " żółć  日本 ",
    },
}
"""Values that any bus returns unchanged, even through JSON; no generated filter names them."""
LONG_CARGO: Final[Mapping[str, Any]] = {
    "correlation_id": "Correlation " * 20,
    "to": "To " * 40,
    "reply_to": "Reply/to " * 20,
    "subject": "Subject 日本 " * 20,
    "reply_to_session_id": "Session " * 16,
    "content_type": "Text/Plain; of=many-parts",
    "properties": {
        "greatest": 9007199254740991,
        "Fraction": 0.1,
        "small": -1e-9,
        "long": "long " * 100,
    },
}
"""Long texts with blanks at the end, and numbers with as many digits as JSON keeps."""
EVERY: Final = 3
"""One message in so many has the long cargo."""


def laden(message: v.Message, *, is_filtered: bool) -> v.Message:
    """Return a message with these values added, unless it has properties of its own.

    Args:
        message: the message that a sequence is about to send.
        is_filtered: whether filters may read its headers, which must then stay unchanged.
    """
    if message.properties or any(getattr(message, name) is not None for name in FILTERED):
        return message
    is_long = zlib.crc32(message.body.encode(errors="surrogatepass")) % EVERY == 0
    cargo = LONG_CARGO if is_long else CARGO
    added = {"properties": cargo["properties"]} if is_filtered else cargo
    return attrs.evolve(message, **added)


SETTINGS: Final[Mapping[str, Any]] = {
    "duplicate_window": 7 * 60 * v.MICROSECONDS,
    "max_delivery_count": 7,
}
"""Settings other than the defaults, so that a later change to a default is seen."""


def unusual(command: v.CreateQueue | v.CreateTopic | v.CreateSubscription) -> v.Command:
    """Return a creation without defaults for these settings."""
    fields = {field.name: field for field in attrs.fields(type(command))}
    changed = {
        name: setting
        for name, setting in SETTINGS.items()
        if name in fields and getattr(command, name) == fields[name].default
    }
    created: v.Command = attrs.evolve(command, **changed)
    return created
