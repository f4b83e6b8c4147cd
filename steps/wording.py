"""Parser of the features' wordings of messages: `SessionId "a" and MessageId each its own`."""

import json
import re
from collections.abc import Callable
from functools import partial
from typing import Any, Final

import attrs

from busproof import vocabulary as v
from busproof.history.render.phrases import PROPERTIES
from busproof.steps.bus import BusUnderTest

__all__ = [
    "Properties",
    "changes",
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
    |property[ ](?P<own>[-.\w]+)[ ](?:"(?P<words>[^"]*)"|(?P<value>[-.\w]+))
    |(?:property[ ])?(?P<there>[-.\w]+)[ ]of[ ]any[ ]value
    |(?P<many>\d+)[ ]propert(?:y|ies)[ ]of[ ](?P<bytes>\d+)[ ]bytes(?:[ ]each)?
    |the[ ]body[ ]"(?P<body>[^"]*)"
    |a[ ]body[ ](?P<sized>of[ ]\d+[ ](?:bytes|KB|MB|characters)|of[ ]several[ ]lines
        |larger[ ]than[ ]the[ ]tier[ ]takes)""",
    re.VERBOSE,
)
UNITS: Final = {"bytes": 1, "KB": 1024, "MB": 1024 * 1024}
TOO_LARGE: Final = {
    v.Tier.BASIC: 256 * 1024 + 1,
    v.Tier.STANDARD: 256 * 1024 + 1,
    v.Tier.PREMIUM: 100 * 1024 * 1024 + 1,
}
"""LIMIT-02, LIMIT-04: size of a body that each tier refuses, in bytes."""
LINES: Final = "a\tb\n\nc\r\nd\n"
"""A text of several lines, with a tab."""
LETTER: Final = "x"


@attrs.frozen
class Properties:
    """Properties of a step's messages; `None` stands for a unique value in each message."""

    values: dict[str, str | None]
    own: dict[str, v.PropertyValue] = attrs.field(factory=dict)
    body: str | None = None
    sized: str | None = None
    """How large the body is, in the words of the feature."""
    there: tuple[str, ...] = ()
    """Properties that a message must have when it is received, with any value."""

    def message(self, bus: BusUnderTest) -> v.Message:
        """Return a new message with these properties.

        Raises:
            ValueError: the wording leaves a value open.
        """
        if self.there:
            raise ValueError(f"a message is sent with a value of {self.there[0]}, and any is none")
        message = self._with_body(bus.message(), bus)
        unique = f"own-{message.body}"
        values: dict[str, Any] = {
            PROPERTIES[name]: unique if text is None else text for name, text in self.values.items()
        }
        key = values.get("partition_key")
        if key in bus.keys:
            values["partition_key"] = bus.keys[key]
        return attrs.evolve(message, properties=self.own, **values)

    def _with_body(self, message: v.Message, bus: BusUnderTest) -> v.Message:
        if self.body is not None:
            return attrs.evolve(message, body=self.body)
        match (self.sized or "").split():
            case ["of", "several", "lines"]:
                return attrs.evolve(message, body=LINES)
            case ["larger", *_]:
                return attrs.evolve(message, size=TOO_LARGE[bus.profile.tier])
            case ["of", number, "characters"]:
                return attrs.evolve(message, body=message.body.ljust(int(number), LETTER))
            case ["of", number, unit]:
                size = int(number) * UNITS[unit]
                return attrs.evolve(message, size=size, stands_in=unit == "MB")
        return message

    @property
    def session_id(self) -> str | None:
        """The SessionId of these messages, if the wording has one."""
        return self.values.get("SessionId")

    def fit(self, view: v.MessageView) -> bool:
        """Return whether a received message has these properties."""
        carried = all(getattr(view, PROPERTIES[name]) == text for name, text in self.values.items())
        own = all(
            view.properties.get(name) == value
            # In Python, True equals 1.
            and isinstance(view.properties.get(name), bool) is isinstance(value, bool)
            for name, value in self.own.items()
        )
        return carried and own and all(map(partial(_has, view), self.there)) and self._fits(view)

    def _fits(self, view: v.MessageView) -> bool:
        """Return whether a received message has this body, or one of this size."""
        match (self.sized or "").split():
            case ["of", "several", "lines"]:
                return view.body == LINES
            case ["of", number, "characters"]:
                return len(view.body) == int(number)
        return self.body in (None, view.body)


