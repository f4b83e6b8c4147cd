"""Splitting of long histories on a real clock into components that are judged separately.

A scenario that has ended comes from a test run and is one component. One without an end comes from
a production system and is cut into unrelated parts. The executors collect which names occur
together; the driver joins these names into parts and sends them back.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any, Final, cast

import attrs
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from busproof import vocabulary as v
from busproof.errors import HistoryError
from busproof.history.codec import read_command, structure_union
from busproof.history.lines import decode_line
from busproof.history.records import Record, Started
from busproof.judging.decompose import Connections, Name, concerned
from busproof.pipeline.lines import is_record

__all__ = ["WHOLE", "number_components"]

WHOLE: Final = -1
"""Number of a history's only part, if it is not cut."""

OUTSIDE: Final = 0
"""Number of the part for lines that are neither an event nor a start; judging reports them."""

_LEARNED: Final = "history_id BIGINT, told STRING"
_ARROW: Final = pa.schema([("history_id", pa.int64()), ("told", pa.string())])


@attrs.frozen
class Numbers:
    """The numbers of a history's parts, counted from 1.

    Attributes:
        of: the number of the part of each name in commands; empty if there is only one part.
    """

    of: Mapping[Name, int] = attrs.field(factory=dict)

    def parts(self, record: v.Command | Started | None) -> Iterable[int]:
        """Return the numbers of a record's parts; the start of a scenario belongs to all parts."""
        if record is None:
            return (OUTSIDE,)
        if isinstance(record, Started):
            return range(1, max(self.of.values(), default=1) + 1)
        return (self.of.get(next(concerned(record)), 1),)


def number_components(rows: DataFrame) -> DataFrame:
    """Return the rows with a column `part`: the number of the part of the history it belongs to."""
    ended = rows.where(is_record("text", "ended")).select("history_id").distinct()
    unended = rows.join(ended, "history_id", "left_anti").select(*rows.columns)
    learned = (
        unended.select("history_id", "text").mapInArrow(_learn_connections, _LEARNED).collect()
    )
    numbers = _put_together(row.asDict() for row in learned)
    whole = rows.join(ended, "history_id", "left_semi").select(*rows.columns)
    numbered = f"{_ddl(rows)}, part BIGINT"
    cut = unended.mapInArrow(partial(_number_rows, numbers), numbered)
    return whole.withColumn("part", sf.lit(WHOLE).cast("long")).unionByName(cut)


def _ddl(rows: DataFrame) -> str:
    return ", ".join(f"{field.name} {field.dataType.simpleString()}" for field in rows.schema)


def _put_together(learned: Iterable[Mapping[str, Any]]) -> dict[int, Numbers]:
    """Return the parts of each history, joined from the names that the tasks found together."""
    histories: dict[int, Connections] = {}
    for row in learned:
        _add(histories.setdefault(row["history_id"], Connections()), json.loads(row["told"]))
    return {number: _number_names(connections) for number, connections in histories.items()}


def _number_names(connections: Connections) -> Numbers:
    connections.finish()
    if connections.whole:
        return Numbers()
    parts: dict[Name, int] = {}
    return Numbers(
        {
            name: parts.setdefault(connections.groups.root(name), len(parts) + 1)
            for name in connections.groups
        }
    )


def _learn_connections(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield, for each history, which names occur together in the commands of the batches."""
    for batch in batches:
        by_number: dict[int, Connections] = {}
        for number, text in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            record = _read(text)
            if record is not None and not isinstance(record, Started):
                by_number.setdefault(number, Connections()).add(record)
        records = [
            json.dumps(_describe_connections(connections)) for connections in by_number.values()
        ]
        yield pa.record_batch([list(by_number), records], schema=_ARROW)


def _describe_connections(connections: Connections) -> dict[str, Any]:
    groups: dict[Name, list[Name]] = {}
    for name in connections.groups:
        groups.setdefault(connections.groups.root(name), []).append(name)
    return {
        "groups": list(groups.values()),
        "entities": sorted(connections.entities),
        "counted": sorted(connections.counted),
        "whole": connections.whole,
    }


def _add(connections: Connections, record: dict[str, Any]) -> None:
    for group in record["groups"]:
        first, *others = map(tuple, group)
        connections.groups.root(first)
        for other in others:
            connections.groups.join(first, other)
    connections.entities.update(record["entities"])
    connections.counted.update(map(tuple, record["counted"]))
    connections.whole = connections.whole or record["whole"]


def _number_rows(
    numbers: Mapping[int, Numbers], batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Yield rows with the numbers of their parts; a scenario's start is repeated for each part."""
    nothing = Numbers()
    for batch in batches:
        histories = batch.column("history_id").to_pylist()
        texts = batch.column("text").to_pylist()
        placed = [
            (place, part)
            for place, (history, text) in enumerate(zip(histories, texts, strict=True))
            for part in numbers.get(history, nothing).parts(_read(text))
        ]
        rows = batch.take(pa.array([place for place, _ in placed], pa.int64()))
        parts = pa.array([part for _, part in placed], pa.int64())
        yield pa.RecordBatch.from_arrays([*rows.columns, parts], [*rows.schema.names, "part"])


def _read(text: str | None) -> v.Command | Started | None:
    """Return the command of an event, or the start of a scenario; `None` for other texts."""
    if text is None:
        return None
    try:
        value = decode_line(text.encode("utf-8", "replace"))
        if value.get("record") == "started":
            return cast(Started, structure_union(value, Record, "the record"))
        return read_command(value["command"]) if "command" in value else None
    except HistoryError:
        return None
