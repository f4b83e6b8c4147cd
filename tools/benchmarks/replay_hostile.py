"""Explorations of the hostile model judged by the replay, as a whole and event by event.

The hostile policy loses answers, has wrong timers and caches what it can. Each sequence is replayed
within the budget of a judge that goes on; then it is judged as in a run,
event by event. The bare model executes the same commands, and the processor times are compared
within one call.
"""

import sys
import time
from collections.abc import Iterator, Sequence
from typing import Final

import attrs
from figures import Figure, parser, report

from busproof import vocabulary as v
from busproof.adapters.model import ModelAdapter
from busproof.exploration.explorer import Exploration
from busproof.exploration.machine import terms_of
from busproof.exploration.sizes import SIZES
from busproof.history.records import EXPLORATION, Record, Started
from busproof.judging.garbage import seldom_collected
from busproof.judging.judge import Judge
from busproof.judging.replay.explanation import explain, hasty_budget
from busproof.model import RoundRobin, new_namespace, step
from busproof.spec import load

PARTITIONS: Final = (16, 3, 4, 2)
SEEDS: Final = 8
SEQUENCES: Final = 25
RULES: Final = 50
"""Steps of a sequence, without its last look."""


@attrs.define
class Sums:
    """Sums over all sequences."""

    sequences: int = 0
    events: int = 0
    explained: int = 0
    steps: int = 0
    judged: int = 0
    replaying: float = 0.0
    judging: float = 0.0
    executing: float = 0.0


def explored(seed: int, profile: v.Profile) -> Iterator[Sequence[v.Event]]:
    """Yield the events of each sequence of an exploration of the hostile model."""
    records: list[Record] = []
    adapter = ModelAdapter("hostile", seed)
    size = attrs.evolve(SIZES["quick"], sequences=SEQUENCES, rules=RULES)
    terms = terms_of(adapter, profile)
    Exploration(adapter, terms, size=size, start=seed, write=records.append).run()
    sequences: list[list[v.Event]] = []
    is_explored = False
    for record in records:
        if isinstance(record, Started):
            is_explored = record.feature == EXPLORATION
            sequences += [[]] if is_explored else []
        elif isinstance(record, v.Event) and is_explored:
            sequences[-1].append(record)
    yield from sequences


@seldom_collected()
def judge(sums: Sums, events: Sequence[v.Event], profile: v.Profile) -> None:
    """Judge a sequence in each way, and add the results."""
    observability = ModelAdapter("hostile").declaration.observability
    began = time.process_time()
    explanation = explain(events, profile, observability, steps=hasty_budget(len(events)))
    replayed = time.process_time()
    judge = Judge(profile, observability)
    for event in events:
        judge.saw(event)
    judged = time.process_time()
    namespace = new_namespace(profile)
    choices = RoundRobin()
    for event in events:
        step(namespace, event.command, event.connection, choices)
    executed = time.process_time()
    sums.sequences += 1
    sums.events += len(events)
    sums.explained += explanation.is_found
    sums.steps += explanation.steps
    sums.judged += not judge.exhausted and judge.violation is None
    sums.replaying += replayed - began
    sums.judging += judged - replayed
    sums.executing += executed - judged


def main() -> int:
    """Measure, and print the figures."""
    options = parser(__doc__)
    options.add_argument("--seeds", type=int, default=SEEDS, help="explorations")
    arguments = options.parse_args()
    sums = Sums()
    for seed in range(arguments.seeds):
        profile = v.profile_for(load(), partitions=PARTITIONS[seed % len(PARTITIONS)])
        for events in explored(seed, profile):
            judge(sums, events, profile)
    return report(
        [
            Figure("sequences", sums.sequences),
            Figure("events", sums.events),
            Figure("share explained as a whole", sums.explained / sums.sequences, target=1.0),
            Figure("steps an event", sums.steps / sums.events, target=1.1),
            Figure("share explained event by event", sums.judged / sums.sequences, target=1.0),
            Figure("replay / bare model, processor time", sums.replaying / sums.executing),
            Figure("judge / bare model, processor time", sums.judging / sums.executing),
        ],
        as_json=arguments.json,
    )


if __name__ == "__main__":
    sys.exit(main())
