"""What Spark finds in histories: nothing in valid ones, the rule that is broken in others."""

import contextlib
import io
import os

import pytest
import recorded_cases as cases
from pyspark.sql import DataFrame
from pyspark.sql import functions as sf
from spark_samples import SHOWN_BY_WORK, Sample, by_history, held

from busproof.errors import HistoryError
from busproof.pipeline import messages, ordering, reading, rules
from busproof.pipeline.checking import check
from busproof.pipeline.frames import Frames
from busproof.pipeline.opening import opened
from busproof.pipeline.ordering import entities
from busproof.pipeline.reading import read_lines, read_table
from busproof.pipeline.session import said_by_spark
from busproof.pipeline.sources import find_source
from busproof.vocabulary.outcomes import Refused
from busproof.vocabulary.values import Error

pytestmark = pytest.mark.slow

FULL = os.environ.get("BUSPROOF_SIZE") == "full"
NO_ROOM = Refused(error=Error.QUOTA_EXCEEDED)

ALSO = {"LIFE-06": {"LOCK-05", "LOCK-06"}}
"""A lock that was lost is told by the rule on what was asked with it."""


def test_every_line_is_read(sample: Sample) -> None:
    """As many events as were written, each in its history, none of them put aside."""
    assert sample.read.quarantine.count() == 0
    assert sample.read.scenarios is not None
    rows = sample.read.scenarios.orderBy("history_id").collect()
    written = [(each.name, len(each.events)) for each in sample.cases]
    assert written == [(row["scenario"], row["events"]) for row in rows]


def test_valid_histories_are_accused_of_nothing(sample: Sample) -> None:
    """Of one client and of many, with requests that overlap and with answers that were lost.

    Of timers that are off by the slack that is declared, of partitions that are full, and of a
    queue that was created twice: what was sent to the first one is no message of the second.
    """
    valid = {each.name for each in sample.cases if not each.broken}
    assert {"hostile 0", "lossy 0", "crowded 0", "created twice"} <= valid
    refused = {each.name for each in sample.cases if NO_ROOM in [e.outcome for e in each.events]}
    assert "crowded 0" in refused
    assert {} == {name: rules for name, rules in sample.found.items() if name in valid}


def test_a_history_that_was_changed_in_one_event_is_accused_of_that_rule(sample: Sample) -> None:
    """By the query of that rule."""
    changed = [each for each in sample.cases if each.broken]
    missed = {
        each.name: sample.found.get(each.name)
        for each in changed
        if not _allowed(each) & sample.found.get(each.name, set())
    }
    assert len(changed) >= 10
    assert {} == missed


def _allowed(case: cases.Case) -> set[str]:
    return set(case.broken).union(*(ALSO.get(rule, set()) for rule in case.broken))


def test_what_a_rule_decided_is_counted(sample: Sample) -> None:
    """A rule that decided nothing is told as such, and is no pass."""
    assert SHOWN_BY_WORK <= set(sample.checked.rules)
    assert all(told.situations >= told.violations for told in sample.checked.rules.values())
    assert not set(sample.checked.rules) - sample.rules


def test_an_example_names_the_events_concerned(sample: Sample) -> None:
    """The changed event is among them."""
    told = sample.checked.rules["KEY-02"]
    assert told.example is not None
    assert told.violations >= 1
    assert len(told.example.seqs) == 2
    assert "partition" in told.example.actual


def test_no_python_runs_in_spark(spark, sample: Sample, monkeypatch) -> None:
    """All of it is expressions that Spark compiles: reading, what is kept, and the rules."""
    for module in (reading, messages, ordering):
        monkeypatch.setattr(module, "kept", lambda frame: frame)
    events = sample.read.events
    whole = Frames(events, entities(events, held()), held()).messages
    plans = sample.checked.plans if FULL else sample.checked.plans[:1]
    for frame in (read_lines(spark, [str(sample.path)]).events, whole, *plans):
        assert [] == [word for word in PYTHON if word in plan_of(frame)]
    in_python = plan_of(events.select(sf.udf(len)("op")))
    assert [] != [word for word in PYTHON if word in in_python]


PYTHON = ("EvalPython", "PythonUDF", "InPandas", "InArrow", "ArrowEval", "PythonMap")


def plan_of(frame: DataFrame) -> str:
    with contextlib.redirect_stdout(io.StringIO()) as said:
        frame.explain("simple")
    return said.getvalue()


def test_a_rule_asked_alone_says_the_same(sample: Sample) -> None:
    """`key_02_violations` and its like."""
    config = entities(sample.read.events, held())
    alone = rules.key_02_violations(sample.read.events, config, held())
    together = sample.checked.violations.where(sf.col("rule") == "KEY-02")
    names = by_history(together, sample.read)
    assert names == by_history(alone, sample.read)
    assert names


