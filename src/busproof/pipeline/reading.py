"""Reading of histories of any size as rows, one per record; no record is lost."""

from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path

import attrs
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.types import StructType

from busproof.errors import HistoryError, UsageError
from busproof.history.records import Header
from busproof.pipeline import lines
from busproof.pipeline.naming import AS_PUBLISHED, Naming
from busproof.pipeline.sources import Source, header_of, header_of_table, name_of, one_header

__all__ = ["Read", "publish_columns", "read"]


@attrs.frozen
class Read:
    """Histories that were read.

    Attributes:
        rows: one row per record: file, history_id, line, text, is_last.
        header: the header that all histories share.
        through: a function of a conversion and its schema that returns the converted rows; the
            conversion runs in the pass that reads the rows.
    """

    rows: DataFrame
    header: Header
    through: Callable[[lines.Convert, StructType], DataFrame]


def read(spark: SparkSession, source: Source, naming: Naming = AS_PUBLISHED) -> Read:
    """Read the records and the header of history files or of a table.

    Args:
        spark: a Spark session.
        source: the files or the table to read.
        naming: mapping of a table's columns.

    Raises:
        HistoryError: a file has no readable header.
        UsageError: two files have different terms, or the mapping does not fit the table.
    """
    if source.is_table:
        rows = _rows_of_table(spark, source, naming)
        return Read(rows, header_of_table(source.table or source.paths[0]), rows.mapInArrow)
    blocks = lines.blocks_of(spark, source.paths)
    header = _shared_header(lines.first_lines(spark, source.paths, blocks), source)
    place_lines = partial(lines.number_lines, spark, source.paths, blocks)
    return Read(place_lines(), header, place_lines)


def _rows_of_table(spark: SparkSession, source: Source, naming: Naming) -> DataFrame:
    table = source.table or source.paths[0]
    reader = spark.read.format(source.form)
    if source.table:
        # Folders of a table that is partitioned, say by date, are columns also of some files.
        reader = reader.option("basePath", source.table)
    try:
        found = reader.load([*source.paths])
    except Exception as error:
        if "DATA_SOURCE_NOT_FOUND" not in str(error):  # a classic session raises Java's own error
            raise
        raise UsageError(
            f"{table} is a {source.form.title()} table, and this Spark cannot read it: name the "
            f"package with --conf spark.jars.packages=GROUP:NAME:VERSION"
        ) from None
    records = naming.records(found)
    if source.histories is not None:
        records = records.where(sf.col("history_id").isin(*source.histories))
    return records.select(
        sf.lit(table).alias("file"),
        sf.coalesce("history_id", sf.lit(-1)).alias("history_id"),
        sf.coalesce("seq", sf.lit(-1)).alias("line"),
        "text",
        sf.lit(False).alias("is_last"),
    )


def _shared_header(first: dict[str, str], source: Source) -> Header:
    """Return the header that all files share; each file must begin with one."""
    # Compare counts of names, because files in different folders may have the same name.
    names = Counter(map(name_of, first))
    lacking = Counter(Path(path).name for path in source.paths) - names
    if lacking or not first:
        raise HistoryError(
            f"{min(lacking, default=source.paths[0])}: a history must begin with a header, "
            '{"record":"header",…}'
        )
    named = [(name_of(file), text) for file, text in sorted(first.items())]
    return one_header([(name, header_of(text, f"{name}:1")) for name, text in named])


def publish_columns(rows: DataFrame) -> DataFrame:
    """Return the rows in the published schema, with columns for ad-hoc queries."""
    command, outcome = "$.command.", "$.outcome."
    columns = {
        "client": sf.coalesce(_field("$.client"), sf.lit("c1")),
        "connection": sf.coalesce(_field("$.connection"), sf.lit("c1")),
        "called": sf.coalesce(_field("$.called"), sf.lit("0")).cast("long"),
        "returned": _field("$.returned").cast("long"),
        "op": _field(f"{command}type"),
        "entity": sf.coalesce(_field(f"{command}queue"), _field(f"{command}topic")),
        "outcome": _field(f"{outcome}type"),
        "error": _field(f"{outcome}error"),
    }
    is_event = sf.col("record") == "event"
    recorded = rows.withColumn("record", lines.record_of("text"))
    return recorded.where(~sf.col("record").eqNullSafe("header")).select(
        "history_id",
        sf.col("line").alias("seq"),
        "text",
        "record",
        *(sf.when(is_event, column).alias(name) for name, column in columns.items()),
    )


def _field(path: str) -> Column:
    return sf.get_json_object(sf.col("text"), path)
