"""Cost of judging a recorded history, by its length and by the number of concurrent clients.

The histories are those of `busproof.judging.workload` on the reference model: sends with and
without keys, receives in both modes, settlements, peeks, sessions, duplicates and transactions, on
three queues; each request is open for up to 20 ms. Each history is also judged in its true order,
as if that were known.
"""

import gc
import sys
import time
from collections.abc import Iterator
from random import Random
from typing import Final

import attrs
from figures import Figure, at_most, parser, report

from busproof import vocabulary as v
from busproof.adapters.model import ModelAdapter
from busproof.judging.linearization.overlap import Judged, judged
from busproof.judging.workload import work
from busproof.spec import load

CLIENTS: Final = (1, 4, 16)
SIZES: Final = (1_000, 10_000, 100_000)
STEPS_BOUND: Final = 1.5
SEARCH_BOUND: Final = 4.0
OVERLAPPING: Final = v.Observability(clock=v.Clock.REAL)
KNOWN_ORDER: Final = v.Observability(clock=v.Clock.VIRTUAL)


@attrs.frozen(kw_only=True)
class Row:
    """A history: its size, the cost per operation in microseconds and steps, and the verdict."""

    clients: int
    operations: int
    searched: float
    ordered: float
    steps: float
    verdict: str


def row(clients: int, operations: int) -> Row:
    """Judge a history of this size, without and with its true order."""
    events = work(ModelAdapter(), v.profile_for(load()), Random(clients), operations, clients)  # noqa: S311 - repeatable choices, not secrets
    searched, judgement = timed(events, OVERLAPPING)
    verdict = "violation" if judgement.violation else judgement.exhausted or "judged"
    in_order = [events[index] for index in judgement.order]
    ordered, _ = timed(in_order, KNOWN_ORDER)
    count = len(events)
    return Row(
        clients=clients,
        operations=operations,
        searched=searched / count * 1e6,
        ordered=ordered / count * 1e6,
        steps=judgement.steps / count,
        verdict=verdict,
    )


def timed(events: list[v.Event], observability: v.Observability) -> tuple[float, Judged]:
    """Return the seconds that judging took, and its result."""
    profile = v.profile_for(load())
    gc.collect()
    began = time.perf_counter()
    judgement = judged(events, profile, observability)
    return time.perf_counter() - began, judgement


def figures(rows: list[Row]) -> Iterator[Figure]:
    """Yield the figures with their bounds."""
    steps = max(row.steps for row in rows)
    yield at_most("events tried for an operation, at most", steps, STEPS_BOUND)
    dearest = max(row.searched / row.ordered for row in rows)
    yield at_most("searched beside known order, at most", dearest, SEARCH_BOUND)
    yield at_most("histories without a verdict", sum(row.verdict != "judged" for row in rows), 0)


def main() -> int:
    """Measure and print; return 1 if a bound does not hold."""
    options = parser(__doc__)
    options.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    args = options.parse_args()
    rows = []
    if not args.json:
        print("clients  operations  searched µs  in order µs  ratio  steps  verdict")
    for clients in CLIENTS:
        for operations in args.sizes:
            rows.append(one := row(clients, operations))
            if not args.json:
                ratio = one.searched / one.ordered
                print(
                    f"{clients:7}  {operations:10,}  {one.searched:11.0f}  {one.ordered:11.0f}  "
                    f"{ratio:5.1f}  {one.steps:5.2f}  {one.verdict}",
                    flush=True,
                )
    return report(figures(rows), as_json=args.json)


if __name__ == "__main__":
    sys.exit(main())
