"""Parts of sentences: names, quotes, times, counts.

Texts that come from a bus are quoted and escaped, so that they never begin a new line.
"""

import re
from collections.abc import Iterator
from typing import Final

from busproof import vocabulary as v

__all__ = [
    "PARTITIONED",
    "PROPERTIES",
    "bracket_detail",
    "one_line",
    "plain_number",
    "properties",
    "quote_text",
    "seconds",
    "session_of",
    "show_count",
    "show_name",
]

_PLAIN: Final = re.compile(r"[A-Za-z0-9_.:/+$-]{1,64}")
"""Pattern of names that need no quotes."""


PROPERTIES: Final = {
    "MessageId": "message_id",
    "SessionId": "session_id",
    "PartitionKey": "partition_key",
    "CorrelationId": "correlation_id",
    "To": "to",
    "ReplyTo": "reply_to",
    "Label": "subject",
    "ReplyToSessionId": "reply_to_session_id",
    "ContentType": "content_type",
}
"""Properties that a sender can set, with their names in the documents."""


PARTITIONED: Final = {True: "partitioned", False: "not partitioned", None: "partitioned or not"}


_LONGEST: Final = 80


_HEAD: Final = 48


_TAIL: Final = 16


def seconds(duration: int) -> str:
    """Return a number of microseconds as seconds, without rounding."""
    whole, rest = divmod(abs(duration), v.MICROSECONDS)
    fraction = f".{rest:06d}".rstrip("0") if rest else ""
    return f"{'-' if duration < 0 else ''}{whole}{fraction} s"


def one_line(text: str) -> str:
    """Return the text on one line, with unprintable characters escaped."""
    spaced = " ".join(text.split())
    return "".join(
        character if character.isprintable() else ascii(character)[1:-1] for character in spaced
    )


def show_name(text: str) -> str:
    """Return a name, in quotes unless it is a plain one."""
    return text if _PLAIN.fullmatch(text) else quote_text(text)


def quote_text(text: str) -> str:
    """Return a text in quotes; of a long text, both ends and the length."""
    if len(text) <= _LONGEST:
        return repr(text)
    return f"{text[:_HEAD] + '…' + text[-_TAIL:]!r} of {len(text)} characters"


def show_count(count: int, noun: str) -> str:
    """Return a count with its noun, such as `2 messages`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def bracket_detail(detail: str) -> str:
    """Return a detail in brackets; an empty text without a detail."""
    return f" ({one_line(detail)})" if detail else ""


def session_of(queue: str, session: str) -> str:
    """Return the text for a session with its entity."""
    return f"session {quote_text(session)} of {show_name(queue)}"


def plain_number(number: int) -> str:
    """Return the text of a sequence number, with its partition unless that is 0."""
    partition, within = divmod(number, 1 << v.SEQUENCE_BITS)
    return f"{within} of partition {partition}" if partition > 0 else str(number)


def properties(message: v.Message | v.MessageView | v.CorrelationFilter) -> Iterator[str]:
    """Yield the texts of the properties that are set."""
    for name, field in PROPERTIES.items():
        value = getattr(message, field, None)
        if value is not None:
            yield f"{name} {quote_text(value)}"
    for name, own in sorted(message.properties.items()):
        yield f"property {show_name(name)} {quote_text(own) if isinstance(own, str) else repr(own)}"
    life = getattr(message, "time_to_live", None)
    if life is not None:
        yield f"time to live {seconds(life)}"
