"""Distilled situations: short sequences of commands, found by search and stored as data.

Each line of `features/distilled/*.jsonl` holds one: its purpose, the rule that was charged, and its
commands in the syntax of `history/render/gherkin.py`. `make distilled` writes them.
"""

import json
from pathlib import Path
from typing import Final

import attrs

from busproof.errors import SpecificationError
from busproof.judging.scenario_outcome import NotApplicable
from busproof.steps.definitions.any_command import Asking
from busproof.vocabulary.values import Clock, RuleId, Tier

__all__ = ["FOLDER", "Situation", "situations"]

FOLDER: Final = Path(__file__).resolve().parent.parent / "features" / "distilled"


@attrs.frozen(kw_only=True)
class Situation:
    """One distilled sequence.

    Attributes:
        name: unique name.
        about: its purpose, in a sentence.
        rule: id of the rule that was charged when it was found.
        tier: tier of the namespace in which it was found.
        commands: commands with their connections, as sentences.
    """

    name: str
    about: str
    rule: RuleId
    tier: Tier
    commands: tuple[str, ...]

    def play(self, asking: Asking) -> None:
        """Send each command; the judge checks each answer.

        Raises:
            NotApplicable: the run has another tier, or the sequence would wait on a real clock.
        """
        asking.insist(self.tier)
        if asking.clock is Clock.REAL and any("Advance clock" in each for each in self.commands):
            raise NotApplicable("clock: the sequence waits, and the clock is real")
        for command in self.commands:
            connection, _, request = command.partition(" asks: ")
            asking.ask(connection, request)
        asking.conclude()


def situations(folder: Path = FOLDER) -> tuple[Situation, ...]:
    """Return the distilled situations, sorted by name.

    Raises:
        SpecificationError: a line is not a situation.
    """
    read = [
        _situation(line, f"{path.name}, line {number}")
        for path in sorted(folder.glob("*.jsonl"))
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
    ]
    return tuple(sorted(read, key=lambda each: each.name))


def _situation(line: str, where: str) -> Situation:
    try:
        fields = json.loads(line)
        return Situation(
            name=fields["id"],
            about=fields["about"],
            rule=fields["rule"],
            tier=Tier(fields["tier"]),
            commands=tuple(fields["commands"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise SpecificationError(f"{where} is not a distilled situation: {error}") from None
