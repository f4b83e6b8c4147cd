"""Memory and time of judging one history event by event, by its length.

The events of one queue that always has a hundred messages are made while they are judged, so that
nothing holds all of them. Each length is measured in a process of its own.
"""

import json
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Final

import attrs
from figures import Figure, at_most, parser, report
from figures.histories import stream_events

from busproof import vocabulary as v
from busproof.judging.garbage import seldom_collected
from busproof.judging.judge import Judge
from busproof.spec import load

SIZES: Final = (100_000, 1_000_000)
MEMORY_BOUND: Final = 1.2
TIME_BOUND: Final = 1.2


@attrs.frozen
class Row:
    """One history: peak memory of the process in MB, and processor time an event."""

    clock: v.Clock
    events: int
    peak: float
    microseconds: float


@seldom_collected()
def judge(events: int, clock: v.Clock) -> Row:
    """Judge a history of this many events in this process."""
    judging = Judge(v.profile_for(load()), v.Observability(clock=clock))
    spent = 0.0
    for event in stream_events(events, clock):
        began = time.process_time()
        judging.saw(event)
        spent += time.process_time() - began
        if judging.violation or judging.exhausted:
            sys.exit(f"not explained: {judging.violation or judging.exhausted}")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return Row(clock, events, peak, spent / events * 1e6)


def measured(events: int, clock: v.Clock) -> Row:
    """Judge a history in another process."""
    command = (sys.executable, __file__, "--one", str(events), clock.value)
    found = subprocess.run(command, check=True, capture_output=True, text=True)
    peak, microseconds = json.loads(found.stdout)
    return Row(clock, events, peak, microseconds)


def figures(rows: list[Row]) -> Iterator[Figure]:
    """Yield the figures with their bounds."""
    for clock in v.Clock:
        first, *_, last = (row for row in rows if row.clock is clock)
        of = f"{last.events:,} events beside {first.events:,}, {clock.value} clock"
        yield at_most(f"peak memory of {of}", last.peak / first.peak, MEMORY_BOUND)
        yield at_most(f"time an event of {of}", last.microseconds / first.microseconds, TIME_BOUND)


def main() -> int:
    """Measure and print; return 1 if a bound does not hold."""
    options = parser(__doc__)
    options.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    options.add_argument("--one", nargs=2, help="judge one history, and print its peak and time")
    args = options.parse_args()
    if args.one:
        events, clock = args.one
        row = judge(int(events), v.Clock(clock))
        print(json.dumps([row.peak, row.microseconds]))
        return 0
    rows = []
    for clock in v.Clock:
        for events in args.sizes:
            rows.append(row := measured(events, clock))
            if not args.json:
                print(
                    f"{row.clock.value:8}  {row.events:10,}  {row.peak:6.0f} MB  "
                    f"{row.microseconds:5.0f} µs an event",
                    flush=True,
                )
    return report(figures(rows), as_json=args.json)


if __name__ == "__main__":
    sys.exit(main())
