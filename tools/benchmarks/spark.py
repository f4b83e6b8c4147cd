"""Cost of judging and of screening on Spark, and the memory for one long history.

The histories are those of one client of `busproof.judging.workload` on the reference model, many in
one file, on a virtual clock. Judging is compared with judging in one process; screening is compared
with Spark's own scan of the JSON lines and with the same screening in DuckDB. All costs are in
processor seconds of this process and its descendants. The start of Spark is measured separately.
The long history is of a queue that always holds as many messages. Options that name sizes select
what to measure; without any, three small figures are measured. Efficiency and simulations are
measured by the clock, so nothing else should run meanwhile. Linux only.
"""

import subprocess
import sys
import tempfile
import time
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Final

import attrs
from figures import Figure, at_least, at_most, parser, report
from figures.histories import long, repeated, written
from figures.processors import cost, most_memory
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import ArrayType, DataType, StructType

from busproof import vocabulary as v
from busproof.history.files import load
from busproof.judging.verdicts import conformance
from busproof.pipeline.checking import check
from busproof.pipeline.screening.events import RECORD
from busproof.pipeline.session import spark_session
from busproof.pipeline.sources import find_source
from busproof.spec import load as load_catalogue

SIZES: Final = (40_000, 200_000)
SCREENED: Final = (100_000, 1_000_000)
LONG: Final = (20_000, 200_000)
WARM_UP: Final = 40_000
ROUNDS: Final = 2
"""Number of measurements by the clock for each number of cores, in turn; the shortest counts."""

JUDGING: Final = 1.35
SCREENING: Final = 8
DUCKDB: Final = 3
MEMORY: Final = 1.3
EFFICIENCY: Final = 0.8
GROWTH: Final = 1.04
"""Maximum growth of the cost of screening, relative to the growth of the events."""

SIMULATED: Final = 10_000
SIMULATION: Final = 60
"""Number of sequences of 50 commands, and the maximum seconds for them."""

HERE: Final = Path(__file__).parent
QUERY: Final = HERE / "screening_duckdb.sql"
JUDGED_BY_CORES: Final = HERE / "figures" / "judged_by_cores.py"
IN_DUCKDB: Final = """
import sys
import time
import duckdb
connection = duckdb.connect()
connection.execute(f"set threads = {sys.argv[2]}")
connection.execute("set enable_progress_bar = false")
before = time.process_time()
connection.execute(sys.argv[1]).fetchall()
print(time.process_time() - before)
"""

Measure = Callable[[SparkSession, Path, Sequence[int]], Iterator[Figure]]


@attrs.frozen(kw_only=True)
class Row:
    """A file: its number of events, and the cost of judging it locally and on Spark."""

    events: int
    local: float
    on_spark: float


def row(spark: SparkSession, path: Path) -> Row:
    """Judge a file locally and on Spark; the results must be equal."""
    local, one = cost(lambda: conformance(load(path), load_catalogue()))
    on_spark, other = cost(lambda: check(spark, find_source(str(path))).conformance)
    if one != other:
        raise AssertionError("the engines differ")
    return Row(events=one.events, local=local, on_spark=on_spark)


def main() -> int:
    """Measure and print; return 1 if a bound does not hold."""
    args = _options()
    screened = partial(screening, duckdb=args.duckdb, cores=args.cores)
    # Measure memory first, while the executors' Python processes are small.
    measures: list[tuple[Measure, Sequence[int] | None]] = [
        (memory, args.long),
        (partial(memory, clock=v.Clock.REAL), args.real),
        (judging, args.sizes),
        (screened, args.screened),
        (growth, args.growth),
    ]
    figures: list[Figure] = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "history.jsonl")
        if args.efficiency:
            figures += efficiency(path, args.efficiency)
        if args.simulated:
            figures += simulation(Path(folder), args.simulated, args.cores)
        if any(sizes for _, sizes in measures):
            seconds, spark = cost(partial(_started, args.cores))
            figures.append(Figure("seconds of processors to start Spark", seconds))
            for measure, sizes in measures:
                if sizes:
                    figures += measure(spark, path, sizes)
            spark.stop()
    return report(figures, as_json=args.json)


