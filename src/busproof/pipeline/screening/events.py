"""The fields of events that screening needs: a narrow row per message of a request or answer.

Texts become 64-bit hashes, so that rows have a fixed width when they are shuffled. If two texts
have the same hash, at worst something looks suspicious that is not.
"""

from collections.abc import Iterable, Iterator
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow.json import (
    ParseOptions,
    ReadOptions,
    read_json,
)
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf
from pyspark.sql.pandas.types import from_arrow_schema

from busproof import vocabulary as v
from busproof.pipeline.reading import Read

__all__ = ["RECORD", "RECORDS", "events_of"]

RECORDS: Final = ("header", "started", "event", "ended")
"""Kinds of records; a line with any other kind cannot be used."""

_SPACE: Final = " \t\r\n"
"""Whitespace that may surround a JSON object."""

_MESSAGE: Final = pa.struct(
    {
        "body": pa.string(),
        "message_id": pa.string(),
        "session_id": pa.string(),
        "partition_key": pa.string(),
        "sequence_number": pa.int64(),
        "delivery_count": pa.int64(),
        "lock_token": pa.string(),
    }
)
_MESSAGES: Final = {"message": _MESSAGE, "messages": pa.list_(_MESSAGE)}
_COMMAND: Final = {
    "type": pa.string(),
    "queue": pa.string(),
    "topic": pa.string(),
    "subscription": pa.string(),
    **_MESSAGES,
    "transaction": pa.string(),
    "session_id": pa.string(),
    "lock_token": pa.string(),
    "requires_session": pa.bool_(),
    "duplicate_detection": pa.bool_(),
    "max_delivery_count": pa.int64(),
}
_OUTCOME: Final = {"type": pa.string(), **_MESSAGES, "session_id": pa.string()}
RECORD: Final = pa.schema(
    {
        "record": pa.string(),
        "connection": pa.string(),
        "command": pa.struct(_COMMAND),
        "outcome": pa.struct(_OUTCOME),
        "witness": pa.struct({"partition": pa.int64()}),
    }
)
"""The fields of a record to parse; all others are skipped."""

_PLACE: Final = {"history_id": pa.int64(), "line": pa.int64()}
_PARSED: Final = pa.schema([*_PLACE.items(), *RECORD])


def events_of(history: Read) -> DataFrame:
    """Return the messages of all events, and a row for each line without a message.

    Args:
        history: the histories, as they were read.

    Returns:
        Rows of history_id, line and the columns below; a hash is null if its field is not set.
    """
    command, outcome = sf.col("command"), sf.col("outcome")
    lists = [
        messages
        for side in (outcome, command)
        for messages in (side["messages"], _alone(side["message"]))
    ]
    parsed = history.through(_parse_lines, from_arrow_schema(_PARSED))
    by_message = parsed.select("*", sf.explode_outer(sf.coalesce(*lists)).alias("m"))
    path = sf.coalesce(
        sf.concat(command["topic"], sf.lit(v.SUBSCRIPTIONS), command["subscription"]),
        command["queue"],
        command["topic"],
    )
    session = sf.coalesce(command["session_id"], outcome["session_id"])
    token = sf.coalesce(sf.col("m.lock_token"), command["lock_token"])
    number = sf.col("m.sequence_number")
    return by_message.select(
        "history_id",
        "line",
        "record",
        command["type"].alias("command"),
        outcome["type"].alias("outcome"),
        path.endswith(v.DEAD_LETTERS).alias("is_dead_letters"),
        _hash(path).alias("path"),
        _hash(sf.substring_index(path, v.SUBSCRIPTIONS, 1)).alias("owner"),
        _hash(command["transaction"]).alias("transaction"),
        sf.xxhash64(session, sf.coalesce("connection", sf.lit("c1"))).alias("holder"),
        session.isNotNull().alias("is_held"),
        _hash(token).alias("lock"),
        command["requires_session"].alias("requires_session"),
        command["duplicate_detection"].alias("duplicate_detection"),
        command["max_delivery_count"].alias("max_delivery_count"),
        _hash(sf.col("m.body")).alias("body"),
        _hash(sf.col("m.message_id")).alias("message_id"),
        _hash(sf.col("m.session_id")).alias("session"),
        _hash(sf.col("m.partition_key")).alias("partition_key"),
        number.alias("number"),
        sf.coalesce(sf.shiftright(number, v.SEQUENCE_BITS), "witness.partition").alias("partition"),
        sf.col("m.delivery_count").alias("delivery_count"),
    )


def _parse_lines(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the fields of each line; Arrow parses them in half of Spark's time."""
    for batch in batches:
        places = [batch.column(name) for name in _PLACE]
        text = pc.utf8_trim(pc.fill_null(batch.column("text"), ""), _SPACE)
        is_whole = pc.and_(pc.starts_with(text, "{"), pc.ends_with(text, "}"))
        at = 0
        for fields in _fields_of(pc.if_else(is_whole, text, "{}")):
            here = [place.slice(at, len(fields)) for place in places]
            at += len(fields)
            yield pa.RecordBatch.from_arrays([*here, *fields.columns], schema=_PARSED)


def _fields_of(texts: pa.Array) -> Iterator[pa.RecordBatch]:
    """Yield the fields of lines; they are null for a line that cannot be parsed."""
    if not len(texts):
        return
    _, _, lines = pc.binary_join_element_wise(texts, "", "\n").buffers()
    try:
        table = read_json(
            pa.BufferReader(lines),
            ReadOptions(use_threads=False, block_size=lines.size + 1),
            ParseOptions(explicit_schema=RECORD, unexpected_field_behavior="ignore"),
        )
    except pa.ArrowInvalid:
        table = None
    if table is not None and len(table) == len(texts):
        yield from table.to_batches()
    elif len(texts) == 1:
        yield pa.RecordBatch.from_pylist([{}], RECORD)
    else:
        half = len(texts) // 2
        yield from _fields_of(texts[:half])
        yield from _fields_of(texts[half:])


def _alone(message: Column) -> Column:
    return sf.when(message.isNotNull(), sf.array(message))


def _hash(text: Column) -> Column:
    return sf.when(text.isNotNull(), sf.xxhash64(text))
