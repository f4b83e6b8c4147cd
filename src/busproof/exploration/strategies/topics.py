"""Generators of commands about topics, subscriptions, their rules, and forwarding."""

from collections.abc import Callable, Iterator
from typing import Any, Final

import attrs
from hypothesis import strategies as st

from busproof import vocabulary as v
from busproof.exploration.state import Scope, Theme, World
from busproof.exploration.strategies.filters import MARKS, filters, mark_message
from busproof.exploration.strategies.row import QUEUES, TRANSACTIONS, Generator
from busproof.exploration.strategies.sql import ACTION_TEXTS

__all__ = ["rows_of_topics"]

TOPICS: Final = (Theme.TOPICS, Theme.FORWARDING)
_DECIDED: Final = (Theme.TOPICS, Theme.CONDITIONS)
MOST_TOPICS: Final = 2
MOST_SOURCES: Final = 6
"""Maximum number of queues, including forwarding ones; enough for a chain that is too long."""


_NUMBER: Final = st.integers(0, 1)
_ACTIONS: Final = ACTION_TEXTS | st.sampled_from(
    (
        "SET a = 3",
        "SET size = size + 1",
        "SET a = 3; SET b = a + 1, REMOVE a SET [new-id] = newid()",
        "REMOVE color; SET sys.To = 'x'",
        "REMOVE a",
        "SET sys.Label = 'X'; SET b = 1",
        "SET a",
        "SET sys.SessionId = 'a'",
    )
)
"""Actions of rules; the last but one is no SQL, and the documents do not define the last."""
_RULES: Final = st.sampled_from((v.DEFAULT_RULE, "r", "s"))


def rows_of_topics(scope: Scope) -> Iterator[Generator]:
    """Yield the rows about topics; the caller leaves out those with undeclared capabilities."""
    partitioned = st.sampled_from((True, True, False) if scope.may_partition else (False,))
    yield Generator(
        kind=v.CreateTopic,
        draws={"partitioned": partitioned},
        make=_topic,
        into=(QUEUES,),
        weight=2,
        when=lambda world: len(world.topics) < MOST_TOPICS,
        themes=TOPICS,
    )
    yield from _subscriptions(scope)
    yield from _rules(scope)
    yield from _acting(scope)
    if v.Capability.FORWARDING in scope.capabilities:
        yield Generator(
            kind=v.CreateQueue,
            draws={"partitioned": partitioned, "number": _NUMBER},
            make=_source(scope),
            weight=2,
            into=(QUEUES,),
            when=lambda world: len(world.queues) < MOST_SOURCES,
            themes=(Theme.FORWARDING,),
            name="createsource",
        )
    yield from _redirecting(scope, partitioned)
    yield from _disturbing(scope)
    yield Generator(
        kind=v.Send,
        draws={"queue": QUEUES},
        make=_send_to_subscription,
        when=_has_topics,
        themes=TOPICS,
        name="sendtosubscription",
    )
    yield Generator(
        kind=v.Receive,
        draws={"queue": QUEUES},
        make=lambda _world, queue: v.Receive(
            queue=queue.queue, mode=v.ReceiveMode.RECEIVE_AND_DELETE
        ),
        when=_has_topics,
        themes=TOPICS,
        name="receivedirectly",
    )


def _redirecting(scope: Scope, partitioned: st.SearchStrategy[bool]) -> Iterator[Generator]:
    """Yield the rows that change forwarding by an update, or that forward dead letters."""
    if v.Capability.REDIRECTION in scope.capabilities:
        yield Generator(
            kind=v.UpdateQueue,
            draws={"queue": QUEUES, "number": _NUMBER, "ends": st.booleans()},
            make=_redirect,
            themes=(Theme.FORWARDING,),
            name="redirect",
        )
    if v.Capability.DEAD_LETTER_FORWARDING in scope.capabilities:
        yield Generator(
            kind=v.CreateQueue,
            draws={"partitioned": partitioned, "number": _NUMBER},
            make=_source(scope, "forward_dead_letters_to"),
            into=(QUEUES,),
            when=lambda world: len(world.queues) < MOST_SOURCES,
            themes=(Theme.FORWARDING,),
            name="createburying",
        )


