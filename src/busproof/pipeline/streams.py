"""Records from a stream that Spark can read, such as a topic of Kafka, as files of a table.

What arrives is stored before it is judged, because Spark reads some streams only once.
"""

import shutil
import tomllib
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Final

import attrs
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sf

from busproof.errors import UsageError
from busproof.pipeline.lines import is_record
from busproof.pipeline.naming import Naming
from busproof.pipeline.sources import HEADER_NAME

__all__ = ["Stream", "read_stream", "store_arrivals"]

_SEQ_BITS: Final = 10
"""Number of bits of a record's number that tell the partition of the topic from others."""

_DEFAULTS: Final = {"kafka": {"startingOffsets": "earliest"}}
"""Options without which a connector would leave records out."""


@attrs.frozen
class Stream:
    """A stream, in Spark's words.

    Attributes:
        form: the format, such as `kafka`.
        options: the options of its connector.
        place: the file that describes it.
    """

    form: str
    options: Mapping[str, str]
    place: str


def read_stream(path: Path) -> Stream:
    """Return the stream that a TOML file describes.

    Raises:
        UsageError: the file cannot be read, or does not describe a stream.
    """
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} is not TOML: {error}") from None
    form = document.get("format")
    options = document.get("options", {})
    is_known = document.keys() <= {"format", "options"} and isinstance(options, dict)
    if not isinstance(form, str) or not is_known:
        raise UsageError(
            f'{path} must have format = "kafka" or another, a table [options], and nothing else'
        )
    texts = {name: option_text(value) for name, value in _flat(options).items()}
    return Stream(form, {**_DEFAULTS.get(form, {}), **texts}, str(path))


def option_text(value: object) -> str:
    """Return the value of an option as Spark reads it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _flat(options: Mapping[str, object], prefix: str = "") -> dict[str, object]:
    """Return nested tables as dotted names, since `kafka.group.id` may be written either way."""
    flat: dict[str, object] = {}
    for name, value in options.items():
        if isinstance(value, dict):
            flat |= _flat(value, f"{prefix}{name}.")
        else:
            flat[f"{prefix}{name}"] = value
    return flat


def store_arrivals(
    spark: SparkSession, stream: Stream, naming: Naming, folder: Path, progress: Path
) -> None:
    """Store what has arrived in a stream since the last time, in files of the table in a folder.

    Each record is stored once, also if the process is killed meanwhile.

    Args:
        spark: a Spark session.
        stream: the stream.
        naming: mapping of its columns.
        folder: the folder of the table.
        progress: a folder in which Spark stores how far it has read.
    """
    # Spark wants to be told the columns of files, unless it may look.
    spark.conf.set("spark.sql.streaming.schemaInference", "true")
    arriving = spark.readStream.format(stream.form).options(**stream.options).load()
    (
        _records(arriving, naming)
        .writeStream.foreachBatch(partial(_store, folder, progress))
        .option("checkpointLocation", str((progress / "offsets").absolute()))
        .trigger(availableNow=True)
        .start()
        .awaitTermination()
    )


def _records(arriving: DataFrame, naming: Naming) -> DataFrame:
    """Return the records as rows of a table: history_id, seq, text.

    A connector for messages has the text in `value`, and the name of the history in `key`.
    """
    if not {"value", "partition", "offset"} <= {*arriving.columns} or naming.columns:
        return naming.records(arriving)
    partition = sf.col("partition").cast("long")
    return arriving.select(
        _number_of("key").alias("history_id"),
        (sf.shiftleft(sf.col("offset"), _SEQ_BITS) + partition).alias("seq"),
        sf.col("value").cast("string").alias("text"),
    )


def _number_of(key: str) -> Column:
    """Return a number for each name of a history; records without a name are of one history."""
    number = sf.shiftrightunsigned(sf.xxhash64(sf.col(key)), 1)
    return sf.when(sf.col(key).isNull(), sf.lit(0)).otherwise(number).cast("long")


def _store(folder: Path, progress: Path, rows: DataFrame, batch: int) -> None:
    """Store a batch; one that was stored before is the same, so it is left as it is."""
    target = folder / f"batch={batch:06}"
    if target.exists():
        return
    kept = rows.persist()
    header = kept.where(is_record("text", "header")).select("text").first()
    place = folder / HEADER_NAME
    if header is not None and not place.exists():
        part = progress / HEADER_NAME
        part.write_text(header["text"] + "\n", encoding="utf-8")
        part.replace(place)
    part = progress / "arriving"
    shutil.rmtree(part, ignore_errors=True)
    kept.where(~is_record("text", "header")).write.parquet(str(part.absolute()))
    kept.unpersist()
    part.replace(target)
