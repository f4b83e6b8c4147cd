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
"""What follows an entity's name in that of its dead-letter queue."""
TRANSFERS: Final = f"/$transfer{DEAD_LETTERS}"
"""What follows it in that of its transfer dead-letter queue: of what it could not forward."""
DEAD_LETTER_SUFFIXES: Final = (DEAD_LETTERS, TRANSFERS)


SUBSCRIPTIONS: Final = "/subscriptions/"
"""What stands between the names of a topic and of its subscription."""


def subscription_path(topic: str, subscription: str) -> str:
    """The address of a subscription, wherever a queue's name can stand."""
    return f"{topic}{SUBSCRIPTIONS}{subscription}"


_PATHS_KNOWN: Final = 1_024
"""Of how many entities the paths are kept that every request asks for, several times over."""


def is_dead_letter_queue(name: str) -> bool:
    """Whether this is the path of a dead-letter queue."""
    return name.endswith(DEAD_LETTERS)


@lru_cache(maxsize=_PATHS_KNOWN)
def owner_of(name: str) -> str:
    """The path of the entity whose dead-letter queue this is; of another path, that path."""
    return name.removesuffix(TRANSFERS).removesuffix(DEAD_LETTERS)


@lru_cache(maxsize=_PATHS_KNOWN)
def dead_letter_queues_of(name: str) -> tuple[str, ...]:
    """The paths of an entity's dead-letter queues: its own, and that of what it cannot forward."""
    return tuple(name + suffix for suffix in DEAD_LETTER_SUFFIXES)
