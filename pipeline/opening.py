"""A history as it lies somewhere: its events, and the terms that its header states."""

from collections import Counter
from pathlib import Path

from pyspark.sql import SparkSession

from busproof.errors import HistoryError
from busproof.history.records import Header
from busproof.pipeline.naming import AS_PUBLISHED, Naming
from busproof.pipeline.reading import Read, read_lines, read_table
from busproof.pipeline.sources import Source, header_of, header_of_table, one_header

__all__ = ["opened"]


def opened(
    spark: SparkSession, source: Source, naming: Naming = AS_PUBLISHED
) -> tuple[Read, Header]:
    """What is to be judged, and the header of it all.

    Args:
        spark: a session.
        source: where it lies.
        naming: how the columns of a table are called.

    Raises:
        HistoryError: a file has no header, or one that cannot be read.
        UsageError: two files were held to different terms, or the names are not those of the
            table.
    """
    if source.is_table:
        return read_table(spark, source.paths[0], naming), header_of_table(source.paths[0])
    read = read_lines(spark, source.paths)
    return read, _shared(read, source)


def _shared(read: Read, source: Source) -> Header:
    if read.headers is None:
        raise AssertionError("history files have headers")
    rows = read.headers.orderBy("file").collect()
    # Files of different folders may have one name.
    found = Counter(Path(row["file"]).name for row in rows)
    lacking = Counter(Path(path).name for path in source.paths) - found
    if lacking or not rows:
        raise HistoryError(
            f"{min(lacking, default=source.paths[0])}: a history must begin with a header, "
            '{"record":"header",…}'
        )
    return one_header(
        [
            (name, header_of(row["text"], f"{name}:1"))
            for row in rows
            for name in (Path(row["file"]).name,)
        ]
    )
