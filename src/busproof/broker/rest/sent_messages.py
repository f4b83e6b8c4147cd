"""Messages that are sent over HTTP, as AMQP messages, which all else of the broker takes."""

import json
import math
import re
from collections.abc import Generator, Iterator, Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Any, Final

from busproof.broker.amqp.dispositions import value_of
from busproof.broker.amqp.encoding import long_of, string_of, symbol_of
from busproof.broker.amqp.incoming_links import PARSED_AT_ONCE
from busproof.broker.amqp.messages import (
    FOR_EVER_MS,
    PARTITION_KEY,
    SCHEDULED_TIME,
    STANDS_FOR,
    STANDS_IN,
)
from busproof.broker.amqp.refusals import Refusal, too_many_at_once
from busproof.broker.amqp.sections import ANNOTATIONS, APPLICATION, DATA, HEADER, PROPERTIES
from busproof.broker.amqp.writing import add_size, list_of, map_of
from busproof.broker.http_requests import Request
from busproof.broker.rest.headers import is_custom, text_of

__all__ = ["BATCH", "read_batch", "read_message"]

BATCH: Final = "application/vnd.microsoft.servicebus.json"
"""The content type of a batch."""
BROKER_PROPERTIES: Final = "brokerproperties"
TEXTS: Final = {
    "MessageId": 0,
    "To": 2,
    "Label": 3,
    "ReplyTo": 4,
    "CorrelationId": 5,
    "ContentType": 6,
    "SessionId": 10,
    "ReplyToSessionId": 12,
}
"""Broker properties that are texts, and their positions in the properties of AMQP."""
CONTENT_TYPE: Final = TEXTS["ContentType"]
EXPIRY, CREATION = 8, 9
"""Positions of the expiry and creation times."""
FIELDS: Final = 13
NULL: Final = b"\x40"
TIMESTAMP: Final = b"\x83"
LONG_CODE: Final = b"\x81"
TRUE, FALSE = b"\x41", b"\x42"
LONG: Final = 2**63
LONGEST_LIFE: Final = 2**53
"""Maximum time to live that is read, in milliseconds; a longer one is as good as none."""
SPAN: Final = re.compile(
    r"(?:(?P<days>\d{1,8})\.)?(?P<hours>\d{1,2}):(?P<minutes>\d{1,2}):(?P<seconds>\d{1,2}(?:\.\d{1,7})?)",
    re.ASCII,
)
"""A time span of .NET, such as 0.00:00:40."""
MALFORMED: Final = "com.microsoft:argument-error"
LONGEST_SHOWN: Final = 80
BLANKS: Final = re.compile(r"[ \t\r\n]*")


def read_message(request: Request, now: int) -> bytes:
    """Return the message that a request sends; `now` is in milliseconds since 1970.

    Raises:
        Refusal: its broker properties or custom properties cannot be read.
    """
    written = request.headers.get(BROKER_PROPERTIES)
    said = {} if written is None else _read_object(text_of(written), "BrokerProperties")
    custom = {name: _read_custom(value) for name, value in request.written if is_custom(name)}
    # The content type has a header of its own.
    said.pop("ContentType", None)
    content_type = request.headers.get("content-type")
    if content_type is not None:
        said["ContentType"] = content_type
    return _encode(request.body, said, custom, now)


def read_batch(body: bytes, most: int, now: int) -> Generator[bool, None, list[bytes]]:
    """Return the messages of a batch; yield now and then, so that others may have turns.

    Raises:
        Refusal: the body is not a batch, or has too many messages.
    """
    messages: list[bytes] = []
    for item in _iterate_items(body):
        if len(messages) >= most:
            raise too_many_at_once(len(messages) + 1, most)
        text = item.get("Body")
        if text is not None and not isinstance(text, str):
            raise _refuse_value("Body", text, "a string")
        said = _read_part(item, "BrokerProperties")
        custom = _read_part(item, "UserProperties")
        messages.append(_encode((text or "").encode("utf-8", "replace"), said, custom, now))
        if len(messages) % PARSED_AT_ONCE == 0:
            yield False
    return messages


