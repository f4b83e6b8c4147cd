"""A search for commands that let the judge distinguish a mutant from the model.

Each try sends the same commands to both. If the mutant answers the same but changes other records
than the model, the fault has infected the state without showing yet, so these commands are varied
further.
"""

from collections.abc import Callable, Sequence
from enum import StrEnum
from random import Random
from typing import Any, Final

import attrs

from busproof import vocabulary as v
from busproof.adapters.model import ModelAdapter
from busproof.cli.mutation.budget import SECONDS, within
from busproof.cli.mutation.variants import Material, vary
from busproof.history.replay import RecordedCommand, resolved
from busproof.judging.judge import Judge
from busproof.judging.replay_check import same_outcome
from busproof.model import Answer, Namespace, RoundRobin, new_namespace, step
from busproof.model.rules import NO_FAULT, Families

__all__ = ["Base", "Difference", "Played", "Reached", "find_broken", "play", "search"]

LONGEST: Final = 120
"""Maximum number of commands in a variant; a longer one is cut."""
INFECTED_MOST: Final = 20
"""Maximum number of sequences to keep in which the fault has changed only the state."""
OBSERVABILITY: Final = ModelAdapter().declaration.observability


@attrs.frozen(kw_only=True)
class Base:
    """A recorded sequence that the search varies."""

    profile: v.Profile
    commands: tuple[RecordedCommand, ...]
    partitions: tuple[int, ...]


@attrs.frozen(kw_only=True)
class Played:
    """A mutant's answers, with those of the model for comparison.

    Attributes:
        events: the events of the mutant; the last one is missing if it broke.
        usual: the events of the model, up to where the answers differ.
        broke: whether the mutant raised an exception.
        differs: whether the mutant gave a different answer or none.
        infected: number of commands until the mutant changed other records than the model.
    """

    events: tuple[v.Event, ...]
    usual: tuple[v.Event, ...]
    broke: bool = False
    differs: bool = False
    infected: int | None = None


@attrs.frozen(kw_only=True)
class Difference:
    """Commands and a mutant's answers to them, which the judge rejects."""

    profile: v.Profile
    events: tuple[v.Event, ...]
    rules: tuple[str, ...]


class Reached(StrEnum):
    """The progress of a fault that the judge did not reject."""

    CONTEXT = "never been in its context"
    NOTHING = "given the same answers and kept the same records"
    STATE = "kept other records, but given the same answers"
    ANSWERS = "given other answers, all of them allowed"


def search(
    families: Families, bases: Sequence[Base], material: Material, *, tries: int, random: Random
) -> Difference | Reached:
    """Return commands to which the judge accepts the model's answers, but not the mutant's.

    If no variant has such answers, return how far the fault came in any of them.

    Args:
        families: families of rules with the fault.
        bases: sequences that execute the mutated lines, or come near them.
        material: commands and values for variants.
        tries: maximum number of variants.
        random: source of random choices.
    """
    infected: list[Base] = []
    allowed = False
    for _ in range(tries):
        further = infected and random.random() < 0.5
        base = random.choice(infected if further else bases)
        commands = vary(base.commands[:LONGEST], base.partitions, material, random)
        try:
            run = play(families, base.profile, commands)
        except ModelBroke:
            continue
        if run.differs:
            rejected = find_broken(base.profile, run)
            if rejected is not None:
                return Difference(profile=base.profile, events=run.events, rules=rejected)
            allowed = True
        elif run.infected is not None and len(infected) < INFECTED_MOST:
            infected.append(attrs.evolve(base, commands=commands[: run.infected]))
    if allowed:
        return Reached.ANSWERS
    return Reached.STATE if infected else Reached.NOTHING


class ModelBroke(Exception):
    """The model itself failed on these commands."""


def play(
    families: Families,
    profile: v.Profile,
    commands: Sequence[RecordedCommand],
    *,
    seconds: float = SECONDS,
) -> Played:
    """Send commands to the model and a mutant, until the mutant breaks or no command is left.

    Lock tokens are those of the mutant, which equal the model's until the answers differ. A mutant
    that does not answer within `seconds` has broken.

    Raises:
        ModelBroke: the model raised an exception.
    """
    mutant = _bus(profile, families)
    model = _bus(profile, NO_FAULT)
    events: list[v.Event] = []
    usual: list[v.Event] = []
    tokens: dict[int, str] = {}
    infected: int | None = None
    alike = True
    for place, recorded in enumerate(commands, 1):
        command = resolved(recorded.command, tokens)
        if command is None:
            continue
        if alike:
            try:
                expected = model(command, recorded.connection)
            except Exception as error:
                raise ModelBroke from error
            usual.append(_event(recorded.connection, command, expected))
        try:
            with within(seconds):
                answer = mutant(command, recorded.connection)
            event = _event(recorded.connection, command, answer)
            if isinstance(event.outcome, v.Received) and event.outcome.message.lock_token:
                tokens[recorded.number] = event.outcome.message.lock_token
        except Exception:  # noqa: BLE001 - a mutant may break in any way
            return Played(events=tuple(events), usual=tuple(usual), broke=True, differs=True)
        events.append(event)
        if alike:
            alike = event == usual[-1] and same_outcome(event.outcome, usual[-1].outcome)
            if infected is None and len(answer.changes) != len(expected.changes):
                infected = place
    return Played(events=tuple(events), usual=tuple(usual), differs=not alike, infected=infected)


def find_broken(profile: v.Profile, run: Played) -> tuple[str, ...] | None:
    """Return the rules that a mutant breaks; empty if it failed, `None` if its answers are allowed.

    If the judge rejects the model's own answers, it cannot be trusted on this sequence either, so
    the result is `None`.
    """
    try:
        usual = _find_rejected(profile, run.usual)
    except Exception:  # noqa: BLE001 - a variant may have commands that cannot be judged
        return None
    if usual is not None:
        return None
    if run.broke:
        return ()
    try:
        return _find_rejected(profile, run.events)
    except Exception:  # noqa: BLE001 - the judge relies on valid answers, and these are not
        return ()


def _find_rejected(profile: v.Profile, events: Sequence[v.Event]) -> tuple[str, ...] | None:
    judge = Judge(profile, OBSERVABILITY)
    for event in events:
        violation = judge.saw(event)
        if violation is not None:
            return violation.rules
    return None


def _bus(profile: v.Profile, families: Families) -> Callable[[v.Command, str], Answer]:
    namespace: Namespace = new_namespace(profile, **families)
    choices = RoundRobin()
    return lambda command, connection: step(namespace, command, connection, choices)


def _event(connection: str, command: Any, answer: Answer) -> v.Event:
    sent = isinstance(command, v.Send | v.SendBatch) and isinstance(answer.outcome, v.Done)
    partition = answer.partition if sent else None
    return v.Event(
        client=connection,
        connection=connection,
        command=command,
        outcome=answer.outcome,
        witness=None if partition is None else v.Witness(partition=partition),
    )
