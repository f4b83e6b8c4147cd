"""Judging of histories by the oracle on Spark's executors, with the local engine's verdicts.

A *component* can be judged separately: it is a recorded scenario, or an unrelated part of a history
without an end on a real clock (see `judging.decompose`). A task sorts its components,
judges them in order, and returns one summary.

Executors run the functions of this module in a Python that has this package but no session.
"""

import gc
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import groupby
from typing import Any, Final, NamedTuple, cast

import attrs
import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from busproof import vocabulary as v
from busproof.errors import HistoryError
from busproof.history.codec import structure_union, unstructure
from busproof.history.lines import decode_line
from busproof.history.packed import Packed, PackedEvents, packed
from busproof.history.records import (
    Ended,
    Header,
    Oracle,
    Record,
    Scenario,
    Started,
    read_record,
)
from busproof.judging.scenario_result import Checker, Heard, Part
from busproof.judging.summary import Summary
from busproof.pipeline.components import WHOLE, number_components
from busproof.spec import load

__all__ = ["SUMMARY", "UNUSABLE", "VIOLATION", "judge_records", "split_into_components"]

SUMMARY: Final = "summary"
VIOLATION: Final = "violation"
UNUSABLE: Final = "unusable"
"""Kind of a result row for a line that cannot be used; these three are all kinds."""

_SAID: Final = "kind STRING, history_id BIGINT, told STRING"
_ARROW: Final = pa.schema(
    [("kind", pa.string()), ("history_id", pa.int64()), ("told", pa.string())]
)
_AT_ONCE: Final = 1_000
"""Number of rows in a batch."""

_TEXT: Final = 400
"""Maximum length of the kept text of an unusable line, in characters."""

_YOUNG: Final = 100_000
"""Number of allocations between two garbage collections.

Beliefs hardly ever form cyclic garbage, so frequent collections would only cost time.
"""


def split_into_components(rows: DataFrame, header: Header) -> DataFrame:
    """Return the rows with a column `part`: the number of the part of the history it belongs to."""
    if header.clock is v.Clock.REAL:
        return number_components(rows)
    return rows.withColumn("part", sf.lit(WHOLE).cast("long"))


def judge_records(rows: DataFrame, header: Header, oracle: Oracle | None = None) -> DataFrame:
    """Judge all records; return a summary per task, the violations and the unusable lines.

    Args:
        rows: rows as returned by `split_into_components`.
        header: the header of all rows.
        oracle: the oracle to use; by default the one in the header.

    Returns:
        Rows of three kinds, with JSON in `told`: one summary per task, violations, and unusable
        lines.
    """
    tasks = int(rows.sparkSession.conf.get("spark.sql.shuffle.partitions") or 1)
    columns = [*_Row._fields]
    ordered = (
        rows.select(*columns)
        .repartition(tasks, "history_id", "part")
        .sortWithinPartitions("history_id", "part", "line")
    )
    text = json.dumps(unstructure(header, union=Record))
    judge = partial(_judge, text, None if oracle is None else oracle.value)
    return ordered.mapInArrow(judge, _SAID)


class _Row(NamedTuple):
    """A record, or a line that is not a record."""

    history_id: int
    part: int
    line: int
    file: str
    text: str | None
    is_last: bool


class _Unusable(NamedTuple):
    """An unusable line, with the reason."""

    row: _Row
    why: str


@attrs.define
class _Component:
    """The records of a component.

    Attributes:
        started: the start of the scenario, if it is recorded.
        events: the events.
        lines: the line number of each event.
        ended: the end of the scenario, if it is recorded.
        unusable: lines that cannot be read or are out of place.
        cut: whether the last line is incomplete and therefore left out.
    """

    started: Started | None = None
    events: PackedEvents = attrs.field(factory=PackedEvents)
    lines: Packed[int] = attrs.field(factory=Packed)
    ended: Ended | None = None
    unusable: list[_Unusable] = attrs.field(factory=list)
    cut: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether nothing was recorded, except perhaps a header."""
        return self.started is None and not self.events and self.ended is None

    @property
    def scenario(self) -> Scenario:
        """The component as a scenario."""
        begun = self.started or Started(scenario="")
        return Scenario(
            name=begun.scenario,
            rules=begun.rules,
            feature=begun.feature,
            events=packed(self.events),
            ended=self.ended,
        )

    def read(self, rows: Iterable[_Row]) -> None:
        """Read all rows, in the order of their lines."""
        before: int | None = None
        for row in rows:
            try:
                self._take(row, before)
            except HistoryError as error:
                if row.is_last and _is_cut(row.text):
                    self.cut = True
                else:
                    self.unusable.append(_Unusable(row, str(error)))
            before = row.line

    def _take(self, row: _Row, before: int | None) -> None:
        if row.line == before:
            raise HistoryError("history_id and seq name more than one event")
        match _record(row.text):
            case Header() if before is not None:
                raise HistoryError("a history begins with its header, and has no other")
            case Started() as record:
                self.started = record
            case v.Event() as record:
                if self.ended is not None:
                    raise HistoryError("an event outside of a scenario: begin one with started")
                self.events.append(record)
                self.lines.append(row.line)
            case Ended() as record:
                if self.ended is not None or self.is_empty:
                    raise HistoryError("a scenario ends here that did not begin")
                self.ended = record


def _record(text: str | None) -> object:
    if text is None:
        raise HistoryError("history_id, seq, command or outcome is missing")
    value = decode_line(text.encode("utf-8", "replace"))
    return read_record(value)


def _is_cut(text: str | None) -> bool:
    """Return whether an unreadable last line was only partly written."""
    if text is None or not text.startswith("{"):
        return False
    try:
        decode_line(text.encode("utf-8", "replace"))
    except HistoryError:
        return True
    return False


def _judge(
    header: str, oracle: str | None, batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Judge the components of one task."""
    checker = _checker(header, oracle)
    summary = Summary()
    results: list[tuple[str, int | None, str]] = []
    for key, rows in groupby(_rows_of(batches), key=lambda row: (row.history_id, row.part)):
        component = _Component()
        component.read(rows)
        results += _one_judged(checker, summary, key, component)
        if len(results) >= _AT_ONCE:
            yield _batch(results)
            results = []
    results.append((SUMMARY, None, json.dumps(summary.told())))
    yield _batch(results)


