"""Numbers of the lines in history files, and the history that each line belongs to.

Spark reads a large file in parallel blocks. The number and the history of a line follow from its
position in its block and from counts of the blocks before. So no file passes through a single task,
and no line moves: one pass counts, and the pass that reads the lines adds the counts.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final

import attrs
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.types import StructType

__all__ = ["Block", "Convert", "blocks_of", "first_lines", "is_record", "number_lines", "record_of"]

_HISTORIES_A_FILE: Final = 32
"""Number of bits in a history's number below the number of its file."""

_PLACED: Final = "file STRING, history_id BIGINT, line BIGINT, text STRING, is_last BOOLEAN"

_EVENT: Final = '{"record":"event"'
"""Beginning of nearly all lines; no other record begins so, as a field has only one value."""

Convert = Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]
"""A conversion of the rows of a task, which runs on an executor."""


@attrs.frozen(kw_only=True)
class Block:
    """A part of a file that one task reads, with counts of the file before it.

    Attributes:
        first: the id of the block's first line that is not blank; `None` if all are blank.
        lines_before: the number of lines in earlier blocks.
        history: the number of the history in which the previous block ends.
        last_line: the number of the last line in the file.
    """

    first: int | None
    lines_before: int
    history: int
    last_line: int


Blocks = Mapping[tuple[str, int], Block]
"""The blocks by the address of their file and the byte that they begin at."""


def blocks_of(spark: SparkSession, paths: Sequence[str]) -> Blocks:
    """Count the lines and scenarios of all blocks, and return the blocks with these counts.

    Files are numbered by address, and the histories in a file by their starts. History 0 of a file
    has the lines before the first scenario.
    """
    begun = sf.sum(is_record("text", "started").cast("long"))
    is_filled = sf.col("text").startswith("{") | (sf.trim("text") != "")
    first = sf.min(sf.when(is_filled, sf.col("id")))
    counted = (
        _raw(spark, paths)
        .groupBy("file", "block")
        .agg(sf.count("*").alias("lines"), begun.alias("begun"), first.alias("first"))
        .collect()
    )
    files: dict[str, list[Any]] = {}
    for row in sorted(counted, key=lambda row: (row["file"], row["block"])):
        files.setdefault(row["file"], []).append(row)
    numbered = {}
    for number, (file, rows) in enumerate(files.items(), 1):
        lines, history = 0, number << _HISTORIES_A_FILE
        last_line = sum(row["lines"] for row in rows)
        for row in rows:
            numbered[file, row["block"]] = Block(
                first=row["first"], lines_before=lines, history=history, last_line=last_line
            )
            lines += row["lines"]
            history += row["begun"]
    return numbered


def first_lines(spark: SparkSession, paths: Sequence[str], blocks: Blocks) -> dict[str, str]:
    """Return the first line of each file that is not blank, from its first block, by address."""
    ids = [block.first for (_, at), block in blocks.items() if at == 0 and block.first is not None]
    if not ids:
        return {}
    # With a limit, Spark stops reading after the last of them.
    first = _raw(spark, paths).where(sf.col("id").isin(ids)).limit(len(ids))
    return {row["file"]: row["text"] for row in first.select("file", "text").collect()}


def number_lines(
    spark: SparkSession,
    paths: Sequence[str],
    blocks: Blocks,
    convert: Convert | None = None,
    schema: StructType | str = _PLACED,
) -> DataFrame:
    """Return each line that is not blank, with its number and its history.

    Args:
        spark: a Spark session.
        paths: addresses of the files.
        blocks: the blocks of the files.
        convert: a conversion of the rows in the same pass.
        schema: the schema of the rows after the conversion.
    """
    columns = ("file", "block", "text", is_record("text", "started").alias("started"))
    numbered = _raw(spark, paths).select(*columns)
    place = partial(_number_lines, blocks)
    act = place if convert is None else partial(_both, place, convert)
    return numbered.mapInArrow(act, schema)


def _both(
    first: Convert, then: Convert, batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    return then(first(batches))


def is_record(name: str, kind: str) -> Column:
    """Return whether the text in a column is a record of a kind, parsing only few texts.

    A text without the kind's name is not such a record, unless it has letters as JSON escapes.
    """
    text = sf.col(name)
    may_be = ~text.startswith(_EVENT) & (text.contains(kind) | text.contains("\\u"))
    return sf.when(may_be, record_of(name).eqNullSafe(kind)).otherwise(False)


def record_of(name: str) -> Column:
    """Return the kind of the record in a text column; null if it is not a record."""
    return sf.get_json_object(sf.col(name), "$.record")


def _raw(spark: SparkSession, paths: Sequence[str]) -> DataFrame:
    return spark.read.text(list(paths)).select(
        sf.col("value").alias("text"),
        sf.col("_metadata.file_path").alias("file"),
        sf.col("_metadata.file_block_start").alias("block"),
        sf.monotonically_increasing_id().alias("id"),
    )


def _number_lines(blocks: Blocks, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the lines of a task with their places; a task reads whole blocks in sequence."""
    at: tuple[str, int] | None = None
    lines = begun = 0
    for batch in batches:
        for piece in _split_by_block(batch):
            here = (piece.column("file")[0].as_py(), piece.column("block")[0].as_py())
            if here != at:
                at, lines, begun = here, 0, 0
            block = blocks[here]
            starts = pc.cumulative_sum(piece.column("started").cast(pa.int64()))
            numbers = pa.array(range(lines + 1, lines + 1 + len(piece)), pa.int64())
            numbers = pc.add(numbers, block.lines_before)
            text = piece.column("text")
            placed = pa.RecordBatch.from_arrays(
                [
                    piece.column("file"),
                    pc.add(starts, block.history + begun),
                    numbers,
                    text,
                    pc.equal(numbers, block.last_line),
                ],
                ["file", "history_id", "line", "text", "is_last"],
            )
            lines += len(piece)
            begun += starts[-1].as_py()
            yield placed.filter(pc.not_equal(pc.utf8_trim(text, " "), ""))


def _split_by_block(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """Yield the pieces of a batch, each from a single block."""
    if not len(batch):
        return
    begins = [0]
    if len(batch) > 1:
        file, block = batch.column("file"), batch.column("block")
        changes = pc.or_(
            pc.not_equal(file[1:], file[:-1]),
            pc.not_equal(block[1:], block[:-1]),
        )
        begins += [index + 1 for index in pc.indices_nonzero(changes).to_pylist()]
    for begin, end in zip(begins, [*begins[1:], len(batch)], strict=True):
        yield batch.slice(begin, end - begin)
