"""Unanswered creations: the entity may exist, with any settings that it may have got."""

from collections.abc import Iterable

import attrs

from busproof import vocabulary as v
from busproof.oracle.state import Namespace, Queue, is_unjudged, with_queue
from busproof.oracle.transition import Transition
from busproof.oracle.unjudged import named, stop_judging


def lost_creation(
    namespace: Namespace, command: v.Creation, answers: Iterable[Transition]
) -> tuple[Namespace, ...]:
    """Return the possible states: the entity may exist now, or from some later moment on.

    If two unanswered creations of one name have different settings, the one that takes effect first
    defines the entity, and it is not known which.

    Args:
        namespace: the state before the creation.
        command: the creation.
        answers: the possible answers to it.
    """
    path = v.created_path(command)
    known = namespace.queues.get(path)
    # If an earlier unanswered creation took effect first, this one changes nothing.
    states = [] if known is None else [namespace]
    possible = False
    for answer in answers:
        # The name is no longer judged, so its other possible states do not matter.
        if is_unjudged(answer.next, path):
            return (answer.next,)
        created = answer.next.queues.get(path)
        if created is None:
            continue
        if not isinstance(answer.outcome, v.Done):
            # If an outage made it fail, it may still have been made in the partitions that were up.
            if created.managed.partially_applied and known is None:
                states.append(answer.next)
            continue
        possible = True
        # If the settings are the same, it makes no difference which of the two creations took
        # effect.
        if known is None or not _is_alike(created, known):
            doubtful = attrs.evolve(created, doubtful=True)
            states.append(with_queue(answer.next, doubtful))
    if known is None and not possible:
        # Whatever prevents the creation may be gone when the request takes effect. But it cannot be
        # made before the entity that it forwards to exists.
        destinations = named(command)[1:]
        if any(destination not in namespace.queues for destination in destinations):
            return (namespace,)
        return (stop_judging(namespace, path, *destinations),)
    return tuple(states)


def _is_alike(created: Queue, known: Queue) -> bool:
    return created.settings == known.settings and type(created.role) is type(known.role)
