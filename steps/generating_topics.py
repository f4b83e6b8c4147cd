"""Rows of the exploration's table for topics, subscriptions, their rules, and forwarding."""

from collections.abc import Callable, Mapping
from typing import Any, Final

import attrs
from hypothesis import strategies as st

from busproof.adapters.base import Capability
from busproof.model.commands import (
    AddRule,
    Command,
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
from busproof.steps.worlds import MOST_QUEUES, Scope, World

__all__ = ["Drawing", "as_queue", "rows_of_topics"]

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

Drawing = tuple[type[Command], Mapping[str, Any], Callable[..., Command | None], int, str]
"""The kind of a row, what is drawn for it, what makes the command, its weight and its name."""


def as_queue(made: Command | None) -> CreateQueue | None:
    """A topic or a subscription as later commands refer to it: as a queue of its address."""
    match made:
        case CreateTopic(topic=topic, partitioned=partitioned):
            return CreateQueue(queue=topic, partitioned=partitioned)
        case CreateSubscription(topic=topic, subscription=name, requires_session=session):
            return CreateQueue(queue=f"{topic}/subscriptions/{name}", requires_session=session)
        case _:
            return None


def rows_of_topics(scope: Scope, transactions: Any) -> tuple[Drawing, ...]:
    """The rows; those whose capability is not declared are left out by whoever asks."""
    partitioned = (False,) if scope.tier is Tier.PREMIUM else (True, True, False)
    filters = _FILTERS + (_SQL if Capability.SQL_FILTERS in scope.capabilities else ())
    rule = {"number": _NUMBER, "rule": _RULES}
    added = {**rule, "wanted": st.sampled_from(filters)}
    rows: list[Drawing] = [
        (CreateTopic, {"partitioned": st.sampled_from(partitioned)}, _topic, 1, ""),
        (
            CreateSubscription,
            {"number": _NUMBER, "forwards": st.sampled_from((False, False, True))},
            _subscription(scope, requires_session=False),
            2,
            "",
        ),
        (AddRule, added, _added, 1, ""),
        (RemoveRule, rule, _removed, 1, ""),
        (ListRules, {"number": _NUMBER}, _listed, 1, ""),
    ]
    if Capability.SESSIONS in scope.capabilities:
        made = _subscription(scope, requires_session=True)
        drawn = {"number": _NUMBER, "forwards": st.just(False)}
        rows.append((CreateSubscription, drawn, made, 1, "createsessionsubscription"))
    if Capability.TRANSACTIONS in scope.capabilities:
        within = {**added, "transaction": transactions}
        rows.append((AddRule, within, _added, 1, "addruleintransaction"))
    if Capability.FORWARDING in scope.capabilities:
        kinds = {"partitioned": st.sampled_from(partitioned), "number": _NUMBER}
        rows.append((CreateQueue, kinds, _source(scope), 1, "createsource"))
    return tuple(rows)


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
