"""The table of prologues: situations that every run needs but that are rarely drawn.

Each situation needs several commands in a row, and would become rarer with every kind of command
that is added. So some sequences begin with a prologue and continue at random. The first sequences
of an exploration use each prologue in turn, so that required situations are not left to chance.
"""

from collections.abc import Iterator
from typing import Final

from busproof import vocabulary as v
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

__all__ = ["openings", "play_prologue", "themes"]

_OPENINGS: Final = (
    opening("", lambda _world, _queue: iter(())),
    # The coverage goals of every run require these.
    *queues.OPENINGS,
    *deliveries.OPENINGS,
    *topics.OPENINGS,
    *forwarding.OPENINGS,
    # These are further situations, as far as the time allows.
    *management.OPENINGS,
    *actions.OPENINGS,
    *limits.OPENINGS,
    *locks.OPENINGS,
    *time.OPENINGS,
    *room.OPENINGS,
    *partitions.OPENINGS,
)


_THEMES: Final = {
    Theme.TOPICS: v.Capability.TOPICS,
    Theme.FORWARDING: v.Capability.FORWARDING,
    Theme.SESSIONS: v.Capability.SESSIONS,
    Theme.DELIVERIES: v.Capability.PEEK_LOCK,
    Theme.TRANSACTIONS: v.Capability.TRANSACTIONS,
    Theme.COPIES: v.Capability.TOPICS,
    Theme.CONDITIONS: v.Capability.FILTERS,
}
"""The capability that each theme needs."""


def openings(scope: Scope) -> tuple[str, ...]:
    """Return the names of prologues; the empty name is as frequent as all others together."""
    there = [opening.name for opening in _OPENINGS if opening.needed <= scope.capabilities]
    return ("",) * (len(there) - 2) + tuple(there)


def play_prologue(name: str, world: World, queue: v.CreateQueue) -> Iterator[v.Command]:
    """Yield those commands of a prologue that the implementation supports.

    A sequence with a narrow theme begins at random, with two exceptions: those about copies create
    a topic with two subscriptions, and those about conditions use the prologue for filters.
    """
    if world.theme is Theme.COPIES:
        return topics.topic_alike(world, queue)
    if world.theme is Theme.CONDITIONS:
        name = "conditions"
    elif world.theme in FOCUSED:
        return iter(())
    (opening,) = [candidate for candidate in _OPENINGS if candidate.name == name]
    commands = opening.commands(world, queue)
    return (
        command
        for command in commands
        if all(need in world.scope.capabilities for need in needs(command))
    )


def themes(scope: Scope) -> tuple[Theme, ...]:
    """Return the themes in scope; queues are listed twice, so that they are drawn more often."""
    there = (theme for theme, need in _THEMES.items() if need in scope.capabilities)
    return (Theme.QUEUES, Theme.QUEUES, *there)
