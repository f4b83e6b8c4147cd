"""Mutants of PART: which messages a peek shows, from where on, and in an outage."""

from collections.abc import Callable
from itertools import chain, islice
from typing import Final

import attrs

from busproof import vocabulary as v
from busproof.model.answers import Answer
from busproof.model.partitions import Partitions, shown
from busproof.model.rules import Namespace
from busproof.model.state import Entity
from busproof.mutants.mutant import mutant, run
from busproof.mutants.partitions import HOME, KEYED, ONE_EACH, REGULAR, View
from busproof.mutants.runs import QUEUE, Run, create, down, home, receive, send
from busproof.mutants.views import Views
from busproof.mutants.wrappers import asks, refuses, tells

SEVEN_OF_ONE: Final[Run] = tuple(send(f"m{number}", partition_key="a") for number in range(1, 8))
PEEK: Final = v.Peek(queue=QUEUE)
PEEK_FOUR: Final = v.Peek(queue=QUEUE, count=4)
FROM_THIRD: Final = v.Peek(queue=QUEUE, from_sequence_number=(HOME << v.SEQUENCE_BITS) + 3)
PEEK_ALL: Final[Run] = (create(), *ONE_EACH, v.Peek(queue=QUEUE, count=4, from_sequence_number=0))


Hidden = Callable[[Entity, View, list[int]], bool]


def _hiding(namespace: Namespace, command: v.Peek, connection: str, is_hidden: Hidden) -> Answer:
    """Return a peek without the messages that `hidden` selects from a partition's numbers."""
    entity = namespace.rules.topics.readable(command.queue)
    numbers: dict[int, list[int]] = {}
    for number in sorted(entity.messages):
        numbers.setdefault(number >> v.SEQUENCE_BITS, []).append(number)
    there = command.count + len(entity.messages) + len(entity.scheduled)
    everything = attrs.evolve(command, count=there)
    answer = Partitions.peek(namespace.rules.partitions, everything, connection)
    if isinstance(answer.outcome, v.Peeked):
        views = answer.outcome.messages
        hidden = (is_hidden(entity, view, numbers.get(_partition(view), [])) for view in views)
        shown = tuple(view for view, skip in zip(views, hidden, strict=True) if not skip)
        answer.outcome = v.Peeked(messages=shown[: command.count])
    return answer


def _partition(view: View) -> int:
    return (view.sequence_number or 0) >> v.SEQUENCE_BITS


@mutant("PART-14", (REGULAR, send("m1"), send("m2"), PEEK))
class RegularPeekMissesTheOldest(Partitions):
    """A peek into a regular queue begins with its second message."""

    def peek(self, command: v.Peek, connection: str) -> Answer:

        def is_hidden(entity: Entity, view: View, numbers: list[int]) -> bool:
            is_oldest = len(numbers) > 1 and view.sequence_number == numbers[0]
            return is_oldest and not entity.settings.partitioned

        return _hiding(self.rules.namespace, command, connection, is_hidden)


@mutant("PART-14", (REGULAR, send("m1"), send("m2"), receive(), PEEK), deep=True)
class RegularPeekMissesWhatIsLocked(Partitions):
    """A peek into a regular queue does not show locked messages."""

    def peek(self, command: v.Peek, connection: str) -> Answer:

        def is_hidden(entity: Entity, view: View, numbers: list[int]) -> bool:
            queued = entity.messages.get(view.sequence_number or 0)
            is_locked = queued is not None and queued.token is not None
            return is_locked and not entity.settings.partitioned

        return _hiding(self.rules.namespace, command, connection, is_hidden)


@mutant("PART-14", (REGULAR, send("m1"), PEEK))
class RegularPeekShowsNothing(Partitions):
    """A peek into a regular queue shows nothing."""

    @tells("messages")
    def peek(self, usual: Views, command: v.Peek) -> Views:
        entity = self.rules.topics.readable(command.queue)
        return usual if entity.settings.partitioned else ()


