"""Table of the places and manners in which a sequence is sent again."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from random import Random
from typing import Any, Final

import attrs

from busproof import vocabulary as v
from busproof.exploration.elsewhere import interruptions, manners, places, preludes

__all__ = ["MANNERS", "PLACES", "Change", "Kinds", "Way", "Ways", "kinds_of"]

Way = tuple[str, str]
"""Names of a place and a manner."""
NEW: Final = 3.5
"""A sequence is sent again if some way counts at least so much: 1 for each new kind of request."""
REFUSED: Final = 3.0
"""A refusal counts as much as so many other answers."""
ERRORS: Final = frozenset(error.value for error in v.Error)
Kind = tuple[str, ...]
"""A command, its answer, and the fields that it sets."""


@attrs.frozen
class Change:
    """A place or a manner: how it sends commands, and the commands that it can change.

    It suits a sequence that has at least one command of each group in `needed`.
    """

    wrapped: places.Wrapper
    needed: tuple[tuple[type[v.Command], ...], ...] = ()
    is_looked_at: bool = False
    """Whether each sequence ends with a last look, because the change makes it eventful."""

    def suits(self, kinds: frozenset[type[v.Command]]) -> bool:
        """Return whether it changes a sequence of commands of these types."""
        return all(not kinds.isdisjoint(group) for group in self.needed)


CREATING: Final = (v.CreateQueue,)
CREATED: Final = (*CREATING, v.CreateTopic, v.CreateSubscription)
SENDING: Final = (v.Send, v.SendBatch, v.Schedule)
LISTING: Final = (
    v.ListQueues,
    v.ListRules,
    v.ListSessions,
    v.ListSubscriptions,
    v.ListTopics,
)
SETTLING: Final = (v.Complete, v.Abandon, v.Defer, v.DeadLetter)

PLACES: Final[Mapping[str, Change]] = {
    "where it was": Change(places.where_it_was),
    "on a subscription": Change(places.on_a_subscription, (CREATING,)),
    "on two subscriptions": Change(places.on_two_subscriptions, (CREATING, places.RECEIVING)),
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
    "among a hundred others": Change(manners.among_a_hundred_others, (LISTING,)),
    "after an outage": Change(manners.after_an_outage, (CREATING,)),
    "after predecessors": Change(preludes.after_predecessors, ((*CREATED, v.AddRule),)),
    "after refusals": Change(preludes.after_refusals, (CREATED,)),
    "half closed": Change(preludes.half_closed, (CREATED, SENDING), is_looked_at=True),
    "in an outage": Change(
        preludes.in_an_outage, ((v.CreateQueue, v.CreateTopic),), is_looked_at=True
    ),
    "beside deletions": Change(preludes.beside_deletions, (CREATED, SENDING), is_looked_at=True),
    "amid updates": Change(
        interruptions.amid_updates, (CREATING, interruptions.HANDLING), is_looked_at=True
    ),
    "amid outages": Change(
        interruptions.amid_outages, (CREATING, interruptions.HANDLING), is_looked_at=True
    ),
    "with pauses": Change(
        interruptions.with_pauses, (CREATING, interruptions.RESTING), is_looked_at=True
    ),
    "with renewals": Change(interruptions.with_renewals, ((v.RenewLock, v.RenewSessionLock),)),
}


@attrs.frozen
class Kinds:
    """What a sequence consists of: the types of its commands, and the kinds of its requests."""

    commands: frozenset[type[v.Command]]
    kinds: frozenset[Kind]


def kinds_of(events: Sequence[v.Event]) -> Kinds:
    """Return what a sequence consists of."""
    return Kinds(frozenset(type(event.command) for event in events), frozenset(map(_kind, events)))


class Ways:
    """Chooser of ways, so that each kind of request is sent in each place and in each manner.

    Args:
        random: decides between ways that are equally new.
    """

    def __init__(self, random: Random) -> None:
        self._random = random
        self._used: Counter[tuple[str, Kind]] = Counter()

    def chosen_for(self, sequence: Kinds) -> Way | None:
        """Return the place and the manner that are newest for the requests of a sequence.

        `None` if no place and no manner changes them, or none is new.
        """
        commands, kinds = sequence.commands, sequence.kinds
        places = [name for name, change in PLACES.items() if change.suits(commands)]
        manners = [name for name, change in MANNERS.items() if change.suits(commands)]
        where, place = self._newest(places, kinds)
        if place == places[0]:
            del manners[0]
        if not manners:
            return None
        how, manner = self._newest(manners, kinds)
        if max(where, how) < NEW:
            return None
        self._used.update((name, kind) for name in (place, manner) for kind in kinds)
        return place, manner

    def _newest(self, names: Sequence[str], kinds: Set[Kind]) -> tuple[float, str]:
        """Return the name for which most of these kinds are new, and how many are.

        Each time that a kind was sent under a name, it counts half as much as before.
        """
        ordered = self._random.sample(names, len(names))
        newest = max(ordered, key=lambda name: self._newness(name, kinds))
        return self._newness(newest, kinds), newest

    def _newness(self, name: str, kinds: Set[Kind]) -> float:
        return sum(_weight(kind) * 2.0 ** -self._used[name, kind] for kind in kinds)


def _weight(kind: Kind) -> float:
    """Return how much a kind counts: a refusal more, because it is rare and may be a wrong one."""
    return REFUSED if kind[1] in ERRORS else 1.0


def _kind(event: v.Event) -> Kind:
    """Return the kind of a request: its command, the fields that it sets, and its answer."""
    outcome = event.outcome
    answer = outcome.error.value if isinstance(outcome, v.Refused) else type(outcome).__name__
    message = getattr(event.command, "message", None)
    return (
        type(event.command).__name__,
        answer,
        *_set_fields(event.command),
        *_set_fields(message),
    )


def _set_fields(value: Any) -> Iterator[str]:
    """Yield the names of fields that differ from their defaults."""
    for field in () if value is None else attrs.fields(type(value)):
        if field.default is not attrs.NOTHING and getattr(value, field.name) != field.default:
            yield field.name
