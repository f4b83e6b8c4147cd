"""Distilled situations: short sequences of commands, found by machine and kept as data.

Each line of `features/distilled/*.jsonl` is one: what it is for, the rule that is charged, and its
commands in the words of `history/render/gherkin.py`. `make distilled` writes them.
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
        name: names it among all.
        about: what it is for, in a sentence.
        rule: id of the rule that was charged when it was found.
        tier: of the namespace that it was found in.
        commands: each with its connection, as sentences.
    """

    name: str
    about: str
    rule: RuleId
    tier: Tier
    commands: tuple[str, ...]

    def play(self, asking: Asking) -> None:
        """Ask each command; the judge looks at each answer.

        Raises:
            NotApplicable: it is of another tier, or would have a real clock wait.
        """
        asking.insist(self.tier)
        if asking.clock is Clock.REAL and any("Advance clock" in each for each in self.commands):
            raise NotApplicable("clock: the sequence waits, and the clock is real")
        for command in self.commands:
            connection, _, request = command.partition(" asks: ")
            asking.ask(connection, request)
        asking.conclude()


def situations(folder: Path = FOLDER) -> tuple[Situation, ...]:
    """Return the distilled situations, in the order of their names.

    Raises:
        SpecificationError: a line is no situation.
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
        raise SpecificationError(f"{where} is no distilled situation: {error}") from None
