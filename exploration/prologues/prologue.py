"""What a way to begin a sequence of an exploration is."""

from collections.abc import Callable, Iterator
from typing import Final

import attrs

from busproof.exploration.state import World
from busproof.vocabulary.capabilities import Capability
from busproof.vocabulary.commands import Command, CreateQueue

__all__ = ["IN_SESSIONS", "IN_TRANSACTIONS", "Opening", "opening"]

Commands = Callable[[World, CreateQueue], Iterator[Command]]

IN_SESSIONS: Final = (Capability.SESSIONS, Capability.PEEK_LOCK)
IN_TRANSACTIONS: Final = (Capability.PEEK_LOCK, Capability.TRANSACTIONAL_SETTLEMENT)


@attrs.frozen
class Opening:
    """A way to begin, as far as an implementation has what it needs.

    Attributes:
        name: of the situation that it comes to; empty if the sequence begins at random.
        needed: what an implementation has to declare.
        commands: what is asked; it may look at what the world has learned from its last command.
    """

    name: str
    needed: frozenset[Capability]
    commands: Commands


def opening(name: str, commands: Commands, *needed: Capability) -> Opening:
    """An opening that needs these capabilities.

    What takes hundreds of requests needs a disposable namespace: one that nobody else has a use
    for.
    """
    return Opening(name, frozenset(needed), commands)
