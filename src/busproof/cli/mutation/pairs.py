"""Pairs of a rule that decides an answer of the model, and the context of the decision.

The contexts are those in `mutants/by_machine/contexts.py` that are about a namespace or an entity.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from busproof import vocabulary as v
from busproof.history import files
from busproof.history.replay import RecordedCommand, commands_of, resolved
from busproof.model import Namespace, RoundRobin, new_namespace, step
from busproof.mutants.by_machine.contexts import OF_ENTITIES, OF_NAMESPACES

__all__ = ["PLAIN", "WORDS", "Pair", "pairs_in", "pairs_of"]

PLAIN: Final = "no context"
Pair = tuple[v.RuleId, str]

WORDS: Final[Mapping[str, str]] = {
    "no context": "in any case",
    "outage": "while a partition is down",
    "recovered": "after an outage",
    "transaction": "after a transaction was begun",
    "dead-letters": "on a dead-letter queue",
    "sessions": "on an entity that requires sessions",
    "subscription": "on a subscription",
    "regular": "on an entity that is not partitioned",
}
"""The contexts in words."""


def pairs_of(commands: Sequence[RecordedCommand], profile: v.Profile) -> frozenset[Pair]:
    """Return the pairs that the model reaches with these commands."""
    return frozenset(_pairs(commands, profile))


def _pairs(commands: Sequence[RecordedCommand], profile: v.Profile) -> Iterator[Pair]:
    namespace = new_namespace(profile)
    choices = RoundRobin()
    tokens: dict[int, str] = {}
    for recorded in commands:
        command = resolved(recorded.command, tokens)
        if command is None:
            continue
        answer = step(namespace, command, recorded.connection, choices)
        if isinstance(answer.outcome, v.Received) and answer.outcome.message.lock_token:
            tokens[recorded.number] = answer.outcome.message.lock_token
        for context in _contexts(namespace, command):
            yield from ((rule, context) for rule in answer.rules)


def _contexts(namespace: Namespace, command: v.Command) -> Iterator[str]:
    """Yield the contexts that a command was in, once it has been answered."""
    yield PLAIN
    yield from (name for name, holds in OF_NAMESPACES.items() if holds(namespace))
    entity = namespace.entities.get(v.concerned(command) or "")
    if entity is not None:
        yield from (name for name, holds in OF_ENTITIES.items() if holds(entity))


def pairs_in(path: Path) -> frozenset[Pair]:
    """Return the pairs that the scenarios of a history file reach on the model.

    Raises:
        HistoryError: the file is not a history.
    """
    history = files.load(path)
    profile = history.header.profile
    pairs = (pairs_of(commands_of(scenario.events), profile) for scenario in history.scenarios)
    return frozenset().union(*pairs)
