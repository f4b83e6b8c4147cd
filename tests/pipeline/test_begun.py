"""On Spark, a history that begins in the middle has the verdicts that it has in one process."""

import json
from pathlib import Path

import attrs
import pytest
import recorded_cases as cases
from pyspark.sql import SparkSession

from busproof.history.files import load
from busproof.history.records import Began
from busproof.judging.verdicts import conformance
from busproof.pipeline.checking import check
from busproof.pipeline.sources import find_source
from busproof.reports.document import view
from busproof.spec import load as load_catalogue

pytestmark = pytest.mark.slow


def test_both_engines_leave_the_same_unjudged(spark: SparkSession, tmp_path: Path) -> None:
    """Of a valid history and one with a settled message that is given again."""
    middles = [
        attrs.evolve(case, events=tuple(event for event in case.events if event.called))
        for case in (*cases.clean("round-robin", [1]), *cases.corrupted("completed again", 1, 1))
    ]
    file = tmp_path / "history.jsonl"
    cases.write(file, middles, cases.header())
    history = load(file)
    header = attrs.evolve(history.header, began=Began())
    one = view(conformance(attrs.evolve(history, header=header), load_catalogue()))
    other = view(check(spark, find_source(str(file)), began=Began()).conformance)
    assert json.dumps(one, indent=1) == json.dumps(other, indent=1)
    assert one["unjudged"]
    assert 1 == one["summary"]["violated"]