def test_a_line_that_cannot_be_read_is_told_and_accuses_nobody(spark, tmp_path) -> None:
    """Without the send, its message would seem never to have been sent."""
    one, two = list(cases.clean("round-robin", (1, 2)))
    file = tmp_path / "history.jsonl"
    cases.write(file, [one, two], cases.header())
    lines = file.read_bytes().splitlines(keepends=True)
    number = next(n for n, line in enumerate(lines) if b'"type":"Send"' in line)
    lines[number] = lines[number].replace(b'"type":"Send"', b'"type":"Sent"')
    lines.append(b"no JSON\n")
    file.write_bytes(b"".join(lines))
    read = read_lines(spark, [str(file)])
    told = {row["line"]: row["why"] for row in read.quarantine.collect()}
    assert {number + 1, len(lines)} == set(told)
    assert "Sent" in told[number + 1]
    assert "no record" in told[len(lines)]
    assert 0 == read.events.count()


def test_a_field_that_is_not_known_keeps_its_history_from_being_judged(spark, tmp_path) -> None:
    """A newer busproof may write what changes what is allowed."""
    one, two = list(cases.clean("round-robin", (1, 2)))
    file = tmp_path / "history.jsonl"
    cases.write(file, [one, two], cases.header())
    text = file.read_text().replace('"type":"CreateQueue"', '"type":"CreateQueue","ttl":5', 1)
    file.write_text(text)
    read = read_lines(spark, [str(file)])
    (row,) = read.quarantine.collect()
    assert "not known to this engine: ttl" == row["why"]
    assert len(two.events) == read.events.count()


def test_a_file_that_is_read_in_blocks_is_the_same(spark, sample: Sample) -> None:
    """Lines keep their numbers and histories their events, wherever a block begins."""
    name = "spark.sql.files.maxPartitionBytes"
    before = spark.conf.get(name)
    spark.conf.set(name, str(200_000))
    try:
        blocks = read_lines(spark, [str(sample.path)])
        columns = ["history_id", "seq", "op", "outcome"]
        read = spark.read.text(str(sample.path)).select(sf.spark_partition_id())
        assert read.distinct().count() > 1
        whole = sample.read.events.select(columns)
        assert 0 == blocks.events.select(columns).exceptAll(whole).count()
        assert whole.count() == blocks.events.count()
    finally:
        spark.conf.set(name, before)


def test_each_file_of_a_folder_has_a_header_of_its_own(spark, tmp_path) -> None:
    """Found where two files of different folders had one name."""
    (one,) = cases.clean("round-robin", (1,))
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        cases.write(tmp_path / name / "h.jsonl", [one], cases.header())
    read, _ = opened(spark, find_source(str(tmp_path)))
    assert 2 * len(one.events) == read.events.count()
    headless = (tmp_path / "b" / "h.jsonl").read_text().partition("\n")[2]
    (tmp_path / "b" / "h.jsonl").write_text(headless)
    with pytest.raises(HistoryError, match=r"h\.jsonl: a history must begin with a header"):
        opened(spark, find_source(str(tmp_path)))


def test_a_table_says_the_same_as_the_lines(spark, sample: Sample, tmp_path) -> None:
    """And a rule whose columns it lacks is not judged, while the others are."""
    sample.read.events.drop("witness", "lock_token").write.parquet(str(tmp_path / "table"))
    read = read_table(spark, str(tmp_path / "table"))
    assert {"witness", "lock_token"} == read.absent
    found = check(read, held(), {"KEY-02", "LIFE-01", "LIFE-06"}).rules
    assert {"lock_token"} == rules.missing_columns("LIFE-06", read.absent)
    assert "LIFE-06" not in found
    assert sample.checked.rules["LIFE-01"] == found["LIFE-01"]


def test_a_table_that_names_an_event_twice_accuses_nobody(spark, sample: Sample, tmp_path) -> None:
    """A message that was received and deleted would seem to have been received again."""
    first = sample.read.events.where(sf.col("history_id") == _first_history(sample))
    twice = first.where(sf.col("op") == "Receive").limit(3)
    first.unionByName(twice).write.parquet(str(tmp_path / "table"))
    read = read_table(spark, str(tmp_path / "table"))
    assert 3 == read.quarantine.count()
    assert 0 == read.events.count()


def _first_history(sample: Sample) -> int:
    return sample.read.events.agg(sf.min("history_id")).collect()[0][0]


def test_a_table_that_is_cut_is_told_in_one_line(spark, sample: Sample, tmp_path) -> None:
    sample.read.events.limit(5).coalesce(1).write.parquet(str(tmp_path / "table"))
    (file,) = (tmp_path / "table").glob("part-*.parquet")
    file.write_bytes(file.read_bytes()[:100])
    (tmp_path / "table" / f".{file.name}.crc").unlink()
    with pytest.raises(Exception, match="footer") as raised:
        read_table(spark, str(tmp_path / "table"))
    said = said_by_spark(raised.value)
    assert said is not None
    assert "Could not read footer" in said
    assert "\n" not in said
    assert said_by_spark(ValueError("ours")) is None
