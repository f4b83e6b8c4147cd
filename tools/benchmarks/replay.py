"""The replay on the reference model: what it explains, refutes and costs beside the bare model.

The histories are those of runs' scenarios on conforming buses: the model under each policy, in each
edition, tier and number of partitions, the broker over AMQP and the bus in JavaScript. Each is
replayed as either observer sees it. The commands of the regular model's are executed on the bare
model, too, and the processor times are compared within one call of this program. Then the shortest
run of each mutant is replayed: an explanation of one would be a fault that is missed. `--kind` and
`--rule` make it quick.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import attrs
from figures import Figure, at_least, at_most, parser, report

from busproof import vocabulary as v
from busproof.adapters.faults import adapter_of
from busproof.history.files import load
from busproof.history.records import History, Oracle, ScenarioVerdict
from busproof.judging.applicability import profile_of
from busproof.judging.garbage import seldom_collected
from busproof.judging.judge import observability_for
from busproof.judging.replay.explanation import Explanation, explain
from busproof.judging.replay.search import Ended
from busproof.model import RoundRobin, new_namespace, step
from busproof.mutants import MUTANTS, Mutant
from busproof.mutants.runs import PARTITIONS, play
from busproof.spec import load as load_catalogue

LEAST = {Oracle.STRICT: 1.0, Oracle.CLIENT: 0.99}
"""Minimum share of scenarios that are explained; a client sees less, so that some are given up."""
MOST = 20.0
"""Maximum processor time of a replay, in executions of the same commands on the bare model."""
EDITION = "cs-2020-12"
"""The edition that states the most."""
LONGEST = 1_000
"""Scenarios and mutants' runs with more events are left out."""
REGULAR = "round-robin"
"""The run that is compared with the bare model."""
NODE = Path(__file__).parents[2] / "examples" / "node-adapter" / "adapter.js"


def _model(policy: str, *options: str) -> tuple[str, ...]:
    return ("--adapter", f"model?policy={policy}&seed=7", *options)


RUNS: dict[str, tuple[str, ...]] = {
    REGULAR: _model("round-robin"),
    "random": _model("random"),
    "hostile": _model("hostile"),
    "AMQP": ("--adapter", "amqp"),
    "AMQP, random": ("--adapter", "amqp?policy=random&seed=7"),
    "JavaScript": ("--adapter", f"exec:node {NODE}"),
    "fr-2016-09": _model("hostile", "--edition", "fr-2016-09"),
    "pt-undated": _model("random", "--edition", "pt-undated"),
    "es-2020-06": _model("hostile", "--edition", "es-2020-06"),
    "cs-2020-12": _model("random", "--edition", "cs-2020-12"),
    "de-2021-04": _model("random", "--edition", "de-2021-04"),
    "Basic": _model("random", "--tier", "basic"),
    "Premium": _model("random", "--tier", "premium"),
    "Premium, 2": _model("hostile", "--tier", "premium", "--namespace-partitions", "2"),
    "Premium, 4": _model("random", "--tier", "premium", "--namespace-partitions", "4"),
    "2 partitions": _model("hostile", "--partitions", "2"),
    "4 partitions": _model("hostile", "--partitions", "4"),
}
"""Kinds of runs, with their options; all conform, so every scenario has an explanation."""


@attrs.define
class Replays:
    """Replays of several histories.

    Attributes:
        ended: how each of them ended.
        events: how many events they had.
        steps: how many events the searches executed.
        replaying: the processor seconds of all replays.
        executing: the processor seconds of the bare model for the same commands.
    """

    ended: list[Ended] = attrs.field(factory=list)
    events: int = 0
    steps: int = 0
    replaying: float = 0.0
    executing: float = 0.0

    def add(self, explanation: Explanation, events: tuple[v.Event, ...]) -> None:
        """Count a replay."""
        self.ended.append(explanation.ended)
        self.events += len(events)
        self.steps += explanation.steps

    def share(self, ended: Ended) -> float:
        """Return the share of histories that ended so."""
        return self.ended.count(ended) / len(self.ended)


