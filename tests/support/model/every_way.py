"""Runs of the reference model in which each command goes any way that it could go."""

from collections.abc import Iterator
from itertools import islice
from random import Random

from random_commands import Commands

from busproof import vocabulary as v
from busproof.model import Answer, Namespace, Scripted, step, ways

__all__ = ["played"]

MOST_WAYS = 12


def played(
    commands: Commands, namespace: Namespace, random: Random, length: int
) -> Iterator[v.Event]:
    """The events of a run in which all ways of a command are as likely, up to `MOST_WAYS`."""
    plan = [(command, "c1") for command in commands.setup()]
    for number in range(length):
        command, connection = plan[number] if number < len(plan) else commands.any()
        mark = namespace.journal.mark()
        found = [way for way, _ in islice(ways(namespace, command, connection), MOST_WAYS)]
        namespace.journal.undo(mark)
        script = [place for _, place in random.choice(found)]
        yield event_of(command, connection, step(namespace, command, connection, Scripted(script)))


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
        returned=0,
    )
