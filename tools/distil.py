"""Write features/distilled: short command sequences that kill generated mutants.

`make distilled` runs this. It records the scenarios and a quick exploration on the model. For each
family it looks for sequences that kill the mutants that are wrong only in a context, and draws a
sample of the other mutants. For each of these it takes the shortest recording that lets the judge
distinguish it from the model, or searches for a variant that does. The sequence is minimised, and
kept unless an earlier sequence kills the mutant, too. The same sources, seed and sample give the
same files, with the hash seed that `make distilled` sets, because the judge names rules in any
order. A family's file does not depend on other families and is written as soon as it is complete,
so `make distilled FAMILIES='keys locks'` can resume with two families. `--reword` only rewrites the
names and sentences of the sequences, in seconds. `--pairs` searches recorded explorations for pairs
of a rule and a context that nothing reaches yet, puts scenarios into contexts where nothing reaches
their rules, and adds both. `--score` counts how many mutants of the sample the sequences kill.
"""

import argparse
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from busproof import vocabulary as v
from busproof.cli.mutation.audit import record_apart
from busproof.cli.mutation.distilling import PAIRS, Found, kills, sequences
from busproof.cli.mutation.generated import Terms, choose_mutants
from busproof.cli.mutation.pairs import WORDS, pairs_in, pairs_of
from busproof.cli.mutation.reaching import Reaching, find_explored, scenarios_reaching
from busproof.cli.mutation.recordings import Recording, requests, trace_run
from busproof.errors import UsageError
from busproof.history.render.gherkin import request_of
from busproof.history.render.sequence_names import sequence_name
from busproof.history.replay import RecordedCommand
from busproof.mutants.by_machine.made import FAMILIES, GeneratedMutant, families_of, find_mutant
from busproof.spec import load

CATALOGUE: Final = load()
FULLEST: Final = "cs-2020-12"
"""The edition that states the most rules."""
FOLDER: Final = Path("features/distilled")

Line = dict[str, Any]
"""A sequence as stored in a file."""


def read() -> dict[str, list[Line]]:
    """Return the sequences of each file, by its name."""
    return {
        path.stem: [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        for path in sorted(FOLDER.glob("*.jsonl"))
    }


def write(files: dict[str, list[Line]]) -> None:
    """Write the files anew, and give each sequence a unique name."""
    ordered = {name: sorted(files[name], key=lambda line: line["commands"]) for name in files}
    names = iter(named([line for name in sorted(ordered) for line in ordered[name]]))
    FOLDER.mkdir(exist_ok=True)
    for old in FOLDER.glob("*.jsonl"):
        old.unlink()
    for file in sorted(ordered):
        lines = [{**line, "name": next(names)} for line in ordered[file]]
        texts = sorted(json.dumps(line, ensure_ascii=False) for line in lines)
        if texts:
            (FOLDER / f"{file}.jsonl").write_text("".join(f"{text}\n" for text in texts), "utf-8")


def named(lines: Sequence[Line]) -> list[str]:
    """Return a unique name for each sequence; equal names get the rule, or also a number."""
    plain = [sequence_name([recorded.command for recorded in asked_in(line)]) for line in lines]
    often = Counter(plain)
    used = Counter[str]()
    names = []
    for name, line in zip(plain, lines, strict=True):
        full = f"{name} ({line['rule']})" if often[name] > 1 else name
        used[full] += 1
        names.append(full if used[full] == 1 else f"{full[:-1]}, {used[full]})")
    return names


def asked_in(line: Line) -> tuple[RecordedCommand, ...]:
    """Return the commands of a sequence, parsed."""
    parts = [command.partition(" asks: ") for command in line["commands"]]
    return tuple(
        RecordedCommand(number=number, connection=connection, command=request_of(request))
        for number, (connection, _, request) in enumerate(parts, 1)
    )


def lines_of_family(sequences: Iterable[Found]) -> list[Line]:
    """Return sequences as lines of a file; those with the same commands and rule become one."""
    alike: dict[object, Line] = {}
    for sequence in sequences:
        line = json.loads(sequence.line(""))
        first = alike.setdefault((line["tier"], line["rule"], *line["commands"]), line)
        first["mutants"] = list(dict.fromkeys((*first["mutants"], *line["mutants"])))
    return list(alike.values())


def recordings(terms: Terms) -> list[Recording]:
    """Return the scenarios and the explored sequences of every tier, recorded on the model."""
    with tempfile.TemporaryDirectory(prefix="busproof-distil-") as scratch:
        return [
            recording
            for request in requests(terms.sequences, terms.seed)
            for recording in trace_run(request, record_apart(request, Path(scratch)))
        ]


def stored(lines: Iterable[Line]) -> Iterator[Found]:
    """Yield the sequences of a file, unless they are about mutants that no longer exist."""
    for line in lines:
        mutants = tuple(known for known in map(_known, line["mutants"]) if known is not None)
        if mutants or not line["mutants"]:
            yield Found(
                mutants=mutants,
                description="" if mutants else line["about"],
                profile=v.profile_for(CATALOGUE, edition=FULLEST, tier=line["tier"]),
                rule=line["rule"],
                commands=asked_in(line),
            )


def _known(identity: str) -> GeneratedMutant | None:
    try:
        return find_mutant(identity)
    except UsageError:
        print(f"{identity} does not exist any more; its sequence is left out", file=sys.stderr)
        return None


def reaching(histories: Sequence[Path], kept: Sequence[Found]) -> Iterator[Found]:
    """Yield a sequence for each pair that neither scenarios nor kept sequences reach.

    Args:
        histories: the history of the scenarios on the model, then those of explorations.
        kept: the sequences so far.
    """
    known = {pair for path in histories[:1] for pair in pairs_in(path)}
    known |= {pair for sequence in kept for pair in pairs_of(sequence.commands, sequence.profile)}
    yield from map(found_of, find_explored(histories[1:], known))
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
        description=f"Reaches {rule} {words}. {rule}: {CATALOGUE.rule(rule).title}.",
    )


