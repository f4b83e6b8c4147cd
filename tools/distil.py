"""Write features/distilled: short sequences that kill mutants as the scenarios or a search do.

`make distilled` runs it. It records the scenarios and a quick exploration on the model, and draws a
sample of the generated mutants. For each mutant it takes the shortest recording in which the judge
distinguishes it from the model, or searches for a variant that does. The sequence is minimised, and
kept unless a sequence kept earlier kills the mutant, too. The same sources, seed and sample give
the same files. `--reword` writes the names and sentences of the kept sequences anew, in seconds.
`--pairs` searches recorded explorations for pairs of a rule and a context that nothing reaches yet,
and adds sequences that do.
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
from busproof.cli.mutation.pairs import WORDS, Pair, pairs_in, pairs_of
from busproof.cli.mutation.recordings import Recording, requests, traced
from busproof.cli.mutation.search import ModelBroke, broken, played, search
from busproof.cli.mutation.variants import Material
from busproof.errors import UsageError
from busproof.history.files import load as load_history
from busproof.history.render.gherkin import request_of, sentence
from busproof.history.render.situations import situation_name
from busproof.history.render.wrong_answers import what_is_wrong
from busproof.history.replay import RecordedCommand, commands_of, numbered
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
    commands: tuple[RecordedCommand, ...]
    description: str = ""
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
            "commands": [sentence(recorded) for recorded in self.commands],
            "mutants": [mutant.id for mutant in self.mutants],
        }
        return json.dumps(shown, ensure_ascii=False)

    def name(self) -> str:
        """Return the commands in a few words."""
        return situation_name([recorded.command for recorded in self.commands])

    def about(self) -> str:
        """Return the wrong answer, and the rule that it breaks, in a sentence."""
        if self.description:
            return self.description
        wrong = played(rules_of(self.mutants[0]), self.profile, self.commands, seconds=SECONDS)
        right = played(RULES, self.profile, self.commands)
        place = len(wrong.usual) - 1
        if wrong.events[place].outcome == right.events[place].outcome:  # only its partition differs
            place = len(wrong.events) - 1
        last = place == len(wrong.events) - 1
        answer = what_is_wrong(wrong.events[place], right.events[place], last=last)
        return f"Wrong if {answer}. {self.rule}: {CATALOGUE.rule(self.rule).title}."


def kills(
    rules: Rules, profile: v.Profile, commands: Sequence[RecordedCommand]
) -> tuple[str, ...] | None:
    """Return the rules that a mutant breaks in this sequence; `None` if it survives."""
    try:
        run = played(rules, profile, commands, seconds=SECONDS)
    except ModelBroke:
        return None
    if not run.differs:
        return None
    return broken(profile, run) or None


def distilled(
    mutant: GeneratedMutant, recorded: Sequence[Recording], material: Material, terms: Terms
) -> Found | None:
    """Return the shortest sequence found that kills a mutant; `None` if there is none."""
    rules = rules_of(mutant)
    places = {(mutant.family, line) for line in mutant.lines}
    there = [
        recording
        for recording in recorded
        if not places.isdisjoint(recording.lines)
        and len(recording.scenario.events) <= LONGEST
        and may_arise(mutant.context, (event.command for event in recording.scenario.events))
    ]
    there.sort(key=lambda recording: (len(recording.scenario.events), recording.scenario.name))
    for recording in there[:MOST]:
        commands = commands_of(recording.scenario.events)
        charged = kills(rules, recording.profile, commands)
        if charged:
            return _shortest(mutant, rules, recording.profile, commands, charged[0])
    random = Random(f"{terms.seed} {mutant.id}")  # noqa: S311 - repeatable choices, not secrets
    bases = [recording.base() for recording in random.sample(there, min(MOST, len(there)))]
    difference = search(rules, bases, material, tries=terms.tries, random=random) if bases else None
    if difference is None or not difference.rules:
        return None
    profile = bases[0].profile
    return _shortest(mutant, rules, profile, commands_of(difference.events), difference.rules[0])


def _shortest(
    mutant: GeneratedMutant,
    rules: Rules,
    profile: v.Profile,
    commands: Sequence[RecordedCommand],
    rule: str,
) -> Found | None:
    def fails(candidate: Sequence[RecordedCommand]) -> bool:
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
    material = Material.of(
        event.command for recording in recorded for event in recording.scenario.events
    )
    kept: list[Found] = []
    for place, mutant in enumerate(mutants, 1):
        print(f"{place} of {len(mutants)}, {len(kept)} kept", end="\r", file=sys.stderr)
        rules = rules_of(mutant)
        near = [other for other in kept if other.family == mutant.family]
        if any(kills(rules, other.profile, other.commands) for other in near):
            continue
        candidate = distilled(mutant, recorded, material, terms)
        if candidate is not None and len(candidate.line(candidate.name())) <= LINE:
            kept.append(candidate)
            yield candidate


def recordings(terms: Terms) -> list[Recording]:
    """Return the scenarios and the explored sequences of every tier, recorded on the model."""
    with tempfile.TemporaryDirectory(prefix="busproof-distil-") as scratch:
        return [
            recording
            for request in requests(terms.sequences, terms.seed)
            for recording in traced(request, recorded_apart(request, Path(scratch)))
        ]


def stored() -> Iterator[Found]:
    """Yield the sequences of the files whose mutants still exist."""
    for situation in situations():
        requests = [request.partition(" asks: ") for request in situation.commands]
        mutants = tuple(known for known in map(_known, situation.mutants) if known is not None)
        if mutants or not situation.mutants:
            yield Found(
                mutants=mutants,
                description="" if mutants else situation.about,
                profile=v.profile_for(CATALOGUE, edition=FULLEST, tier=situation.tier.value),
                rule=situation.rule,
                commands=tuple(
                    RecordedCommand(
                        number=number, connection=connection, command=request_of(request)
                    )
                    for number, (connection, _, request) in enumerate(requests, 1)
                ),
            )


def _known(identity: str) -> GeneratedMutant | None:
    try:
        return mutant_named(identity)
    except UsageError:
        print(f"{identity} does not exist any more; its sequence is left out", file=sys.stderr)
        return None


def merged(situations: Iterable[Found]) -> list[Found]:
    """Return the sequences, those with the same commands and rule as one, with all mutants."""
    alike: dict[object, Found] = {}
    for situation in sorted(situations, key=lambda entry: [mutant.id for mutant in entry.mutants]):
        commands = tuple(map(sentence, situation.commands))
        first = alike.setdefault((situation.profile.tier, situation.rule, commands), situation)
        both = dict.fromkeys((*first.mutants, *situation.mutants))
        alike[situation.profile.tier, situation.rule, commands] = attrs.evolve(
            first, mutants=tuple(both)
        )
    return list(alike.values())


def named(situations: Sequence[Found]) -> Iterator[tuple[str, Found]]:
    """Yield each sequence with a unique name; equal ones have the rule, or also a number."""
    names = Counter(situation.name() for situation in situations)
    used = Counter[str]()
    for situation in situations:
        name = situation.name()
        if names[name] > 1:
            name = f"{name} ({situation.rule})"
        used[name] += 1
        yield (name if used[name] == 1 else f"{name[:-1]}, {used[name]})"), situation


def write(situations: Iterable[Found]) -> None:
    """Write the files anew."""
    lines: dict[str, list[str]] = defaultdict(list)
    for name, situation in named(merged(situations)):
        lines[situation.family].append(situation.line(name))
    FOLDER.mkdir(exist_ok=True)
    for old in FOLDER.glob("*.jsonl"):
        old.unlink()
    for family, written in lines.items():
        text = "".join(f"{line}\n" for line in sorted(written))
        (FOLDER / f"{family}.jsonl").write_text(text, encoding="utf-8")


def reaching(histories: Sequence[Path], kept: Sequence[Found]) -> Iterator[Found]:
    """Yield the shortest sequence for each pair that neither scenarios nor kept sequences reach.

    Args:
        histories: of scenarios on the model, and of explorations in the end; the latter are
            searched.
        kept: the sequences so far.
    """
    known = {pair for path in histories[:1] for pair in pairs_in(path)}
    known |= {pair for one in kept for pair in pairs_of(one.commands, one.profile)}
    explored = [
        (pairs_of(commands, history.header.profile), commands, history.header.profile)
        for history in map(load_history, histories[1:])
        for commands in (commands_of(scenario.events) for scenario in history.scenarios)
    ]
    explored.sort(key=lambda entry: len(entry[1]))
    for pair in sorted({pair for pairs, _, _ in explored for pair in pairs}):
        if pair in known:
            continue
        _, commands, profile = next(entry for entry in explored if pair in entry[0])
        reached = _reaching(pair, commands, profile)
        known |= pairs_of(reached.commands, profile)
        yield reached


def _reaching(pair: Pair, commands: Sequence[RecordedCommand], profile: v.Profile) -> Found:
    def reaches(candidate: Sequence[RecordedCommand]) -> bool:
        return pair in pairs_of(candidate, profile)

    shortest = simplified(minimised(commands, reaches), reaches)
    rule, context = pair
    description = f"Reaches {rule} {WORDS[context]}. {rule}: {CATALOGUE.rule(rule).title}."
    return Found(
        mutants=(), profile=profile, rule=rule, commands=numbered(shortest), description=description
    )


def print_score(mutants: Sequence[GeneratedMutant], kept: Sequence[Found]) -> None:
    """Print for each family how many of its mutants some kept sequence kills.

    The others are those that no judge can distinguish from the model, and those that the sequences
    miss; `busproof audit --generated` separates the two.
    """
    killed: Counter[str] = Counter()
    counts: Counter[str] = Counter()
    for mutant in mutants:
        counts[mutant.family] += 1
        rules = rules_of(mutant)
        near = sorted(kept, key=lambda situation: situation.family != mutant.family)
        killer = any(kills(rules, situation.profile, situation.commands) for situation in near)
        killed[mutant.family] += killer
        print(f"{sum(counts.values())} of {len(mutants)}", end="\r", file=sys.stderr)
    for family in counts:
        print(f"{family}: {killed[family]} of {counts[family]}")
    print(f"in all: {sum(killed.values())} of {sum(counts.values())}")


def main() -> None:
    """Write the files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sample", type=int, default=40, help="mutants of each family")
    parser.add_argument("--tries", type=int, default=60, help="variants for each")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--reword", action="store_true", help="write only names and sentences anew")
    text = "histories of the scenarios and of explorations: search them for new pairs"
    parser.add_argument("--pairs", nargs="+", type=Path, help=text)
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
    pairs = [situation for situation in stored() if not situation.mutants]
    write([*sequences(chosen([], terms), recordings(terms), terms), *pairs])


if __name__ == "__main__":
    main()
