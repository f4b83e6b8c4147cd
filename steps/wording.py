"""How the features word messages: `SessionId "a" and MessageId each its own`."""

import re
from collections.abc import Callable
from typing import Any, Final

import attrs

from busproof.model.commands import CreateQueue
from busproof.model.values import MICROSECONDS, Message, MessageView
from busproof.steps.harness import Bus

__all__ = ["Properties", "properties", "queue_settings", "seconds"]

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


TRAITS: Final[dict[str, Callable[[int], dict[str, Any]]]] = {
    "without sessions": lambda _: {},
    "that requires sessions": lambda _: {"requires_session": True},
    "with duplicate detection": lambda _: {"duplicate_detection": True},
    "with duplicate detection over # seconds": lambda number: {
        "duplicate_detection": True,
        "duplicate_window": seconds(number),
    },
    "with # deliveries": lambda number: {"max_delivery_count": number},
    "with locks of # minutes": lambda number: {"lock_duration": seconds(60 * number)},
    "with locks of # seconds": lambda number: {"lock_duration": seconds(number)},
}


def queue_settings(queue: str, kind: str, traits: str) -> CreateQueue:
    """Read what a queue is created with: `with locks of 5 seconds and that requires sessions`.

    Raises:
        ValueError: the text says something else.
    """
    settings: dict[str, Any] = {}
    for trait in traits.split(" and ") if traits else ():
        number = re.search(r"\d+", trait)
        wording = re.sub(r"\d+", "#", trait)
        if wording not in TRAITS:
            raise ValueError(f"{trait!r} is no trait of a queue; there are: {', '.join(TRAITS)}")
        settings |= TRAITS[wording](int(number[0]) if number else 0)
    return CreateQueue(queue=queue, partitioned=kind == "partitioned", **settings)
