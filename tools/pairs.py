"""Count the pairs of a rule and a context that recorded histories of the model reach.

    python tools/pairs.py FEATURES.jsonl DISTILLED.jsonl [MORE.jsonl …]

The commands of each history are sent to the model again, which names the rules that decide each
answer. A pair is such a rule in one of the contexts of `mutants/by_machine/contexts.py`. The pairs
of all histories together stand for those that can be reached.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from busproof import vocabulary as v
from busproof.history import files
from busproof.history.records import Scenario
from busproof.history.replay import commands_of, resolved
from busproof.model import Namespace, RoundRobin, new_namespace, step
from busproof.mutants.by_machine.contexts import OF_ENTITIES, OF_NAMESPACES

PLAIN: Final = "no context"
Pair = tuple[v.RuleId, str]


def pairs_of(scenario: Scenario, profile: v.Profile) -> Iterator[Pair]:
    """Yield the pairs that a scenario reaches."""
    namespace = new_namespace(profile)
    choices = RoundRobin()
    tokens: dict[int, str] = {}
    for asked in commands_of(scenario.events):
        command = resolved(asked.command, tokens)
        if command is None:
            continue
        answer = step(namespace, command, asked.connection, choices)
        if isinstance(answer.outcome, v.Received) and answer.outcome.message.lock_token:
            tokens[asked.number] = answer.outcome.message.lock_token
        for context in contexts(namespace, command):
            yield from ((rule, context) for rule in answer.rules)


def contexts(namespace: Namespace, command: v.Command) -> Iterator[str]:
    """Yield the contexts of a command after it was answered."""
    yield PLAIN
    yield from (name for name, holds in OF_NAMESPACES.items() if holds(namespace))
    entity = namespace.entities.get(v.concerned(command) or "")
    if entity is not None:
        yield from (name for name, holds in OF_ENTITIES.items() if holds(entity))


def pairs_in(path: Path) -> set[Pair]:
    """Return the pairs that the scenarios of a history file reach."""
    history = files.load(path)
    profile = history.header.profile
    return {pair for each in history.scenarios for pair in pairs_of(each, profile)}


def main() -> None:
    """Print how many pairs each history reaches, alone and together with those before it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("histories", nargs="+", type=Path)
    reached = {path: pairs_in(path) for path in parser.parse_args().histories}
    every = set[Pair]().union(*reached.values())
    before: set[Pair] = set()
    for path, pairs in reached.items():
        before |= pairs
        share = 100 * len(before) / len(every)
        print(f"{path}: {len(pairs)}; with those before it {len(before)}, {share:.1f} %")
    print(f"in all: {len(every)}")


if __name__ == "__main__":
    main()
