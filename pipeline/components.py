"""Which records belong to one component, where histories on a real clock may be very long.

A scenario that ended was recorded by a run, and is one component. One that has no end is what a
production system recorded: it is cut into parts that have nothing to do with each other. What has
to do with what is learned on the executors, put together here, and sent back to them.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any, Final, cast

import attrs
import pyarrow as pa  # type: ignore[import-untyped]
from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from busproof.errors import HistoryError
from busproof.history.codec import read_command, structure_union
from busproof.history.lines import decode_line
from busproof.history.records import Record, Started
from busproof.judging.linearization.decompose import Connections, Name, concerned
from busproof.vocabulary.commands import Command

__all__ = ["WHOLE", "with_components"]

WHOLE: Final = -1
"""The part that all records of a history belong to which is not cut."""

OUTSIDE: Final = 0
"""The part of lines that are no record of an event or a beginning, which judging says."""

_LEARNED: Final = "history_id BIGINT, told STRING"
_ARROW: Final = pa.schema([("history_id", pa.int64()), ("told", pa.string())])


@attrs.frozen
class Numbers:
    """The parts of one history, numbered from 1.

    Attributes:
        of: what a command has to do with, to the number of its part; empty if there is one part.
    """

    of: Mapping[Name, int] = attrs.field(factory=dict)

    def parts(self, record: Command | Started | None) -> Iterable[int]:
        """The numbers of the parts that a record belongs to; all of them begin alike."""
        if record is None:
            return (OUTSIDE,)
        if isinstance(record, Started):
            return range(1, max(self.of.values(), default=1) + 1)
        return (self.of.get(next(concerned(record)), 1),)


def with_components(rows: DataFrame) -> DataFrame:
    """The same rows, with the number of each one's part of its history."""
    ended = rows.where(sf.col("record") == "ended").select("history_id").distinct()
    unended = rows.join(ended, "history_id", "left_anti").select(*rows.columns)
    learned = unended.select("history_id", "text").mapInArrow(_learned, _LEARNED).collect()
    numbers = _put_together(row.asDict() for row in learned)
    whole = rows.join(ended, "history_id", "left_semi").select(*rows.columns)
    numbered = f"{_ddl(rows)}, part BIGINT"
    cut = unended.mapInArrow(partial(_numbered, numbers), numbered)
    return whole.withColumn("part", sf.lit(WHOLE).cast("long")).unionByName(cut)


def _ddl(rows: DataFrame) -> str:
    return ", ".join(f"{field.name} {field.dataType.simpleString()}" for field in rows.schema)


def _put_together(learned: Iterable[Mapping[str, Any]]) -> dict[int, Numbers]:
    """The parts of each history, from what the tasks learned."""
    histories: dict[int, Connections] = {}
    for row in learned:
        _add(histories.setdefault(row["history_id"], Connections()), json.loads(row["told"]))
    return {number: _of(connections) for number, connections in histories.items()}


def _of(connections: Connections) -> Numbers:
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


def _learned(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """What the commands of each batch have to do with each other, by their history."""
    for batch in batches:
        found: dict[int, Connections] = {}
        for number, text in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            record = _read(text)
            if record is not None and not isinstance(record, Started):
                found.setdefault(number, Connections()).add(record)
        told = [json.dumps(_told(each)) for each in found.values()]
        yield pa.record_batch([list(found), told], schema=_ARROW)


def _told(connections: Connections) -> dict[str, Any]:
    groups: dict[Name, list[Name]] = {}
    for name in connections.groups:
        groups.setdefault(connections.groups.root(name), []).append(name)
    return {
        "groups": list(groups.values()),
        "entities": sorted(connections.entities),
        "counted": sorted(connections.counted),
        "whole": connections.whole,
    }


def _add(connections: Connections, told: dict[str, Any]) -> None:
    for group in told["groups"]:
        first, *others = map(tuple, group)
        connections.groups.root(first)
        for other in others:
            connections.groups.join(first, other)
    connections.entities.update(told["entities"])
    connections.counted.update(map(tuple, told["counted"]))
    connections.whole = connections.whole or told["whole"]


def _numbered(
    numbers: Mapping[int, Numbers], batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """The rows, each with the number of its part; the beginning of a scenario once a part."""
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


def _read(text: str | None) -> Command | Started | None:
    """The command of an event, or how a scenario began; `None` where a text is neither."""
    if text is None:
        return None
    try:
        value = decode_line(text.encode("utf-8", "replace"))
        if value.get("record") == "started":
            return cast(Started, structure_union(value, Record, "the record"))
        return read_command(value["command"]) if "command" in value else None
    except HistoryError:
        return None
