"""Conversion of messages between the vocabulary and HTTP."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import attrs

from busproof import vocabulary as v
from busproof.adapters.amqp.http_connection import HttpAnswer
from busproof.adapters.amqp.messages import STANDS_FOR, STANDS_IN

__all__ = ["BATCH", "Names", "can_carry", "headers_of", "read_message", "words_in", "write_batch"]

BATCH: Final = "application/vnd.microsoft.servicebus.json"
BROKER_PROPERTIES: Final = "BrokerProperties"
TEXTS: Final = {
    "MessageId": "message_id",
    "SessionId": "session_id",
    "PartitionKey": "partition_key",
    "CorrelationId": "correlation_id",
    "To": "to",
    "ReplyTo": "reply_to",
    "Label": "subject",
    "ReplyToSessionId": "reply_to_session_id",
}
"""Broker properties, and their names in the vocabulary."""
HEADER: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
OF_HTTP: Final = re.compile(
    r"accept.*|access-control-.*|age|allow|authorization|brokerproperties|cache-control|"
    r"connection|content-.*|cookie|date|etag|expect|expires|from|host|if-.*|keep-alive|"
    r"last-modified|link|location|max-forwards|origin|pragma|proxy-.*|range|referer|"
    r"retry-after|sec-.*|server|set-cookie|strict-transport-security|trailer|"
    r"transfer-encoding|upgrade.*|user-agent|vary|via|warning|www-authenticate|x-.*",
    re.IGNORECASE,
)
"""Headers that a server or a proxy may take for its own."""
RULE_NAME: Final = "RuleName"
"""The property that a copy has if the action of a subscription rule has changed it."""
WORD: Final = re.compile(r"""\[([^\]]+)\]|"([^"]+)"|([A-Za-z_]\w*)""")
"""What may be the name of a property in the action of a subscription rule."""


@attrs.define
class Names:
    """What the messages of a scenario may have, so that an answer's own headers are none of them.

    Attributes:
        properties: custom properties, by their names in lower case: HTTP may change the case.
        content_types: content types.
        whole: properties that were sent as a whole number with a fraction, such as 2.0, which JSON
            may write as 2.
    """

    properties: dict[str, str] = attrs.field(factory=lambda: {RULE_NAME.lower(): RULE_NAME})
    content_types: set[str] = attrs.field(factory=set)
    whole: set[tuple[str, float]] = attrs.field(factory=set)

    def note(self, message: v.Message) -> None:
        """Note what a message has."""
        if message.content_type is not None:
            self.content_types.add(message.content_type)
        for name, value in message.properties.items():
            self.properties[name.lower()] = name
            if isinstance(value, float) and value.is_integer():
                self.whole.add((name, value))

    def note_action(self, action: str) -> None:
        """Note what the action of a subscription rule may give messages."""
        for word in words_in(action):
            self.properties.setdefault(word.lower(), word)
        self.content_types.update(re.findall(r"'([^']*)'", action))


def words_in(action: str) -> list[str]:
    """Return whatever may be the name of a property in the action of a subscription rule."""
    return ["".join(groups) for groups in WORD.findall(action)]


def can_carry(names: Iterable[str]) -> bool:
    """Return whether custom properties of these names can be headers."""
    return all(HEADER.fullmatch(name) and not OF_HTTP.fullmatch(name) for name in names)


def properties_of(message: v.Message) -> dict[str, Any]:
    """Return the broker properties of a message to send."""
    texts = {theirs: getattr(message, ours) for theirs, ours in TEXTS.items()}
    said: dict[str, Any] = {name: text for name, text in texts.items() if text is not None}
    if message.size is not None:
        # Only our own broker, whose namespace may be filled, is sent messages with a size.
        said |= {STANDS_FOR: message.size, STANDS_IN: message.stands_in}
    if message.time_to_live is not None:
        said["TimeToLive"] = message.time_to_live / v.MICROSECONDS
    return said


def headers_of(message: v.Message) -> dict[str, str]:
    """Return the headers of a request that sends a message."""
    headers = {name: json.dumps(value) for name, value in message.properties.items()}
    if said := properties_of(message):
        headers[BROKER_PROPERTIES] = json.dumps(said)
    if message.content_type is not None:
        headers["Content-Type"] = message.content_type
    return headers


def write_batch(messages: tuple[v.Message, ...]) -> bytes:
    """Return the body of a request that sends several messages."""
    items = []
    for message in messages:
        said = properties_of(message)
        # The reference does not name it, so a bus that ignores it declares no batches.
        if message.content_type is not None:
            said["ContentType"] = message.content_type
        properties = dict(message.properties)
        items.append({"Body": message.body, "BrokerProperties": said, "UserProperties": properties})
    return json.dumps(items).encode()


def read_message(answer: HttpAnswer, names: Names, *, locked: bool) -> v.MessageView:
    """Return the message in an answer; `locked` if it should be locked."""
    said = _read_broker_properties(answer)
    texts: dict[str, Any] = {ours: _read_text(said.get(theirs)) for theirs, ours in TEXTS.items()}
    content_type = answer.header("Content-Type")
    return v.MessageView(
        body=answer.body.decode("utf-8", "replace"),
        **texts,
        content_type=content_type if content_type in names.content_types else None,
        properties=dict(_read_custom(answer, names)),
        size=_read_number(said.get(STANDS_FOR)),
        sequence_number=_read_number(said.get("SequenceNumber")),
        delivery_count=_read_number(said.get("DeliveryCount")) if locked else None,
        lock_token=_read_text(said.get("LockToken")) if locked else None,
    )


def _read_broker_properties(answer: HttpAnswer) -> Mapping[str, Any]:
    try:
        said = json.loads(answer.header(BROKER_PROPERTIES) or "{}")
    except ValueError:
        return {}
    return said if isinstance(said, dict) else {}


def _read_custom(answer: HttpAnswer, names: Names) -> Iterator[tuple[str, Any]]:
    for header, text in answer.headers:
        name = names.properties.get(header.lower())
        if name is None or OF_HTTP.fullmatch(header):
            continue
        try:
            value = json.loads(text)
        except ValueError:
            value = text
        if isinstance(value, int) and (name, value) in names.whole and value is not True:
            value = float(value)
        yield name, value


def _read_text(value: Any) -> str | None:
    return None if value is None else str(value)


def _read_number(value: Any) -> int | None:
    return value if isinstance(value, int) else None