def _iterate_items(body: bytes) -> Iterator[dict[str, Any]]:
    """Yield the items of an array in JSON, each of which is read only when it is asked for."""
    try:
        text = body.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise Refusal(MALFORMED, "The batch is not UTF-8.") from None
    place = _skip_blanks(text, 0)
    if text[place : place + 1] != "[":
        raise Refusal(MALFORMED, f"The body of a batch ({BATCH}) has to be a JSON array.")
    place = _skip_blanks(text, place + 1)
    if text[place : place + 1] != "]":
        while True:
            item, place = _read_item(text, place)
            if not isinstance(item, dict):
                raise _refuse_value("An item of the batch", item, "a JSON object")
            yield item
            place = _skip_blanks(text, place)
            if text[place : place + 1] != ",":
                break
            place = _skip_blanks(text, place + 1)
    if text[place : place + 1] != "]" or _skip_blanks(text, place + 1) != len(text):
        raise Refusal(MALFORMED, f"The batch is not JSON at character {place:,}.")


def _skip_blanks(text: str, place: int) -> int:
    match = BLANKS.match(text, place)
    return place if match is None else match.end()


def _read_item(text: str, place: int) -> tuple[Any, int]:
    try:
        return DECODER.raw_decode(text, place)
    except (ValueError, RecursionError):
        raise Refusal(MALFORMED, f"The batch is not JSON at character {place:,}.") from None


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


# Python reads `NaN` and `Infinity`, too, which JSON does not have.
DECODER: Final = json.JSONDecoder(parse_constant=_refuse_constant)


def _read_object(text: str, what: str) -> dict[str, Any]:
    try:
        value = DECODER.decode(text)
    except (ValueError, RecursionError):
        raise _refuse_value(what, text, "a JSON object") from None
    if not isinstance(value, dict):
        raise _refuse_value(what, text, "a JSON object")
    return value


