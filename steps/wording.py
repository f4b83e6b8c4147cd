"""Parser of the features' wordings of messages: `SessionId "a" and MessageId each its own`."""

import json
import re
from collections.abc import Callable
from typing import Any, Final

import attrs

from busproof import vocabulary as v
from busproof.history.render.phrases import PROPERTIES
from busproof.steps.bus import Bus

__all__ = [
    "Properties",
    "properties",
    "queue_settings",
    "seconds",
    "subscription_settings",
    "topic_settings",
    "wanted",
]

PROPERTY: Final = re.compile(
    rf"""(?P<name>{"|".join(PROPERTIES)})[ ](?:"(?P<text>[^"]*)"|each[ ]its[ ]own
        |of[ ](?P<length>\d+)[ ]characters)
    |property[ ](?P<own>[-.\w]+)[ ](?:"(?P<words>[^"]*)"|(?P<value>[-.\w]+))""",
    re.VERBOSE,
)


@attrs.frozen
class Properties:
    """Properties of a step's messages; `None` stands for a unique value in each message."""

    values: dict[str, str | None]
    own: dict[str, v.PropertyValue] = attrs.field(factory=dict)

    def message(self, bus: Bus) -> v.Message:
        """Return a new message with these properties."""
        message = bus.message()
        unique = f"own-{message.body}"
        values: dict[str, Any] = {
            PROPERTIES[name]: unique if text is None else text for name, text in self.values.items()
        }
        return attrs.evolve(message, properties=self.own, **values)

    @property
    def session_id(self) -> str | None:
        """The SessionId of these messages, if the wording has one."""
        return self.values.get("SessionId")

    def fit(self, view: v.MessageView) -> bool:
        """Return whether a received message has these properties."""
        carried = all(getattr(view, PROPERTIES[name]) == text for name, text in self.values.items())
        return carried and all(
            view.properties.get(name) == value
            # In Python, True equals 1.
            and isinstance(view.properties.get(name), bool) is isinstance(value, bool)
            for name, value in self.own.items()
        )


def properties(text: str) -> Properties:
    """Parse `SessionId "a" and MessageId of 9 characters`, `property size 5`, or `without key`.

    Raises:
        ValueError: the text is not such a wording.
    """
    if text == "without key":
        return Properties({})
    parsed = [PROPERTY.fullmatch(part) for part in text.removeprefix("with ").split(" and ")]
    if None in parsed:
        raise ValueError(f"{text!r} is not a wording of message properties: {PROPERTY.pattern}")
    matches = [match for match in parsed if match is not None]
    values = {match["name"]: _text(match) for match in matches if match["name"]}
    own = {match["own"]: _value(match) for match in matches if match["own"]}
    if len(values) + len(own) < len(parsed):
        raise ValueError(f"{text!r} names a property twice, and a message has each once")
    return Properties(values, own)


def _text(match: re.Match[str]) -> str | None:
    """Return the quoted text, or a text of the given length without repetition."""
    if match["length"] is None:
        return match["text"]
    length = int(match["length"])
    return "".join(f"{place:03}-" for place in range(length))[:length]


def _value(match: re.Match[str]) -> v.PropertyValue:
    """Return a property's value, which is written as in JSON."""
    if match["value"] is None:
        return str(match["words"])
    value: v.PropertyValue = json.loads(match["value"])
    return value


def wanted(text: str) -> v.Filter:
    """Parse `everything`, `nothing`, `messages with Label "x"` or `messages where color = 'red'`.

    Raises:
        ValueError: the text is not such a wording.
    """
    if text in ("everything", "nothing"):
        return v.TrueFilter() if text == "everything" else v.FalseFilter()
    kind, _, rest = text.removeprefix("messages ").partition(" ")
    if kind == "where":
        return v.SqlFilter(expression=rest)
    carried = properties(rest)
    values: dict[str, Any] = {PROPERTIES[name]: text for name, text in carried.values.items()}
    return v.CorrelationFilter(properties=carried.own, **values)


def seconds(number: int) -> int:
    """Convert seconds to microseconds."""
    return number * v.MICROSECONDS


TRAITS: Final[dict[str, Callable[[int], dict[str, Any]]]] = {
    "without sessions": lambda _: {},
    "that requires sessions": lambda _: {"requires_session": True},
    "with duplicate detection": lambda _: {"duplicate_detection": True},
    "with duplicate detection over # seconds": lambda number: {
        "duplicate_detection": True,
        "duplicate_window": seconds(number),
    },
    "of # GB": lambda number: {"max_size": number},
    "with # deliveries": lambda number: {"max_delivery_count": number},
    "with locks of # minutes": lambda number: {"lock_duration": seconds(60 * number)},
    "with locks of # seconds": lambda number: {"lock_duration": seconds(number)},
    "with a time to live of # seconds": lambda number: {"time_to_live": seconds(number)},
    "that dead-letters expired messages": lambda _: {"dead_letter_expired": True},
}


def queue_settings(
    queue: str, kind: str, traits: str, *, forward_to: str | None = None
) -> v.CreateQueue:
    """Parse the settings of a queue: `with locks of 5 seconds and that requires sessions`.

    Raises:
        ValueError: the text is not such a wording.
    """
    settings = _settings(traits)
    partitioned = kind == "partitioned"
    return v.CreateQueue(queue=queue, partitioned=partitioned, forward_to=forward_to, **settings)


def topic_settings(topic: str, kind: str, traits: str) -> v.CreateTopic:
    """Parse the settings of a topic: `with duplicate detection`.

    Raises:
        ValueError: the text is not such a wording.
    """
    return v.CreateTopic(topic=topic, partitioned=kind == "partitioned", **_settings(traits))


def subscription_settings(topic: str, name: str, traits: str) -> v.CreateSubscription:
    """Parse the settings of a subscription: `that requires sessions`.

    Raises:
        ValueError: the text is not such a wording.
    """
    return v.CreateSubscription(topic=topic, subscription=name, **_settings(traits))


def _settings(traits: str) -> dict[str, Any]:
    settings: dict[str, Any] = {}
    for trait in traits.split(" and ") if traits else ():
        number = re.search(r"\d+", trait)
        wording = re.sub(r"\d+", "#", trait)
        if wording not in TRAITS:
            raise ValueError(
                f"{trait!r} is not a trait of an entity; choose one of: {', '.join(TRAITS)}"
            )
        settings |= TRAITS[wording](int(number[0]) if number else 0)
    return settings
