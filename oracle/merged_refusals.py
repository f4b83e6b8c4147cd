"""Refused sends: which of several reasons it was is of no consequence, and makes no states."""

from typing import Final

import attrs
from immutables import Map

from busproof import vocabulary as v
from busproof.oracle.outages import Partitions
from busproof.oracle.queued_messages import Key
from busproof.oracle.state import Queue, with_queue
from busproof.oracle.transition import Transition

__all__ = ["for_whatever_reason"]

Homes = Map[Key, Partitions]

_NOWHERE: Final[Homes] = Map()
_NOTHING: Final[Map[Key | None, bool]] = Map()


def for_whatever_reason(found: list[Transition], command: v.Send | v.Schedule) -> list[Transition]:
    """The transitions of a refused send, without those that differ in its reason alone.

    States that differed in it would double with every such send.
    """
    return _least_told(_never_arriving(found, command), command)


def _never_arriving(found: list[Transition], command: v.Send | v.Schedule) -> list[Transition]:
    """The transitions, in all of which the message never arrives for the same reason."""
    body = command.message.body
    queues = [transition.next.queues[command.queue] for transition in found]
    reasons = [each for queue in queues if isinstance(each := queue.bodies.get(body), str)]
    if not reasons:
        return found
    return [
        transition
        if isinstance(queue.bodies.get(body), tuple)
        else attrs.evolve(
            transition,
            next=with_queue(
                transition.next, attrs.evolve(queue, bodies=queue.bodies.set(body, reasons[0]))
            ),
        )
        for transition, queue in zip(found, queues, strict=True)
    ]


def _least_told(found: list[Transition], command: v.Send | v.Schedule) -> list[Transition]:
    """The transitions without those that only tell more of keys than another, or just as much.

    If the message was refused because its key's partition is down, it is known to be one of those
    that are; if there may be another reason, it is not. Then what the former state allows, the
    latter does too.
    """
    queues = [transition.next.queues[command.queue] for transition in found]
    unplaced = [
        with_queue(transition.next, _untold(queue))
        for transition, queue in zip(found, queues, strict=True)
    ]

    def is_told_by(place: int, other: int) -> bool:
        homes, by = queues[other].homes, queues[place].homes
        less = _tells(by, homes) if homes != by else other < place
        return less and unplaced[other] == unplaced[place]

    places = range(len(found))
    return [
        found[place] for place in places if not any(is_told_by(place, other) for other in places)
    ]


def _untold(queue: Queue) -> Queue:
    """Without what is told of keys: where they are at home, and which were refused for room.

    The latter says what a message that is taken later shows, not whether it may be.
    """
    room = attrs.evolve(queue.room, refused=_NOTHING)
    return attrs.evolve(queue, homes=_NOWHERE, room=room)


def _tells(homes: Homes, less: Homes) -> bool:
    """Whether these homes tell all that those do."""
    return all(key in homes and homes[key] & ~where == 0 for key, where in less.items())
