"""Merging of refused sends: their reason does not matter and makes no separate states."""

from typing import Final

from immutables import Map

from busproof import vocabulary as v
from busproof.oracle.evolve import evolve
from busproof.oracle.outages import Partitions
from busproof.oracle.queued_messages import Key
from busproof.oracle.state import Queue, with_queue
from busproof.oracle.transition import Transition

Homes = Map[Key, Partitions]

_NOWHERE: Final[Homes] = Map()
_NOTHING: Final[Map[Key | None, bool]] = Map()


def for_whatever_reason(found: list[Transition], command: v.Send | v.Schedule) -> list[Transition]:
    """Return the transitions of a refused send, merged if they differ only in its reason.

    Separate states would double with every such send.
    """
    return _least_told(_never_arriving(found, command), command)


def _never_arriving(found: list[Transition], command: v.Send | v.Schedule) -> list[Transition]:
    """Return the transitions with the same reason for the message never to arrive."""
    body = command.message.body
    queues = [transition.next.queues[command.queue] for transition in found]
    reasons = [each for queue in queues if isinstance(each := queue.bodies.get(body), str)]
    if not reasons:
        return found
    return [
        transition
        if isinstance(queue.bodies.get(body), tuple)
        else evolve(
            transition,
            next=with_queue(
                transition.next, evolve(queue, bodies=queue.bodies.set(body, reasons[0]))
            ),
        )
        for transition, queue in zip(found, queues, strict=True)
    ]


def _least_told(found: list[Transition], command: v.Send | v.Schedule) -> list[Transition]:
    """Return the transitions without those that add only knowledge about keys.

    If the message was refused because its key's partition is down, that partition is one of those
    that are down; if there may be another reason, this is not known. The state with less knowledge
    allows everything that the other one allows.
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
    """Return the state without knowledge about keys: their partitions, and refusals for room.

    The latter decide which rules a later accepted send exercises, not whether it may be accepted.
    """
    room = evolve(queue.room, refused=_NOTHING)
    return evolve(queue, homes=_NOWHERE, room=room)


def _tells(homes: Homes, less: Homes) -> bool:
    """Return whether these key partitions imply those."""
    return all(key in homes and homes[key] & ~where == 0 for key, where in less.items())