def print_score(mutants: Sequence[GeneratedMutant], kept: Sequence[Found]) -> None:
    """Print for each family how many of its mutants the kept sequences kill.

    Of the others, no judge can distinguish some from the model, and the sequences miss the rest;
    `busproof audit --generated` tells the two apart.
    """
    killed: Counter[str] = Counter()
    counts: Counter[str] = Counter()
    for mutant in mutants:
        counts[mutant.family] += 1
        families = families_of(mutant)
        near = sorted(kept, key=lambda situation: situation.family != mutant.family)
        killer = any(kills(families, situation.profile, situation.commands) for situation in near)
        killed[mutant.family] += killer
        print(f"{sum(counts.values())} of {len(mutants)}", end="\r", file=sys.stderr)
    for family in counts:
        print(f"{family}: {killed[family]} of {counts[family]}")
    print(f"in all: {sum(killed.values())} of {sum(counts.values())}")


def distil(families: Sequence[str], terms: Terms) -> None:
    """Write the files of families, each as soon as it is complete."""
    recorded = recordings(terms)
    for family in families:
        sample = choose_mutants([family], terms)
        lines = lines_of_family(sequences(family, sample, recorded, terms))
        write({**read(), family: lines})
        print(f"{family}: {len(lines)} sequences", flush=True)


def main() -> None:
    """Write the files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("families", nargs="*", help="families to distil; none: all")
    parser.add_argument("--sample", type=int, default=40, help="mutants of each family")
    parser.add_argument("--tries", type=int, default=60, help="variants for each")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--reword", action="store_true", help="write only names and sentences anew")
    help_text = "histories of the scenarios and of explorations: search them for new pairs"
    parser.add_argument("--pairs", nargs="+", type=Path, metavar="HISTORY", help=help_text)
    parser.add_argument("--score", action="store_true", help="count the mutants that are killed")
    args = parser.parse_args()
    unknown = sorted({*args.families} - {*FAMILIES})
    if unknown:
        parser.error(f"there is no family {unknown[0]!r}; choose one of {', '.join(FAMILIES)}")
    terms = Terms(sample=args.sample, tries=args.tries, seed=args.seed)
    files = read()
    if args.reword:
        write({name: lines_of_family(stored(lines)) for name, lines in files.items()})
    elif args.pairs:
        kept = [sequence for lines in files.values() for sequence in stored(lines)]
        new = lines_of_family(reaching(args.pairs, kept))
        write({**files, PAIRS: [*files.get(PAIRS, []), *new]})
    elif args.score:
        kept = [sequence for lines in files.values() for sequence in stored(lines)]
        print_score(choose_mutants(args.families, terms), kept)
    else:
        distil(args.families or FAMILIES, terms)


if __name__ == "__main__":
    main()
