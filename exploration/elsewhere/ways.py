"""Table of the places and manners in which a sequence is sent again."""

from collections.abc import Mapping, Sequence
from typing import Final

import attrs

from busproof import vocabulary as v
from busproof.exploration.elsewhere import manners, places

__all__ = ["MANNERS", "PLACES", "Change", "Way", "ways_for"]

Way = tuple[str, str]
"""Names of a place and a manner."""


@attrs.frozen
class Change:
    """A place or a manner: how it sends commands, and the commands without which it does nothing.

    A sequence needs one command of each group.
    """

    wrapped: places.Wrapper
    needed: tuple[tuple[type[v.Command], ...], ...] = ()

    def suits(self, kinds: frozenset[type[v.Command]]) -> bool:
        """Return whether it changes a sequence of commands of these types."""
        return all(not kinds.isdisjoint(group) for group in self.needed)


CREATING: Final = (v.CreateQueue,)
SENDING: Final = (v.Send, v.SendBatch, v.Schedule)
SETTLING: Final = (v.Complete, v.Abandon, v.Defer, v.DeadLetter)

PLACES: Final[Mapping[str, Change]] = {
    "where it was": Change(places.where_it_was),
    "on a subscription": Change(places.on_a_subscription, (CREATING,)),
    "in a dead-letter queue": Change(
        places.in_a_dead_letter_queue, (CREATING, SENDING, places.RECEIVING)
    ),
    "in a session": Change(places.in_a_session, (CREATING, SENDING)),
    "in a session of a subscription": Change(
        places.in_a_session_of_a_subscription, (CREATING, SENDING)
    ),
    "behind a queue that forwards": Change(
        places.behind_a_queue_that_forwards, (CREATING, SENDING)
    ),
}

MANNERS: Final[Mapping[str, Change]] = {
    "as it was": Change(places.where_it_was),
    "in transactions": Change(manners.in_transactions, ((*SENDING, *SETTLING),)),
    "in batches": Change(manners.in_batches, ((*SENDING, *SETTLING, v.Receive),)),
    "with deletion": Change(manners.with_deletion, ((v.ReceiveDeferred, v.ReceiveBatch),)),
    "more slowly": Change(manners.more_slowly, ((v.AdvanceClock,),)),
    "after a hundred others": Change(manners.after_a_hundred_others, (CREATING,)),
    "after an outage": Change(manners.after_an_outage, (CREATING,)),
}


def ways_for(events: Sequence[v.Event]) -> tuple[Way, ...]:
    """Return the ways that change a sequence, in its place, in its manner, or in both."""
    kinds = frozenset(type(event.command) for event in events)
    ways = (
        (place, manner)
        for place, where in PLACES.items()
        if where.suits(kinds)
        for manner, how in MANNERS.items()
        if how.suits(kinds)
    )
    return tuple(ways)[1:]
