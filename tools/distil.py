"""Write features/distilled: short sequences that kill mutants as the scenarios or a search do.

`make distilled` runs it. It records the scenarios and a quick exploration on the model, and draws a
sample of the generated mutants. For each mutant it takes the shortest recording in which the judge
distinguishes it from the model, or searches for a variant that does. The sequence is minimised, and
kept unless a sequence kept earlier kills the mutant, too. The same sources, seed and sample give
the same files. `--reword` writes the names and sentences of the kept sequences anew, in seconds.
`--pairs` searches recorded explorations for pairs of a rule and a context that nothing reaches yet,
puts scenarios into contexts in which nothing reaches their rules, and adds both.
`--score` counts how many mutants of the sample the kept sequences kill.
"""

import argparse
import json
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Final

import attrs

from busproof import vocabulary as v
from busproof.cli.mutation.audit import recorded_apart
from busproof.cli.mutation.generated import Terms, chosen
from busproof.cli.mutation.pairs import WORDS, pairs_in, pairs_of
from busproof.cli.mutation.reaching import Reaching, explored_reaching, scenarios_reaching
from busproof.cli.mutation.recordings import Recording, requests, traced
from busproof.cli.mutation.search import Difference, ModelBroke, broken, played, search
from busproof.cli.mutation.variants import Material
from busproof.errors import UsageError
from busproof.history.render.gherkin import request_of, sentence
from busproof.history.render.situations import situation_name
from busproof.history.render.wrong_answers import what_is_wrong
from busproof.history.replay import Asked, commands_of, numbered
from busproof.judging.shrinking import minimised, simplified
from busproof.model.rules import RULES, Rules
from busproof.mutants.by_machine.contexts import may_arise
from busproof.mutants.by_machine.made import GeneratedMutant, mutant_named, rules_of
from busproof.spec import load
from busproof.steps.distilled import situations

CATALOGUE: Final = load()
FULLEST: Final = "cs-2020-12"
"""The edition that states the most."""
PAIRS: Final = "pairs"
"""The file of the sequences that reach pairs."""
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
class Found:
    """A sequence that kills mutants, with the rule that they break."""

    mutants: tuple[GeneratedMutant, ...]
    profile: v.Profile
    rule: str
    commands: tuple[Asked, ...]
    told: str = ""
    """Its sentence, if it is about no mutant."""

    @property
    def family(self) -> str:
        """The family of the first mutant, which names the file."""
        return self.mutants[0].family if self.mutants else PAIRS

    def line(self, name: str) -> str:
        """Return the sequence as a line of JSON with readable commands."""
        shown = {
            "name": name,
            "about": self.about(),
            "rule": self.rule,
            "tier": self.profile.tier.value,
            "commands": [sentence(asked) for asked in self.commands],
            "mutants": [mutant.id for mutant in self.mutants],
        }
        return json.dumps(shown, ensure_ascii=False)

    def name(self) -> str:
        """Return the commands in a few words."""
        return situation_name([asked.command for asked in self.commands])

    def about(self) -> str:
        """Return the wrong answer, and the rule that it breaks, in a sentence."""
        if self.told:
            return self.told
        wrong = played(rules_of(self.mutants[0]), self.profile, self.commands, seconds=SECONDS)
        right = played(RULES, self.profile, self.commands)
        place = len(wrong.usual) - 1
        if wrong.events[place].outcome == right.events[place].outcome:  # only its partition differs
            place = len(wrong.events) - 1
        last = place == len(wrong.events) - 1
        told = what_is_wrong(wrong.events[place], right.events[place], last=last)
        return f"Wrong if {told}. {self.rule}: {CATALOGUE.rule(self.rule).title}."


def kills(rules: Rules, profile: v.Profile, commands: Sequence[Asked]) -> tuple[str, ...] | None:
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
) -> Found | None:
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
    if not isinstance(found, Difference) or not found.rules:
        return None
    return _shortest(mutant, rules, found.profile, commands_of(found.events), found.rules[0])


def _shortest(
    mutant: GeneratedMutant,
    rules: Rules,
    profile: v.Profile,
    commands: Sequence[Asked],
    rule: str,
) -> Found | None:
    def fails(candidate: Sequence[Asked]) -> bool:
        return rule in (kills(rules, profile, candidate) or ())

    if not fails(commands):
        return None
    shortest = simplified(minimised(commands, fails), fails)
    return Found(
        mutants=(mutant,),
        profile=profile,
        rule=rule,
        commands=numbered(shortest),
    )


def sequences(
    mutants: Sequence[GeneratedMutant], recorded: Sequence[Recording], terms: Terms
) -> Iterator[Found]:
    """Yield a sequence for each mutant that no earlier sequence kills."""
    material = Material.of(event.command for each in recorded for event in each.scenario.events)
    kept: list[Found] = []
    for place, mutant in enumerate(mutants, 1):
        print(f"{place} of {len(mutants)}, {len(kept)} kept", end="\r", file=sys.stderr)
        rules = rules_of(mutant)
        near = [each for each in kept if each.family == mutant.family]
        if any(kills(rules, each.profile, each.commands) for each in near):
            continue
        found = distilled(mutant, recorded, material, terms)
        if found is not None and len(found.line(found.name())) <= LINE:
            kept.append(found)
            yield found


def recordings(terms: Terms) -> list[Recording]:
    """Return the scenarios and the explored sequences of every tier, recorded on the model."""
    with tempfile.TemporaryDirectory(prefix="busproof-distil-") as scratch:
        return [
            each
            for request in requests(terms.sequences, terms.seed)
            for each in traced(request, recorded_apart(request, Path(scratch)))
        ]


