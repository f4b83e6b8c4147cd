"""`busproof check --engine spark --follow DIR`: each file once, whatever happens in between."""

import contextlib
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Final

import attrs
import pytest
import recorded_cases as cases
from following import at_once, follow
from pyspark.sql import SparkSession
from spark_samples import SMALL
from work import until

from busproof.cli.main import main
from busproof.cli.spark import folder_watch
from busproof.cli.spark.ledger import Ledger
from busproof.history.conformance import Conformance, ExitCode
from busproof.reports import conformance as reports

pytestmark = pytest.mark.slow

PATIENCE: Final = 1_200
HEADER: Final = cases.header()


@pytest.fixture
def folder(spark: SparkSession, tmp_path: Path) -> Path:
    """A folder of two files, of which one breaks LIFE-01; Spark is there."""
    assert spark.version
    come(tmp_path / "clean.jsonl", list(cases.clean("round-robin", (1,))))
    come(tmp_path / "deep" / "broken.jsonl", list(cases.corrupted("never sent", 4, 1)))
    return tmp_path


def come(file: Path, histories: list[cases.Case], header: object = HEADER) -> None:
    """Let a whole file be there, as though for a while."""
    file.parent.mkdir(exist_ok=True)
    cases.write(file, histories, header)
    os.utime(file, (time.time() - 60,) * 2)


def alike(one: Conformance | None, other: Conformance) -> None:
    """The same was found, in scenarios that may have come in another order."""
    assert one is not None
    assert _unordered(one) == _unordered(other)


def _unordered(report: Conformance) -> Conformance:
    rules = [attrs.evolve(each, scenarios=tuple(sorted(each.scenarios))) for each in report.rules]
    return attrs.evolve(report, rules=tuple(rules), problems=tuple(sorted(report.problems)))


def test_later_files_are_judged_alone_and_reported_together(folder: Path) -> None:
    """As if all had been judged at once; a file that was judged is not judged again."""
    before = follow(folder)
    assert (1, 1) == (before.code, before.err.count(" events: "))
    assert "2 files, " in before.err
    assert "violated: LIFE-01" in before.err
    come(folder / "later.jsonl", list(cases.clean("hostile", (2,))))
    after = follow(folder)
    assert "1 file, " in after.err
    assert "nothing violated" in after.err
    assert 1 == after.code, "what was violated stays so"
    alike(after.report, at_once(folder))
    again = follow(folder)
    assert "" == again.err
    assert after.report is not None
    alike(again.report, after.report)


@pytest.mark.full_size("much as files of histories: run by the nightly part spark")
def test_files_of_a_table_are_followed_like_history_files(spark, folder, tmp_path) -> None:
    """A history that goes on in a later file is refused: without its beginning it looks wrong."""
    table, followed = tmp_path / "_table", tmp_path / "_followed"
    with contextlib.redirect_stdout(io.StringIO()):
        assert 1 == main(["check", str(folder), "--engine", "spark", "--as-table", str(table)])
    followed.mkdir()
    shutil.copy(table / "_header.json", followed)
    rows = spark.read.parquet(str(table))
    histories = sorted(row["history_id"] for row in rows.select("history_id").distinct().collect())
    for history in histories:
        part = tmp_path / f"_{history}"
        rows.where(rows.history_id == history).coalesce(1).write.parquet(str(part))
        _copied(part, followed / f"{history}.parquet")
        ended = follow(followed)
        assert 1 == ended.err.count("1 file, ")
    alike(ended.report, at_once(table))
    _copied(tmp_path / f"_{histories[0]}", followed / "again.parquet")
    again = follow(followed)
    assert 2 == again.code
    assert "of again.parquet is also in a file that was judged before" in again.err
    kept = Ledger(followed / "_busproof")
    assert (len(histories), {*histories}) == (kept.count, kept.histories)


def _copied(part: Path, file: Path) -> None:
    """Let the only file of a table be there, as though for a while."""
    (written,) = part.glob("part-*.parquet")
    shutil.copy(written, file)
    os.utime(file, (time.time() - 60,) * 2)


@pytest.mark.full_size("much as the test before it: run by the nightly part spark")
def test_half_a_batch_leaves_nothing_and_is_judged_again(folder: Path) -> None:
    """A kill leaves part of a record, and violations without a record."""
    found = folder / "_found"
    first = follow(folder, "--violations", str(found))
    ledger = folder / "_busproof"
    record = ledger / "batch-000001.json"
    record.rename(ledger / "batch-000001.part")
    (found / "batch-000001" / "violations" / "half").write_text("{")
    second = follow(folder, "--violations", str(found))
    assert first.report is not None
    alike(second.report, first.report)
    assert not (found / "batch-000001" / "violations" / "half").exists()
    assert ["batch-000001"] == [each.name for each in found.iterdir()]
    assert ["batch-000001.json"] == [each.name for each in ledger.glob("batch-*")]


