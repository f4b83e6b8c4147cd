"""Compare the rules that the replay of a history shows with those that the oracle shows.

`python tools/compare_coverage.py HISTORY` prints, for each rule, how many events show it in the
oracle's eyes and in the replay's, and which kinds of events only one of the two credits; with
`--rule ID` also the shortest scenarios whose events differ.
"""

import argparse
import sys
import time
from collections import Counter, defaultdict
from pathlib import Path

import attrs

from busproof import vocabulary as v
from busproof.history.files import read, scenarios
from busproof.history.records import Header, Oracle, Scenario
from busproof.judging.applicability import auto_oracle, profile_of
from busproof.judging.judge import observability_for
from busproof.judging.linearization.overlap import judged
from busproof.judging.replay.explanation import explain
from busproof.judging.witnesses import with_late_witnesses
from busproof.spec import load

LONGEST = 3_000
"""Number of events of the longest scenario that is compared."""

Shown = list[set[v.RuleId]]


@attrs.define
class Comparison:
    """What both showed, by rule.

    Attributes:
        old: rule to kind of event to how many events showed it in the oracle's eyes.
        new: the same for the replay.
        differing: rule to the scenarios, and indices of events, that only one of them credits.
        seconds: processor seconds of both.
        scenarios: how many scenarios were compared.
    """

    old: dict[str, Counter[str]] = attrs.field(factory=lambda: defaultdict(Counter))
    new: dict[str, Counter[str]] = attrs.field(factory=lambda: defaultdict(Counter))
    differing: dict[str, list[tuple[Scenario, int]]] = attrs.field(
        factory=lambda: defaultdict(list)
    )
    seconds: dict[str, float] = attrs.field(factory=lambda: defaultdict(float))
    scenarios: int = 0

    def add(self, scenario: Scenario, old: Shown, new: Shown) -> None:
        """Add the rules that both show at each event of a scenario."""
        self.scenarios += 1
        for index, (before, after) in enumerate(zip(old, new, strict=True)):
            kind = kind_of(scenario.events[index])
            for rule in before:
                self.old[rule][kind] += 1
            for rule in after:
                self.new[rule][kind] += 1
            for rule in before ^ after:
                self.differing[rule].append((scenario, index))


def kind_of(event: v.Event) -> str:
    """Return the kind of an event in a word: its request and its answer."""
    error = f" {event.outcome.error.value}" if isinstance(event.outcome, v.Refused) else ""
    return f"{type(event.command).__name__} -> {type(event.outcome).__name__}{error}"


def by_oracle(
    events: list[v.Event], profile: v.Profile, observability: v.Observability
) -> Shown | None:
    """Return what the oracle shows at each event; `None` if it accuses or gives up."""
    seen = with_late_witnesses(events) if profile.numbers_name_partitions else events
    found = judged(list(seen), profile, observability)
    if found.violation is not None or found.exhausted or found.explained:
        return None
    shown: Shown = [set() for _ in events]
    for index, rules in zip(found.order, found.decided, strict=True):
        shown[index] = set(rules)
    return shown


def by_replay(
    events: list[v.Event], profile: v.Profile, observability: v.Observability
) -> Shown | None:
    """Return what the replay shows at each event; `None` if it found no execution."""
    found = explain(events, profile, observability)
    return [set(rules) for rules in found.decided] if found.is_found else None


def compared(path: Path, chosen: Oracle | None, step: int) -> Comparison:
    """Compare both on each `step`th scenario of a history."""
    reader = read(path)
    header = next(reader)
    assert isinstance(header, Header)  # noqa: S101 - a history begins with it
    profile = profile_of(load(), header)
    oracle = chosen or header.oracle or auto_oracle(header.capabilities)
    recorded = v.observability_from(header.clock, header.slack, header.capabilities)
    observability = observability_for(recorded, oracle)
    result = Comparison()
    for number, scenario in enumerate(scenarios(reader)):
        events = list(scenario.events)
        if number % step or not 0 < len(events) <= LONGEST:
            continue
        begun = time.process_time()
        old = by_oracle(events, profile, observability)
        between = time.process_time()
        new = by_replay(events, profile, observability)
        result.seconds["oracle"] += between - begun
        result.seconds["replay"] += time.process_time() - between
        if old is not None and new is not None:
            result.add(scenario, old, new)
    return result


def main() -> int:
    """Print the comparison; return 1 if the replay lacks a rule that the oracle shows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("history", type=Path)
    parser.add_argument("--oracle", type=Oracle, choices=list(Oracle))
    parser.add_argument("--step", type=int, default=1, help="compare each so many-th scenario")
    parser.add_argument("--rule", action="append", default=[], help="print events that differ")
    parser.add_argument("--examples", type=int, default=2)
    wanted = parser.parse_args()
    result = compared(wanted.history, wanted.oracle, wanted.step)
    seconds = ", ".join(f"{name} {each:.1f} s" for name, each in result.seconds.items())
    print(f"{result.scenarios} scenarios, {seconds}")
    print(f"the oracle shows {len(result.old)} rules, the replay {len(result.new)}")
    missing, more = sorted(result.old.keys() - result.new), sorted(result.new.keys() - result.old)
    print(f"missing: {' '.join(missing) or 'none'}\nadditional: {' '.join(more) or 'none'}")
    for rule in sorted({*result.old, *result.new}):
        old, new = result.old[rule], result.new[rule]
        gained = ", ".join(f"{kind} {new[kind]}" for kind in new if kind not in old)
        lost = ", ".join(f"{kind} {old[kind]}" for kind in old if kind not in new)
        if gained or lost:
            print(f"{rule}: {old.total()} {new.total()}; + {gained or '-'}; - {lost or '-'}")
    for rule in wanted.rule:
        examples = sorted(result.differing[rule], key=lambda example: example[1])
        for scenario, last in examples[: wanted.examples]:
            print(f"\n{rule} in {scenario.name!r}")
            for event in scenario.events[: last + 1]:
                print(f"  {event.connection} {event.command} => {event.outcome} {event.witness}")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
