"""Every way in which the model could go is accepted by the oracles, strict and client."""

import os
from collections.abc import Iterator
from itertools import islice
from random import Random

import pytest
from model_driver import Commands, any_profile

from busproof import vocabulary as v
from busproof.model import Answer, Namespace, RandomChoices, new_namespace, step, ways
from busproof.oracle.state import fresh_namespace
from busproof.oracle.step import accept

RUNS = 4_000 if os.environ.get("BUSPROOF_SIZE") == "full" else 100
"""Of 60 commands for each oracle: 25,000 ways, and a million at full size."""
PARTS = 4
LENGTH = 60
MOST_WAYS = 12
MOST_STATES = 8
"""How many beliefs of an oracle are followed before a run ends."""


@pytest.mark.slow
@pytest.mark.parametrize("oracle", ["strict", "client"])
@pytest.mark.parametrize("part", range(PARTS))
def test_oracle_accepts_every_way_of_the_model(part: int, oracle: str) -> None:
    """Any edition, tier and readings; a few ways of each command, and one of them at random."""
    for seed in range(RUNS // PARTS):
        for event, accepted in played(f"{oracle}/{part}/{seed}", oracle):
            assert accepted, (oracle, part, seed, event)


def played(seed: str, oracle: str) -> Iterator[tuple[v.Event, bool]]:
    """Each way that was looked at in one run, and whether the oracle accepted it."""
    random = Random(seed)
    held_to = any_profile(random)
    seen = v.Observability(partitions=oracle == "strict", limits=True)
    namespace, believed = new_namespace(held_to), (fresh_namespace(held_to, seen),)
    commands = Commands(random, namespace)
    plan = [(command, "c1") for command in commands.setup()]
    for number in range(LENGTH):
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
