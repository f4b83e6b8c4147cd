"""Distillation: the shortest command sequences that kill generated mutants.

A sequence comes from a recording of the suite, or from a search among its variants, and is then
minimised. Some mutants are wrong only in a context, such as a transaction or an outage elsewhere.
For these, the sequence for the same change without the context is sent three times in one
namespace: as it is, in the context, and after it.
"""

import json
from collections.abc import Iterator, Sequence
from random import Random
from typing import Final

import attrs

from busproof import vocabulary as v
from busproof.cli.mutation.generated import Terms
from busproof.cli.mutation.reaching import MAKE, repeat_thrice
from busproof.cli.mutation.recordings import Line, Recording, lines_of
from busproof.cli.mutation.search import Difference, ModelBroke, find_broken, play, search
from busproof.cli.mutation.variants import Material
from busproof.history.records import Scenario
from busproof.history.render.gherkin import sentence
from busproof.history.render.sequence_names import sequence_name
from busproof.history.render.wrong_answers import what_is_wrong
from busproof.history.replay import RecordedCommand, commands_of, numbered
from busproof.judging.replay_check import same_outcome
from busproof.judging.shrinking import minimised
from busproof.judging.simplifying import simplified
from busproof.model.rules import NO_FAULT, Families
from busproof.mutants.by_machine.contexts import may_arise
from busproof.mutants.by_machine.made import GeneratedMutant, families_of, generate_mutants
from busproof.mutants.by_machine.operators import EFFECTS
from busproof.spec import load

__all__ = ["PAIRS", "Found", "distil_in_contexts", "kills", "sequences"]

CATALOGUE: Final = load()
PAIRS: Final = "pairs"
"""Name of the file with the sequences that reach pairs."""
LONGEST: Final = 20
"""Maximum number of commands of a recording to try."""
LINE: Final = 4_000
"""Maximum length of a line, in characters; sequences with longer texts stay scenarios only."""
MOST: Final = 60
"""Maximum number of recordings to try for each mutant, the shortest first."""
BASES: Final = 12
"""Number of recordings that a search starts from."""
SECONDS: Final = 2.0
"""Maximum processor time of a mutant for one command, in seconds."""
CONTEXTS: Final = (*MAKE, "second")
"""The contexts for commands that are sent three times."""


@attrs.frozen(kw_only=True)
class Found:
    """A sequence that kills mutants, with the rules that they break."""

    mutants: tuple[GeneratedMutant, ...]
    profile: v.Profile
    rule: str
    commands: tuple[RecordedCommand, ...]
    description: str = ""
    """The sentence of a sequence that is about no mutant."""

    @property
    def family(self) -> str:
        """The family of the first mutant, which names the file of the sequence."""
        return self.mutants[0].family if self.mutants else PAIRS

    def line(self, name: str) -> str:
        """Return the sequence as a line of JSON with readable commands."""
        shown = {
            "name": name,
            "about": self.about(),
            "rule": self.rule,
            "tier": self.profile.tier.value,
            "commands": [sentence(recorded) for recorded in self.commands],
            "mutants": [mutant.id for mutant in self.mutants],
        }
        return json.dumps(shown, ensure_ascii=False)

    def name(self) -> str:
        """Return the commands in a few words."""
        return sequence_name([recorded.command for recorded in self.commands])

    def about(self) -> str:
        """Return the wrong answer, and the rule that it breaks, in a sentence."""
        if self.description:
            return self.description
        wrong = play(families_of(self.mutants[0]), self.profile, self.commands, seconds=SECONDS)
        right = play(NO_FAULT, self.profile, self.commands)
        place = len(wrong.usual) - 1
        if same_outcome(wrong.events[place].outcome, right.events[place].outcome):
            # Only its partition differs.
            place = len(wrong.events) - 1
        last = place == len(wrong.events) - 1
        wrong_answer = what_is_wrong(wrong.events[place], right.events[place], last=last)
        return f"Wrong if {wrong_answer}. {self.rule}: {CATALOGUE.rule(self.rule).title}."


def kills(
    families: Families, profile: v.Profile, commands: Sequence[RecordedCommand]
) -> tuple[str, ...] | None:
    """Return the rules that a mutant breaks in a sequence; `None` if the mutant survives."""
    try:
        run = play(families, profile, commands, seconds=SECONDS)
    except ModelBroke:
        return None
    if not run.differs:
        return None
    return find_broken(profile, run) or None