@mutant("PART-15", (*KEYED, send("m2", partition_key="a"), PEEK))
class PeekBeginsWithAPartitionsSecond(Partitions):
    """A peek does not show the oldest message of a partition with several messages."""

    def peek(self, command: v.Peek, connection: str) -> Answer:

        def is_hidden(entity: Entity, view: View, numbers: list[int]) -> bool:
            is_oldest = len(numbers) > 1 and view.sequence_number == numbers[0]
            return is_oldest and len(entity.partitions) > 1

        return _hiding(self.rules.namespace, command, connection, is_hidden)


@mutant("PART-15", (create(), *SEVEN_OF_ONE, PEEK), deep=True)
class PeekForgetsTheOldestOfMany(Partitions):
    """A peek shows only the latest six messages of a partition that had more."""

    def peek(self, command: v.Peek, connection: str) -> Answer:

        def is_hidden(entity: Entity, view: View, numbers: list[int]) -> bool:
            return view.sequence_number in numbers[:-6] and len(entity.partitions) > 1

        return _hiding(self.rules.namespace, command, connection, is_hidden)


@mutant("PART-19", (create(), send("m1"), send("m2"), PEEK))
class PeekShowsOneMore(Partitions):
    """A peek shows one message more than requested."""

    @asks
    def peek(self, command: v.Peek) -> v.Peek:
        return attrs.evolve(command, count=command.count + 1)


@mutant("PART-19", deep=True)
@run(create(), *SEVEN_OF_ONE, PEEK_FOUR)
class PeekShowsOneTwice(Partitions):
    """A peek of at least four messages shows the last but one again at its end."""

    @tells("messages")
    def peek(self, usual: Views) -> Views:
        return (*usual[:-1], usual[-2]) if len(usual) >= 4 else usual


@mutant("PART-20", (create(), *SEVEN_OF_ONE, FROM_THIRD))
class PeekBeginsAnew(Partitions):
    """A peek from a sequence number on starts at the first message instead."""

    @asks
    def peek(self, command: v.Peek) -> v.Peek:
        return attrs.evolve(command, from_sequence_number=None)


@mutant("PART-20", PEEK_ALL, deep=True, literal=True)
class PeekOnEndsWithItsPartition(Partitions):
    """A peek from a sequence number on shows only that number's partition."""

    @tells("messages")
    def peek(self, usual: Views, command: v.Peek) -> Views:
        start = command.from_sequence_number
        if start is None:
            return usual
        return tuple(view for view in usual if _partition(view) == start >> v.SEQUENCE_BITS)


SERVED: Final = {"PEEK-IN-OUTAGE": "served"}
IN_OUTAGE: Final[Run] = (
    create(),
    *(send(f"m{key}", partition_key=key) for key in "abcdef"),
    down(home("a")),
    v.Peek(queue=QUEUE, count=20),
)


@mutant("PART-29", readings=SERVED)
@run(*IN_OUTAGE)
class PeekRefusedInAnOutage(Partitions):
    """A peek is refused while any partition is down."""

    @refuses("LIFE-11", v.Error.UNAVAILABLE)
    def peek(self, command: v.Peek) -> bool:
        return bool(self.rules.topics.readable(command.queue).base.down)


@mutant("PART-29", IN_OUTAGE, readings=SERVED)
class PeekShowsWhatIsDown(Partitions):
    """A peek shows messages of a partition that is down."""

    def peek(self, command: v.Peek, connection: str) -> Answer:
        entity = self.rules.topics.readable(command.queue)
        if not entity.base.down:
            return super().peek(command, connection)
        lines = (partition.line.behind(entity.messages, 0) for partition in entity.partitions)
        views = islice(map(shown, chain.from_iterable(lines)), command.count)
        return Answer(v.Peeked(messages=tuple(views)), rules=("LIFE-07",))
