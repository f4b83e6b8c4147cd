"""Files and tables as Spark reads them: every line has its place, whatever is wrong with others."""

from pathlib import Path

import pytest
import recorded_cases as cases
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from busproof.errors import HistoryError, UsageError
from busproof.pipeline.reading import publish_columns, read
from busproof.pipeline.session import spark_error_line
from busproof.pipeline.sources import Source, find_source

pytestmark = pytest.mark.slow


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Two histories in one file."""
    cases.write(tmp_path / "h 1.jsonl", [*cases.clean("round-robin", (0, 1))], cases.header())
    return tmp_path / "h 1.jsonl"


def rows_of(spark: SparkSession, place: Path) -> DataFrame:
    return read(spark, find_source(str(place))).rows


def test_a_file_that_is_read_in_blocks_is_the_same(spark: SparkSession, file: Path) -> None:
    """Lines keep their numbers and histories their lines, wherever a block begins."""
    texts = file.read_text().splitlines()
    name = "spark.sql.files.maxPartitionBytes"
    before = spark.conf.get(name)
    spark.conf.set(name, "60000")
    try:
        found = rows_of(spark, file).orderBy("line").collect()
        read = spark.read.text(str(file)).select(sf.spark_partition_id())
        assert read.distinct().count() > 1
    finally:
        spark.conf.set(name, before)
    assert list(enumerate(texts, 1)) == [(row["line"], row["text"]) for row in found]
    starts = [number for number, text in enumerate(texts) if '"record":"started"' in text]
    numbers = [row["history_id"] & 0xFFFFFFFF for row in found]
    assert [0, 1, 2] == [numbers[0], *(numbers[start] for start in starts)]
    assert sorted(numbers) == numbers
    assert [False] * (len(texts) - 1) + [True] == [row["is_last"] for row in found]


def test_each_file_of_a_folder_has_a_header_of_its_own(spark: SparkSession, file: Path) -> None:
    """Found where two files of different folders had one name."""
    folder = file.parent
    lines = len(file.read_text().splitlines())
    (folder / "b").mkdir()
    (folder / "b" / "h 1.jsonl").write_text("\n" + file.read_text())
    rows = rows_of(spark, folder)
    assert 2 * lines == rows.count()
    assert 6 == rows.select("history_id").distinct().count()
    headless = file.read_text().partition("\n")[2]
    (folder / "b" / "h 1.jsonl").write_text(headless)
    with pytest.raises(HistoryError, match=r"h 1\.jsonl:1: a history must begin with a header"):
        rows_of(spark, folder)
    (folder / "b" / "h 1.jsonl").write_text("")
    with pytest.raises(HistoryError, match=r"h 1\.jsonl: a history must begin with a header"):
        rows_of(spark, folder)


def test_a_table_that_is_cut_is_reported_in_one_line(spark, file, tmp_path) -> None:
    table = tmp_path / "table"
    publish_columns(rows_of(spark, file)).limit(5).coalesce(1).write.parquet(str(table))
    (table / "_header.json").write_text(file.read_text().partition("\n")[0])
    (part,) = table.glob("part-*.parquet")
    part.write_bytes(part.read_bytes()[:100])
    (table / f".{part.name}.crc").unlink()
    with pytest.raises(Exception, match="footer") as raised:
        rows_of(spark, table)
    said = spark_error_line(raised.value)
    assert said is not None
    assert "Could not read footer" in said
    assert "\n" not in said
    assert spark_error_line(ValueError("ours")) is None


def test_a_table_has_columns_for_queries(spark: SparkSession, file: Path) -> None:
    table = publish_columns(rows_of(spark, file))
    sends = table.where("op = 'Send' and outcome = 'Done' and entity = 'keyed'")
    assert file.read_text().count('"type":"Send","queue":"keyed"') >= sends.count() > 0
    assert 0 == table.where("record = 'header'").count()


def test_error_of_java_is_reported_without_the_call_of_python() -> None:
    class Py4JJavaError(Exception):
        __module__ = "py4j.protocol"

    text = "An error occurred while calling o27.save.\n: java.io.IOException: Mkdirs failed\n\tat x"
    assert "java.io.IOException: Mkdirs failed" == spark_error_line(Py4JJavaError(text))


def test_an_executor_without_busproof_is_reported() -> None:
    class PythonException(Exception):
        __module__ = "pyspark.errors"

    said = spark_error_line(PythonException("ModuleNotFoundError: No module named 'busproof'"))
    assert said is not None
    assert "install this version of it there" in said


def test_a_table_may_be_partitioned_by_date(spark: SparkSession, file: Path) -> None:
    """Also where only some of its files are read."""
    rows = rows_of(spark, file)
    table = file.parent / "table"
    day = sf.concat(sf.lit("2026-11-"), (sf.col("seq") % 2 + 10).cast("string"))
    publish_columns(rows).withColumn("date", day).write.partitionBy("date").parquet(str(table))
    (table / "_header.json").write_text(file.read_text().partition("\n")[0])
    expected = rows.count() - 1
    assert expected == rows_of(spark, table).count()
    one = sorted(table.rglob("*.parquet"))[:1]
    some = read(spark, Source(tuple(map(str, one)), is_table=True, table=str(table))).rows
    assert expected > some.count() > 0


def test_a_delta_table_without_its_package_says_what_is_missing(spark, file) -> None:
    table = file.parent / "table"
    (table / "_delta_log").mkdir(parents=True)
    (table / "_header.json").write_text(file.read_text().partition("\n")[0])
    with pytest.raises(UsageError, match=r"is a Delta table, .* spark\.jars\.packages"):
        rows_of(spark, table)
