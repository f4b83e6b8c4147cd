"""Generators of commands that manage queues."""

from collections.abc import Callable, Iterator
from typing import Any

import attrs
from hypothesis import strategies as st

from busproof import vocabulary as v
from busproof.exploration.state import (
    MOST_QUEUES,
    Scope,
    World,
)
from busproof.exploration.strategies.row import QUEUES, Generator, Made

__all__ = ["rows_of_management"]


def rows_of_management(scope: Scope) -> Iterator[Generator]:
    """Yield the rows that get, list, update, delete, and re-create queues."""
    one = {"queue": QUEUES}
    yield Generator(kind=v.GetQueue, draws=one, make=_use_queue(scope, v.GetQueue))
    yield Generator(kind=v.ListQueues, draws={}, make=lambda _world: v.ListQueues())
    yield Generator(
        kind=v.UpdateQueue,
        draws={
            **one,
            "partitioned": st.sampled_from((None, None, True, False)),
            "requires_session": _draw_fixed(scope, v.Capability.SESSIONS),
            "duplicate_detection": _draw_fixed(scope, v.Capability.DUPLICATE_DETECTION),
            "lock_duration": st.sampled_from((None, scope.lock // 2, scope.lock)),
            "max_delivery_count": st.sampled_from((None, 2, 10)),
            "time_to_live": st.sampled_from((None, None, *_lives(scope))),
        },
        make=_use_queue(scope, v.UpdateQueue),
    )
    yield Generator(
        kind=v.DeleteQueue,
        draws={**one, "meant": st.sampled_from((False, False, True))},
        make=_delete,
    )
    if v.Capability.MANAGEMENT in scope.capabilities:
        yield Generator(
            kind=v.CreateQueue,
            draws={**one, "partitioned": st.sampled_from((None, None, True, False))},
            make=lambda _world, queue, partitioned: _create_again(scope, queue, partitioned),
            name="createagain",
        )
    yield Generator(
        kind=v.RestoreQueue,
        draws={},
        make=_restore,
        into=(QUEUES,),
        when=lambda world: world.scope.tier is v.Tier.PREMIUM,
    )


def _draw_fixed(scope: Scope, needed: v.Capability) -> st.SearchStrategy[bool | None]:
    """Draw an update of a setting that is fixed at creation; most draws leave the setting out."""
    values = (True, False) if needed in scope.capabilities else ()
    return st.sampled_from((None,) * 6 + values)


def _lives(scope: Scope) -> tuple[int, ...]:
    """Return times to live for updates, if the implementation supports them."""
    mortal = v.Capability.TIME_TO_LIVE in scope.capabilities
    return (scope.lock // 4, scope.lock) if mortal else ()


def _use_queue(scope: Scope, kind: Callable[..., v.Command]) -> Made:
    """Return a function that makes a command about an entity, or `None` if it is not supported."""

    def make_command(_world: World, queue: v.CreateQueue, **drawn: Any) -> v.Command | None:
        command = kind(queue=queue.queue, **drawn)
        return command if scope.allows(command) else None

    return make_command


def _delete(world: World, queue: v.CreateQueue, *, meant: bool) -> v.DeleteQueue | None:
    command = v.DeleteQueue(queue=queue.queue)
    return command if meant and world.scope.allows(command) else None


def _create_again(
    scope: Scope, queue: v.CreateQueue, partitioned: bool | None
) -> v.CreateQueue | None:
    """Create a queue again, as it was or with the other partitioning; `None` for subscriptions."""
    if "/subscriptions/" in queue.queue:
        return None
    again = queue if partitioned is None else attrs.evolve(queue, partitioned=partitioned)
    unwanted = again.partitioned and not scope.may_partition
    return again if scope.allows(again) and not unwanted else None


def _restore(world: World) -> v.RestoreQueue | None:
    if len(world.queues) >= MOST_QUEUES:
        return None
    world.queues.append(v.CreateQueue(queue=f"q{len(world.queues) + 1}"))
    return v.RestoreQueue(queue=world.queues[-1].queue)
