"""Mutants of PART: which messages a peek shows, from where on, and in an outage."""

from collections.abc import Callable
from itertools import chain, islice
from typing import Final

import attrs

from busproof import vocabulary as v
from busproof.model.answers import Answer
from busproof.model.partitions import shown
from busproof.model.rules import Namespace
from busproof.model.state import Entity
from busproof.mutants.mutant import mutant, run
from busproof.mutants.own_rules import RULES
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
    answer = RULES.partitions.peek(namespace, everything, connection)
    if isinstance(answer.outcome, v.Peeked):
        views = answer.outcome.messages
        hidden = (is_hidden(entity, view, numbers.get(_partition(view), [])) for view in views)
        shown = tuple(view for view, skip in zip(views, hidden, strict=True) if not skip)
        answer.outcome = v.Peeked(messages=shown[: command.count])
    return answer


def _partition(view: View) -> int:
    return (view.sequence_number or 0) >> v.SEQUENCE_BITS


@mutant("PART-14", "partitions.peek", (REGULAR, send("m1"), send("m2"), PEEK))
def regular_peek_misses_the_oldest(
    namespace: Namespace, command: v.Peek, connection: str
) -> Answer:
    """A peek into a regular queue begins with its second message."""

    def is_hidden(entity: Entity, view: View, numbers: list[int]) -> bool:
        is_oldest = len(numbers) > 1 and view.sequence_number == numbers[0]
        return is_oldest and not entity.settings.partitioned

    return _hiding(namespace, command, connection, is_hidden)


@mutant("PART-14", "partitions.peek", (REGULAR, send("m1"), send("m2"), receive(), PEEK), deep=True)
def regular_peek_misses_what_is_locked(
    namespace: Namespace, command: v.Peek, connection: str
) -> Answer:
    """A peek into a regular queue does not show locked messages."""

    def is_hidden(entity: Entity, view: View, numbers: list[int]) -> bool:
        queued = entity.messages.get(view.sequence_number or 0)
        is_locked = queued is not None and queued.token is not None
        return is_locked and not entity.settings.partitioned

    return _hiding(namespace, command, connection, is_hidden)


@mutant("PART-14", "partitions.peek", (REGULAR, send("m1"), PEEK), tells("messages"))
def regular_peek_shows_nothing(usual: Views, namespace: Namespace, command: v.Peek) -> Views:
    """A peek into a regular queue shows nothing."""
    entity = namespace.rules.topics.readable(command.queue)
    return usual if entity.settings.partitioned else ()


@mutant("PART-15", "partitions.peek", (*KEYED, send("m2", partition_key="a"), PEEK))
def peek_begins_with_a_partitions_second(
    namespace: Namespace, command: v.Peek, connection: str
) -> Answer:
    """A peek does not show the oldest message of a partition with several messages."""

    def is_hidden(entity: Entity, view: View, numbers: list[int]) -> bool:
        is_oldest = len(numbers) > 1 and view.sequence_number == numbers[0]
        return is_oldest and len(entity.partitions) > 1

    return _hiding(namespace, command, connection, is_hidden)


@mutant("PART-15", "partitions.peek", (create(), *SEVEN_OF_ONE, PEEK), deep=True)
def peek_forgets_the_oldest_of_many(
    namespace: Namespace, command: v.Peek, connection: str
) -> Answer:
    """A peek shows only the latest six messages of a partition that had more."""

    def is_hidden(entity: Entity, view: View, numbers: list[int]) -> bool:
        return view.sequence_number in numbers[:-6] and len(entity.partitions) > 1

    return _hiding(namespace, command, connection, is_hidden)


@mutant("PART-19", "partitions.peek", (create(), send("m1"), send("m2"), PEEK), asks)
def peek_shows_one_more(command: v.Peek) -> v.Peek:
    """A peek shows one message more than requested."""
    return attrs.evolve(command, count=command.count + 1)


@mutant("PART-19", "partitions.peek", how=tells("messages"), deep=True)
@run(create(), *SEVEN_OF_ONE, PEEK_FOUR)
def peek_shows_one_twice(usual: Views) -> Views:
    """A peek of at least four messages shows the last but one again at its end."""
    return (*usual[:-1], usual[-2]) if len(usual) >= 4 else usual


@mutant("PART-20", "partitions.peek", (create(), *SEVEN_OF_ONE, FROM_THIRD), asks)
def peek_begins_anew(command: v.Peek) -> v.Peek:
    """A peek from a sequence number on starts at the first message instead."""
    return attrs.evolve(command, from_sequence_number=None)


@mutant("PART-20", "partitions.peek", PEEK_ALL, tells("messages"), deep=True, literal=True)
def peek_on_ends_with_its_partition(usual: Views, command: v.Peek) -> Views:
    """A peek from a sequence number on shows only that number's partition."""
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


@mutant("PART-29", "partitions.peek", how=refuses("LIFE-11", v.Error.UNAVAILABLE), readings=SERVED)
@run(*IN_OUTAGE)
def peek_refused_in_an_outage(namespace: Namespace, command: v.Peek) -> bool:
    """A peek is refused while any partition is down."""
    return bool(namespace.rules.topics.readable(command.queue).base.down)


@mutant("PART-29", "partitions.peek", IN_OUTAGE, readings=SERVED)
def peek_shows_what_is_down(namespace: Namespace, command: v.Peek, connection: str) -> Answer:
    """A peek shows messages of a partition that is down."""
    entity = namespace.rules.topics.readable(command.queue)
    if not entity.base.down:
        return RULES.partitions.peek(namespace, command, connection)
    lines = (partition.line.behind(entity.messages, 0) for partition in entity.partitions)
    views = islice(map(shown, chain.from_iterable(lines)), command.count)
    return Answer(v.Peeked(messages=tuple(views)), rules=("LIFE-07",))
