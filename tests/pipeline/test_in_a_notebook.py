"""`busproof.pipeline.check` in a notebook: the result shows itself, and has tables."""

import threading
from pathlib import Path

import pytest
import recorded_cases as cases
from pyspark.sql import SparkSession

from busproof.errors import UsageError
from busproof.pipeline import check
from busproof.pipeline.progress import progress


@pytest.fixture(scope="module")
def histories(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of a client, and one that breaks a rule."""
    file = tmp_path_factory.mktemp("recorded") / "history.jsonl"
    recorded = [*cases.clean("round-robin", range(1)), *cases.corrupted("key moved", 1, 1)]
    cases.write(file, recorded, cases.header())
    return file


def test_result_is_a_table_of_what_was_not_shown(spark: SparkSession, histories: Path) -> None:
    """With the same counts as a sentence; each violation is a row, and so is each rule."""
    found = check(spark, histories, progress=None)
    (broken,) = {row["rule"] for row in found.violations.collect()}
    shown = found._repr_html_()
    assert f"<td>{broken}</td>" in shown
    assert str(found) in shown
    assert "1 violated" in str(found)
    verdicts = {row["rule"]: row["verdict"] for row in found.verdicts.collect()}
    assert "violated" == verdicts[broken]
    assert {rule.id for rule in found.conformance.rules} == set(verdicts)


def test_client_oracle_judges_as_the_command_does(spark: SparkSession, histories: Path) -> None:
    found = check(spark, histories, oracle="client", progress=None)
    assert "client" == found.conformance.oracle


def test_impossible_argument_is_named(spark: SparkSession, histories: Path) -> None:
    with pytest.raises(UsageError, match="oracle is 'fair', and must be strict, client or None"):
        check(spark, histories, oracle="fair")
    with pytest.raises(UsageError, match="mapping names the columns of a table"):
        check(spark, histories, mapping="names.toml")


def test_progress_counts_seconds_and_tasks(spark: SparkSession) -> None:
    heard: list[str] = []
    said = threading.Event()

    def hear(sentence: str) -> None:
        heard.append(sentence)
        said.set()

    with progress(spark, hear, every=0.01):
        assert said.wait(60)
    assert heard[0].startswith("Judging: 0 s")
    length = len(heard)
    with progress(spark, None, every=0.01):
        pass
    assert length == len(heard)