def _has(view: v.MessageView, name: str) -> bool:
    """Return whether a received message has a property with any value."""
    return bool(getattr(view, PROPERTIES[name])) if name in PROPERTIES else name in view.properties


def properties(text: str) -> Properties:
    """Parse `SessionId "a" and MessageId of 9 characters`, `property size 5`, or `without key`.

    A body may be described, too: `a body of 100 KB`, `a body larger than the tier takes`.

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
    bodies = [match for match in matches if match["sized"] or match["body"] is not None]
    many = [match for match in matches if match["many"]]
    there = tuple(match["there"] for match in matches if match["there"])
    named = len(values) + len(own) + len({*there})
    if named + len(bodies) + len(many) < len(parsed) or len(bodies) > 1:
        raise ValueError(f"{text!r} names a property twice, and a message has each once")
    for match in many:
        own |= {f"p{place}": LETTER * int(match["bytes"]) for place in range(int(match["many"]))}
    body = bodies[0] if bodies else None
    return Properties(values, own, body and body["body"], body and body["sized"], there)


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
    "that leaves the option out": lambda _: {"partitioned": None},
}
FORWARDS: Final = {
    "that forwards to": "forward_to",
    "that forwards its dead letters to": "forward_dead_letters_to",
}
CHANGES: Final[dict[str, dict[str, Any]]] = {
    "be partitioned": {"partitioned": True},
    "be regular": {"partitioned": False},
    "require sessions": {"requires_session": True},
    "require no sessions": {"requires_session": False},
    "detect duplicates": {"duplicate_detection": True},
    "detect no duplicates": {"duplicate_detection": False},
    "forward no more": {"forward_to": ""},
}


def queue_settings(
    queue: str, kind: str, traits: str, *, forward_to: str | None = None
) -> v.CreateQueue:
    """Parse the settings of a queue: `with locks of 5 seconds and that requires sessions`.

    Raises:
        ValueError: the text is not such a wording.
    """
    settings = {"partitioned": kind == "partitioned", "forward_to": forward_to}
    return v.CreateQueue(queue=queue, **{**settings, **_settings(traits)})


def topic_settings(topic: str, kind: str, traits: str) -> v.CreateTopic:
    """Parse the settings of a topic: `with duplicate detection`.

    Raises:
        ValueError: the text is not such a wording.
    """
    settings = {"partitioned": kind == "partitioned"}
    return v.CreateTopic(topic=topic, **{**settings, **_settings(traits)})


def subscription_settings(topic: str, name: str, traits: str) -> v.CreateSubscription:
    """Parse the settings of a subscription: `that requires sessions`.

    Raises:
        ValueError: the text is not such a wording.
    """
    return v.CreateSubscription(topic=topic, subscription=name, **_settings(traits))


def _settings(traits: str) -> dict[str, Any]:
    settings: dict[str, Any] = {}
    for trait in traits.split(" and ") if traits else ():
        words, _, name = trait.partition(' "')
        if words in FORWARDS:
            settings[FORWARDS[words]] = name.removesuffix('"')
            continue
        number = re.search(r"\d+", trait)
        wording = re.sub(r"\d+", "#", trait)
        if wording not in TRAITS:
            raise ValueError(
                f"{trait!r} is not a trait of an entity; choose one of: {', '.join(TRAITS)}"
            )
        settings |= TRAITS[wording](int(number[0]) if number else 0)
    return settings


def changes(text: str) -> dict[str, Any]:
    """Parse what an entity is updated to: `have locks of 5 seconds and to require sessions`.

    Raises:
        ValueError: the text is not such a wording.
    """
    changed: dict[str, Any] = {}
    for change in text.split(" and to "):
        verb, _, what = change.partition(" ")
        if change in CHANGES:
            changed |= CHANGES[change]
        elif what.startswith("to "):
            changed["forward_to"] = what.removeprefix("to ").strip('"')
        elif verb == "have":
            changed |= _settings(f"of {what}" if what.endswith(" GB") else f"with {what}")
        else:
            raise ValueError(f"{change!r} is not a change of an entity: {', '.join(CHANGES)}")
    return changed
