"""Write features/distilled: short sequences that kill mutants as the scenarios or a search do.

`make distilled` runs it. It records the scenarios and a quick exploration on the model, and draws a
sample of the generated mutants. For each mutant it takes the shortest recording in which the judge
distinguishes it from the model, or searches for a variant that does. The sequence is minimised, and
kept unless a sequence kept earlier kills the mutant, too. The same sources, seed and sample give
the same files.
"""

import argparse
import json
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Final

import attrs

from busproof.cli.mutation.audit import recorded_apart
from busproof.cli.mutation.generated import Recording, Terms, _requests, _traced, chosen
from busproof.cli.mutation.search import ModelBroke, broken, played, search
from busproof.cli.mutation.variants import Material
from busproof.history.render.gherkin import sentence
from busproof.history.replay import Asked, commands_of, numbered
from busproof.judging.shrinking import minimised, simplified
from busproof.model.rules import Rules
from busproof.mutants.by_machine.contexts import may_arise
from busproof.mutants.by_machine.made import GeneratedMutant, rules_of
from busproof.vocabulary.profile import Profile

FOLDER: Final = Path("features/distilled")
LONGEST: Final = 20
"""Most commands of a recording to try."""
LINE: Final = 4_000
"""Most characters of a line; sequences with longer texts remain in the scenarios only."""
MOST: Final = 12
"""Most recordings to try for each mutant, shortest first."""
SECONDS: Final = 2.0
"""Most seconds that a mutant may take for one command."""


@attrs.frozen(kw_only=True)
class Situation:
    """A sequence that kills a mutant, with the rule that the mutant breaks."""

    mutant: GeneratedMutant
    tier: str
    profile: Profile
    rule: str
    commands: tuple[Asked, ...]

    def line(self) -> str:
        """Return the sequence as a line of JSON with readable commands."""
        shown = {
            "id": self.mutant.id,
            "about": about(self.mutant),
            "rule": self.rule,
            "tier": self.tier,
            "commands": [sentence(asked) for asked in self.commands],
        }
        return json.dumps(shown, ensure_ascii=False)


def about(mutant: GeneratedMutant) -> str:
    """Return the purpose of a sequence, in a sentence."""
    where = f"{mutant.family}.{mutant.function}"
    when = f" ({mutant.context})" if mutant.context else ""
    return f"Notices {where} with {mutant.after!r} in the place of {mutant.before!r}{when}."


def kills(rules: Rules, profile: Profile, commands: Sequence[Asked]) -> tuple[str, ...] | None:
    """Return the rules that a mutant breaks in this sequence; `None` if it survives."""
    try:
        found = played(rules, profile, commands, seconds=SECONDS)
    except ModelBroke:
        return None
    if not found.differs:
        return None
    return broken(profile, found) or None


def distilled(
    mutant: GeneratedMutant, recorded: Sequence[Recording], material: Material, terms: Terms
) -> Situation | None:
    """Return the shortest sequence found that kills a mutant; `None` if there is none."""
    rules = rules_of(mutant)
    places = {(mutant.family, line) for line in mutant.lines}
    there = [
        each
        for each in recorded
        if not places.isdisjoint(each.lines)
        and len(each.scenario.events) <= LONGEST
        and may_arise(mutant.context, (event.command for event in each.scenario.events))
    ]
    there.sort(key=lambda each: (len(each.scenario.events), each.scenario.name))
    for each in there[:MOST]:
        commands = commands_of(each.scenario.events)
        charged = kills(rules, each.profile, commands)
        if charged:
            return _shortest(mutant, rules, each.profile, commands, charged[0])
    random = Random(f"{terms.seed} {mutant.id}")  # noqa: S311 - repeatable choices, not secrets
    bases = [each.base() for each in random.sample(there, min(MOST, len(there)))]
    found = search(rules, bases, material, tries=terms.tries, random=random) if bases else None
    if found is None or not found.rules:
        return None
    profile = bases[0].profile
    return _shortest(mutant, rules, profile, commands_of(found.events), found.rules[0])


def _shortest(
    mutant: GeneratedMutant,
    rules: Rules,
    profile: Profile,
    commands: Sequence[Asked],
    rule: str,
) -> Situation | None:
    def fails(candidate: Sequence[Asked]) -> bool:
        return rule in (kills(rules, profile, candidate) or ())

    if not fails(commands):
        return None
    shortest = simplified(minimised(commands, fails), fails)
    return Situation(
        mutant=mutant,
        tier=profile.tier.value,
        profile=profile,
        rule=rule,
        commands=numbered(shortest),
    )


def sequences(
    mutants: Sequence[GeneratedMutant], recorded: Sequence[Recording], terms: Terms
) -> Iterator[Situation]:
    """Yield a sequence for each mutant that no earlier sequence kills."""
    material = Material.of(event.command for each in recorded for event in each.scenario.events)
    kept: list[Situation] = []
    for place, mutant in enumerate(mutants, 1):
        print(f"{place} of {len(mutants)}, {len(kept)} kept", end="\r", file=sys.stderr)
        rules = rules_of(mutant)
        near = [each for each in kept if each.mutant.family == mutant.family]
        if any(kills(rules, each.profile, each.commands) for each in near):
            continue
        found = distilled(mutant, recorded, material, terms)
        if found is not None and len(found.line()) <= LINE:
            kept.append(found)
            yield found


def recordings(terms: Terms) -> list[Recording]:
    """Return the scenarios and the explored sequences of every tier, recorded on the model."""
    with tempfile.TemporaryDirectory(prefix="busproof-distil-") as scratch:
        return [
            each
            for request in _requests(terms)
            for each in _traced(request, recorded_apart(request, Path(scratch)))
        ]


def main() -> None:
    """Write the files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sample", type=int, default=40, help="mutants of each family")
    parser.add_argument("--tries", type=int, default=60, help="variants for each")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    terms = Terms(sample=args.sample, tries=args.tries, seed=args.seed)
    lines: dict[str, list[str]] = defaultdict(list)
    for each in sequences(chosen([], terms), recordings(terms), terms):
        lines[each.mutant.family].append(each.line())
    FOLDER.mkdir(exist_ok=True)
    for old in FOLDER.glob("*.jsonl"):
        old.unlink()
    for family, written in lines.items():
        text = "".join(f"{line}\n" for line in sorted(written))
        (FOLDER / f"{family}.jsonl").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