def _read_part(item: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return an object within an item of a batch; an empty one if there is none."""
    value = item.get(name)
    if value is not None and not isinstance(value, dict):
        raise _refuse_value(name, value, "a JSON object")
    return dict(value or {})


def _read_custom(text: str) -> Any:
    """Return the value of a custom property's header: JSON, or else the text itself.

    Strings are in quotation marks, but many clients leave them out.
    """
    text = text_of(text)
    try:
        value = DECODER.decode(text)
    except (ValueError, RecursionError):
        return text
    return text if isinstance(value, dict | list) else value


def _refuse_value(what: str, value: Any, wanted: str) -> Refusal:
    shown = value if isinstance(value, str) else json.dumps(value, default=str)
    return Refusal(MALFORMED, f"{what} is {shown[:LONGEST_SHOWN]!r}; it has to be {wanted}.")


def _encode(body: bytes, said: Mapping[str, Any], custom: Mapping[str, Any], now: int) -> bytes:
    fields = [NULL] * FIELDS
    for name, place in TEXTS.items():
        if (text := _read_text(said, name)) is not None:
            fields[place] = _encode_symbol(text) if place == CONTENT_TYPE else string_of(text)
    life = _read_life(said)
    parts: list[bytes] = []
    if life is not None and life < LONGEST_LIFE:
        # A time too long for the header is the difference of the expiry and creation times.
        fields[EXPIRY] = TIMESTAMP + long_of(now + life)
        fields[CREATION] = TIMESTAMP + long_of(now)
        short = min(life, FOR_EVER_MS)
        parts.append(list_of(HEADER, [NULL, NULL, b"\x70" + short.to_bytes(4, "big")]))
    parts += [_encode_annotations(said), list_of(PROPERTIES, fields)]
    if custom:
        parts.append(_encode_application(custom))
    return b"".join((*parts, b"\x00\x53", bytes([DATA]), b"\xb0", add_size(body)))


def _encode_annotations(said: Mapping[str, Any]) -> bytes:
    count, inside = 0, b""
    if (key := _read_text(said, "PartitionKey")) is not None:
        count, inside = 2, symbol_of(PARTITION_KEY) + string_of(key)
    if (due := _read_text(said, "ScheduledEnqueueTimeUtc")) is not None:
        count += 2
        inside += symbol_of(SCHEDULED_TIME) + TIMESTAMP + long_of(_read_date(due))
    if (size := said.get(STANDS_FOR)) is not None:
        count += 4
        inside += symbol_of(STANDS_FOR) + LONG_CODE + long_of(_check_size(size))
        inside += symbol_of(STANDS_IN) + (FALSE if said.get(STANDS_IN) is False else TRUE)
    return map_of(ANNOTATIONS, count, inside) if count else b""


def _check_size(size: Any) -> int:
    """Return the size that a body stands for."""
    if not isinstance(size, int) or isinstance(size, bool) or not 0 <= size < LONG:
        raise _refuse_value(STANDS_FOR, size, "a number of bytes")
    return size


def _encode_application(custom: Mapping[str, Any]) -> bytes:
    for name, value in custom.items():
        is_simple = value is None or isinstance(value, bool | int | float | str)
        if not is_simple or (isinstance(value, int) and not -LONG <= value < LONG):
            raise _refuse_value(
                f"The property {name[:40]}", value, "a string, number or truth value"
            )
        if isinstance(value, float) and not math.isfinite(value):
            raise _refuse_value(f"The property {name[:40]}", value, "a number of 64 bits")
    inside = [_encode_string(name) + _encode_value(value) for name, value in custom.items()]
    return map_of(APPLICATION, 2 * len(inside), b"".join(inside))


def _encode_value(value: Any) -> bytes:
    return _encode_string(value) if isinstance(value, str) else value_of(value)


def _encode_string(text: str) -> bytes:
    # JSON may have halves of characters, which no other protocol can carry.
    return string_of(text.encode("utf-8", "replace").decode())


def _encode_symbol(text: str) -> bytes:
    """Encode a content type, which in AMQP is a symbol."""
    raw = text.encode("ascii", "replace")
    return b"\xb3" + add_size(raw)


def _read_text(said: Mapping[str, Any], name: str) -> str | None:
    value = said.get(name)
    if value is not None and not isinstance(value, str):
        raise _refuse_value(name, value, "a string")
    return None if value is None else value.encode("utf-8", "replace").decode()


def _read_life(said: Mapping[str, Any]) -> int | None:
    """Return the time to live in milliseconds; `None` if there is none."""
    span = _read_text(said, "TimeToLiveTimeSpan")
    if span is not None:
        match = SPAN.fullmatch(span)
        if match is None:
            raise _refuse_value("TimeToLiveTimeSpan", span, "a time span such as 0.00:00:40")
        whole = (int(match["days"] or 0) * 24 + int(match["hours"])) * 60 + int(match["minutes"])
        return round((whole * 60 + float(match["seconds"])) * 1000)
    value = said.get("TimeToLive")
    if value is None:
        return None
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not 0 <= value < math.inf:
        raise _refuse_value("TimeToLive", value, "a number of seconds, 0 or more")
    return LONGEST_LIFE if value > LONGEST_LIFE else round(value * 1000)


def _read_date(text: str) -> int:
    """Return a date of HTTP in milliseconds since 1970."""
    try:
        moment = parsedate_to_datetime(text)
        # A date of HTTP is in UTC, even without a zone.
        moment = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
        return round(moment.timestamp() * 1000)
    except (ValueError, OverflowError):
        wanted = "a date such as 'Sun, 06 Nov 1994 08:49:37 GMT'"
        raise _refuse_value("ScheduledEnqueueTimeUtc", text, wanted) from None