@pytest.mark.full_size("three processes with a Spark of their own: nightly")
def test_a_file_is_judged_once_though_the_process_was_killed(folder: Path) -> None:
    """By kill -9 while its first batch is being judged."""
    settings = [word for name, value in SMALL.items() for word in ("--conf", f"{name}={value}")]
    words = [sys.executable, "-m", "busproof", "check", "--engine", "spark", *settings]
    words += ["--follow", str(folder), "--master", "local[1]"]
    killed = subprocess.Popen(words, stderr=subprocess.PIPE, text=True, start_new_session=True)
    assert until((folder / "_busproof" / "lock").exists)
    os.killpg(killed.pid, signal.SIGKILL)
    killed.wait(PATIENCE)
    assert "events" not in killed.stderr.read(), "it was killed too late to show anything"
    ended = subprocess.run(
        [*words, "--once"], capture_output=True, text=True, check=False, timeout=PATIENCE
    )
    assert (1, 1) == (ended.returncode, ended.stderr.count("2 files, "))
    alike(follow(folder).report, at_once(folder))


def test_following_ends_on_interrupt_with_the_verdicts(folder: Path, monkeypatch) -> None:
    """By Ctrl-C while it waits for more."""

    def interrupt(_: float) -> None:
        raise KeyboardInterrupt

    clock = SimpleNamespace(time=time.time, sleep=interrupt)
    monkeypatch.setattr(folder_watch, "time", clock)
    report = folder / "_told"
    words = ["check", "--engine", "auto", "--follow", str(folder), "--report", str(report)]
    with contextlib.redirect_stdout(io.StringIO()) as out:
        assert 1 == main(words)
    assert "LIFE-01" in out.getvalue()
    assert reports.read(report).exit_code is ExitCode.VIOLATION


def test_a_file_that_is_being_written_is_waited_for(tmp_path: Path, monkeypatch) -> None:
    """Also where all that is there is to be judged and no more; hidden ones are nobody's."""
    waited = []
    monkeypatch.setattr(folder_watch, "time", SimpleNamespace(time=time.time, sleep=waited.append))
    for name in ("new.jsonl", ".hidden.jsonl", "_busproof/kept.jsonl", "notes.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("{}")
    ledger = Ledger(tmp_path / "_busproof")
    coming = folder_watch.await_batches(tmp_path, ledger, once=True)
    assert {"new.jsonl": 2} == next(coming)
    assert waited
    ledger.files["new.jsonl"] = 2
    assert [] == [*coming]


def test_a_file_that_changed_after_it_was_judged_is_reported(tmp_path: Path) -> None:
    """Nobody takes its new events for judged; one that is gone has changed nothing."""
    (tmp_path / "one.jsonl").write_text("1234")
    ledger = Ledger(tmp_path / "_busproof")
    ledger.files |= {"gone.jsonl": 3, "one.jsonl": 4}
    assert () == folder_watch.find_changes(tmp_path, ledger)
    (tmp_path / "one.jsonl").write_text("12345")
    (problem,) = folder_watch.find_changes(tmp_path, ledger)
    assert problem.startswith("1 file changed after being judged")
    assert "one.jsonl" in problem


def test_a_file_of_other_terms_is_refused_and_nothing_is_lost(folder: Path) -> None:
    first = follow(folder)
    other = attrs.evolve(HEADER, implementation={"name": "another"})
    come(folder / "other.jsonl", list(cases.clean("round-robin", (3,))), other)
    ended = follow(folder)
    assert 2 == ended.code
    assert "clean.jsonl and other.jsonl are of different implementations" in ended.err
    assert first.report is not None
    kept = Ledger(folder / "_busproof")
    assert (2, 1) == (len(kept.files), kept.count)
    alike(kept.conformance(None), first.report)


def test_a_record_that_cannot_be_kept_gets_a_sentence(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "f").write_text("a file, and no folder")
    words = ["check", "--engine", "spark", "--follow", ".", "--checkpoint", "f/x"]
    assert main(words) in (2, 3)
    said = capsys.readouterr().err
    assert "--checkpoint" in said
    assert "Traceback" not in said


def test_an_empty_folder_is_nothing_judged(spark: SparkSession, tmp_path: Path) -> None:
    assert spark.version
    ended = follow(tmp_path)
    assert 2 == ended.code
    assert "no history file (*.jsonl) has arrived in" in ended.err


def test_two_do_not_follow_by_one_record(folder: Path) -> None:
    with Ledger(folder / "_busproof").lock():
        ended = follow(folder)
    assert 2 == ended.code
    assert "another process follows the same folder" in ended.err


def test_a_record_that_is_none_is_reported(folder: Path) -> None:
    (folder / "_busproof").mkdir()
    for text in ("{", "[]", json.dumps({"files": {}, "header": {}, "conformance": {}})):
        (folder / "_busproof" / "batch-000001.json").write_text(text)
        ended = follow(folder)
        assert ended.code in (2, 3)
        assert "cannot keep what was judged in" in ended.err
