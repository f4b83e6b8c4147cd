"""Runs of the reference model in which an oracle is put every way that each command could go."""

from collections.abc import Iterator
from itertools import islice
from random import Random

from random_commands import Commands

from busproof import vocabulary as v
from busproof.model import Answer, Namespace, RandomChoices, step, ways
from busproof.oracle.state import fresh_namespace
from busproof.oracle.step import accept

__all__ = ["played"]

MOST_WAYS = 12
MOST_STATES = 8
"""How many beliefs of an oracle are followed before a run ends."""


def played(
    commands: Commands, namespace: Namespace, oracle: str, random: Random, length: int
) -> Iterator[tuple[v.Event, bool]]:
    """Each way that was looked at in one run, and whether the oracle accepted it."""
    seen = v.Observability(partitions=oracle == "strict", limits=True)
    believed = (fresh_namespace(namespace.profile, seen),)
    plan = [(command, "c1") for command in commands.setup()]
    for number in range(length):
        command, connection = plan[number] if number < len(plan) else commands.any()
        for answer in some_ways(namespace, command, connection):
            event = event_of(command, connection, answer)
            yield event, bool(accept(believed, event).possible)
        event = event_of(command, connection, taken(namespace, command, connection, random))
        believed = accept(believed, event).possible
        yield event, bool(believed)
        if len(believed) > MOST_STATES:
            return


def some_ways(namespace: Namespace, command: v.Command, connection: str) -> Iterator[Answer]:
    """Some ways of a command, each of which differs from those before."""
    found: list[Answer] = []
    mark = namespace.journal.mark()
    for _, answer in islice(ways(namespace, command, connection), MOST_WAYS):
        if answer not in found:
            found.append(answer)
    namespace.journal.undo(mark)
    return iter(found)


def taken(namespace: Namespace, command: v.Command, connection: str, random: Random) -> Answer:
    """One way, at random."""
    return step(namespace, command, connection, RandomChoices(random))


def event_of(command: v.Command, connection: str, answer: Answer) -> v.Event:
    """A command and its answer on record, with the witness that an adapter has."""
    witness = None
    sent = isinstance(command, v.Send | v.SendBatch) and isinstance(answer.outcome, v.Done)
    if sent and answer.partition is not None:
        witness = v.Witness(partition=answer.partition)
    return v.Event(
        connection=connection,
        client=connection,
        command=command,
        outcome=answer.outcome,
        witness=witness,
    )
