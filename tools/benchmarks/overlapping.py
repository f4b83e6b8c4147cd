"""Cost of judging a recorded history, by its length and by the number of concurrent clients.

The histories are those of `busproof.judging.workload` on the reference model: sends with and
without keys, receives in both modes, settlements, peeks, sessions, duplicates and transactions, on
three queues; each request is open for up to 20 ms. Each history is also judged in its true order,
as if that were known.

On a regular queue all messages are one line, so that a wrong order of two sends shows only when
their messages are received. Clients that keep 100 messages there are the hardest such history.

With `--stretches`, one long history of a queue that is empty now and then is judged on one core and
on two. By the clock that says something only if nothing else runs; the longest way by processors is
the time of this process and half of that of the others.
"""

import gc
import resource
import sys
import time
from collections.abc import Iterator
from random import Random
from typing import Final

import attrs
from figures import Figure, at_most, parser, report
from figures.histories import overlapping_on_regular

from busproof import vocabulary as v
from busproof.adapters.model import ModelAdapter
from busproof.judging.linearization.overlap import Judged, judged
from busproof.judging.workload import work
from busproof.spec import load

CLIENTS: Final = (1, 4, 16)
SIZES: Final = (1_000, 10_000, 100_000)
STEPS_BOUND: Final = 1.5
SEARCH_BOUND: Final = 4.0
REGULAR: Final = 10_000
HELD: Final = 100
REGULAR_CLIENTS: Final = 4
REGULAR_STEPS_BOUND: Final = 1.1
BURST: Final = 1_000
STRETCHES_BOUND: Final = 0.6
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

    def __str__(self) -> str:
        """Return the row of the table."""
        return (
            f"{self.clients:7}  {self.operations:10,}  {self.searched:11.0f}  {self.ordered:11.0f}"
            f"  {self.searched / self.ordered:5.1f}  {self.steps:5.2f}  {self.verdict}"
        )


def row(clients: int, operations: int) -> Row:
    """Judge a history of this size, without and with its true order."""
    events = work(ModelAdapter(), v.profile_for(load()), Random(clients), operations, clients)  # noqa: S311 - repeatable choices, not secrets
    return row_of(events, clients)


def row_of(events: list[v.Event], clients: int) -> Row:
    """Judge a history without and with its true order."""
    searched, judgement = timed(events, OVERLAPPING)
    verdict = "violation" if judgement.violation else judgement.exhausted or "judged"
    in_order = [events[index] for index in judgement.order]
    ordered, _ = timed(in_order, KNOWN_ORDER)
    count = len(events)
    return Row(
        clients=clients,
        operations=count,
        searched=searched / count * 1e6,
        ordered=ordered / count * 1e6,
        steps=judgement.steps / count,
        verdict=verdict,
    )


def timed(
    events: list[v.Event], observability: v.Observability, cores: int = 1
) -> tuple[float, Judged]:
    """Return the seconds that judging took, and its result."""
    profile = v.profile_for(load())
    gc.collect()
    began = time.perf_counter()
    judgement = judged(events, profile, observability, cores)
    return time.perf_counter() - began, judgement


def regular(operations: int) -> Row:
    """Judge clients that keep many messages on a regular queue."""
    random = Random(REGULAR_CLIENTS)  # noqa: S311 - repeatable choices, not secrets
    return row_of(
        overlapping_on_regular(operations, REGULAR_CLIENTS, HELD, random), REGULAR_CLIENTS
    )


def in_stretches(operations: int) -> Iterator[Figure]:
    """Yield the time on two cores beside that on one, of one long history."""
    random = Random(REGULAR_CLIENTS)  # noqa: S311 - repeatable choices, not secrets
    events = overlapping_on_regular(operations, REGULAR_CLIENTS, HELD, random, burst=BURST)
    seconds = {}
    ways = {}
    for cores in (1, 2):
        own = time.process_time()
        others = processor_seconds_of_children()
        seconds[cores], judgement = timed(events, OVERLAPPING, cores)
        assert not judgement.exhausted
        others = processor_seconds_of_children() - others
        ways[cores] = time.process_time() - own + others / cores
    of = f"one history of {operations:,} requests"
    yield Figure(f"µs of a processor an event, {of}", ways[1] / len(events) * 1e6)
    yield Figure(f"longest way by processors, two cores beside one, {of}", ways[2] / ways[1])
    name = f"seconds by the clock, two cores beside one, {of}"
    yield at_most(name, seconds[2] / seconds[1], STRETCHES_BOUND)


def processor_seconds_of_children() -> float:
    """Return the processor seconds of all processes that were started here and have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def figures(rows: list[Row], on_regular: Row) -> Iterator[Figure]:
    """Yield the figures with their bounds."""
    name = "events tried for an operation on a regular queue with 100 messages"
    yield at_most(name, on_regular.steps, REGULAR_STEPS_BOUND)
    rows = [*rows, on_regular]
    steps = max(row.steps for row in rows)
    yield at_most("events tried for an operation, at most", steps, STEPS_BOUND)
    dearest = max(row.searched / row.ordered for row in rows)
    yield at_most("searched beside known order, at most", dearest, SEARCH_BOUND)
    yield at_most("histories without a verdict", sum(row.verdict != "judged" for row in rows), 0)


def main() -> int:
    """Measure and print; return 1 if a bound does not hold."""
    options = parser(__doc__)
    options.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    options.add_argument("--regular", type=int, default=REGULAR, help="requests to a regular queue")
    options.add_argument("--stretches", type=int, help="requests of one long history, and no other")
    args = options.parse_args()
    if args.stretches:
        return report(in_stretches(args.stretches), as_json=args.json)
    rows = []
    if not args.json:
        print("clients  operations  searched µs  in order µs  ratio  steps  verdict")
    for clients in CLIENTS:
        for operations in args.sizes:
            rows.append(row(clients, operations))
            if not args.json:
                print(rows[-1], flush=True)
    on_regular = regular(args.regular)
    if not args.json:
        print(on_regular, "(regular queue)", flush=True)
    return report(figures(rows, on_regular), as_json=args.json)


if __name__ == "__main__":
    sys.exit(main())
