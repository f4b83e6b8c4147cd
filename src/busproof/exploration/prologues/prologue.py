"""Definition of a prologue: the first commands of an exploration sequence."""

from collections.abc import Callable, Iterator
from typing import Final

import attrs

from busproof import vocabulary as v
from busproof.exploration.state import World

__all__ = ["IN_SESSIONS", "IN_TRANSACTIONS", "Opening", "opening"]

Commands = Callable[[World, v.CreateQueue], Iterator[v.Command]]

IN_SESSIONS: Final = (v.Capability.SESSIONS, v.Capability.PEEK_LOCK)
IN_TRANSACTIONS: Final = (v.Capability.PEEK_LOCK, v.Capability.TRANSACTIONAL_SETTLEMENT)


@attrs.frozen
class Opening:
    """A prologue, and the capabilities that it needs.

    Attributes:
        name: the name of the situation; empty for a sequence that begins at random.
        needed: the capabilities that the implementation has to declare.
        commands: a function that yields the commands; it may use what the world learned from the
            last answer.
    """

    name: str
    needed: frozenset[v.Capability]
    commands: Commands


def opening(name: str, commands: Commands, *needed: v.Capability) -> Opening:
    """Return a prologue that needs these capabilities.

    A prologue with hundreds of requests needs the capability of a disposable namespace, because it
    would disturb other users.
    """
    return Opening(name, frozenset(needed), commands)