def distil(
    mutant: GeneratedMutant, recorded: Sequence[Recording], material: Material, terms: Terms
) -> Found | None:
    """Return the shortest sequence found that kills a mutant; `None` if none was found."""
    families = families_of(mutant)
    there = _find_executing(mutant, recorded)
    recorded_one = _search_recordings(mutant, families, there)
    if recorded_one is not None or not there:
        return recorded_one
    random = Random(f"{terms.seed} {mutant.id}")  # noqa: S311 - repeatable choices, not secrets
    bases = [recording.base() for recording in random.sample(there, min(BASES, len(there)))]
    variant = search(families, bases, material, tries=terms.tries, random=random)
    if not isinstance(variant, Difference) or not variant.rules:
        return None
    return _shortest(
        mutant, families, variant.profile, commands_of(variant.events), variant.rules[0]
    )


def _find_executing(mutant: GeneratedMutant, recorded: Sequence[Recording]) -> list[Recording]:
    """Return the recordings that execute the mutated lines, the shortest first."""
    places = {(mutant.family, line) for line in mutant.lines}
    there = [
        recording
        for recording in recorded
        if not places.isdisjoint(recording.lines)
        and len(recording.scenario.events) <= LONGEST
        and may_arise(mutant.context, (event.command for event in recording.scenario.events))
    ]
    return sorted(
        there, key=lambda recording: (len(recording.scenario.events), recording.scenario.name)
    )


def _search_recordings(
    mutant: GeneratedMutant, families: Families, there: Sequence[Recording]
) -> Found | None:
    """Return the shortest sequence from a few recordings that kills a mutant, if any does."""
    for recording in there[:MOST]:
        commands = commands_of(recording.scenario.events)
        charged = kills(families, recording.profile, commands)
        if charged:
            return _shortest(mutant, families, recording.profile, commands, charged[0])
    return None


def _shortest(
    mutant: GeneratedMutant,
    families: Families,
    profile: v.Profile,
    commands: Sequence[RecordedCommand],
    rule: str,
) -> Found | None:
    def fails(candidate: Sequence[RecordedCommand]) -> bool:
        return rule in (kills(families, profile, candidate) or ())

    if not fails(commands):
        return None
    shortest = simplified(minimised(commands, fails), fails)
    return Found(
        mutants=(mutant,),
        profile=profile,
        rule=rule,
        commands=numbered(shortest),
    )


def distil_in_contexts(family: str, recorded: Sequence[Recording]) -> Iterator[Found]:
    """Yield sequences that kill the mutants of a family that are wrong only in a context.

    For each mutation, the shortest sequence that kills it without a context is repeated three
    times. It is kept if it kills a mutant that no kept sequence kills.
    """
    mutants = {mutant.id: mutant for mutant in generate_mutants(family)}
    kept: list[tuple[Found, frozenset[Line]]] = []
    for mutant in mutants.values():
        if mutant.context or mutant.operator not in EFFECTS:
            continue
        places = {(family, line) for line in mutant.lines}
        near = [sequence for sequence, lines in kept if not places.isdisjoint(lines)]
        variants = [mutants.get(f"{mutant.id}@{context}") for context in CONTEXTS]
        missed = [
            variant for variant in variants if variant is not None and not _is_killed(variant, near)
        ]
        plain = missed and _search_recordings(
            mutant, families_of(mutant), _find_executing(mutant, recorded)
        )
        if not plain:
            continue
        sequence = attrs.evolve(plain, commands=repeat_thrice(plain.commands))
        killed = tuple(variant for variant in missed if _is_killed(variant, [sequence]))
        sequence = attrs.evolve(sequence, mutants=killed)
        if killed and len(sequence.line(sequence.name())) <= LINE:
            kept.append((sequence, _lines(sequence)))
            yield sequence


def _lines(sequence: Found) -> frozenset[Line]:
    """Return the lines of the model that a sequence executes."""
    events = play(NO_FAULT, sequence.profile, sequence.commands).events
    return lines_of(sequence.profile, Scenario(name="", rules=(), events=events))


def _is_killed(mutant: GeneratedMutant, kept: Sequence[Found]) -> bool:
    if not kept:  # compiling its rules takes longer than a sequence
        return False
    families = families_of(mutant)
    return any(
        sequence.rule in (kills(families, sequence.profile, sequence.commands) or ())
        for sequence in kept
    )


def sequences(
    family: str,
    sample: Sequence[GeneratedMutant],
    recorded: Sequence[Recording],
    terms: Terms,
) -> Iterator[Found]:
    """Yield the sequences of a family: those in contexts, then one for each mutant left.

    They do not depend on any other family.
    """
    kept = []
    for sequence in distil_in_contexts(family, recorded):
        kept.append(sequence)
        yield sequence
    material = Material.of(
        event.command for recording in recorded for event in recording.scenario.events
    )
    for mutant in sample:
        if not _is_killed(mutant, kept):
            further = distil(mutant, recorded, material, terms)
            if further is not None and len(further.line(further.name())) <= LINE:
                kept.append(further)
                yield further