def _disturbing(scope: Scope) -> Iterator[Generator]:
    """Yield the rows that obstruct forwarding, and those that receive undeliverable messages."""
    if v.Capability.ENTITY_STATUS in scope.capabilities:
        yield Generator(
            kind=v.UpdateQueue,
            draws={
                "queue": QUEUES,
                "status": st.sampled_from((*v.EntityStatus, v.EntityStatus.ACTIVE)),
            },
            make=lambda _world, queue, status: v.UpdateQueue(queue=queue.queue, status=status),
            themes=(Theme.FORWARDING,),
            name="disable",
        )
    if v.Capability.TRANSFER_DEAD_LETTER in scope.capabilities:
        yield Generator(
            kind=v.Receive,
            draws={"queue": QUEUES},
            make=_receive_undeliverable,
            themes=(Theme.FORWARDING,),
            name="receivestranded",
        )


def _receive_undeliverable(_world: World, queue: v.CreateQueue) -> v.Receive:
    return v.Receive(queue=queue.queue + v.TRANSFERS, mode=v.ReceiveMode.RECEIVE_AND_DELETE)


def _redirect(world: World, queue: v.CreateQueue, number: int, ends: bool) -> v.UpdateQueue:
    return v.UpdateQueue(queue=queue.queue, forward_to="" if ends else _destination(world, number))


def _send_to_subscription(world: World, queue: v.CreateQueue) -> v.Send:
    """Send to the path of an entity; a subscription must refuse that."""
    return v.Send(queue=queue.queue, message=world.message(queue, 0))


def _has_topics(world: World) -> bool:
    return bool(world.topics)


def _has_subscriptions(world: World) -> bool:
    return bool(world.subscriptions)


def _subscriptions(scope: Scope) -> Iterator[Generator]:
    yield Generator(
        kind=v.CreateSubscription,
        draws={"number": _NUMBER, "forwards": st.sampled_from((False, False, True))},
        make=_subscription(scope, requires_session=False),
        weight=2,
        into=(QUEUES,),
        when=_has_topics,
        themes=TOPICS,
    )
    if v.Capability.SESSIONS in scope.capabilities:
        yield Generator(
            kind=v.CreateSubscription,
            draws={"number": _NUMBER, "forwards": st.just(False)},
            make=_subscription(scope, requires_session=True),
            into=(QUEUES,),
            when=_has_topics,
            themes=TOPICS,
            name="createsessionsubscription",
        )


def _rules(scope: Scope) -> Iterator[Generator]:
    yield Generator(
        kind=v.Send,
        draws={"shape": st.integers(0, 3), "marks": MARKS},
        make=_send_marked,
        times=st.sampled_from((1, 1, 2)),
        weight=3,
        when=_has_subscriptions,
        themes=_DECIDED,
        name="sendmarked",
    )
    rule = {"number": _NUMBER, "rule": _RULES}
    added = {**rule, "wanted": filters(sql=v.Capability.SQL_FILTERS in scope.capabilities)}
    yield Generator(
        kind=v.AddRule,
        draws=added,
        make=_add,
        weight=2,
        when=_has_subscriptions,
        themes=_DECIDED,
    )
    yield Generator(
        kind=v.RemoveRule, draws=rule, make=_remove, when=_has_subscriptions, themes=_DECIDED
    )
    yield Generator(
        kind=v.ListRules,
        draws={"number": _NUMBER},
        make=_list,
        when=_has_subscriptions,
        themes=_DECIDED,
    )
    if v.Capability.TRANSACTIONS in scope.capabilities:
        within = {**added, "transaction": TRANSACTIONS}
        yield Generator(
            kind=v.AddRule,
            draws=within,
            make=_add,
            weight=2,
            when=_has_subscriptions,
            themes=(Theme.TOPICS,),
            name="addruleintransaction",
        )


