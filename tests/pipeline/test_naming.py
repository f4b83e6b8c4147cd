"""Tables whose columns somebody else has named."""

import contextlib
import io
from pathlib import Path
from typing import Any, Final

import attrs
import pytest
import recorded_cases as cases
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from busproof.cli import main
from busproof.errors import UsageError
from busproof.pipeline.naming import Naming, read_naming
from busproof.pipeline.schema import EVENTS, MESSAGE
from busproof.reports import conformance as reports

pytestmark = pytest.mark.slow

FEW: Final = ("sequence-numbers", "witness")
THEIRS: Final = (
    "run BIGINT, n INT, at TIMESTAMP, verb STRING, payload STRING, id STRING, "
    "result STRING, `key.of` STRING, "
    "got ARRAY<STRUCT<text: STRING, meta: STRUCT<number: INT, until: TIMESTAMP>>>"
)
NAMED: Final = {
    "history_id": "run",
    "seq": "n",
    "called": "at",
    "op": "verb",
    "outcome": "result",
    "sent.body": "payload",
    "sent.message_id": "id",
    "seen": "got",
    "seen.body": "text",
    "seen.sequence_number": "meta.number",
    "seen.locked_until": "meta.until",
}


@pytest.fixture
def table(spark: SparkSession) -> DataFrame:
    rows: list[Any] = [(7, 1, None, "Send", "hello", None, "Done", None, None)]
    found = spark.createDataFrame(rows, THEIRS)
    given = "array(named_struct('text', 'hello', 'meta', {}))".format(
        "named_struct('number', 5, 'until', timestamp_micros(3000001))"
    )
    received = found.select(
        "run", sf.lit(2).alias("n"), sf.expr("timestamp_micros(2000001)").alias("at"),
        sf.lit("Receive").alias("verb"), sf.lit(None).cast("string").alias("payload"), "id",
        sf.lit("Received").alias("result"), "`key.of`", sf.expr(given).alias("got"),
    )  # fmt: skip
    return found.unionByName(received)


def test_columns_and_fields_of_them_are_found_by_the_names_given(table) -> None:
    """A moment is in microseconds, whatever the table keeps it as."""
    events, _ = Naming(NAMED).published(table)
    assert list(EVENTS) == events.columns
    sent, received = events.orderBy("seq").collect()
    assert (7, "Send", "hello", None) == (
        *(sent["history_id"], sent["op"], sent["sent"]["body"], sent["sent"]["message_id"]),
    )
    assert (None, 2_000_001) == (received["sent"], received["called"])
    (seen,) = received["seen"]
    assert ("hello", 5, 3_000_001) == (seen["body"], seen["sequence_number"], seen["locked_until"])
    assert sent["seen"] is None


def test_what_is_not_there_is_told_apart_from_what_is_never_set(table) -> None:
    """So that no rule takes a key that nobody recorded for one that was not set."""
    _, lacking = Naming(NAMED).published(table)
    assert ("sent.session_id", "sent.partition_key") == lacking["sent"][:2]
    assert "sent.body" not in lacking["sent"]
    assert ("seen.message_id",) == lacking["seen"][:1]
    assert ("witness",) == lacking["witness"]
    never = frozenset(f"sent.{each}" for each in MESSAGE if f"sent.{each}" not in NAMED)
    _, less = Naming(NAMED, never | {"witness"}).published(table)
    assert {"sent", "witness"} == lacking.keys() - less.keys()


def test_a_table_as_published_may_lack_fields_of_a_struct(spark) -> None:
    """Found as keys that were taken for not set."""
    rows: list[Any] = [(1, 1, ("hello",))]
    _, lacking = Naming().published(
        spark.createDataFrame(rows, "history_id BIGINT, seq BIGINT, sent STRUCT<body: STRING>")
    )
    assert "sent.session_id" in lacking["sent"]
    assert "seq" not in lacking


@pytest.mark.parametrize(
    ("columns", "told"),
    [
        ({"histroy_id": "run"}, "has no column 'histroy_id'; there are history_id"),
        ({"sent.bdy": "payload"}, "has no column 'sent.bdy'; there are sent.body"),
        ({"seq": "number"}, "seq is said to be 'number', which the table has not; it has run, n"),
        ({"seen": "got", "seen.body": "words"}, "seen.body is said to be 'words'"),
        ({"seen": "payload"}, "payload has to be an array of structs, as seen is"),
    ],
)
def test_a_name_that_is_none_is_told(table, columns, told) -> None:
    with pytest.raises(UsageError, match=told):
        Naming(columns, place="names.toml").published(table)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("columns = 3", "must have a table"),
        ("[columns]\nseq = 3", "must have a table"),
        ("never = 'sent'", "must have a table"),
        ("[names]\nseq = 'n'", "must have a table"),
        ("[columns", "is no TOML"),
        (None, "cannot read"),
    ],
)
def test_a_file_that_is_none_is_told(tmp_path: Path, text, told) -> None:
    file = tmp_path / "names.toml"
    if text is not None:
        file.write_text(text)
    with pytest.raises(UsageError, match=told):
        read_naming(file)


def test_a_file_is_read_with_either_way_of_dots(tmp_path: Path) -> None:
    file = tmp_path / "names.toml"
    file.write_text('never = ["reason"]\n[columns]\nseq = "n"\nsent.body = "a.b"\n"sent.size"="c"')
    found = read_naming(file)
    assert {"seq": "n", "sent.body": "a.b", "sent.size": "c"} == found.columns
    assert {"reason"} == found.never


def test_the_same_is_found_whatever_the_columns_are_called(spark, tmp_path: Path) -> None:
    """And a history that is no table has no columns to be named."""
    (broken,) = cases.corrupted("key moved", 4, 1)
    history, table, foreign = (tmp_path / each for each in ("h.jsonl", "table", "foreign"))
    header = attrs.evolve(cases.header(), capabilities=FEW)
    cases.write(history, [*cases.clean("round-robin", (1,)), broken], header)
    one = told(history, tmp_path / "one", "--as-table", str(table))
    rows = spark.read.parquet(str(table))
    fields = [sf.col(f"sent.{each}").alias(f"m_{each}") for each in MESSAGE]
    renamed = rows.select(
        *(sf.col(each).alias(each.upper() + "_") for each in rows.columns if each != "sent"),
        *fields,
    )
    renamed.write.parquet(str(foreign))
    (foreign / "_header.json").write_text((table / "_header.json").read_text())
    names = tmp_path / "names.toml"
    lines = [f'{each} = "{each.upper()}_"' for each in rows.columns if each != "sent"]
    lines += [f'"sent.{each}" = "m_{each}"' for each in MESSAGE]
    names.write_text("\n".join(["[columns]", *lines]))
    other = told(foreign, tmp_path / "other", "--mapping", str(names))
    assert [(each.id, each.verdict, each.events) for each in one.rules] == [
        (each.id, each.verdict, each.events) for each in other.rules
    ]
    assert 1 == other.exit_code
    with contextlib.redirect_stderr(io.StringIO()) as err:
        assert 2 == main(["check", str(history), "--engine", "spark", "--mapping", str(names)])
    assert "--mapping names the columns of a table" in err.getvalue()


def told(history: Path, report: Path, *options: str) -> Any:
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        main(["check", str(history), "--engine", "spark", "--report", str(report), *options])
    return reports.read(report)
