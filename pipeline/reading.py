"""Reading histories of any size, as files in JSON lines or as a table; no event vanishes."""

from collections.abc import Mapping, Sequence

import attrs
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from busproof.pipeline import lines
from busproof.pipeline.keeping import kept
from busproof.pipeline.naming import AS_PUBLISHED, Naming
from busproof.pipeline.unusable import unheard_of

__all__ = ["Read", "read_lines", "read_table"]


@attrs.frozen
class Read:
    """What was read.

    Attributes:
        events: in the published schema; those of histories that can be judged, and no others.
        scenarios: one row a scenario: history_id, scenario, rules, feature, verdict, cause, detail.
        headers: the first line of each file: file, text.
        quarantine: what could not be read or is not known here: file, line, history_id, why, text.
        texts: the lines of events, where there are any: history_id, line, text.
        lacking: what a table does not have of a column of the published schema, by column: the
            column itself, or fields of it.
    """

    events: DataFrame
    scenarios: DataFrame | None
    headers: DataFrame | None
    quarantine: DataFrame
    texts: DataFrame | None = None
    lacking: Mapping[str, tuple[str, ...]] = attrs.field(factory=dict)

    @property
    def absent(self) -> frozenset[str]:
        """The columns that it does not have, or not whole."""
        return frozenset(self.lacking)


def read_lines(spark: SparkSession, paths: Sequence[str]) -> Read:
    """The histories of files in JSON lines."""
    rows = kept(lines.told(spark, paths))
    bad = rows.where(sf.col("why").isNotNull())
    events = rows.where(sf.col("why").isNull() & (sf.col("r.record") == "event"))
    table = kept(_without(events, bad).select(*lines.columns()))
    return Read(
        events=table,
        texts=events.select("history_id", "line", "text"),
        scenarios=lines.scenarios(rows),
        headers=rows.where((sf.col("line") == 1) & (sf.col("r.record") == "header")).select(
            "file", "text"
        ),
        quarantine=bad.select(
            "file", "line", "history_id", "why", sf.substring("text", 1, 400).alias("text")
        ),
    )


def read_table(spark: SparkSession, path: str, naming: Naming = AS_PUBLISHED) -> Read:
    """A history as Parquet, in the published schema or one of other names.

    Raises:
        UsageError: the names are not those of the table.
        Exception: Spark's own errors where it is no table.
    """
    events, lacking = naming.published(spark.read.parquet(path))
    placeless = (
        sf.col("history_id").isNull()
        | sf.col("seq").isNull()
        | sf.col("op").isNull()
        | sf.col("outcome").isNull()
    )
    why = sf.when(placeless, "history_id, seq, op or outcome is missing").otherwise(unheard_of())
    unusable = events.withColumn("why", why).where(sf.col("why").isNotNull())
    twice = (
        events.groupBy("history_id", "seq")
        .agg(sf.count("*").alias("times"), sf.first("op").alias("op"))
        .where((sf.col("times") > 1) & sf.col("history_id").isNotNull())
        .withColumn("why", sf.lit("history_id and seq name more than one event"))
    )
    columns = ["history_id", "seq", "op", "why"]
    bad = kept(unusable.select(*columns).unionByName(twice.select(*columns)))
    return Read(
        events=_without(events.where(~placeless), bad),
        scenarios=None,
        headers=None,
        quarantine=bad.select(
            sf.lit(path).alias("file"),
            sf.col("seq").alias("line"),
            "history_id",
            "why",
            sf.col("op").alias("text"),
        ),
        lacking=lacking,
    )


def _without(events: DataFrame, bad: DataFrame) -> DataFrame:
    """The events of histories in which nothing is bad."""
    if not bad.limit(1).count():
        return events
    return events.join(sf.broadcast(bad.select("history_id").distinct()), "history_id", "anti")
