"""Generators for management of queues."""

from collections.abc import Callable, Iterator
from typing import Any

import attrs
from hypothesis import strategies as st

from busproof.exploration.state import (
    MOST_QUEUES,
    Scope,
    World,
)
from busproof.exploration.strategies.row import QUEUES, Generator, Made
from busproof.vocabulary.capabilities import Capability
from busproof.vocabulary.commands import (
    Command,
    CreateQueue,
    DeleteQueue,
    GetQueue,
    ListQueues,
    RestoreQueue,
    UpdateQueue,
)
from busproof.vocabulary.values import Tier

__all__ = ["rows_of_management"]


def rows_of_management(scope: Scope) -> Iterator[Generator]:
    """Yield the rows that get, list, update, delete, and re-create queues."""
    one = {"queue": QUEUES}
    yield Generator(kind=GetQueue, draws=one, make=_on_queue(scope, GetQueue))
    yield Generator(kind=ListQueues, draws={}, make=lambda _world: ListQueues())
    yield Generator(
        kind=UpdateQueue,
        draws={
            **one,
            "partitioned": st.sampled_from((None, None, True, False)),
            "requires_session": _fixed(scope, Capability.SESSIONS),
            "duplicate_detection": _fixed(scope, Capability.DUPLICATE_DETECTION),
            "lock_duration": st.sampled_from((None, scope.lock // 2, scope.lock)),
            "max_delivery_count": st.sampled_from((None, 2, 10)),
            "time_to_live": st.sampled_from((None, None, *_lives(scope))),
        },
        make=_on_queue(scope, UpdateQueue),
    )
    yield Generator(
        kind=DeleteQueue,
        draws={**one, "meant": st.sampled_from((False, False, True))},
        make=_deleted,
    )
    if Capability.MANAGEMENT in scope.capabilities:
        yield Generator(
            kind=CreateQueue,
            draws={**one, "partitioned": st.sampled_from((None, None, True, False))},
            make=lambda _world, queue, partitioned: _created_again(scope, queue, partitioned),
            name="createagain",
        )
    yield Generator(
        kind=RestoreQueue,
        draws={},
        make=_restored,
        into=(QUEUES,),
        when=lambda world: world.scope.tier is Tier.PREMIUM,
    )


def _fixed(scope: Scope, needed: Capability) -> st.SearchStrategy[bool | None]:
    """Draw the update of a setting that is fixed at creation; most draws leave it out."""
    values = (True, False) if needed in scope.capabilities else ()
    return st.sampled_from((None,) * 6 + values)


def _lives(scope: Scope) -> tuple[int, ...]:
    """Return times to live for updates, if the implementation supports them."""
    mortal = Capability.TIME_TO_LIVE in scope.capabilities
    return (scope.lock // 4, scope.lock) if mortal else ()


def _on_queue(scope: Scope, kind: Callable[..., Command]) -> Made:
    """Return a function for a request about an entity, or `None` if it is not supported for it."""

    def made(_world: World, queue: CreateQueue, **drawn: Any) -> Command | None:
        command = kind(queue=queue.queue, **drawn)
        return command if scope.allows(command) else None

    return made


def _deleted(world: World, queue: CreateQueue, *, meant: bool) -> DeleteQueue | None:
    command = DeleteQueue(queue=queue.queue)
    return command if meant and world.scope.allows(command) else None


def _created_again(
    scope: Scope, queue: CreateQueue, partitioned: bool | None
) -> CreateQueue | None:
    """Re-create a queue, unchanged or with the other partitioning; `None` for a subscription."""
    if "/subscriptions/" in queue.queue:
        return None
    again = queue if partitioned is None else attrs.evolve(queue, partitioned=partitioned)
    unwanted = again.partitioned and not scope.may_partition
    return again if scope.allows(again) and not unwanted else None


def _restored(world: World) -> RestoreQueue | None:
    if len(world.queues) >= MOST_QUEUES:
        return None
    world.queues.append(CreateQueue(queue=f"q{len(world.queues) + 1}"))
    return RestoreQueue(queue=world.queues[-1].queue)
