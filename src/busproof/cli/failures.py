"""Failures as files: commands to replay on any adapter, and a scenario for any feature."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import attrs

from busproof import vocabulary as v
from busproof.errors import HistoryError
from busproof.history.conformance import Conformance
from busproof.history.files import HistoryWriter
from busproof.history.records import Header, History, Scenario, Started
from busproof.history.render.gherkin import scenario_of
from busproof.history.replay import CommandFile, commands_of, write_commands
from busproof.judging.applicability import profile_of
from busproof.spec import Catalogue

__all__ = ["COMMANDS", "FOLDER", "Failure", "failures", "write"]

FOLDER: Final = "failures"
COMMANDS: Final = "commands.json"
FEATURE: Final = "scenario.feature"


@attrs.frozen(kw_only=True)
class Failure:
    """A violated rule, with commands to replay.

    Attributes:
        rule: the id of the rule.
        commands: the commands that break the rule, as far as is known.
        replays: histories of replays of the commands, if there were any.
    """

    rule: v.RuleId
    commands: CommandFile
    replays: tuple[History, ...] = ()

    @property
    def scenario(self) -> str:
        """Return the failure as a Gherkin scenario."""
        return scenario_of(self.rule, self.commands.commands, f"What broke {self.rule}")


def failures(
    header: Header, conformance: Conformance, catalogue: Catalogue, replays: Sequence[Scenario]
) -> Iterator[Failure]:
    """Yield the violations in a recorded run, one for each rule.

    A violation that only a scenario's own check reports is not among them, because it needs that
    scenario.

    Args:
        header: the header of the history.
        conformance: the verdicts.
        catalogue: the catalogue of rules.
        replays: the replays of shrunk failures.
    """
    profile = profile_of(catalogue, header)
    for rule in conformance.rules:
        if rule.counterexample is None or not rule.counterexample.is_judged:
            continue
        commands = commands_of(rule.counterexample.events, header.clock)
        yield Failure(
            rule=rule.id,
            commands=CommandFile(rule=rule.id, profile=profile, commands=commands),
            replays=tuple(
                History(header=attrs.evolve(header, planned=None), scenarios=(scenario,))
                for scenario in replays
                if rule.id in scenario.rules
            ),
        )


def write(failure: Failure, folder: Path) -> Path:
    """Write a failure into a folder of its own within the run's folder; return that folder.

    Raises:
        HistoryError: the failure cannot be written.
    """
    place = folder / FOLDER / failure.rule
    try:
        place.mkdir(parents=True, exist_ok=True)
        text = f"Feature: Found by exploring\n\n{_indent(failure.scenario)}\n"
        (place / FEATURE).write_text(text, encoding="utf-8")
    except OSError as error:
        raise HistoryError(f"cannot write {place}: {error.strerror}") from None
    write_commands(place / COMMANDS, failure.commands)
    for number, history in enumerate(failure.replays, 1):
        _write_history(place / f"again-{number}.jsonl", history)
    return place


def _indent(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.splitlines())


def _write_history(path: Path, history: History) -> None:
    with HistoryWriter(path) as writer:
        writer.write(history.header)
        for scenario in history.scenarios:
            writer.write(Started(scenario=scenario.name, rules=scenario.rules))
            for event in scenario.events:
                writer.write(event)
            if scenario.ended is not None:
                writer.write(scenario.ended)
