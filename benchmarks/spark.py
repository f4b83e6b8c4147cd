"""Cost of judging and of screening on Spark, and the memory of one long history.

The histories are those of one client of `busproof.judging.workload` on the reference model, many in
one file, on a virtual clock. Judging is compared with judging in one process, screening with
Spark's own scan of the JSON lines, and with the same screening in DuckDB; all in processor seconds
of this process and its descendants. The start of Spark is measured separately. The long history is
one of a queue that always holds as many messages. A figure is left out where its option has no
size. Linux only.
"""

import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from random import Random
from typing import Final, TypeVar

import attrs
from figures import Figure, at_most, parser, report
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import ArrayType, DataType, StructType

from busproof import vocabulary as v
from busproof.adapters.model import ModelAdapter
from busproof.history.files import HistoryWriter, load
from busproof.history.records import Ended, Header, ScenarioVerdict, Started
from busproof.judging.verdicts import conformance
from busproof.judging.workload import work
from busproof.pipeline.checking import check
from busproof.pipeline.screening.events import RECORD
from busproof.pipeline.session import spark_session
from busproof.pipeline.sources import find_source
from busproof.spec import load as load_catalogue

SIZES: Final = (40_000, 200_000)
SCREENED: Final = (100_000, 1_000_000)
LONG: Final = (20_000, 200_000)
A_HISTORY: Final = 500
HELD: Final = 100
KEYS: Final = 40
JUDGING: Final = 1.35
SCREENING: Final = 8
DUCKDB: Final = 3
MEMORY: Final = 1.3

QUERY: Final = Path(__file__).with_name("screening_duckdb.sql")
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

_STARTED: Final = 19
_OWN_TIMES: Final = slice(11, 13)
"""Fields of `/proc/PID/stat` after the name: the start, and the times without children."""

_BETWEEN_READINGS: Final = 0.5

T = TypeVar("T")


@attrs.frozen(kw_only=True)
class Row:
    """One file: its events, and the cost of judging it on either side, in processor seconds."""

    events: int
    local: float
    on_spark: float


