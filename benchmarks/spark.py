"""Cost of judging on Spark compared with judging in one process, by the size of the history.

The histories are those of one client of `busproof.judging.workload` on the reference model, many in
one file, on a virtual clock. Both sides are measured in processor seconds of this process and its
descendants; the start of Spark is measured separately. Linux only.
"""

import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Final

import attrs
from figures import Figure, at_most, parser, tell
from pyspark.sql import SparkSession

from busproof.adapters.model import ModelAdapter
from busproof.history.conformance import Conformance
from busproof.history.files import HistoryWriter, load
from busproof.history.records import Ended, Header, ScenarioVerdict, Started
from busproof.judging.verdicts import conformance
from busproof.judging.workload import work
from busproof.pipeline.checking import check
from busproof.pipeline.session import spark_session
from busproof.pipeline.sources import find_source
from busproof.spec import load as load_catalogue
from busproof.vocabulary.profile import profile_for

SIZES: Final = (40_000, 200_000)
A_HISTORY: Final = 500
BOUND: Final = 1.7


@attrs.frozen(kw_only=True)
class Row:
    """One file: its events, and the cost of judging it on either side, in processor seconds."""

    events: int
    local: float
    on_spark: float


def written(path: Path, events: int) -> None:
    """Record this many events, in histories of equal length."""
    profile = profile_for(load_catalogue())
    adapter = ModelAdapter()
    capabilities = tuple(sorted(adapter.declaration.capabilities))
    with HistoryWriter(path) as writer:
        writer.write(Header(profile=profile, capabilities=capabilities))
        for number in range(events // A_HISTORY):
            writer.write(Started(scenario=f"h{number}"))
            for event in work(adapter, profile, Random(number), A_HISTORY, 1):  # noqa: S311
                writer.write(event)
            writer.write(Ended(verdict=ScenarioVerdict.PASSED))


def worked() -> float:
    """Return the processor seconds of this process and its descendants."""
    ticks = {}
    parents = {}
    for place in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = place.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        number = int(place.parent.name)
        parents[number] = int(fields[1])
        ticks[number] = sum(map(int, fields[11:15]))
    mine = [number for number in ticks if os.getpid() in (number, *_above(number, parents))]
    return sum(ticks[number] for number in mine) / os.sysconf("SC_CLK_TCK")


def _above(number: int, parents: dict[int, int]) -> Iterator[int]:
    while (number := parents.get(number, 0)) > 1:
        yield number


def cost(judge: Callable[[], Conformance]) -> tuple[float, Conformance]:
    """Return the cost of judging, and its result."""
    before = worked()
    found = judge()
    return worked() - before, found


def row(spark: SparkSession, path: Path) -> Row:
    """Judge one file on both sides; their results must be equal."""
    local, one = cost(lambda: conformance(load(path), load_catalogue()))
    on_spark, other = cost(lambda: check(spark, find_source(str(path))).conformance)
    if one != other:
        raise AssertionError("the engines differ")
    return Row(events=one.events, local=local, on_spark=on_spark)


def main() -> int:
    """Measure and print; return 1 if a bound does not hold."""
    options = parser(__doc__)
    options.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    args = options.parse_args()
    before = worked()
    spark = spark_session(master="local[1]")
    spark.range(1).count()
    start = worked() - before
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for size in args.sizes:
            paths.append(Path(folder, f"{size}.jsonl"))
            written(paths[-1], size)
        row(spark, paths[0])  # warm-up: modules are loaded once per process
        rows = [row(spark, path) for path in paths]
    spark.stop()
    return tell(figures(rows, start), as_json=args.json)


def figures(rows: list[Row], start: float) -> Iterator[Figure]:
    """Yield the cost of an event on either side, and the ratio for the largest history."""
    yield Figure("seconds of processors to start Spark", start)
    for each in rows:
        of = f"{each.events:,} events"
        yield Figure(f"local, µs an event, {of}", each.local / each.events * 1e6)
        yield Figure(f"Spark, µs an event, {of}", each.on_spark / each.events * 1e6)
    yield at_most("Spark beside local", rows[-1].on_spark / rows[-1].local, BOUND)


if __name__ == "__main__":
    sys.exit(main())
