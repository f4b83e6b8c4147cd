"""The diagnosis of the replay beside the oracle's, on the shortest run of each mutant.

Each mutant breaks one rule, and its run shows it. A diagnosis is right if the first rule that it
charges is that one; a scenario of the rule needs only that it is among those charged. With
`--table`, a line for each mutant: its rule, its name, the oracle's first rule, the replay's rules.
"""

import sys
from collections.abc import Iterator

import attrs
from figures import Figure, at_least, parser, report

from busproof import vocabulary as v
from busproof.adapters.faults import adapter_of
from busproof.judging.diagnosis.diagnosis import diagnose
from busproof.judging.replay.explanation import explain
from busproof.judging.replay.search import Ended
from busproof.mutants import MUTANTS, Mutant
from busproof.mutants.runs import PARTITIONS, play
from busproof.oracle.state import Namespace, fresh_namespace
from busproof.oracle.step import accept
from busproof.spec import load

EDITION = "cs-2020-12"
"""The edition that states the most."""
LONGEST = 300
"""Longer runs are left out."""
CATALOGUE = load()

Rules = tuple[v.RuleId, ...]


@attrs.frozen
class Compared:
    """What both judges make of a mutant's run.

    Attributes:
        mutant: the mutant.
        oracle: the rules that the oracle charges, the most relevant first.
        replay: the rules that the diagnosis of the replay charges.
    """

    mutant: Mutant
    oracle: Rules
    replay: Rules


def profile_of(mutant: Mutant) -> v.Profile:
    """Return the profile in which a mutant's run shows its fault."""
    rule = CATALOGUE.rule(mutant.rule)
    tier, partitions = v.namespace_of(rule.tiers)
    return v.profile_for(
        CATALOGUE,
        edition=EDITION if EDITION in rule.editions else rule.editions[-1],
        tier=tier,
        readings=mutant.readings,
        partitions=PARTITIONS if partitions == 1 else None,
        namespace_partitions=partitions,
    )


def breakable(rules: Rules) -> Rules:
    """Return those rules that an answer can break."""
    return tuple(
        rule for rule in rules if CATALOGUE.rule(rule).shown_by not in ("allowed", "never")
    )


def by_oracle(events: list[v.Event], profile: v.Profile, seen: v.Observability) -> Rules:
    """Return the rules that the oracle charges."""
    possible: tuple[Namespace, ...] = (fresh_namespace(profile, seen),)
    for event in events:
        accepted = accept(possible, event)
        if not accepted.possible:
            return breakable(accepted.rules)
        possible = accepted.possible
    return ()


def by_replay(events: list[v.Event], profile: v.Profile, seen: v.Observability) -> Rules:
    """Return the rules that the diagnosis of the replay charges."""
    explanation = explain(events, profile, seen)
    if explanation.ended is not Ended.IMPOSSIBLE or explanation.stuck_at is None:
        return ()
    return breakable(diagnose(events, explanation.stuck_at, profile, seen).rules)


def compared() -> Iterator[Compared]:
    """Yield what both judges make of each mutant's run that a single answer gives away."""
    for mutant in MUTANTS:
        if mutant.equivalent or mutant.literal or len(mutant.run) > LONGEST:
            continue
        bus, profile = adapter_of(mutant), profile_of(mutant)
        bus.start(profile)
        events = list(play(bus, mutant.run))
        bus.stop()
        seen = bus.declaration.observability
        yield Compared(mutant, by_oracle(events, profile, seen), by_replay(events, profile, seen))


def main() -> int:
    """Compare, and print the figures."""
    options = parser(__doc__)
    options.add_argument("--table", action="store_true", help="print a line for each mutant")
    options.add_argument("--wrong", action="store_true", help="print those diagnosed wrongly")
    arguments = options.parse_args()
    rows = list(compared())
    for row in rows:
        rule = row.mutant.rule
        if arguments.table or (arguments.wrong and row.replay[:1] != (rule,)):
            among = "" if rule in row.replay else "not among"
            print(rule, row.mutant.id, *row.oracle[:1], "|", *row.replay[:6], among)

    def share(right: list[bool]) -> float:
        return sum(right) / len(rows)

    rules = [(row.mutant.rule, row) for row in rows]
    right_first = share([row.replay[:1] == (rule,) for rule, row in rules])
    right_among = share([rule in row.replay for rule, row in rules])
    figures = [
        Figure("mutants' shortest runs", len(rows)),
        Figure("oracle: right rule first", share([r.oracle[:1] == (x,) for x, r in rules])),
        Figure("oracle: right rule among those charged", share([x in r.oracle for x, r in rules])),
        at_least("replay: right rule first", right_first, 0.85),
        at_least("replay: right rule among those charged", right_among, 0.95),
        Figure("replay: rules charged a run", sum(len(row.replay) for row in rows) / len(rows)),
    ]
    return report(figures, as_json=arguments.json)


if __name__ == "__main__":
    sys.exit(main())