def recorded(folder: Path, kind: str, rules: Sequence[str]) -> History:
    """Return the history of a run's scenarios, of these rules or of all."""
    name = kind.replace(", ", "-").replace(" ", "-")
    words = ["run", "--name", name, *RUNS[kind], "--only", "features"]
    words += [word for rule in rules for word in ("--rule", rule)]
    subprocess.run(
        [sys.executable, "-m", "busproof", *words],
        cwd=folder,
        check=False,
        capture_output=True,
        env={**os.environ},
    )
    return load(folder / "reports" / "runs" / name / "history.jsonl")


@seldom_collected()
def replayed(history: History, oracle: Oracle, *, beside_model: bool) -> Replays:
    """Replay each scenario of a history that no step failed in, as an observer sees it."""
    header = history.header
    profile = profile_of(load_catalogue(), header)
    seen = v.observability_from(header.clock, header.slack, header.capabilities)
    observability = observability_for(seen, oracle)
    replays = Replays()
    for scenario in history.scenarios:
        failed = scenario.ended is not None and scenario.ended.verdict is ScenarioVerdict.FAILED
        events = tuple(scenario.events)
        if failed or not 0 < len(events) <= LONGEST:
            continue
        begun = time.process_time()
        explanation = explain(events, profile, observability)
        replays.replaying += time.process_time() - begun
        replays.add(explanation, events)
        if beside_model:
            replays.executing += model_time(events, profile)
        if not explanation.is_found:
            print(f"not explained ({explanation.ended.value}): {scenario.name}", file=sys.stderr)
    return replays


def model_time(events: tuple[v.Event, ...], profile: v.Profile) -> float:
    """Return the processor seconds in which the model executes the commands of these events."""
    begun = time.process_time()
    namespace = new_namespace(profile)
    choices = RoundRobin()
    for event in events:
        step(namespace, event.command, event.connection, choices)
    return time.process_time() - begun


def of_mutants() -> Replays:
    """Replay the shortest run of each mutant that a judge of single answers can notice."""
    replays = Replays()
    for mutant in MUTANTS:
        hidden = mutant.equivalent or mutant.literal
        if hidden or len(mutant.run) > LONGEST:
            continue
        bus, profile = adapter_of(mutant), _profile(mutant)
        bus.start(profile)
        events = tuple(play(bus, mutant.run))
        replays.add(explain(events, profile, bus.declaration.observability), events)
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


def figures_of(kind: str, oracle: Oracle, replays: Replays) -> Iterator[Figure]:
    """Yield the figures of a run, as an observer sees it."""
    name = kind if oracle is Oracle.STRICT else f"{kind}, as a client"
    yield Figure(f"{name}: scenarios", len(replays.ended))
    yield at_least(f"{name}: share explained", replays.share(Ended.EXPLAINED), LEAST[oracle])
    yield Figure(f"{name}: share surely impossible", replays.share(Ended.IMPOSSIBLE))
    yield Figure(f"{name}: steps an event", replays.steps / replays.events)
    if replays.executing:
        ratio = replays.replaying / replays.executing
        yield at_most(f"{name}: replay / bare model, processor time", ratio, MOST)


def main() -> int:
    """Measure, and print the figures."""
    options = parser(__doc__)
    options.add_argument("--kind", action="append", choices=RUNS, help="only runs of this kind")
    options.add_argument("--rule", action="append", default=[], help="only scenarios of this rule")
    arguments = options.parse_args()
    judged = REGULAR, Oracle.STRICT
    figures: list[Figure] = []
    with tempfile.TemporaryDirectory() as place:
        for kind in arguments.kind or RUNS:
            history = recorded(Path(place), kind, arguments.rule)
            for oracle in Oracle:
                replays = replayed(history, oracle, beside_model=(kind, oracle) == judged)
                figures += figures_of(kind, oracle, replays)
    if not arguments.kind:
        mutants = of_mutants()
        figures += [
            Figure("mutants' shortest runs", len(mutants.ended)),
            at_most("explained, although faulty", mutants.ended.count(Ended.EXPLAINED), 0),
            at_least("surely impossible", mutants.share(Ended.IMPOSSIBLE), 0.98),
        ]
    return report(figures, as_json=arguments.json)


if __name__ == "__main__":
    sys.exit(main())
