"""Overlapping requests judged, by number of clients, policy and habits.

The histories are those of `busproof.judging.workload` on the reference model, on partitioned and on
regular queues. The hostile policy loses answers.
"""

import sys
import time
from random import Random
from typing import Final

import attrs
from figures import Figure, at_most, parser, report

from busproof import vocabulary as v
from busproof.adapters.model import POLICIES, ModelAdapter
from busproof.judging.garbage import seldom_collected
from busproof.judging.linearization.overlap import judged
from busproof.judging.workload import Habits, work
from busproof.spec import load

PARTITIONS: Final = 16
USUAL: Final = {"partitioned": Habits(), "regular": Habits(regular=True)}
OTHERS: Final = {
    "managing": Habits(managing=0.05),
    "mortal": Habits(mortal=0.5),
    "enlisting": Habits(enlisting=0.4),
    "batching": Habits(batching=0.4),
    "large": Habits(large=0.5),
}
LEAST: Final = {1: 1.0, 4: 1.0, 16: 0.8, 64: 0.3}
"""Number of clients to the share that has to be explained; the target is always 1."""


@attrs.define
class Sums:
    """Sums over several histories: how many had which verdict, and what that took."""

    histories: int = 0
    explained: int = 0
    accused: int = 0
    events: int = 0
    steps: int = 0
    seconds: float = 0.0

    @property
    def share(self) -> float:
        """The share of histories that were explained."""
        return self.explained / self.histories


@seldom_collected()
def judge(
    sums: tuple[Sums, ...], seed: int, policy: str, length: int, clients: int, habits: Habits
) -> None:
    """Judge a history of this kind, and add the result to all these sums."""
    adapter = ModelAdapter(policy, seed)
    profile = v.profile_for(load(), partitions=PARTITIONS)
    events = work(adapter, profile, Random(seed), length, clients, habits=habits)  # noqa: S311 - repeatable choices, not secrets
    observability = attrs.evolve(adapter.declaration.observability, clock=v.Clock.REAL)
    begun = time.process_time()
    found = judged(events, profile, observability)
    ended = time.process_time()
    for one in sums:
        one.histories += 1
        one.events += len(events)
        one.explained += not (found.exhausted or found.violation)
        one.accused += found.violation is not None
        one.steps += found.steps
        one.seconds += ended - begun


def main() -> int:
    """Measure, and print the figures."""
    options = parser(__doc__)
    options.add_argument("--clients", type=int, nargs="+", default=tuple(LEAST))
    options.add_argument("--length", type=int, default=300, help="requests of a history")
    options.add_argument("--seeds", type=int, default=3, help="histories of each kind")
    arguments = options.parse_args()
    figures: list[Figure] = []
    usual = {kind: Sums() for kind in USUAL}
    for clients in arguments.clients:
        of_clients, of_others = Sums(), Sums()
        for policy in POLICIES:
            for seed in range(arguments.seeds):
                for kind, habits in USUAL.items():
                    sums = of_clients, usual[kind]
                    judge(sums, seed, policy, arguments.length, clients, habits)
            for habits in OTHERS.values():
                judge((of_others,), 0, policy, arguments.length, clients, habits)
        least = LEAST.get(clients, 0.0)
        figures += [
            Figure(f"{clients} clients: share explained", of_clients.share, least, target=1.0),
            Figure(
                f"{clients} clients, other habits: share explained", of_others.share, target=1.0
            ),
            Figure(f"{clients} clients: steps an event", of_clients.steps / of_clients.events),
        ]
    for kind, one in usual.items():
        cost = one.seconds / one.events * 1e6
        figures += [
            at_most(f"{kind}: histories accused", one.accused, 0),
            Figure(f"{kind}: processor time, µs an event", cost),
            Figure(f"{kind}: steps an event", one.steps / one.events, target=1.1),
        ]
    return report(figures, as_json=arguments.json)


if __name__ == "__main__":
    sys.exit(main())
