"""The replay on the reference model, beside the oracle: what it explains, refutes and costs.

The history is that of a run's scenarios on the model under one policy; each scenario is judged by
both, in turn, and their processor times are compared within one call of this program. Then the
shortest run of each mutant is replayed: an explanation of one would be a fault that is missed.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import attrs
from figures import Figure, at_least, at_most, parser, report

from busproof import vocabulary as v
from busproof.adapters.faults import adapter_of
from busproof.history.files import load
from busproof.history.records import History, Scenario
from busproof.judging.garbage import seldom_collected
from busproof.judging.judge import Judge, observability_for
from busproof.judging.replay.explanation import OVER_MANY_ANSWERS, explain
from busproof.judging.replay.search import Ended
from busproof.judging.scenario_result import profile_of
from busproof.mutants import MUTANTS, Mutant
from busproof.mutants.runs import PARTITIONS, play
from busproof.spec import load as load_catalogue

EDITION = "cs-2020-12"
"""The edition that states the most."""
LONGEST = 1_000
"""Scenarios and mutants' runs with more events are left out."""


@attrs.define
class Replays:
    """Replays of several histories.

    Attributes:
        ended: how each of them ended.
        events: how many events they had.
        steps: how many events the searches executed.
        replaying: the processor seconds of all replays.
        judging: the processor seconds of the oracle on the same histories.
    """

    ended: list[Ended] = attrs.field(factory=list)
    events: int = 0
    steps: int = 0
    replaying: float = 0.0
    judging: float = 0.0

    def share(self, ended: Ended) -> float:
        """Return the share of histories that ended so."""
        return self.ended.count(ended) / len(self.ended)


def recorded(folder: Path, policy: str) -> History:
    """Return the history of a run's scenarios on the model with this policy."""
    adapter = f"model?policy={policy}&seed=7"
    words = ["run", "--name", policy, "--adapter", adapter, "--only", "features"]
    subprocess.run(
        [sys.executable, "-m", "busproof", *words],
        cwd=folder,
        check=False,
        capture_output=True,
        env={**os.environ},
    )
    return load(folder / "reports" / "runs" / policy / "history.jsonl")


@seldom_collected()
def replayed(history: History) -> Replays:
    """Replay each scenario of a history that no step failed in, and judge it by the oracle."""
    header = history.header
    profile = profile_of(load_catalogue(), header)
    seen = v.observability_from(header.clock, header.slack, header.capabilities)
    if header.oracle is None:
        raise AssertionError("a run names its oracle")
    observability = observability_for(seen, header.oracle)
    replays = Replays()
    for scenario in history.scenarios:
        if 0 < len(scenario.events) <= LONGEST:
            _add(replays, scenario, profile, observability)
    return replays


def _add(
    replays: Replays, scenario: Scenario, profile: v.Profile, observability: v.Observability
) -> None:
    events = tuple(scenario.events)
    begun = time.process_time()
    explanation = explain(events, profile, observability)
    between = time.process_time()
    judge = Judge(profile, observability, events)
    for event in events:
        judge.saw(event)
    replays.judging += time.process_time() - between
    replays.replaying += between - begun
    replays.ended.append(explanation.ended)
    replays.events += len(events)
    replays.steps += explanation.steps


def of_mutants() -> Replays:
    """Replay the shortest run of each mutant that a judge of single answers can notice."""
    replays = Replays()
    for mutant in MUTANTS:
        hidden = mutant.equivalent or mutant.literal or mutant.rule in OVER_MANY_ANSWERS
        if hidden or len(mutant.run) > LONGEST:
            continue
        bus, profile = adapter_of(mutant), _profile(mutant)
        bus.start(profile)
        events = list(play(bus, mutant.run))
        explanation = explain(events, profile, bus.declaration.observability)
        replays.ended.append(explanation.ended)
    return replays


def _profile(mutant: Mutant) -> v.Profile:
    rule = load_catalogue().rule(mutant.rule)
    tier, partitions = v.namespace_of(rule.tiers)
    return v.profile_for(
        load_catalogue(),
        edition=EDITION if EDITION in rule.editions else rule.editions[-1],
        tier=tier,
        readings=mutant.readings,
        partitions=PARTITIONS if partitions == 1 else None,
        namespace_partitions=partitions,
    )


def main() -> int:
    """Measure, and print the figures."""
    arguments = parser(__doc__).parse_args()
    figures: list[Figure] = []
    with tempfile.TemporaryDirectory() as place:
        for policy, least in (("round-robin", 1.0), ("random", 0.99), ("hostile", 0.95)):
            replays = replayed(recorded(Path(place), policy))
            figures += [
                Figure(f"{policy}: scenarios", len(replays.ended)),
                at_least(f"{policy}: share explained", replays.share(Ended.EXPLAINED), least),
                Figure(f"{policy}: share surely impossible", replays.share(Ended.IMPOSSIBLE)),
                Figure(f"{policy}: steps an event", replays.steps / replays.events),
            ]
            if policy == "round-robin":
                ratio = replays.replaying / replays.judging
                figures.append(at_most("replay / oracle, processor time", ratio, 1, target=0.4))
    mutants = of_mutants()
    figures += [
        Figure("mutants' shortest runs", len(mutants.ended)),
        at_most("explained, although faulty", mutants.ended.count(Ended.EXPLAINED), 0),
        at_least("surely impossible", mutants.share(Ended.IMPOSSIBLE), 0.98),
    ]
    return report(figures, as_json=arguments.json)


if __name__ == "__main__":
    sys.exit(main())