def stored() -> Iterator[Found]:
    """Yield the sequences of the files whose mutants still exist."""
    for situation in situations():
        asked = [request.partition(" asks: ") for request in situation.commands]
        mutants = tuple(known for known in map(_known, situation.mutants) if known is not None)
        if mutants or not situation.mutants:
            yield Found(
                mutants=mutants,
                told="" if mutants else situation.about,
                profile=v.profile_for(CATALOGUE, edition=FULLEST, tier=situation.tier.value),
                rule=situation.rule,
                commands=tuple(
                    Asked(number=number, connection=connection, command=request_of(request))
                    for number, (connection, _, request) in enumerate(asked, 1)
                ),
            )


def _known(identity: str) -> GeneratedMutant | None:
    try:
        return mutant_named(identity)
    except UsageError:
        print(f"{identity} does not exist any more; its sequence is left out", file=sys.stderr)
        return None


def merged(found: Iterable[Found]) -> list[Found]:
    """Return the sequences, those with the same commands and rule as one, with all mutants."""
    alike: dict[object, Found] = {}
    for each in sorted(found, key=lambda each: [mutant.id for mutant in each.mutants]):
        commands = tuple(map(sentence, each.commands))
        first = alike.setdefault((each.profile.tier, each.rule, commands), each)
        both = dict.fromkeys((*first.mutants, *each.mutants))
        alike[each.profile.tier, each.rule, commands] = attrs.evolve(first, mutants=tuple(both))
    return list(alike.values())


def named(found: Sequence[Found]) -> Iterator[tuple[str, Found]]:
    """Yield each sequence with a unique name; equal ones have the rule, or also a number."""
    names = Counter(each.name() for each in found)
    used = Counter[str]()
    for each in found:
        name = each.name()
        if names[name] > 1:
            name = f"{name} ({each.rule})"
        used[name] += 1
        yield (name if used[name] == 1 else f"{name[:-1]}, {used[name]})"), each


def write(found: Iterable[Found]) -> None:
    """Write the files anew."""
    lines: dict[str, list[str]] = defaultdict(list)
    for name, each in named(merged(found)):
        lines[each.family].append(each.line(name))
    FOLDER.mkdir(exist_ok=True)
    for old in FOLDER.glob("*.jsonl"):
        old.unlink()
    for family, written in lines.items():
        text = "".join(f"{line}\n" for line in sorted(written))
        (FOLDER / f"{family}.jsonl").write_text(text, encoding="utf-8")


def reaching(histories: Sequence[Path], kept: Sequence[Found]) -> Iterator[Found]:
    """Yield a sequence for each pair that neither scenarios nor kept sequences reach.

    Args:
        histories: of scenarios on the model, then of explorations.
        kept: the sequences so far.
    """
    known = {pair for path in histories[:1] for pair in pairs_in(path)}
    known |= {pair for each in kept for pair in pairs_of(each.commands, each.profile)}
    yield from map(found_of, explored_reaching(histories[1:], known))
    yield from map(found_of, scenarios_reaching(histories[:1], known))


def found_of(reached: Reaching) -> Found:
    """Return a sequence that reaches pairs, with its sentence."""
    words = " and ".join(WORDS[context] for context in reached.contexts)
    rule = reached.rule
    return Found(
        mutants=(),
        profile=reached.profile,
        rule=rule,
        commands=reached.commands,
        told=f"Reaches {rule} {words}. {rule}: {CATALOGUE.rule(rule).title}.",
    )


def print_score(mutants: Sequence[GeneratedMutant], kept: Sequence[Found]) -> None:
    """Print for each family how many of its mutants some kept sequence kills.

    The others are those that no judge can distinguish from the model, and those that the sequences
    miss; `busproof audit --generated` separates the two.
    """
    killed: Counter[str] = Counter()
    asked: Counter[str] = Counter()
    for mutant in mutants:
        asked[mutant.family] += 1
        rules = rules_of(mutant)
        near = sorted(kept, key=lambda each: each.family != mutant.family)
        found = any(kills(rules, each.profile, each.commands) for each in near)
        killed[mutant.family] += found
        print(f"{sum(asked.values())} of {len(mutants)}", end="\r", file=sys.stderr)
    for family in asked:
        print(f"{family}: {killed[family]} of {asked[family]}")
    print(f"in all: {sum(killed.values())} of {sum(asked.values())}")


def main() -> None:
    """Write the files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sample", type=int, default=40, help="mutants of each family")
    parser.add_argument("--tries", type=int, default=60, help="variants for each")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--reword", action="store_true", help="write only names and sentences anew")
    told = "histories of the scenarios and of explorations: search them for new pairs"
    parser.add_argument("--pairs", nargs="+", type=Path, help=told)
    parser.add_argument("--score", action="store_true", help="count the mutants that are killed")
    args = parser.parse_args()
    if args.reword:
        write(list(stored()))
        return
    terms = Terms(sample=args.sample, tries=args.tries, seed=args.seed)
    if args.pairs:
        kept = list(stored())
        write([*kept, *reaching(args.pairs, kept)])
        return
    if args.score:
        print_score(chosen([], terms), list(stored()))
        return
    pairs = [each for each in stored() if not each.mutants]
    write([*sequences(chosen([], terms), recordings(terms), terms), *pairs])


if __name__ == "__main__":
    main()
