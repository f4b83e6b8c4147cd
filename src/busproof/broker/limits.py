"""Limits on each client and on all clients together."""

from collections.abc import Iterable
from typing import Final

import attrs

from busproof.errors import UsageError

__all__ = ["ALL_DEFAULT", "MEANINGS", "Limits", "limits_in"]


def _limit(default: int, least: int, most: int, meaning: str) -> int:
    field: int = attrs.field(
        default=default, metadata={"least": least, "most": most, "meaning": meaning}
    )
    return field


LARGEST: Final = 2**31 - 1


@attrs.frozen(kw_only=True)
class Limits:
    """The limits; defaults are those that the service publishes, where it does."""

    connections: int = _limit(5_000, 1, 100_000, "AMQP connections")
    links: int = _limit(5_000, 1, 100_000, "links of a connection")
    sessions: int = _limit(1_000, 1, 65_535, "AMQP sessions of a connection")
    tokens: int = _limit(5_000, 1, 100_000, "tokens in force of a connection")
    transactions: int = _limit(1_000, 1, 100_000, "transactions begun over a link and not ended")
    # As in the service's Standard tier.
    frame: int = _limit(262_144, 512, 1_048_576, "bytes of a frame")
    # What opens a link stays in memory, where 8 KB of properties take a hundred times as much.
    opening: int = _limit(
        32_768, 512, 1_048_576, "bytes of a frame that opens a connection, a session or a link"
    )
    message: int = _limit(0, 0, 104_857_600, "bytes of a message; 0: as the tier has it")
    # All of these are decided in one turn, so the limit bounds the wait of other clients.
    at_once: int = _limit(
        1_000, 1, 1_000_000, "messages, lock tokens or sequence numbers of one request"
    )
    # A batch of this size took 70 ms to parse before parsing was sliced; it is decided in one step.
    batch: int = _limit(4_500, 1, 1_000_000, "messages of one batch")
    # A copy takes some 14 microseconds, and all of a batch are made in one step.
    copies: int = _limit(
        3_500,
        1,
        1_000_000,
        "copies that are made at once of a message, a batch or a transaction",
    )
    # As in the service; correlation filters count too, as each message is matched with all.
    rules: int = _limit(2_000, 1, 1_000_000, "rules of a topic's subscriptions, default ones apart")
    subscriptions: int = _limit(2_000, 1, 100_000, "subscriptions of a topic")
    unfinished: int = _limit(
        4_194_304, 1_024, LARGEST, "bytes of a connection's incomplete messages"
    )
    unsettled: int = _limit(20_000, 1, LARGEST, "unsettled messages of a link")
    unread: int = _limit(1_048_576, 16_384, LARGEST, "bytes sent that a client has not read")
    answers: int = _limit(
        8_388_608, 1_024, LARGEST, "bytes of a connection's answers that wait for credit"
    )
    held: int = _limit(67_108_864, 1_048_576, LARGEST, "bytes kept in memory for a connection")
    held_by_all: int = _limit(
        268_435_456, 1_048_576, LARGEST, "bytes kept in memory for all connections"
    )
    # Who may only receive could otherwise fill the memory; what is sent counts for its entity.
    added: int = _limit(
        67_108_864,
        1_024,
        LARGEST,
        "bytes of all states of sessions, properties that settlements add, and rules",
    )
    idle: int = _limit(240, 0, 86_400, "seconds that a connection may be silent; 0: unlimited")
    http_connections: int = _limit(1_000, 1, 100_000, "HTTP connections")
    # A description is short; a megabyte of XML with a long namespace once took a minute.
    http_body: int = _limit(
        65_536, 1_024, 104_857_600, "bytes of the body of an administrative HTTP request"
    )
    http_idle: int = _limit(60, 1, 86_400, "seconds that an HTTP request, or its answer, may take")


ALL_DEFAULT: Final = Limits()

MEANINGS: Final = {
    field.name.replace("_", "-"): (field.default, field.metadata["meaning"])
    for field in attrs.fields(Limits)
}
"""The default and the meaning of each limit, by name."""


def limits_in(texts: Iterable[str]) -> Limits:
    """Return the limits, with some set by texts such as `NAME=NUMBER`.

    Raises:
        UsageError: a text names no limit, or its number is out of range.
    """
    numbers = dict[str, int]()
    for text in texts:
        name, _, number = text.partition("=")
        if name not in MEANINGS:
            raise UsageError(f"there is no limit {name!r}; there are {', '.join(MEANINGS)}")
        numbers[name.replace("-", "_")] = _number(name, number)
    return Limits(**numbers)


def _number(name: str, text: str) -> int:
    known = getattr(attrs.fields(Limits), name.replace("-", "_")).metadata
    # Python's `int` accepts digits of every script, and needs quadratic time for long texts.
    short = text.isascii() and text.isdecimal() and len(text) <= len(str(LARGEST))
    if not short or not known["least"] <= int(text) <= known["most"]:
        raise UsageError(
            f"the limit {name} is {text!r}; it has to be a number from {known['least']} to "
            f"{known['most']}"
        )
    return int(text)
