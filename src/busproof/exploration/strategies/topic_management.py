"""Generators of commands that manage topics and subscriptions."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from hypothesis import strategies as st

from busproof import vocabulary as v
from busproof.exploration.state import Scope, Theme, World
from busproof.exploration.strategies.row import QUEUES, Generator, Made

__all__ = ["rows_of_topic_management"]

_NUMBER: Final = st.integers(0, 1)
_SELDOM: Final = st.sampled_from((False, False, True))
_THEMES: Final = (Theme.TOPICS, Theme.COPIES)
_OF_TOPICS: Final = (v.EntityStatus.ACTIVE, *v.EntityStatus)


def rows_of_topic_management(scope: Scope) -> Iterator[Generator]:
    """Yield the rows that get, list, update, delete, and re-create topics and subscriptions."""
    if v.Capability.TOPIC_MANAGEMENT not in scope.capabilities:
        return
    one = {"number": _NUMBER}
    yield _row(v.GetTopic, one, lambda world, number: v.GetTopic(topic=_topic(world, number)))
    yield Generator(
        kind=v.ListTopics, draws={}, make=lambda _world: v.ListTopics(), themes=(Theme.TOPICS,)
    )
    yield _row(
        v.ListSubscriptions,
        one,
        lambda world, number: v.ListSubscriptions(topic=_topic(world, number)),
    )
    yield _row(v.UpdateTopic, {**one, **_changes(scope)}, _update)
    seldom = {**one, "meant": _SELDOM}
    yield _row(v.DeleteTopic, seldom, _delete)
    yield from _subscription_rows(scope)
    partitioned = st.sampled_from((True, True, False) if scope.may_partition else (False,))
    yield Generator(
        kind=v.CreateTopic,
        draws={**one, "partitioned": partitioned},
        make=_create_again,
        into=(QUEUES,),
        when=_has_topics,
        themes=_THEMES,
        name="createtopicagain",
    )


def _row(kind: type[v.Command], draws: Mapping[str, Any], make: Made) -> Generator:
    return Generator(kind=kind, draws=draws, make=make, when=_has_topics, themes=_THEMES)


def _changes(scope: Scope) -> dict[str, Any]:
    """Return strategies for the settings of a topic update; most draws leave a setting out."""
    mortal = v.Capability.TIME_TO_LIVE in scope.capabilities
    lives = (None, scope.lock // 4, scope.lock) if mortal else (None,)
    statuses = _OF_TOPICS if v.Capability.ENTITY_STATUS in scope.capabilities else ()
    detecting = v.Capability.DUPLICATE_DETECTION in scope.capabilities
    return {
        "partitioned": st.sampled_from((None, None, True, False)),
        "duplicate_detection": st.sampled_from((None,) * 6 + ((True, False) if detecting else ())),
        "time_to_live": st.sampled_from(lives),
        "status": st.sampled_from((None, None, *statuses)),
    }


def _update(world: World, number: int, **changes: Any) -> v.UpdateTopic:
    return v.UpdateTopic(topic=_topic(world, number), **changes)


def _delete(world: World, number: int, *, meant: bool) -> v.DeleteTopic | None:
    return v.DeleteTopic(topic=_topic(world, number)) if meant else None


def _create_again(world: World, number: int, *, partitioned: bool) -> v.CreateTopic:
    return v.CreateTopic(topic=_topic(world, number), partitioned=partitioned)


def _subscription_rows(scope: Scope) -> Iterator[Generator]:
    """Yield the generators that send the commands for queues to recent subscriptions."""
    one = {"number": _NUMBER}
    yield Generator(
        kind=v.GetQueue,
        draws=one,
        make=lambda world, number: v.GetQueue(queue=_path(world, number)),
        when=_has_subscriptions,
        themes=_THEMES,
        name="getsubscription",
    )
    yield Generator(
        kind=v.DeleteQueue,
        draws={**one, "meant": _SELDOM},
        make=_delete_subscription,
        when=_has_subscriptions,
        themes=_THEMES,
        name="deletesubscription",
    )
    yield Generator(
        kind=v.UpdateQueue,
        draws={**one, "lock_duration": st.sampled_from((scope.lock // 2, scope.lock))},
        make=lambda world, number, **changes: v.UpdateQueue(queue=_path(world, number), **changes),
        when=_has_subscriptions,
        themes=_THEMES,
        name="updatesubscription",
    )
    if v.Capability.ENTITY_STATUS in scope.capabilities:
        yield Generator(
            kind=v.UpdateQueue,
            draws={**one, "status": st.sampled_from(_OF_TOPICS)},
            make=lambda world, number, status: v.UpdateQueue(
                queue=_path(world, number), status=status
            ),
            when=_has_subscriptions,
            themes=_THEMES,
            name="disablesubscription",
        )


def _delete_subscription(world: World, number: int, *, meant: bool) -> v.DeleteQueue | None:
    return v.DeleteQueue(queue=_path(world, number)) if meant else None


def _topic(world: World, number: int) -> str:
    """Return one of the latest topics."""
    return world.topics[-1 - number % len(world.topics)]


def _path(world: World, number: int) -> str:
    """Return the path of one of the latest subscriptions, which may have been deleted."""
    return world.subscriptions[-1 - number % len(world.subscriptions)].queue


def _has_topics(world: World) -> bool:
    return bool(world.topics)


def _has_subscriptions(world: World) -> bool:
    return bool(world.subscriptions)
