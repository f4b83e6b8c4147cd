"""The diagnosis of the replay on the shortest run of each mutant.

Each mutant breaks one rule, and its run shows it. A diagnosis is right if the first rule that it
charges is that one; a scenario of the rule needs only that it is among those charged. With
`--table`, a line for each mutant: its rule, its name, the rules charged.
"""

import sys

from figures import Figure, at_least, parser, report

from busproof import vocabulary as v
from busproof.adapters.faults import adapter_of
from busproof.judging.diagnosis.diagnosis import diagnose
from busproof.judging.replay.explanation import explain
from busproof.judging.replay.search import Ended
from busproof.mutants import MUTANTS, Mutant
from busproof.mutants.runs import PARTITIONS, play
from busproof.spec import load

EDITION = "cs-2020-12"
"""The edition that states the most."""
LONGEST = 300
"""Longer runs are left out."""
CATALOGUE = load()

Rules = tuple[v.RuleId, ...]


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


def charge(events: list[v.Event], profile: v.Profile, seen: v.Observability) -> Rules:
    """Return the rules that the diagnosis of the replay charges."""
    explanation = explain(events, profile, seen)
    if explanation.ended is not Ended.IMPOSSIBLE or explanation.stuck_at is None:
        return ()
    return breakable(diagnose(events, explanation.stuck_at, profile, seen).rules)


def diagnose_all() -> list[tuple[Mutant, Rules]]:
    """Return the rules charged on each mutant's run that a single answer gives away."""
    found = []
    for mutant in MUTANTS:
        if mutant.equivalent or mutant.literal or len(mutant.run) > LONGEST:
            continue
        bus, profile = adapter_of(mutant), profile_of(mutant)
        bus.start(profile)
        events = list(play(bus, mutant.run))
        bus.stop()
        found.append((mutant, charge(events, profile, bus.declaration.observability)))
    return found


def main() -> int:
    """Diagnose, and print the figures."""
    options = parser(__doc__)
    options.add_argument("--table", action="store_true", help="print a line for each mutant")
    options.add_argument("--wrong", action="store_true", help="print those diagnosed wrongly")
    arguments = options.parse_args()
    found = diagnose_all()
    for mutant, rules in found:
        if arguments.table or (arguments.wrong and rules[:1] != (mutant.rule,)):
            suffix = "" if mutant.rule in rules else "not among"
            print(mutant.rule, mutant.id, "|", *rules[:6], suffix)
    first = sum(rules[:1] == (mutant.rule,) for mutant, rules in found)
    among = sum(mutant.rule in rules for mutant, rules in found)
    figures = [
        Figure("mutants' shortest runs", len(found)),
        at_least("right rule first", first / len(found), 0.85),
        at_least("right rule among those charged", among / len(found), 0.95),
        Figure("rules charged a run", sum(len(rules) for _, rules in found) / len(found)),
    ]
    return report(figures, as_json=arguments.json)


if __name__ == "__main__":
    sys.exit(main())
