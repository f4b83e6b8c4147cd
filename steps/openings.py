"""How sequences of an exploration may begin: by what is needed in each run, and is rarely drawn.

Each of several situations needs some commands in a row. Their frequency would fall with each kind
of command that is added; so some sequences begin with one of them, and go on at random. The first
sequences of an exploration go through all of them, for what has to happen is not left to chance.
"""

from collections.abc import Callable, Iterator
from typing import Final

import attrs

from busproof.adapters.base import Capability
from busproof.model.commands import Command, CreateQueue
from busproof.steps import openings_of_actions as actions
from busproof.steps import openings_of_deliveries as deliveries
from busproof.steps import openings_of_forwarding as forwarding
from busproof.steps import openings_of_limits as limits
from busproof.steps import openings_of_queues as queues
from busproof.steps import openings_of_room as room
from busproof.steps import openings_of_topics as topics
from busproof.steps.needing import needs
from busproof.steps.worlds import FOCUSED, Scope, Theme, World

__all__ = ["Opening", "begun_with", "openings", "themes"]

Commands = Callable[[World, CreateQueue], Iterator[Command]]


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


_IN_SESSIONS: Final = frozenset({Capability.SESSIONS, Capability.PEEK_LOCK})
_WITHIN: Final = frozenset({Capability.PEEK_LOCK, Capability.TRANSACTIONAL_SETTLEMENT})
_MANY: Final = frozenset({Capability.DISPOSABLE_NAMESPACE})
"""What takes hundreds of requests is for namespaces that nobody else has a use for."""

_ROOM: Final = frozenset({Capability.DISPOSABLE_NAMESPACE, Capability.REGULAR_QUEUES})

_OF_TOPICS: Final = frozenset({Capability.TOPICS})
_OF_MANAGEMENT: Final = frozenset({Capability.TOPICS, Capability.TOPIC_MANAGEMENT})

_OPENINGS: Final = (
    Opening("", frozenset(), lambda _world, _queue: iter(())),
    Opening("outage", frozenset({Capability.OUTAGES}), queues.outage),
    Opening("around", frozenset({Capability.OUTAGES}), queues.around),
    Opening("transaction", frozenset({Capability.TRANSACTIONS}), queues.two_keys),
    Opening("in line", frozenset({Capability.PEEK_LOCK}), queues.in_line),
    Opening("lock", frozenset({Capability.PEEK_LOCK}), deliveries.lost_lock),
    Opening("copies", frozenset({Capability.DUPLICATE_DETECTION}), deliveries.copies),
    Opening("dead letters", frozenset({Capability.DEAD_LETTER}), deliveries.dead_letters),
    Opening("deferral", frozenset({Capability.DEFERRAL}), deliveries.deferral),
    Opening(
        "deferral in session", _IN_SESSIONS | {Capability.DEFERRAL}, deliveries.deferral_in_session
    ),
    Opening("renewals", frozenset({Capability.LOCK_RENEWAL}), deliveries.renewals),
    Opening("session state", _IN_SESSIONS | {Capability.SESSION_STATE}, deliveries.session_state),
    Opening("copied", frozenset({Capability.TOPICS, Capability.PEEK_LOCK}), topics.copied),
    Opening("scheduled", frozenset({Capability.SCHEDULING}), deliveries.scheduled),
    Opening(
        "scheduled in outage",
        frozenset({Capability.SCHEDULING, Capability.OUTAGES}),
        deliveries.scheduled_in_outage,
    ),
    Opening("full", frozenset({Capability.DISPOSABLE_NAMESPACE}), queues.full),
    Opening(
        "crowd", frozenset({Capability.DISPOSABLE_NAMESPACE, Capability.MANAGEMENT}), queues.crowd
    ),
    Opening("chain", frozenset({Capability.FORWARDING}), forwarding.chain),
    Opening("sources", frozenset({Capability.FORWARDING}), forwarding.sources),
    Opening("onward", frozenset({Capability.FORWARDING}), forwarding.onward),
    Opening(
        "unique end",
        frozenset({Capability.FORWARDING, Capability.DUPLICATE_DETECTION}),
        forwarding.unique_end,
    ),
    Opening(
        "buried",
        frozenset({Capability.DEAD_LETTER_FORWARDING, Capability.PEEK_LOCK}),
        forwarding.buried,
    ),
    Opening("expiry", frozenset({Capability.TIME_TO_LIVE}), deliveries.expiry),
    Opening(
        "subscriptions", frozenset({Capability.TOPICS, Capability.FILTERS}), topics.subscriptions
    ),
    Opening("conditions", frozenset({Capability.TOPICS, Capability.FILTERS}), topics.conditions),
    Opening("large messages", frozenset({Capability.DISPOSABLE_NAMESPACE}), limits.large_messages),
    Opening(
        "large, later or together",
        frozenset({Capability.LIMITS, Capability.DISPOSABLE_NAMESPACE}),
        limits.later_or_together,
    ),
    Opening("large batches", frozenset({Capability.BATCHES}), limits.large_batches),
    Opening(
        "long transactions",
        frozenset({Capability.TRANSACTIONS, Capability.BATCHES}),
        limits.long_transactions,
    ),
    Opening("long names", frozenset({Capability.LIMITS}), limits.long_names),
    Opening("large states", _IN_SESSIONS | {Capability.SESSION_STATE}, limits.large_states),
    Opening(
        "copies at once",
        frozenset({Capability.BATCHES, Capability.DUPLICATE_DETECTION}),
        room.copies_at_once,
    ),
    Opening("sizes", frozenset({Capability.MANAGEMENT}), room.sizes),
    Opening(
        "from before",
        frozenset({Capability.LEGACY_ENTITIES, Capability.MANAGEMENT}),
        room.from_before,
    ),
    Opening("full whole", _ROOM | {Capability.PEEK_LOCK}, room.full_whole),
    Opening("set aside", _ROOM | {Capability.PEEK_LOCK}, room.set_aside),
    Opening(
        "full of a batch",
        frozenset({Capability.DISPOSABLE_NAMESPACE, Capability.BATCHES}),
        room.full_of_a_batch,
    ),
    Opening(
        "crowd of topics",
        frozenset({Capability.DISPOSABLE_NAMESPACE, Capability.TOPICS}),
        room.crowd_of_topics,
    ),
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
