"""Tables whose columns somebody else has named."""

import contextlib
import io
import json
from pathlib import Path
from typing import Any, Final

import pytest
import recorded_cases as cases
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from busproof.cli.main import main
from busproof.errors import UsageError
from busproof.pipeline.naming import Naming, read_naming
from busproof.reports import conformance as reports

pytestmark = pytest.mark.slow

THEIRS: Final = (
    "run BIGINT, n INT, at TIMESTAMP, verb STRING, queue STRING, payload STRING, id STRING, "
    "result STRING, went STRUCT<to: INT>, "
    "got ARRAY<STRUCT<text: STRING, meta: STRUCT<number: INT, until: TIMESTAMP>>>"
)
NAMED: Final = {
    "history_id": "run",
    "seq": "n",
    "called": "at",
    "command.type": "verb",
    "command.queue": "queue",
    "command.message.body": "payload",
    "command.message.message_id": "id",
    "outcome.type": "result",
    "outcome.messages": "got",
    "outcome.messages.body": "text",
    "outcome.messages.sequence_number": "meta.number",
    "outcome.messages.locked_until": "meta.until",
    "witness.partition": "went.to",
}


@pytest.fixture
def table(spark: SparkSession) -> DataFrame:
    rows: list[Any] = [(7, 1, None, "Send", "q", "hello", None, "Done", (3,), None)]
    found = spark.createDataFrame(rows, THEIRS)
    given = "array(named_struct('text', 'hello', 'meta', {}))".format(
        "named_struct('number', 5, 'until', timestamp_micros(3000001))"
    )
    changes = {
        "n": sf.lit(2),
        "at": sf.expr("timestamp_micros(2000001)"),
        "verb": sf.lit("Peek"),
        "payload": sf.lit(None).cast("string"),
        "result": sf.lit("Peeked"),
        "went": sf.lit(None).cast("struct<to: int>"),
        "got": sf.expr(given),
    }
    return found.unionByName(found.withColumns(changes))


def test_an_event_is_made_of_the_columns_that_are_named(table: DataFrame) -> None:
    """As a history file would have it; what is null is left out, a moment is in microseconds."""
    rows = Naming(NAMED).records(table).orderBy("seq").collect()
    sent, peeked = (json.loads(row["text"]) for row in rows)
    assert (7, 1) == (rows[0]["history_id"], rows[0]["seq"])
    assert {
        "record": "event",
        "witness": {"partition": 3},
        "command": {"type": "Send", "queue": "q", "message": {"body": "hello"}},
        "outcome": {"type": "Done"},
    } == sent
    view = {"body": "hello", "sequence_number": 5, "locked_until": 3_000_001}
    assert 2_000_001 == peeked["called"]
    assert {"type": "Peek", "queue": "q"} == peeked["command"]
    assert {"type": "Peeked", "messages": [view]} == peeked["outcome"]


def test_a_row_without_a_command_is_none(table: DataFrame) -> None:
    """Judging puts it aside, with its history."""
    nameless = table.withColumns(dict.fromkeys(("verb", "queue", "payload"), sf.lit(None)))
    named = {name: theirs for name, theirs in NAMED.items() if "message_id" not in name}
    rows = Naming(named).records(nameless.where("n = 2")).collect()
    assert [None] == [row["text"] for row in rows]


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ({"histroy_id": "run"}, "has no field 'histroy_id'; there are history_id"),
        ({"command.message.bdy": "id"}, "has no field 'command.message.bdy'; there are command"),
        ({"seq": "number"}, "seq is said to be 'number', which the table has not; it has run, n"),
        (
            {"outcome.messages": "got", "outcome.messages.body": "words"},
            "outcome.messages.body is said to be 'words'",
        ),
        ({"history_id": "run", "seq": "n"}, "no column is command or outcome; it has run, n"),
    ],
)
def test_a_name_that_is_none_is_reported(table: DataFrame, columns, expected) -> None:
    with pytest.raises(UsageError, match=expected):
        Naming(columns, place="names.toml").records(table)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("columns = 3", "must have a table"),
        ("[columns]\nseq = 3", "theirs as texts"),
        ("[names]\nseq = 'n'", "must have a table"),
        ("[columns", "is not TOML"),
        (None, "cannot read"),
    ],
)
def test_a_file_that_is_none_is_reported(tmp_path: Path, text, expected) -> None:
    file = tmp_path / "names.toml"
    if text is not None:
        file.write_text(text)
    with pytest.raises(UsageError, match=expected):
        read_naming(file)


def test_a_file_is_read_with_either_way_of_dots(tmp_path: Path) -> None:
    file = tmp_path / "names.toml"
    file.write_text('[columns]\nseq = "n"\ncommand.queue = "a.b"\n"command.message.size"="c"')
    found = read_naming(file)
    assert {"seq": "n", "command.queue": "a.b", "command.message.size": "c"} == found.columns


def test_the_same_is_found_whatever_the_columns_are_called(spark, tmp_path) -> None:
    """And a history that is no table has no columns to be named."""
    (broken,) = cases.corrupted("key moved", 4, 1)
    history, foreign, names = (tmp_path / each for each in ("h.jsonl", "foreign", "names.toml"))
    cases.write(history, [broken], cases.header())
    header, _, *lines = history.read_text().splitlines()
    history.write_text("\n".join([header, *lines]) + "\n")
    rows: list[Any] = [
        (5, *_columns(number, json.loads(line))) for number, line in enumerate(lines)
    ]
    spark.createDataFrame(rows, COLUMNS).write.parquet(str(foreign))
    (foreign / "_header.json").write_text(header)
    words = [f'{ours} = "{theirs}"' for ours, theirs in RENAMED.items()]
    names.write_text("\n".join(["[columns]", *words]))
    one, other = (
        verdicts_of(history, tmp_path / "one"),
        verdicts_of(foreign, tmp_path / "other", names),
    )
    assert one.rules == other.rules
    assert (1, len(lines)) == (other.exit_code, other.events)
    with contextlib.redirect_stderr(io.StringIO()) as err:
        assert 2 == main([*CHECK, str(history), "--mapping", str(names)])
    assert "--mapping names the columns of a table" in err.getvalue()


COLUMNS: Final = (
    "RUN BIGINT, N BIGINT, WHO STRING, LINK STRING, FROM_ BIGINT, TO_ BIGINT, SAID STRING, "
    "ANSWER STRING, PLACE INT"
)
RENAMED: Final = {
    **{"history_id": "RUN", "seq": "N", "client": "WHO", "connection": "LINK", "called": "FROM_"},
    **{"returned": "TO_", "command": "SAID", "outcome": "ANSWER", "witness.partition": "PLACE"},
}
CHECK: Final = ["check", "--engine", "spark"]


def _columns(number: int, event: dict[str, Any]) -> tuple[object, ...]:
    """A row of their table; command and outcome are JSON there."""
    return (
        number,
        *(event.get(name) for name in ("client", "connection", "called", "returned")),
        *(json.dumps(event[name]) for name in ("command", "outcome")),
        event.get("witness", {}).get("partition"),
    )


def verdicts_of(history: Path, report: Path, names: Path | None = None) -> Any:
    mapping = [] if names is None else ["--mapping", str(names)]
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        main([*CHECK, str(history), "--report", str(report), *mapping])
    return reports.read(report)
