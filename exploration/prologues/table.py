"""How sequences of an exploration may begin: by what is needed in each run, and is rarely drawn.

Each of several situations needs some commands in a row. Their frequency would fall with each kind
of command that is added; so some sequences begin with one of them, and go on at random. The first
sequences of an exploration go through all of them, for what has to happen is not left to chance.
"""

from collections.abc import Iterator
from typing import Final

from busproof.exploration.prologues import (
    actions,
    deliveries,
    forwarding,
    limits,
    locks,
    management,
    partitions,
    queues,
    time,
    topics,
)
from busproof.exploration.prologues import sizes as room
from busproof.exploration.prologues.prologue import opening
from busproof.exploration.state import FOCUSED, Scope, Theme, World
from busproof.judging.required_capabilities import needs
from busproof.vocabulary.capabilities import Capability
from busproof.vocabulary.commands import Command, CreateQueue

__all__ = ["begun_with", "openings", "themes"]

_OPENINGS: Final = (
    opening("", lambda _world, _queue: iter(())),
    # By which every run comes to its goals.
    *queues.OPENINGS,
    *deliveries.OPENINGS,
    *topics.OPENINGS,
    *forwarding.OPENINGS,
    # What a run has time for besides.
    *management.OPENINGS,
    *actions.OPENINGS,
    *limits.OPENINGS,
    *locks.OPENINGS,
    *time.OPENINGS,
    *room.OPENINGS,
    *partitions.OPENINGS,
)


_THEMES: Final = {
    Theme.TOPICS: Capability.TOPICS,
    Theme.FORWARDING: Capability.FORWARDING,
    Theme.SESSIONS: Capability.SESSIONS,
    Theme.DELIVERIES: Capability.PEEK_LOCK,
    Theme.TRANSACTIONS: Capability.TRANSACTIONS,
    Theme.COPIES: Capability.TOPICS,
    Theme.CONDITIONS: Capability.FILTERS,
}
"""What an implementation has to declare for a sequence to be about this."""


def openings(scope: Scope) -> tuple[str, ...]:
    """The names of the ways to begin; that at random comes first, and as often as all others."""
    there = [each.name for each in _OPENINGS if each.needed <= scope.capabilities]
    return ("",) * (len(there) - 2) + tuple(there)


def begun_with(name: str, world: World, queue: CreateQueue) -> Iterator[Command]:
    """The commands of an opening that an implementation can be asked.

    A sequence about one matter begins at random, one about copies with the subscriptions for them,
    one about conditions with all that is to be decided on.
    """
    if world.theme is Theme.COPIES:
        return topics.topic_alike(world, queue)
    if world.theme is Theme.CONDITIONS:
        name = "conditions"
    elif world.theme in FOCUSED:
        return iter(())
    (found,) = [each for each in _OPENINGS if each.name == name]
    asked = found.commands(world, queue)
    return (each for each in asked if all(need in world.scope.capabilities for need in needs(each)))


def themes(scope: Scope) -> tuple[Theme, ...]:
    """What a sequence may be about, most often anything about queues."""
    there = (theme for theme, need in _THEMES.items() if need in scope.capabilities)
    return (Theme.QUEUES, Theme.QUEUES, *there)