def _options() -> Namespace:
    options = parser(__doc__)
    options.add_argument("--sizes", type=int, nargs="+", help="events to judge on both sides")
    options.add_argument("--screened", type=int, nargs="+", help="events to screen")
    options.add_argument("--long", type=int, nargs="+", help="events of one long history")
    options.add_argument("--real", type=int, nargs="+", help="the same on a real clock")
    options.add_argument("--growth", type=int, nargs=2, help="events to screen: few and many")
    options.add_argument("--efficiency", type=int, help="events to judge on one core and on two")
    options.add_argument("--simulated", type=int, help="sequences of 50 commands to simulate")
    options.add_argument("--duckdb", metavar="PYTHON", help="a Python that has DuckDB")
    options.add_argument("--cores", type=int, default=1, help="cores of Spark (default: 1)")
    args = options.parse_args()
    if args.long and args.real:
        options.error("--long and --real: a process keeps the most memory that it had; measure one")
    named = (args.sizes, args.screened, args.long, args.real, args.growth)
    if not any((*named, args.efficiency, args.simulated)):
        args.sizes, args.screened, args.long = SIZES, SCREENED, LONG
    return args


def _started(cores: int) -> SparkSession:
    spark = spark_session(master=f"local[{cores}]")
    spark.range(1).count()
    return spark


def judging(spark: SparkSession, path: Path, sizes: Sequence[int]) -> Iterator[Figure]:
    """Yield the cost of judging an event on both engines, and the ratio for the largest history."""
    written(path, min(WARM_UP, sizes[0]))
    row(spark, path)  # warm-up: modules are loaded once per process
    for size in sizes:
        written(path, size)
        costs = row(spark, path)
        of = f"{costs.events:,} events"
        yield Figure(f"local, µs an event, {of}", costs.local / costs.events * 1e6)
        yield Figure(f"Spark, µs an event, {of}", costs.on_spark / costs.events * 1e6)
    yield at_most("Spark beside local", costs.on_spark / costs.local, JUDGING)


def screening(
    spark: SparkSession, path: Path, sizes: Sequence[int], duckdb: str | None, cores: int
) -> Iterator[Figure]:
    """Yield the cost of screening an event, and the ratios to other ways of reading the lines."""

    def read() -> None:
        _done(spark.read.text(str(path)))

    def scan() -> None:
        _done(spark.read.schema(from_arrow_schema(RECORD)).json(str(path)))

    screen = _warm(spark, path, sizes)
    scan()
    for size in sizes:
        repeated(path, size)
        costs = {"reading lines": cost(read)[0], "scanning": cost(scan)[0]}
        costs["screening"] = cost(screen)[0]
        if duckdb is not None:
            costs["DuckDB"] = _in_duckdb(duckdb, path, cores)
        for name, seconds in costs.items():
            yield Figure(f"{name}, µs an event, {size:,} events", seconds / size * 1e6)
    yield at_most("screening beside scanning", costs["screening"] / costs["scanning"], SCREENING)
    if duckdb is not None:
        yield at_most("screening beside DuckDB", costs["screening"] / costs["DuckDB"], DUCKDB)


def growth(spark: SparkSession, path: Path, sizes: Sequence[int]) -> Iterator[Figure]:
    """Yield the cost of screening few and many events, and its growth relative to the events'."""
    screen = _warm(spark, path, sizes)
    costs = []
    for size in sizes:
        repeated(path, size)
        costs.append(cost(screen)[0])
        yield Figure(f"screening, µs an event, {size:,} events", costs[-1] / size * 1e6)
    few, many = sizes
    name = f"screening {many:,} events beside {few:,}"
    yield at_most(name, costs[1] / costs[0], round(GROWTH * many / few, 2))


