"""A history as it lies somewhere: its events, and the terms that its header states."""

from pathlib import Path

from pyspark.sql import SparkSession

from busproof.errors import HistoryError
from busproof.history.records import Header
from busproof.pipeline.reading import Read, read_lines, read_table
from busproof.pipeline.sources import Source, header_of, header_of_table, one_header

__all__ = ["opened"]


def opened(spark: SparkSession, source: Source) -> tuple[Read, Header]:
    """What is to be judged, and the header of it all.

    Raises:
        HistoryError: a file has no header, or one that cannot be read.
        UsageError: two files were held to different terms.
    """
    if source.is_table:
        return read_table(spark, source.paths[0]), header_of_table(source.paths[0])
    read = read_lines(spark, source.paths)
    return read, _shared(read, source)


def _shared(read: Read, source: Source) -> Header:
    if read.headers is None:
        raise AssertionError("history files have headers")
    rows = read.headers.orderBy("file").collect()
    found = {Path(row["file"]).name for row in rows}
    lacking = [path for path in source.paths if Path(path).name not in found]
    if lacking or not rows:
        raise HistoryError(
            f"{lacking[0] if lacking else source.paths[0]}: a history must begin with a header, "
            '{"record":"header",…}'
        )
    return one_header(
        [
            (name, header_of(row["text"], f"{name}:1"))
            for row in rows
            for name in (Path(row["file"]).name,)
        ]
    )
