"""`--follow` with a stream, and histories that go on in later files: as if all came at once."""

from pathlib import Path
from typing import Final

import pytest
import recorded_cases as cases
from following import at_once, follow
from pyspark.sql import SparkSession

from busproof.cli.spark.ledger import Ledger
from busproof.errors import UsageError
from busproof.history.conformance import Verdict
from busproof.pipeline.streams import read_stream

pytestmark = pytest.mark.slow

MESSAGES: Final = "key BINARY, value BINARY, partition INT, offset LONG"
"""The columns of Spark's connector for Kafka that count."""
HOUR: Final = 3_600
LATER: Final = (
    '{"record":"event","called":360000000000,"command":{"type":"GetQueue","queue":"none"},'
    '"outcome":{"type":"Refused","error":"not-found"}}'
)
"""A request a hundred hours later."""


def lines_of(place: Path) -> dict[str, list[str]]:
    """The lines of a history that is clean and of one that breaks LIFE-01, each with a header."""
    lines = {}
    for name, case in (
        ("clean", next(cases.clean("round-robin", (1,)))),
        ("broken", next(cases.corrupted("never sent", 4, 1))),
    ):
        file = place / f"{name}.jsonl"
        cases.write(file, [case], cases.header())
        lines[name] = file.read_text().splitlines()
    return lines


def arrive(spark: SparkSession, topic: Path, number: int, messages: list[tuple[str, str]]) -> None:
    """Let messages arrive in a topic: each is the name of a history, and a line of it."""
    rows = [
        (name.encode(), line.encode(), 0, 1_000 * number + at)
        for at, (name, line) in enumerate(messages)
    ]
    spark.createDataFrame(rows, MESSAGES).coalesce(1).write.mode("append").parquet(str(topic))


def test_a_stream_is_judged_as_if_all_had_come_at_once(spark: SparkSession, tmp_path: Path) -> None:
    """Two histories arrive in turns; they stay open until nothing of them can come in time."""
    topic = tmp_path / "topic"
    folder = tmp_path / "table"
    folder.mkdir()
    stream = tmp_path / "stream.toml"
    stream.write_text(f'format = "parquet"\n[options]\npath = "{topic}"\n')
    words = ("--stream", str(stream), "--watermark", str(HOUR))
    lines = lines_of(tmp_path)
    for number in range(2):
        messages = [
            (name, line)
            for name, all_of in lines.items()
            for line in (all_of[: len(all_of) // 2], all_of[len(all_of) // 2 :])[number]
        ]
        arrive(spark, topic, number, messages)
        ended = follow(folder, *words)
        assert "1 file, 0 events" in ended.err, "it is not judged for good yet"
    together = at_once(folder)
    assert (1, together) == (ended.code, ended.report)
    assert ["LIFE-01"] == [rule.id for rule in together.rules if rule.verdict is Verdict.VIOLATED]
    header, *_, last = lines["clean"]
    assert 2 < sum(len(all_of) - 2 for all_of in lines.values()) == together.events
    arrive(spark, topic, 2, [("new", '{"record":"started","scenario":"new"}'), ("new", LATER)])
    ended = follow(folder, *words)
    assert 1 == ended.code
    assert f"1 file, {together.events} events: violated: LIFE-01" in ended.err
    assert 1 == len(Ledger(folder / "_busproof").open)
    arrive(spark, topic, 3, [("clean", header), ("clean", last)])
    report = follow(folder, *words).report
    assert together.events + 1 == report.events
    late = "records of 1 history came after the verdict and were left out"
    assert report.problems[-1].startswith(late)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (None, "cannot read"),
        ("format", "is not TOML"),
        ("format = 1", "must have format"),
        ('format = "kafka"\nsubscribe = "x"', "must have format"),
    ],
)
def test_a_file_that_describes_no_stream_gets_a_sentence(tmp_path, text, expected) -> None:
    file = tmp_path / "stream.toml"
    if text is not None:
        file.write_text(text)
    with pytest.raises(UsageError, match=expected):
        read_stream(file)


def test_a_topic_of_kafka_is_read_from_its_beginning(tmp_path: Path) -> None:
    """Unless the file says otherwise; names with dots may be written as tables."""
    file = tmp_path / "stream.toml"
    file.write_text(
        'format = "kafka"\n[options]\nsubscribe = "histories"\nfailOnDataLoss = false\n'
        '[options.kafka]\n"bootstrap.servers" = "localhost:9092"\n'
    )
    stream = read_stream(file)
    expected = {
        "startingOffsets": "earliest",
        "subscribe": "histories",
        "failOnDataLoss": "false",
        "kafka.bootstrap.servers": "localhost:9092",
    }
    assert expected == stream.options


def test_a_stream_without_a_header_says_what_is_missing(spark, tmp_path) -> None:
    topic = tmp_path / "topic"
    arrive(spark, topic, 0, [("one", LATER)])
    stream = tmp_path / "stream.toml"
    stream.write_text(f'format = "parquet"\n[options]\npath = "{topic}"\n')
    folder = tmp_path / "table"
    folder.mkdir()
    ended = follow(folder, "--stream", str(stream))
    assert 2 == ended.code
    assert "no header came by" in ended.err