@cache
def _checker(header: str, oracle: str | None) -> Checker:
    """Return the checker, which a process creates only once."""
    record = structure_union(json.loads(header), Record, "the header")
    held_to = None if oracle is None else Oracle(oracle)
    checker = Checker(cast(Header, record), load(), held_to, cores=_cores())
    gc.collect()
    gc.freeze()
    gc.set_threshold(_YOUNG)
    return checker


def _cores() -> int:
    """Return how many cores Spark gives to a task, which is `spark.task.cpus`."""
    context = TaskContext.get()
    return 1 if context is None else context.cpus()


def _rows_of(batches: Iterable[pa.RecordBatch]) -> Iterator[_Row]:
    for batch in batches:
        columns = [column.to_pylist() for column in batch.columns]
        yield from map(_Row._make, zip(*columns, strict=True))


def _one_judged(
    checker: Checker, summary: Summary, key: tuple[int, int], component: _Component
) -> Iterator[tuple[str, int | None, str]]:
    """Yield the result rows of a component, and add its verdicts to the summary."""
    place, part = key
    summary.cut = summary.cut or component.cut
    yield from (
        (UNUSABLE, place, json.dumps(_describe_line(row, why))) for row, why in component.unusable
    )
    is_whole = part == WHOLE
    if component.unusable:
        if not is_whole:
            summary.add_part(place, Part(at=0, heard=Heard(), usable=False))
        return
    if component.is_empty:
        return
    heard = _judge_component(checker, place, component, is_whole=is_whole)
    if is_whole:
        summary.add(place, heard)
    else:
        at = component.lines[0] if component.lines else 0
        summary.add_part(place, Part(at=at, heard=heard))
    yield from (
        (VIOLATION, place, json.dumps({**violation, "part": part}))
        for violation in _violations(heard, component.lines)
    )


def _judge_component(
    checker: Checker, place: int, component: _Component, *, is_whole: bool
) -> Heard:
    """Judge a component, and return what came of it.

    If the checker fails on the component, it gets no verdict, and the others are still judged.
    """
    scenario = component.scenario
    try:
        return checker.check(scenario) if is_whole else checker.check_part(scenario)
    except Exception as error:  # noqa: BLE001 - still judge the other components
        name = repr(scenario.name) if scenario.name else f"history {place}"
        cause = " ".join(f"{type(error).__name__}: {error}".split())
        return checker.unchecked(scenario, f"judging {name} broke off: {cause[:_TEXT]}")


def _violations(heard: Heard, lines: Sequence[int]) -> Iterator[Mapping[str, Any]]:
    """Yield each rule that a component breaks, with the lines that show it; the culprit is last."""
    example = heard.counterexample
    if example is None:
        return
    last = example.events[-1].command if example.events else None
    for rule in heard.blamed:
        yield {
            "rule": rule,
            "scenario": heard.name,
            "entity": getattr(last, "queue", None) or getattr(last, "topic", None),
            "seqs": [lines[index] for index in heard.shown],
            "expected": " or ".join(example.allowed),
            "actual": example.seen,
        }


def _describe_line(row: _Row, why: str) -> dict[str, Any]:
    text = None if row.text is None else row.text[:_TEXT]
    return {"file": row.file, "line": row.line, "why": why, "text": text}


def _batch(results: list[tuple[str, int | None, str]]) -> pa.RecordBatch:
    kinds, places, contents = zip(*results, strict=True)
    return pa.record_batch([list(kinds), list(places), list(contents)], schema=_ARROW)
