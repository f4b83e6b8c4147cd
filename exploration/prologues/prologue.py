"""Definition of a prologue: the first commands of an exploration sequence."""

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
    """A prologue, and the capabilities that it needs.

    Attributes:
        name: name of the situation; empty for a sequence that begins at random.
        needed: capabilities that the implementation has to declare.
        commands: yields the commands; it may use what the previous command taught the world.
    """

    name: str
    needed: frozenset[Capability]
    commands: Commands


def opening(name: str, commands: Commands, *needed: Capability) -> Opening:
    """Return a prologue that needs these capabilities.

    A prologue of hundreds of requests needs a disposable namespace, because it would get in the
    way of other users.
    """
    return Opening(name, frozenset(needed), commands)
