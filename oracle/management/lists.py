"""Lists of queues, of topics and of a topic's subscriptions."""

from collections.abc import Iterable, Iterator
from typing import assert_never

from busproof import vocabulary as v
from busproof.oracle.state import Namespace, Topic, is_unsure
from busproof.oracle.transition import Observation, Transition, refusal

Listing = v.ListQueues | v.ListTopics | v.ListSubscriptions


def is_a_queue(namespace: Namespace, name: str) -> bool:
    """Return whether this name is that of a queue: not a DLQ, topic or subscription."""
    known = namespace.queues.get(name)
    return not v.is_dead_letter_queue(name) and (known is None or known.role is None)


def list_entities(
    namespace: Namespace, command: Listing, seen: Observation
) -> Iterator[Transition]:
    """MGMT-16, TOPIC-22: list each existing queue, topic or subscription once."""
    sure = (name for name in _there(namespace, command) if not _may_be_absent(namespace, name))
    names = tuple(sorted(_called(name, command) for name in sure))
    if isinstance(seen.outcome, v.Listed):
        if wrongly_named(namespace, command, seen.outcome):
            return
        names = seen.outcome.names
    rules: tuple[v.RuleId, ...] = ("MGMT-16",)
    if isinstance(command, v.ListSubscriptions) and command.topic in namespace.registry.tombstones:
        rules = ("TOPIC-22", *rules)
    yield Transition(outcome=v.Listed(names=names), next=namespace, rules=rules)
    if isinstance(command, v.ListTopics) and namespace.profile.tier is v.Tier.BASIC:
        # Basic has no topics, and may refuse to list them (MGMT-24).
        yield refusal(namespace, v.Error.INVALID_OPERATION, any_error=True)


def wrongly_named(namespace: Namespace, command: Listing, listed: v.Listed) -> frozenset[str]:
    """Return the names that a list misses, repeats or wrongly includes."""
    named = set(listed.names)
    if isinstance(command, v.ListQueues):
        # The documents do not say whether a list of queues includes topics and dead-letter queues.
        named = {name for name in named if is_a_queue(namespace, name)}
    twice = {name for name in named if listed.names.count(name) > 1}
    there = _there(namespace, command)
    unjudged = _unjudged(namespace, command)
    known = {_called(name, command) for name in (*there, *unjudged)}
    missing = {
        _called(name, command)
        for name in there
        if not _may_be_absent(namespace, name) and _called(name, command) not in named
    }
    return frozenset(twice | missing | (named - known))


def subscriptions_of(namespace: Namespace, topic: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the paths of a topic's certain subscriptions, and of all possible ones."""
    command = v.ListSubscriptions(topic=topic)
    there = _there(namespace, command)
    sure = frozenset(name for name in there if not _may_be_absent(namespace, name))
    return sure, frozenset(there) | frozenset(_unjudged(namespace, command))


def _there(namespace: Namespace, command: Listing) -> tuple[str, ...]:
    """Return the paths of all entities that a list covers, certain or not."""
    match command:
        case v.ListQueues():
            return tuple(name for name in namespace.queues if is_a_queue(namespace, name))
        case v.ListTopics():
            roles = namespace.queues.items()
            return tuple(name for name, each in roles if isinstance(each.role, Topic))
        case v.ListSubscriptions():
            role = namespace.queues[command.topic].role
            return role.subscriptions if isinstance(role, Topic) else ()
        case _:
            assert_never(command)


def _unjudged(namespace: Namespace, command: Listing) -> Iterable[str]:
    """Return the paths of entities no longer judged that may belong to the list."""
    unjudged = namespace.registry.unjudged
    if not isinstance(command, v.ListSubscriptions):
        return unjudged
    return (name for name in unjudged if name.startswith(command.topic + v.SUBSCRIPTIONS))


def _called(name: str, command: Listing) -> str:
    """Return the name of an entity in a list."""
    if isinstance(command, v.ListSubscriptions):
        return name.removeprefix(command.topic + v.SUBSCRIPTIONS)
    return name


def _may_be_absent(namespace: Namespace, name: str) -> bool:
    return name in namespace.registry.unjudged or is_unsure(namespace.queues[name])
