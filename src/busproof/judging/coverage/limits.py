"""LIMIT: sizes and lengths just within their limits."""

from typing import Final

from busproof import vocabulary as v
from busproof.judging.coverage.notes import Coverage
from busproof.model.limits import (
    LARGEST,
    LARGEST_STATE,
    LARGEST_STATE_IN_PREMIUM,
    LONGEST_KEY,
    LONGEST_NAME,
    LONGEST_SHORT_NAME,
    MOST_IN_TRANSACTION,
)

__all__ = ["of_name", "of_sent", "of_short_name", "of_state"]

KEYS: Final[dict[str, v.RuleId]] = {
    "message_id": "LIMIT-07",
    "session_id": "LIMIT-09",
    "partition_key": "LIMIT-11",
}
NEARLY: Final = 0.9
"""How close to a limit a size has to be to show that no lower one is enforced."""
KB: Final = 1000
WIDEST: Final = 4
"""Greatest number of bytes that one character takes."""
OVERHEAD: Final = 4096
"""Greatest overhead in bytes of a message beyond its body and properties, or of a state."""
LARGE_IN_PREMIUM: Final = 1000
"""LIMIT-03: size in KB that Premium always takes: the least that 1 MB can be."""


def of_sent(coverage: Coverage, message: v.Message) -> None:
    """LIMIT-01, LIMIT-03, LIMIT-05, LIMIT-07, LIMIT-09, LIMIT-11: show the limits just kept."""
    for name, rule in KEYS.items():
        value = getattr(message, name)
        coverage.show_if((value is not None and len(value) == LONGEST_KEY, rule))
    if message.size is None or message.stands_in:
        return
    premium = coverage.namespace.profile.is_premium
    most = (LARGE_IN_PREMIUM if premium else LARGEST) * KB
    if NEARLY * most <= greatest_size(message) <= most:
        coverage.show("LIMIT-03" if premium else "LIMIT-01")
    elif premium and message.size > most:
        coverage.show("LIMIT-05")


def greatest_size(message: v.Message) -> int:
    """Return the most bytes that a message can take, however its texts are encoded."""
    texts = (
        *(message.message_id, message.session_id, message.partition_key, message.correlation_id),
        *(message.to, message.reply_to, message.subject, message.reply_to_session_id),
        *(message.content_type, *message.properties, *map(str, message.properties.values())),
    )
    characters = sum(len(text) for text in texts if text is not None)
    return (message.size or 0) + WIDEST * characters + OVERHEAD


def of_transaction(coverage: Coverage, sends: int) -> None:
    """LIMIT-15: show that a transaction takes as many messages as it may."""
    coverage.show_if((sends == MOST_IN_TRANSACTION, "LIMIT-15"))


def of_state(coverage: Coverage, state: str | None) -> None:
    """LIMIT-19: show that a session's state just within the limit is taken."""
    premium = coverage.namespace.profile.is_premium
    most = (LARGEST_STATE_IN_PREMIUM if premium else LARGEST_STATE) * KB
    size = WIDEST * len(state or "") + OVERHEAD
    coverage.show_if((NEARLY * LARGEST_STATE * KB <= size <= most, "LIMIT-19"))


def of_name(coverage: Coverage, name: str) -> None:
    """LIMIT-17: show that a name of the greatest length is taken."""
    coverage.show_if((len(name) == LONGEST_NAME, "LIMIT-17"))


def of_short_name(coverage: Coverage, name: str, rule: v.RuleId) -> None:
    """TOPIC-17, FILTER-26: show that a short name of the greatest length is taken."""
    coverage.show_if((len(name) == LONGEST_SHORT_NAME, rule))
