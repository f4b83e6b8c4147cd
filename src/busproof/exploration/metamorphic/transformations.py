"""Table of the transformations of a sequence: other entities, and other circumstances."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from random import Random
from typing import Any, Final

import attrs

from busproof import vocabulary as v
from busproof.exploration.metamorphic import circumstances, entities, interruptions, setups

__all__ = [
    "CIRCUMSTANCES",
    "ENTITIES",
    "RequestKinds",
    "Transformation",
    "Variant",
    "VariantChooser",
    "request_kinds",
]

Variant = tuple[str, str]
"""Names of a transformation of the entities and one of the circumstances."""
NEW: Final = 3.5
"""A sequence is sent again if a variant counts at least so much: 1 for each new kind of request."""
REFUSED: Final = 3.0
"""A refusal counts as much as so many other answers."""
ERRORS: Final = frozenset(error.value for error in v.Error)
Kind = tuple[str, ...]
"""A command, its answer, and the fields that it sets."""


@attrs.frozen
class Transformation:
    """How other entities or circumstances change commands, and the commands that they change.

    It suits a sequence that has at least one command of each group in `needed`.
    """

    wrapped: entities.Wrapper
    needed: tuple[tuple[type[v.Command], ...], ...] = ()
    is_looked_at: bool = False
    """Whether each sequence ends with a last look, because the transformation makes it eventful."""

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

ENTITIES: Final[Mapping[str, Transformation]] = {
    "where it was": Transformation(entities.keep_as_is),
    "on a subscription": Transformation(entities.use_subscription, (CREATING,)),
    "on two subscriptions": Transformation(
        entities.use_two_subscriptions, (CREATING, entities.RECEIVING)
    ),
    "in a dead-letter queue": Transformation(
        entities.use_dead_letter_queue, (CREATING, SENDING, entities.RECEIVING)
    ),
    "in a session": Transformation(entities.use_session, (CREATING, SENDING)),
    "in a session of a subscription": Transformation(
        entities.use_session_of_subscription, (CREATING, SENDING)
    ),
    "behind a queue that forwards": Transformation(entities.forward_to_queue, (CREATING, SENDING)),
}

CIRCUMSTANCES: Final[Mapping[str, Transformation]] = {
    "as it was": Transformation(entities.keep_as_is),
    "in transactions": Transformation(circumstances.use_transactions, ((*SENDING, *SETTLING),)),
    "in batches": Transformation(circumstances.use_batches, ((*SENDING, *SETTLING, v.Receive),)),
    "with deletion": Transformation(
        circumstances.receive_and_delete, ((v.ReceiveDeferred, v.ReceiveBatch),)
    ),
    "more slowly": Transformation(circumstances.slow_down, ((v.AdvanceClock,),)),
    "after a hundred others": Transformation(
        circumstances.precede_by_hundred_messages, (CREATING,)
    ),
    "among a hundred others": Transformation(circumstances.add_hundred_entities, (LISTING,)),
    "after an outage": Transformation(circumstances.precede_by_outage, (CREATING,)),
    "after predecessors": Transformation(setups.precede_by_namesakes, ((*CREATED, v.AddRule),)),
    "after refusals": Transformation(setups.precede_by_refusals, (CREATED,)),
    "half closed": Transformation(setups.close_in_turn, (CREATED, SENDING), is_looked_at=True),
    "in an outage": Transformation(
        setups.take_partition_down, ((v.CreateQueue, v.CreateTopic),), is_looked_at=True
    ),
    "beside deletions": Transformation(
        setups.delete_neighbours, (CREATED, SENDING), is_looked_at=True
    ),
    "amid updates": Transformation(
        interruptions.interrupt_by_updates, (CREATING, interruptions.HANDLING), is_looked_at=True
    ),
    "amid outages": Transformation(
        interruptions.interrupt_by_outages, (CREATING, interruptions.HANDLING), is_looked_at=True
    ),
    "with pauses": Transformation(
        interruptions.interrupt_by_pauses, (CREATING, interruptions.RESTING), is_looked_at=True
    ),
    "with renewals": Transformation(
        interruptions.interrupt_by_renewals, ((v.RenewLock, v.RenewSessionLock),)
    ),
}


@attrs.frozen
class RequestKinds:
    """What a sequence consists of: the types of its commands, and the kinds of its requests."""

    commands: frozenset[type[v.Command]]
    kinds: frozenset[Kind]


def request_kinds(events: Sequence[v.Event]) -> RequestKinds:
    """Return what a sequence consists of."""
    return RequestKinds(
        frozenset(type(event.command) for event in events), frozenset(map(_kind, events))
    )


class VariantChooser:
    """Chooser of variants, so that each kind of request meets each entity and circumstance.

    Args:
        random: decides between variants that are equally new.
    """

    def __init__(self, random: Random) -> None:
        self._random = random
        self._used: Counter[tuple[str, Kind]] = Counter()

    def choose_for(self, sequence: RequestKinds) -> Variant | None:
        """Return the entity and the circumstance that are newest for the requests of a sequence.

        `None` if no transformation changes them, or none is new.
        """
        commands = sequence.commands
        kinds = sequence.kinds
        entities = [
            name for name, transformation in ENTITIES.items() if transformation.suits(commands)
        ]
        circumstances = [
            name for name, transformation in CIRCUMSTANCES.items() if transformation.suits(commands)
        ]
        where, entity = self._newest(entities, kinds)
        if entity == entities[0]:
            del circumstances[0]
        if not circumstances:
            return None
        how, circumstance = self._newest(circumstances, kinds)
        if max(where, how) < NEW:
            return None
        self._used.update((name, kind) for name in (entity, circumstance) for kind in kinds)
        return entity, circumstance

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
