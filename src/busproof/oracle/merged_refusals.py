"""Merging of the states after a refused send that differ only in the reason for the refusal."""

from typing import Final

from immutables import Map

from busproof import vocabulary as v
from busproof.oracle.evolve import evolve
from busproof.oracle.outages import Partitions
from busproof.oracle.queued_messages import Key
from busproof.oracle.state import with_queue
from busproof.oracle.transition import Transition

Homes = Map[Key, Partitions]

_NOWHERE: Final[Homes] = Map()
_NOTHING: Final[Map[Key | None, bool]] = Map()
_NONE_DECLINED: Final[Map[str, v.RuleId]] = Map()


def for_whatever_reason(
    refusals: list[Transition], command: v.Send | v.Schedule
) -> list[Transition]:
    """Return the transitions of a refused send without those that differ only in its reason.

    Each such send would otherwise double the number of states.
    """
    return _least_specific(_never_arriving(refusals, command), command.queue)


def _never_arriving(refusals: list[Transition], command: v.Send | v.Schedule) -> list[Transition]:
    """Return the transitions, all recording the same reason why the message never arrives."""
    body = command.message.body
    queues = [transition.next.queues[command.queue] for transition in refusals]
    reasons = [reason for queue in queues if isinstance(reason := queue.bodies.get(body), str)]
    if not reasons:
        return refusals
    same: list[Transition] = []
    for transition, queue in zip(refusals, queues, strict=True):
        after = transition.next
        if not isinstance(queue.bodies.get(body), tuple):
            after = with_queue(after, evolve(queue, bodies=queue.bodies.set(body, reasons[0])))
        same.append(evolve(transition, next=after))
    return same


def _least_specific(refusals: list[Transition], name: str) -> list[Transition]:
    """Return the transitions without those that only add knowledge about keys.

    A refusal because of an outage shows that the key's partition is down; a refusal that may have
    another reason shows nothing. The state with less knowledge allows everything that the other one
    allows, so the other one is dropped. Refusals for lack of storage and refused MessageIds are
    ignored in the comparison: they decide which rules a later accepted send exercises, not whether
    it may be accepted.
    """
    queues = [transition.next.queues[name] for transition in refusals]
    unplaced = []
    for transition, queue in zip(refusals, queues, strict=True):
        room = evolve(queue.room, refused=_NOTHING)
        forgetful = evolve(queue, homes=_NOWHERE, room=room, declined=_NONE_DECLINED)
        unplaced.append(with_queue(transition.next, forgetful))

    def is_covered_by(place: int, other: int) -> bool:
        """Return whether `other` is the same state with less knowledge about keys."""
        homes, fewer = queues[place].homes, queues[other].homes
        # Two equal states would drop each other; the first one stays.
        if homes == fewer:
            less = other < place
        else:
            less = all(key in homes and not homes[key] & ~where for key, where in fewer.items())
        return less and unplaced[other] == unplaced[place]

    places = range(len(refusals))
    return [
        refusals[place]
        for place in places
        if not any(is_covered_by(place, other) for other in places)
    ]
