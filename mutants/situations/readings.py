"""Mutants that break what a run is held to by a reading other than the default."""

from itertools import chain, islice
from typing import Final

from busproof import vocabulary as v
from busproof.model.answers import Answer
from busproof.model.partitions import shown
from busproof.model.rules import RULES
from busproof.model.state import Namespace
from busproof.mutants.mutant import mutant
from busproof.mutants.runs import QUEUE, Run, create, down, home, send
from busproof.mutants.wrappers import refuses

SERVED: Final = {"PEEK-IN-OUTAGE": "served"}
IN_OUTAGE: Final[Run] = (
    create(),
    *(send(f"m{key}", partition_key=key) for key in "abcdef"),
    down(home("a")),
    v.Peek(queue=QUEUE, count=20),
)


@mutant(
    "PART-29",
    "partitions.peek",
    IN_OUTAGE,
    refuses("LIFE-11", v.Error.UNAVAILABLE),
    readings=SERVED,
)
def peek_refused_in_an_outage(namespace: Namespace, command: v.Peek) -> bool:
    """A peek is refused while any partition is down."""
    return bool(namespace.rules.topics.readable(namespace, command.queue).base.down)


@mutant("PART-29", "partitions.peek", IN_OUTAGE, readings=SERVED)
def peek_shows_what_is_down(namespace: Namespace, command: v.Peek, connection: str) -> Answer:
    """A peek shows messages of a partition that is down."""
    entity = namespace.rules.topics.readable(namespace, command.queue)
    if not entity.base.down:
        return RULES.partitions.peek(namespace, command, connection)
    lines = (partition.line.behind(entity.messages, 0) for partition in entity.partitions)
    views = islice(map(shown, chain.from_iterable(lines)), command.count)
    return Answer(v.Peeked(messages=tuple(views)), rules=("LIFE-07",))
