"""The distilled sequences: what they are, and that each notices what it is for."""

import os
from pathlib import Path

import pytest
from distilled_commands import commands_in

from busproof.adapters.model import CAPABILITIES
from busproof.cli.mutation.pairs import WORDS, pairs_of
from busproof.cli.mutation.search import find_broken, play
from busproof.errors import SpecificationError, UsageError
from busproof.history.records import (
    SENTENCE,
    Ended,
    Header,
    History,
    Scenario,
    ScenarioVerdict,
    StepResult,
)
from busproof.judging.verdicts import conformance
from busproof.model.rules import NO_FAULT, Families
from busproof.mutants.by_machine.made import families_of, find_mutant
from busproof.spec import load
from busproof.steps.distilled import DistilledSequence, distilled_sequences
from busproof.vocabulary.profile import profile_for

FULL = os.environ.get("BUSPROOF_SIZE") == "full"
CATALOGUE = load()
EDITION = "cs-2020-12"
"""The edition that states the most, with which they were found."""
ALL = distilled_sequences()


def accused(sequence: DistilledSequence, families: Families) -> tuple[str, ...] | None:
    """Return what a bus with these families is charged with; `None` if it is not accused."""
    profile = profile_for(CATALOGUE, edition=EDITION, tier=sequence.tier.value)
    return find_broken(profile, play(families, profile, commands_in(sequence)))


def test_each_sequence_is_charged_to_a_rule_of_the_catalogue():
    assert {each.rule for each in ALL} <= {rule.id for rule in CATALOGUE.rules}


def test_no_sequence_shows_a_user_the_name_of_a_mutant():
    shown = {each: f"{each.name} {each.about} {each!r}" for each in ALL}
    assert [] == [
        mutant for each, text in shown.items() for mutant in each.mutants if mutant in text
    ]


def test_a_sequence_without_a_mutant_reaches_its_rule_on_the_model():
    wrong = []
    for each in (one for one in ALL if not one.mutants):
        profile = profile_for(CATALOGUE, edition=EDITION, tier=each.tier.value)
        context = {words: name for name, words in WORDS.items()}
        sequence = each.about.removeprefix(f"Reaches {each.rule} ").partition(". ")[0]
        pairs = {(each.rule, context[words]) for words in sequence.split(" and ")}
        if not pairs <= pairs_of(commands_in(each), profile):
            wrong.append(each.name)
    assert wrong == []


@pytest.mark.slow
def test_no_sequence_accuses_the_model():
    assert [] == [each.name for each in ALL if accused(each, NO_FAULT) is not None]


@pytest.mark.slow
def test_each_sequence_accuses_its_mutant_of_its_rule():
    wrong = []
    for each in ALL if FULL else ALL[::2]:
        for mutant in each.mutants if FULL else each.mutants[:1]:
            try:
                families = families_of(find_mutant(mutant))
            except UsageError:  # the model has changed since; `make distilled` finds another
                continue
            if each.rule not in (accused(each, families) or ()):
                wrong.append((each.name, mutant))
    assert [] == wrong


@pytest.mark.parametrize(
    "line",
    [
        "no JSON",
        "[]",
        '{"name": "a"}',
        '{"name": "a", "about": "b", "rule": "c", "tier": "none", "commands": [], "mutants": []}',
    ],
)
def test_a_line_that_is_no_sequence_is_named(tmp_path: Path, line: str):
    (tmp_path / "keys.jsonl").write_text(f"{line}\n", encoding="utf-8")
    with pytest.raises(
        SpecificationError, match=r"keys\.jsonl, line 1 is not a distilled sequence"
    ):
        distilled_sequences(tmp_path)


def test_what_is_wrong_stands_beside_what_broke_the_rule():
    sequence = next(each for each in ALL if each.mutants and each.tier.value == "standard")
    profile = profile_for(CATALOGUE, edition=EDITION)
    bus = play(families_of(find_mutant(sequence.mutants[0])), profile, commands_in(sequence))
    sentence = f"{sequence.name}. {sequence.about}"
    ended = Ended(
        verdict=ScenarioVerdict.FAILED,
        steps=(StepResult(keyword=SENTENCE, text=sentence, result="passed"),),
    )
    header = Header(profile=profile, capabilities=tuple(CAPABILITIES))
    alone = Scenario(name=sequence.name, rules=(sequence.rule,), events=bus.events, ended=ended)
    found = conformance(History(header=header, scenarios=(alone,)), CATALOGUE)
    (rule,) = [each for each in found.rules if each.id == sequence.rule]
    assert sequence.about == rule.counterexample.about
