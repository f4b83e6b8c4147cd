"""Lists of queues, of topics, and of a topic's subscriptions."""

from collections.abc import Iterator
from typing import assert_never

from busproof import vocabulary as v
from busproof.oracle.state import Namespace, Topic, is_unsure
from busproof.oracle.transition import Observation, Transition, refusal

Listing = v.ListQueues | v.ListTopics | v.ListSubscriptions


def list_entities(
    namespace: Namespace, command: Listing, observed: Observation
) -> Iterator[Transition]:
    """MGMT-16, TOPIC-22: list each queue, topic or subscription exactly once."""
    sure, possible = listed_names(namespace, command)
    names = tuple(sorted(sure))
    if isinstance(observed.outcome, v.Listed):
        names, named = observed.outcome.names, set(observed.outcome.names)
        if isinstance(command, v.ListQueues):
            # The documents do not say whether the list includes topics and dead-letter queues.
            named = {name for name in named if _is_a_queue(namespace, name)}
        twice = any(names.count(name) > 1 for name in named)
        if twice or not sure <= named <= possible:
            return
    rules: tuple[v.RuleId, ...] = ("MGMT-16",)
    if isinstance(command, v.ListSubscriptions) and command.topic in namespace.registry.tombstones:
        rules = ("TOPIC-22", *rules)
    yield Transition(outcome=v.Listed(names=names), next=namespace, rules=rules)
    if isinstance(command, v.ListTopics) and namespace.profile.tier is v.Tier.BASIC:
        # Basic has no topics, and may refuse to list them (MGMT-24).
        yield refusal(namespace, v.Error.INVALID_OPERATION, any_error=True)


def listed_names(namespace: Namespace, command: Listing) -> tuple[frozenset[str], frozenset[str]]:
    """Return the names that the list must have, and all names that it may have.

    A name that is no longer judged may be that of any entity, or of none.
    """
    there, unjudged = _there(namespace, command), namespace.registry.unjudged
    queues = namespace.queues
    above = command.topic + v.SUBSCRIPTIONS if isinstance(command, v.ListSubscriptions) else ""
    possible = [name for name in (*there, *unjudged) if name.startswith(above)]
    # An entity that is no longer judged may have been deleted by a late request.
    sure = [name for name in there if name not in unjudged and not is_unsure(queues[name])]
    return (
        frozenset(name.removeprefix(above) for name in sure),
        frozenset(name.removeprefix(above) for name in possible),
    )


def _is_a_queue(namespace: Namespace, name: str) -> bool:
    """Return whether the name is a queue's, and not a dead-letter queue's or another entity's."""
    known = namespace.queues.get(name)
    return not v.is_dead_letter_queue(name) and (known is None or known.role is None)


def _there(namespace: Namespace, command: Listing) -> tuple[str, ...]:
    """Return the paths of all entities that the list may have, certain or not."""
    match command:
        case v.ListQueues():
            return tuple(name for name in namespace.queues if _is_a_queue(namespace, name))
        case v.ListTopics():
            roles = namespace.queues.items()
            return tuple(name for name, entity in roles if isinstance(entity.role, Topic))
        case v.ListSubscriptions():
            role = namespace.queues[command.topic].role
            return role.subscriptions if isinstance(role, Topic) else ()
        case _:
            assert_never(command)
