"""Distilled sequences: short sequences of commands, found by search and stored as data.

Each line of `features/distilled/*.jsonl` is one sequence: its name, its purpose, the rule that was
reported as violated when it was found, its commands in the syntax of `history/render/gherkin.py`,
and the generated mutants that it kills. `make distilled` writes the lines.
"""

import json
from collections.abc import Set
from pathlib import Path
from typing import Final

import attrs

from busproof import vocabulary as v
from busproof.errors import SpecificationError
from busproof.history.records import SENTENCE, StepResult
from busproof.judging.scenario_outcome import NotApplicable
from busproof.steps.definitions.any_command import Asking

__all__ = ["FOLDER", "DistilledSequence", "distilled_sequences"]

FOLDER: Final = Path(__file__).resolve().parent.parent / "features" / "distilled"


@attrs.frozen(kw_only=True)
class DistilledSequence:
    """One distilled sequence.

    Attributes:
        file: the name of its file in `features/distilled/`.
        name: the commands in a few words; unique.
        about: the wrong answer, and the rule that it breaks.
        rule: id of the rule that was reported as violated when the sequence was found.
        tier: tier of the namespace in which it was found.
        commands: commands with their connections, as sentences.
        mutants: ids of the generated mutants that it kills.
    """

    file: str
    name: str
    about: str = attrs.field(repr=False)
    rule: v.RuleId
    tier: v.Tier
    commands: tuple[str, ...] = attrs.field(repr=False)
    mutants: tuple[str, ...] = attrs.field(repr=False)

    def play(self, asking: Asking, steps: list[StepResult]) -> None:
        """Send each command; the judge checks each answer.

        Args:
            asking: the object that sends the commands.
            steps: list to which the sequence's sentence and each command with its result are added.

        Raises:
            NotApplicable: the run has another tier, or the sequence would wait on a real clock.
        """
        asking.insist(self.tier)
        if asking.clock is v.Clock.REAL and any(
            "Advance clock" in command for command in self.commands
        ):
            raise NotApplicable("clock: the sequence waits, and the clock is real")
        steps.append(
            StepResult(keyword=SENTENCE, text=f"{self.name}. {self.about}", result="passed")
        )
        for command in self.commands:
            connection, _, request = command.partition(" asks: ")
            steps.append(StepResult(keyword="When", text=command, result="failed"))
            asking.ask(connection, request, with_cargo=True)
            steps[-1] = attrs.evolve(steps[-1], result="passed")
        asking.conclude()


def distilled_sequences(
    folder: Path = FOLDER, only: Set[v.RuleId] = frozenset()
) -> tuple[DistilledSequence, ...]:
    """Return the distilled sequences, sorted by name.

    Args:
        folder: the folder with their files.
        only: the rules whose sequences to return; empty for all.

    Raises:
        SpecificationError: a line is not a sequence.
    """
    read = [
        _sequence(line, path.name, number)
        for path in sorted(folder.glob("*.jsonl"))
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if not only or any(f'"{rule}"' in line for rule in only)
    ]
    return tuple(sorted(read, key=lambda sequence: sequence.name))


def _sequence(line: str, file: str, number: int) -> DistilledSequence:
    try:
        fields = json.loads(line)
        return DistilledSequence(
            file=file,
            name=fields["name"],
            about=fields["about"],
            rule=fields["rule"],
            tier=v.Tier(fields["tier"]),
            commands=tuple(fields["commands"]),
            mutants=tuple(fields["mutants"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise SpecificationError(
            f"{file}, line {number} is not a distilled sequence: {error}"
        ) from None