def _acting(scope: Scope) -> Iterator[Generator]:
    """Yield the rows for rules with actions, some invalid and some undefined by the documents."""
    if v.Capability.RULE_ACTIONS in scope.capabilities:
        yield Generator(
            kind=v.AddRule,
            draws={
                "number": _NUMBER,
                "rule": _RULES,
                "wanted": filters(sql=v.Capability.SQL_FILTERS in scope.capabilities),
                "action": _ACTIONS,
            },
            make=_add_acting,
            when=_has_subscriptions,
            themes=(Theme.TOPICS, Theme.COPIES),
            name="addacting",
        )


def _add_acting(world: World, number: int, rule: str, wanted: v.Filter, action: str) -> v.AddRule:
    return v.AddRule(rule=rule, filter=wanted, action=action, **_there(world, number))


def _topic(world: World, partitioned: bool) -> v.CreateTopic | None:
    if len(world.topics) >= MOST_TOPICS:
        return None
    world.topics.append(f"n{len(world.topics) + 1}")
    return v.CreateTopic(topic=world.topics[-1], partitioned=partitioned)


def _place(world: World, number: int) -> dict[str, Any]:
    """Return the names of a recent topic and a subscription, even if these do not exist."""
    topic = world.topics[-1 - number % len(world.topics)] if world.topics else "nowhere"
    return {"topic": topic, "subscription": f"s{number}"}


def _there(world: World, number: int) -> dict[str, Any]:
    """Return the names of a recent subscription and its topic, to address the rules."""
    latest = world.subscriptions[-1 - number % len(world.subscriptions)].queue
    topic, _, name = latest.partition("/subscriptions/")
    return {"topic": topic, "subscription": name}


def _subscription(
    scope: Scope, *, requires_session: bool
) -> Callable[[World, int, bool], v.CreateSubscription]:
    def make_command(world: World, number: int, forwards: bool) -> v.CreateSubscription:
        onward = forwards and v.Capability.FORWARDING in scope.capabilities
        place = _place(world, number + 2 * requires_session)
        destination = _destination(world, number) if onward else None
        if destination == place["topic"]:
            # A loop to the same topic copies a message anew at each hop: too many equal copies.
            destination = None
        command = v.CreateSubscription(
            requires_session=requires_session,
            lock_duration=scope.lock,
            forward_to=destination,
            **place,
        )
        address = f"{command.topic}/subscriptions/{command.subscription}"
        world.subscriptions.append(
            v.CreateQueue(
                queue=address, requires_session=requires_session, forward_to=command.forward_to
            )
        )
        return command

    return make_command


def _destination(world: World, number: int) -> str:
    """Return a forwarding destination: the latest queue, a topic, or a missing entity."""
    names = [queue.queue for queue in reversed(world.queues)] + world.topics
    if number and world.topics:
        return world.topics[-1]
    return names[0] if names else "nowhere"


def _source(
    scope: Scope, setting: str = "forward_to"
) -> Callable[[World, bool, int], v.CreateQueue | None]:
    def make_command(world: World, partitioned: bool, number: int) -> v.CreateQueue | None:
        if len(world.queues) >= MOST_SOURCES:
            return None
        onward: dict[str, Any] = {setting: _destination(world, number)}
        kind = v.CreateQueue(queue="q", partitioned=partitioned, **onward)
        if not scope.allows(kind):
            return None
        world.queues.append(attrs.evolve(kind, queue=f"q{len(world.queues) + 1}"))
        return world.queues[-1]

    return make_command


def _add(
    world: World, number: int, rule: str, wanted: v.Filter, transaction: str | None = None
) -> v.AddRule:
    return v.AddRule(rule=rule, filter=wanted, transaction=transaction, **_there(world, number))


def _send_marked(world: World, shape: int, marks: int) -> v.Send:
    """Send a message with properties for conditions, to the topic of the latest subscription."""
    latest = world.subscriptions[-1]
    return v.Send(
        queue=world.sent_to(latest), message=mark_message(world.message(latest, shape), marks)
    )


def _remove(world: World, number: int, rule: str) -> v.RemoveRule:
    return v.RemoveRule(rule=rule, **_there(world, number))


def _list(world: World, number: int) -> v.ListRules:
    return v.ListRules(**_there(world, number))
