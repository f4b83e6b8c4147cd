"""Paths of entities: subscriptions and dead-letter queues."""

from functools import lru_cache
from typing import Final

__all__ = [
    "DEAD_LETTERS",
    "DEAD_LETTER_SUFFIXES",
    "SUBSCRIPTIONS",
    "TRANSFERS",
    "dead_letter_queues_of",
    "is_dead_letter_queue",
    "owner_of",
    "subscription_path",
]

DEAD_LETTERS: Final = "/$deadletterqueue"
"""Suffix of an entity's path for its dead-letter queue."""
TRANSFERS: Final = f"/$transfer{DEAD_LETTERS}"
"""Suffix of an entity's path for its transfer dead-letter queue, for failed forwards."""
DEAD_LETTER_SUFFIXES: Final = (DEAD_LETTERS, TRANSFERS)


SUBSCRIPTIONS: Final = "/subscriptions/"
"""Segment between the names of a topic and a subscription."""


def subscription_path(topic: str, subscription: str) -> str:
    """Return the path of a subscription, which commands accept like a queue's name."""
    return f"{topic}{SUBSCRIPTIONS}{subscription}"


_PATHS_KNOWN: Final = 1_024
"""Number of entities whose paths are cached, because each request needs them several times."""


def is_dead_letter_queue(name: str) -> bool:
    """Return whether this is the path of a dead-letter queue."""
    return name.endswith(DEAD_LETTERS)


@lru_cache(maxsize=_PATHS_KNOWN)
def owner_of(name: str) -> str:
    """Return the path of a dead-letter queue's entity; any other path as it is."""
    return name.removesuffix(TRANSFERS).removesuffix(DEAD_LETTERS)


@lru_cache(maxsize=_PATHS_KNOWN)
def dead_letter_queues_of(name: str) -> tuple[str, ...]:
    """Return the paths of an entity's dead-letter queue and transfer dead-letter queue."""
    return tuple(name + suffix for suffix in DEAD_LETTER_SUFFIXES)