def written(path: Path, events: int) -> None:
    """Record this many events, in histories of equal length."""
    profile = v.profile_for(load_catalogue())
    adapter = ModelAdapter()
    capabilities = tuple(sorted(adapter.declaration.capabilities))
    with HistoryWriter(path) as writer:
        writer.write(Header(profile=profile, capabilities=capabilities))
        for number in range(events // A_HISTORY):
            writer.write(Started(scenario=f"h{number}"))
            for event in work(adapter, profile, Random(number), A_HISTORY, 1):  # noqa: S311
                writer.write(event)
            writer.write(Ended(verdict=ScenarioVerdict.PASSED))


def repeated(path: Path, events: int) -> None:
    """Record this number of events by writing the same histories again and again."""
    some = min(events, 100_000)
    written(path, some)
    header, _, histories = path.read_bytes().partition(b"\n")
    with path.open("wb") as file:
        file.write(header + b"\n")
        for _ in range(events // some):
            file.write(histories)


def long(path: Path, events: int) -> None:
    """Record one history of a queue that holds as many messages at its end as at its beginning."""
    profile = v.profile_for(load_catalogue())
    adapter = ModelAdapter()
    adapter.start(profile)
    capabilities = tuple(sorted(adapter.declaration.capabilities))
    with HistoryWriter(path) as writer:

        def ask(command: v.Command) -> v.Outcome:
            observation = adapter.do(command, "c1")
            writer.write(
                v.Event(command=command, outcome=observation.outcome, witness=observation.witness)
            )
            return observation.outcome

        writer.write(Header(profile=profile, capabilities=capabilities))
        writer.write(Started(scenario="long"))
        ask(v.CreateQueue(queue="q"))
        for number in range(HELD + events // 3):
            key = f"k{number % KEYS}"
            ask(v.Send(queue="q", message=v.Message(body=f"m{number}", partition_key=key)))
            if number < HELD:
                continue
            outcome = ask(v.Receive(queue="q"))
            if isinstance(outcome, v.Received) and outcome.message.lock_token is not None:
                ask(v.Complete(queue="q", lock_token=outcome.message.lock_token))
        writer.write(Ended(verdict=ScenarioVerdict.PASSED))


class Meter:
    """Processor time of this process and its descendants, including those that have ended.

    Spark's Python daemon ignores the end of its children, so that the kernel adds their time to
    nobody's, and idle ones end after a minute. So all are read regularly, and the last reading of
    each counts.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._read: dict[tuple[int, str], int] = {}
        threading.Thread(target=self._keep_reading, daemon=True).start()

    def seconds(self) -> float:
        """Return the processor seconds so far."""
        with self._lock:
            for number, fields in _mine().items():
                # A number may be used again, but not with the same time of its start.
                self._read[number, fields[_STARTED]] = sum(map(int, fields[_OWN_TIMES]))
            return sum(self._read.values()) / os.sysconf("SC_CLK_TCK")

    def _keep_reading(self) -> None:
        while True:
            self.seconds()
            time.sleep(_BETWEEN_READINGS)


def _mine() -> dict[int, list[str]]:
    """Return the kernel's figures on this process and its descendants, by process id."""
    figures = {}
    for place in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            figures[int(place.parent.name)] = place.read_text().rpartition(")")[2].split()
    parents = {number: int(fields[1]) for number, fields in figures.items()}
    return {
        number: fields
        for number, fields in figures.items()
        if os.getpid() in (number, *_above(number, parents))
    }


METER: Final = Meter()


def most_memory() -> float:
    """Return the most memory, in MB, that a Python of an executor has had."""
    most = 0
    for number in _mine():
        with suppress(OSError):
            command = Path(f"/proc/{number}/cmdline").read_bytes()
            status = Path(f"/proc/{number}/status").read_text()
            if b"pyspark.daemon" in command:
                most = max(most, int(status.partition("VmHWM:")[2].split()[0]))
    return most / 1024


def _above(number: int, parents: dict[int, int]) -> Iterator[int]:
    while (number := parents.get(number, 0)) > 1:
        yield number


def cost(act: Callable[[], T]) -> tuple[float, T]:
    """Return the cost of an action, and its result."""
    before = METER.seconds()
    result = act()
    return METER.seconds() - before, result


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
    options.add_argument("--sizes", type=int, nargs="*", default=SIZES, help="events to judge")
    options.add_argument("--screened", type=int, nargs="*", default=SCREENED, help="to screen")
    options.add_argument("--long", type=int, nargs="*", default=LONG, help="of one long history")
    options.add_argument("--duckdb", metavar="PYTHON", help="a Python that has DuckDB")
    options.add_argument("--cores", type=int, default=1, help="cores of Spark (default: 1)")
    args = options.parse_args()
    before = METER.seconds()
    spark = spark_session(master=f"local[{args.cores}]")
    spark.range(1).count()
    figures = [Figure("seconds of processors to start Spark", METER.seconds() - before)]
    with tempfile.TemporaryDirectory() as folder:
        for measure, sizes in (
            (memory, args.long),  # first, while the Python of the executors is small
            (judging, args.sizes),
            (partial(screening, duckdb=args.duckdb, cores=args.cores), args.screened),
        ):
            if sizes:
                figures += measure(spark, Path(folder, "history.jsonl"), sizes)
    spark.stop()
    return report(figures, as_json=args.json)


def judging(spark: SparkSession, path: Path, sizes: Sequence[int]) -> Iterator[Figure]:
    """Yield the cost of an event on either side, and the ratio for the largest history."""
    written(path, sizes[0])
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
    """Yield the cost of screening an event, and the ratios to other ways to read the lines."""

    def screen() -> None:
        check(spark, find_source(str(path)), screen=True)

    def read() -> None:
        _done(spark.read.text(str(path)))

    def scan() -> None:
        _done(spark.read.schema(from_arrow_schema(RECORD)).json(str(path)))

    repeated(path, sizes[0])
    screen()  # warm-up: Java compiles what is called often
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


def _done(frame: DataFrame) -> None:
    frame.write.format("noop").mode("overwrite").save()


def _in_duckdb(python: str, path: Path, cores: int) -> float:
    """Return the cost of the same screening in DuckDB."""
    query = QUERY.read_text(encoding="utf-8").replace("HISTORY'", f"{path}'")
    query = query.replace("STRUCT(COMMAND)", _struct("command"))
    query = query.replace("STRUCT(OUTCOME)", _struct("outcome"))
    words = [python, "-c", IN_DUCKDB, query, str(cores)]
    ended = subprocess.run(words, check=True, capture_output=True, text=True)  # noqa: S603
    return float(ended.stdout)


def _struct(name: str) -> str:
    """Return the type of a field that screening looks at, as DuckDB writes it."""
    (field,) = (candidate for candidate in from_arrow_schema(RECORD) if candidate.name == name)
    return _duckdb_type(field.dataType)


def _duckdb_type(kind: DataType) -> str:
    if isinstance(kind, StructType):
        fields = (f'"{field.name}" {_duckdb_type(field.dataType)}' for field in kind)
        return f"STRUCT({', '.join(fields)})"
    if isinstance(kind, ArrayType):
        return f"{_duckdb_type(kind.elementType)}[]"
    return {"string": "VARCHAR"}.get(kind.simpleString(), kind.simpleString().upper())


def memory(spark: SparkSession, path: Path, sizes: Sequence[int]) -> Iterator[Figure]:
    """Yield the memory of judging one history, and how it grows with the history's length."""
    peaks = []
    for size in sizes:
        long(path, size)
        check(spark, find_source(str(path)))
        peaks.append(most_memory())
        yield Figure(f"MB to judge one history of {size:,} events", peaks[-1])
    yield at_most("memory of the longest history beside the shortest", peaks[-1] / peaks[0], MEMORY)


if __name__ == "__main__":
    sys.exit(main())
