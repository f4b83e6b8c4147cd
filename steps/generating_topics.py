"""Rows of the exploration's table for topics, subscriptions, their rules, and forwarding."""

from collections.abc import Callable, Iterator
from typing import Any, Final

import attrs
from hypothesis import strategies as st

from busproof.adapters.base import Capability
from busproof.model.commands import (
    AddRule,
    CreateQueue,
    CreateSubscription,
    CreateTopic,
    ListRules,
    RemoveRule,
)
from busproof.model.filters import (
    DEFAULT_RULE,
    CorrelationFilter,
    FalseFilter,
    Filter,
    SqlFilter,
    TrueFilter,
)
from busproof.model.values import Tier
from busproof.steps.rows import QUEUES, TRANSACTIONS, Generator
from busproof.steps.worlds import MOST_QUEUES, Scope, World

__all__ = ["rows_of_topics"]

MOST_TOPICS: Final = 2

_NUMBER: Final = st.integers(0, 1)
_RULES: Final = st.sampled_from((DEFAULT_RULE, "r", "s"))
_FILTERS: Final[tuple[Filter, ...]] = (
    TrueFilter(),
    FalseFilter(),
    CorrelationFilter(session_id="a"),
    CorrelationFilter(message_id="a"),
)
_SQL: Final[tuple[Filter, ...]] = (
    SqlFilter(expression="sys.SessionId = 'a' OR sys.MessageId IS NULL"),
    SqlFilter(expression="NOT size = 2"),
    SqlFilter(expression="size ="),
)


def rows_of_topics(scope: Scope) -> Iterator[Generator]:
    """The rows; those whose capability is not declared are left out by whoever asks."""
    partitioned = st.sampled_from((False,) if scope.tier is Tier.PREMIUM else (True, True, False))
    yield Generator(
        kind=CreateTopic,
        draws={"partitioned": partitioned},
        make=_topic,
        into=(QUEUES,),
        when=lambda world: len(world.topics) < MOST_TOPICS,
    )
    yield from _subscriptions(scope)
    yield from _rules(scope)
    if Capability.FORWARDING in scope.capabilities:
        yield Generator(
            kind=CreateQueue,
            draws={"partitioned": partitioned, "number": _NUMBER},
            make=_source(scope),
            into=(QUEUES,),
            when=lambda world: len(world.queues) < MOST_QUEUES,
            name="createsource",
        )


def _has_topics(world: World) -> bool:
    return bool(world.topics)


def _subscriptions(scope: Scope) -> Iterator[Generator]:
    yield Generator(
        kind=CreateSubscription,
        draws={"number": _NUMBER, "forwards": st.sampled_from((False, False, True))},
        make=_subscription(scope, requires_session=False),
        weight=2,
        into=(QUEUES,),
        when=_has_topics,
    )
    if Capability.SESSIONS in scope.capabilities:
        yield Generator(
            kind=CreateSubscription,
            draws={"number": _NUMBER, "forwards": st.just(False)},
            make=_subscription(scope, requires_session=True),
            into=(QUEUES,),
            when=_has_topics,
            name="createsessionsubscription",
        )


def _rules(scope: Scope) -> Iterator[Generator]:
    filters = _FILTERS + (_SQL if Capability.SQL_FILTERS in scope.capabilities else ())
    rule = {"number": _NUMBER, "rule": _RULES}
    added = {**rule, "wanted": st.sampled_from(filters)}
    yield Generator(kind=AddRule, draws=added, make=_added, when=_has_topics)
    yield Generator(kind=RemoveRule, draws=rule, make=_removed, when=_has_topics)
    yield Generator(kind=ListRules, draws={"number": _NUMBER}, make=_listed, when=_has_topics)
    if Capability.TRANSACTIONS in scope.capabilities:
        within = {**added, "transaction": TRANSACTIONS}
        yield Generator(
            kind=AddRule,
            draws=within,
            make=_added,
            when=_has_topics,
            name="addruleintransaction",
        )


def _topic(world: World, partitioned: bool) -> CreateTopic | None:
    if len(world.topics) >= MOST_TOPICS:
        return None
    world.topics.append(f"n{len(world.topics) + 1}")
    return CreateTopic(topic=world.topics[-1], partitioned=partitioned)


def _place(world: World, number: int) -> dict[str, Any]:
    topic = world.topics[number % len(world.topics)] if world.topics else "nowhere"
    return {"topic": topic, "subscription": f"s{number}"}


def _subscription(
    scope: Scope, *, requires_session: bool
) -> Callable[[World, int, bool], CreateSubscription]:
    def made(world: World, number: int, forwards: bool) -> CreateSubscription:
        onward = forwards and Capability.FORWARDING in scope.capabilities
        return CreateSubscription(
            requires_session=requires_session,
            lock_duration=scope.lock,
            forward_to=_destination(world, number) if onward else None,
            **_place(world, number + 2 * requires_session),
        )

    return made


def _destination(world: World, number: int) -> str:
    """A queue, or a topic where there is none, or what does not exist."""
    names = [each.queue for each in world.queues] + world.topics
    return names[number % len(names)] if names else "nowhere"


def _source(scope: Scope) -> Callable[[World, bool, int], CreateQueue | None]:
    def made(world: World, partitioned: bool, number: int) -> CreateQueue | None:
        if len(world.queues) >= MOST_QUEUES:
            return None
        onward = _destination(world, number)
        kind = CreateQueue(queue="q", partitioned=partitioned, forward_to=onward)
        if not scope.allows(kind):
            return None
        world.queues.append(attrs.evolve(kind, queue=f"q{len(world.queues) + 1}"))
        return world.queues[-1]

    return made


def _added(
    world: World, number: int, rule: str, wanted: Filter, transaction: str | None = None
) -> AddRule:
    return AddRule(rule=rule, filter=wanted, transaction=transaction, **_place(world, number))


def _removed(world: World, number: int, rule: str) -> RemoveRule:
    return RemoveRule(rule=rule, **_place(world, number))


def _listed(world: World, number: int) -> ListRules:
    return ListRules(**_place(world, number))
