"""Search of recorded commands for pairs of a rule and a context that nothing reaches yet.

Commands of explorations reach pairs by chance. Commands of scenarios are put into contexts that
arise elsewhere in the namespace: an outage of another queue, or a transaction of another client.
These must not change what a bus does, so each rule is worth a sequence in them.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import attrs

from busproof import vocabulary as v
from busproof.cli.mutation.pairs import PLAIN, Pair, pairs_of
from busproof.history.files import load
from busproof.history.replay import RecordedCommand, commands_of, join_commands, numbered
from busproof.judging.shrinking import minimised
from busproof.judging.simplifying import simplified

__all__ = ["Reaching", "find_explored", "make_contexts", "repeat_thrice", "scenarios_reaching"]

OTHER: Final = "elsewhere"
"""Name of the queue, the connection and the transaction that make a context."""

DOWN: Final = (
    v.CreateQueue(queue=OTHER),
    v.TakePartitionDown(queue=OTHER, partition=0),
)
MAKE: Final[Mapping[str, tuple[v.Command, ...]]] = {
    "outage": DOWN,
    "recovered": (*DOWN, v.BringPartitionUp(queue=OTHER, partition=0)),
    "transaction": (v.BeginTransaction(transaction=OTHER),),
}
"""Commands that make a context without touching the other entities."""

TOGETHER: Final = (("outage", "transaction"), ("outage",), ("transaction",), ("recovered",))
"""Contexts for sequences; two in one sequence save another sequence."""

NAMES: Final = ("queue", "topic", "transaction", "forward_to", "forward_dead_letters_to")
"""Fields of commands that name an entity or a transaction."""

LONGEST: Final = 60
"""Maximum number of commands of a scenario to put into a context."""


@attrs.frozen(kw_only=True)
class Reaching:
    """The shortest known sequence that reaches one rule in each of these contexts."""

    rule: v.RuleId
    contexts: tuple[str, ...]
    profile: v.Profile
    commands: tuple[RecordedCommand, ...]


@attrs.frozen
class _Recorded:
    commands: tuple[RecordedCommand, ...]
    profile: v.Profile
    pairs: frozenset[Pair]


def find_explored(histories: Sequence[Path], known: set[Pair]) -> Iterator[Reaching]:
    """Yield the shortest explored sequence for each unknown pair, and add its pairs to `known`.

    Raises:
        HistoryError: a file is not a history.
    """
    recorded = _load_recorded(histories)
    for pair in sorted({pair for recording in recorded for pair in recording.pairs}):
        if pair not in known:
            shortest = next(recording for recording in recorded if pair in recording.pairs)
            yield _note(_shortest([pair], shortest.commands, shortest.profile), known)


def scenarios_reaching(histories: Sequence[Path], known: set[Pair]) -> Iterator[Reaching]:
    """Yield a scenario put into the contexts for each rule that nothing reaches in them.

    The pairs that it reaches are added to `known`.

    Raises:
        HistoryError: a file is not a history.
    """
    recorded = [
        scenario for scenario in _load_recorded(histories) if len(scenario.commands) <= LONGEST
    ]
    for rule in sorted({rule for scenario in recorded for rule, _ in scenario.pairs}):
        of_rule = [scenario for scenario in recorded if (rule, PLAIN) in scenario.pairs]
        for contexts in TOGETHER:
            pairs = [(rule, context) for context in contexts]
            if known.isdisjoint(pairs):
                reaching = _put(pairs, of_rule)
                if reaching is not None:
                    yield _note(reaching, known)


def _put(pairs: Sequence[Pair], recorded: Sequence[_Recorded]) -> Reaching | None:
    """Return the shortest recording that reaches the pairs when put into their contexts, if any."""
    for scenario in recorded:
        commands = make_contexts([context for _, context in pairs], scenario.commands)
        if pairs_of(commands, scenario.profile).issuperset(pairs):
            return _shortest(pairs, commands, scenario.profile)
    return None


def make_contexts(
    contexts: Sequence[str], commands: Sequence[RecordedCommand]
) -> tuple[RecordedCommand, ...]:
    """Return commands that make the contexts, on a separate connection, and then the commands."""
    return join_commands(
        _record_commands([command for name in contexts for command in MAKE[name]]), commands
    )


def repeat_thrice(commands: Sequence[RecordedCommand]) -> tuple[RecordedCommand, ...]:
    """Return the commands three times in one namespace, on entities with different names.

    First as they are, then during a transaction and an outage elsewhere, and finally after the
    outage.
    """
    return join_commands(
        _rename("first-", commands),
        _record_commands([*MAKE["transaction"], *MAKE["outage"]]),
        commands,
        _record_commands(MAKE["recovered"][-1:]),
        _rename("third-", commands),
    )


def _record_commands(commands: Sequence[v.Command]) -> tuple[RecordedCommand, ...]:
    return tuple(
        RecordedCommand(number=number, connection=OTHER, command=command)
        for number, command in enumerate(commands, 1)
    )


def _rename(prefix: str, commands: Sequence[RecordedCommand]) -> list[RecordedCommand]:
    """Return the commands with a prefix in all names of entities and transactions."""
    return [
        attrs.evolve(recorded, command=_add_prefix(prefix, recorded.command))
        for recorded in commands
    ]


def _add_prefix(prefix: str, command: Any) -> v.Command:
    values = {name: getattr(command, name, None) for name in NAMES}
    renamed: v.Command = attrs.evolve(
        command, **{name: prefix + value for name, value in values.items() if value}
    )
    return renamed


def _load_recorded(histories: Sequence[Path]) -> list[_Recorded]:
    """Return the recorded sequences of some histories, the shortest first."""
    recorded = [
        _Recorded(commands, history.header.profile, pairs_of(commands, history.header.profile))
        for history in map(load, histories)
        for commands in (commands_of(scenario.events) for scenario in history.scenarios)
    ]
    return sorted(recorded, key=lambda scenario: len(scenario.commands))


def _shortest(
    pairs: Sequence[Pair], commands: Sequence[RecordedCommand], profile: v.Profile
) -> Reaching:
    def reaches(candidate: Sequence[RecordedCommand]) -> bool:
        return pairs_of(candidate, profile).issuperset(pairs)

    shortest = simplified(minimised(commands, reaches), reaches)
    return Reaching(
        rule=pairs[0][0],
        contexts=tuple(context for _, context in pairs),
        profile=profile,
        commands=numbered(shortest),
    )


def _note(reaching: Reaching, known: set[Pair]) -> Reaching:
    known |= pairs_of(reaching.commands, reaching.profile)
    return reaching
