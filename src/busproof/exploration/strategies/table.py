"""The table of generators: rows for every kind of command, with values from small sets.

To explore a new command, add a row to the module of its family: strategies for the values, and a
function that makes the command from them and the `World`. A test fails while a row is missing.

Drawn values must not depend on answers of the bus, because a bus may answer differently the next
time. So a row draws numbers and indexes, and the world maps them to names.
"""

from collections.abc import Iterable, Iterator
from typing import Any, Final

import attrs
from hypothesis import strategies as st

from busproof import vocabulary as v
from busproof.exploration.state import GENERAL, MOST_QUEUES, Scope, Theme, World
from busproof.exploration.strategies.batches import rows_of_batches
from busproof.exploration.strategies.guided import guided_rows
from busproof.exploration.strategies.management import rows_of_management
from busproof.exploration.strategies.messages import rows_of_messages
from busproof.exploration.strategies.outages_and_clock import rows_of_the_world
from busproof.exploration.strategies.row import QUEUES, Generator
from busproof.exploration.strategies.sessions import rows_of_sessions
from busproof.exploration.strategies.sizes import rows_of_sizes
from busproof.exploration.strategies.topic_management import rows_of_topic_management
from busproof.exploration.strategies.topics import rows_of_topics
from busproof.exploration.strategies.transactions import rows_of_transactions

__all__ = ["generators", "queue_kinds"]


def queue_kinds(scope: Scope) -> tuple[v.CreateQueue, ...]:
    """Return the supported kinds of queues, simplest first, all with the name ``q``."""
    times: dict[str, Any] = {"lock_duration": scope.lock, "duplicate_window": 2 * scope.lock}
    mortal = {"time_to_live": scope.lock, "dead_letter_expired": True}
    too_long = {"lock_duration": 600 * v.MICROSECONDS}
    kinds = [
        v.CreateQueue(queue="q", **{**times, **settings})
        for settings in (*_KINDS, mortal, too_long)
    ]
    return tuple(
        kind
        for kind in kinds
        if scope.allows(kind) and not (kind.partitioned and not scope.may_partition)
    )


_KINDS: Final[tuple[dict[str, Any], ...]] = (
    {},
    {"duplicate_detection": True},
    {"requires_session": True},
    {},
    {"requires_session": True},
    {"duplicate_detection": True},
    {"max_delivery_count": 2},
    {"requires_session": True, "duplicate_detection": True},
    {"partitioned": False, "requires_session": True},
    {"partitioned": False},
)


def _create(world: World, settings: v.CreateQueue) -> v.CreateQueue | None:
    if len(world.queues) >= MOST_QUEUES:
        return None
    if world.theme is Theme.SESSIONS:
        settings = attrs.evolve(settings, requires_session=True)
    if world.theme is Theme.DELIVERIES and not settings.duplicate_detection:
        settings = attrs.evolve(settings, max_delivery_count=2)
    world.queues.append(attrs.evolve(settings, queue=f"q{len(world.queues) + 1}"))
    return world.queues[-1]


def generators(scope: Scope) -> tuple[Generator, ...]:
    """Return the rows that an implementation supports; none if it cannot have any queue."""
    kinds = queue_kinds(scope)
    if not kinds:
        return ()
    rows = (
        *_creations(kinds),
        *rows_of_messages(scope),
        *rows_of_sizes(scope),
        *rows_of_batches(scope),
        *_restrict_to((*GENERAL, Theme.SESSIONS), rows_of_sessions()),
        *_restrict_to((*GENERAL, Theme.TRANSACTIONS), rows_of_transactions(scope)),
        *_restrict_to(GENERAL, rows_of_management(scope)),
        *rows_of_the_world(scope),
        *rows_of_topics(scope),
        *rows_of_topic_management(scope),
        *guided_rows(scope),
    )
    return tuple(row for row in rows if _is_usable(row, scope))


def _restrict_to(themes: tuple[Theme, ...], rows: Iterable[Generator]) -> Iterator[Generator]:
    """Yield rows, restricted to these themes."""
    return (attrs.evolve(row, themes=themes) for row in rows)


def _is_usable(row: Generator, scope: Scope) -> bool:
    return row.kind.capability is None or row.kind.capability in scope.capabilities


def _creations(kinds: tuple[v.CreateQueue, ...]) -> Iterator[Generator]:
    yield Generator(
        kind=v.CreateQueue,
        draws={"settings": st.sampled_from(kinds)},
        make=_create,
        into=(QUEUES,),
        when=lambda world: len(world.queues) < MOST_QUEUES,
        themes=(*GENERAL, Theme.TRANSACTIONS),
    )