def _warm(spark: SparkSession, path: Path, sizes: Sequence[int]) -> Callable[[], object]:
    """Return a screening that was called before, because Java compiles what is called often."""

    def screen() -> object:
        return check(spark, find_source(str(path)), screen=True)

    repeated(path, min(WARM_UP, sizes[0]))
    screen()
    return screen


def _done(frame: DataFrame) -> None:
    frame.write.format("noop").mode("overwrite").save()


def _in_duckdb(python: str, path: Path, cores: int) -> float:
    """Return the cost of the same screening in DuckDB."""
    query = QUERY.read_text(encoding="utf-8").replace("HISTORY'", f"{path}'")
    query = query.replace("STRUCT(COMMAND)", _struct("command"))
    query = query.replace("STRUCT(OUTCOME)", _struct("outcome"))
    words = [python, "-c", IN_DUCKDB, query, str(cores)]
    ended = subprocess.run(words, check=True, capture_output=True, text=True)
    return float(ended.stdout)


def _struct(name: str) -> str:
    """Return the type of a field that screening needs, in DuckDB's syntax."""
    (field,) = (candidate for candidate in from_arrow_schema(RECORD) if candidate.name == name)
    return _duckdb_type(field.dataType)


def _duckdb_type(kind: DataType) -> str:
    if isinstance(kind, StructType):
        fields = (f'"{field.name}" {_duckdb_type(field.dataType)}' for field in kind)
        return f"STRUCT({', '.join(fields)})"
    if isinstance(kind, ArrayType):
        return f"{_duckdb_type(kind.elementType)}[]"
    return {"string": "VARCHAR"}.get(kind.simpleString(), kind.simpleString().upper())


def memory(
    spark: SparkSession, path: Path, sizes: Sequence[int], clock: v.Clock = v.Clock.VIRTUAL
) -> Iterator[Figure]:
    """Yield the memory for judging one history, and how it grows with the history's length."""
    on = f"on a {clock.value} clock"
    peaks = []
    for size in sizes:
        long(path, size, clock)
        check(spark, find_source(str(path)))
        peaks.append(most_memory())
        yield Figure(f"MB to judge one history of {size:,} events {on}", peaks[-1])
    name = f"memory of the longest history beside the shortest {on}"
    yield at_most(name, peaks[-1] / peaks[0], MEMORY)


def efficiency(path: Path, events: int) -> Iterator[Figure]:
    """Yield the time of judging on one core and on two, and how well the second core is used."""
    short = path.with_name("short.jsonl")
    written(short, WARM_UP)
    written(path, events)
    times: dict[int, float] = {}
    for cores in (1, 2) * ROUNDS:
        words = [sys.executable, str(JUDGED_BY_CORES), str(cores), str(short), str(path)]
        ended = subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True)
        times[cores] = min(float(ended.stdout.split()[-1]), times.get(cores, float("inf")))
    for cores, seconds in times.items():
        yield Figure(f"seconds by the clock to judge {events:,} events, cores: {cores}", seconds)
    yield at_least("efficiency of two cores", times[1] / (2 * times[2]), EFFICIENCY)


def simulation(folder: Path, sequences: int, cores: int) -> Iterator[Figure]:
    """Yield the time and the cost of a whole simulation, including the start of Spark."""
    words = [sys.executable, "-m", "busproof", "simulate", "--sequences", str(sequences)]
    words += ["--length", "50", "--seed", "1", "--master", f"local[{cores}]"]
    run = partial(subprocess.run, [*words, "--to", str(folder)], check=True, capture_output=True)
    before = time.perf_counter()
    spent, _ = cost(run)
    seconds = time.perf_counter() - before
    of = f"{sequences:,} sequences of 50 commands"
    yield Figure(f"seconds of processors to simulate {of}", spent)
    by_the_clock = f"seconds by the clock to simulate {of}"
    # Few sequences say nothing about many, because starting Spark and planning take a fixed time.
    if sequences < SIMULATED:
        yield Figure(by_the_clock, seconds)
    else:
        yield at_most(by_the_clock, seconds, SIMULATION * sequences / SIMULATED)


if __name__ == "__main__":
    sys.exit(main())
