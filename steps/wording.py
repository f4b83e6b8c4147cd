"""How the features word messages: `SessionId "a" and MessageId each its own`."""

import re
from typing import Final

import attrs

from busproof.model.values import MICROSECONDS, Message, MessageView
from busproof.steps.harness import Bus

__all__ = ["Properties", "properties", "seconds"]

FIELDS: Final = {
    "SessionId": "session_id",
    "PartitionKey": "partition_key",
    "MessageId": "message_id",
}
PROPERTY: Final = re.compile(r'(SessionId|PartitionKey|MessageId) (?:"([^"]*)"|each its own)')


@attrs.frozen
class Properties:
    """What messages of a step carry; `None` as a value means that each has its own."""

    values: dict[str, str | None]

    def message(self, bus: Bus) -> Message:
        """The next message of this kind."""
        message = bus.message()
        own = f"own-{message.body}"
        values = {FIELDS[name]: own if text is None else text for name, text in self.values.items()}
        return Message(body=message.body, **values)

    @property
    def session_id(self) -> str | None:
        """The session that such messages belong to, if it is one."""
        return self.values.get("SessionId")

    def fit(self, view: MessageView) -> bool:
        """Whether a received message carries these properties."""
        return all(getattr(view, FIELDS[name]) == text for name, text in self.values.items())


def properties(text: str) -> Properties:
    """Read `SessionId "a" and PartitionKey "b"`, or `without key`.

    Raises:
        ValueError: the text says something else.
    """
    if text == "without key":
        return Properties({})
    found = [PROPERTY.fullmatch(part) for part in text.removeprefix("with ").split(" and ")]
    if None in found:
        raise ValueError(f"{text!r} is not a wording of message properties: {PROPERTY.pattern}")
    values = {match[1]: match[2] for match in found if match is not None}
    if len(values) < len(found):
        raise ValueError(f"{text!r} names a property twice, and a message has each once")
    return Properties(values)


def seconds(number: int) -> int:
    """Seconds as the vocabulary counts time."""
    return number * MICROSECONDS
