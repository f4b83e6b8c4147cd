"""What Spark finds of the seeded faults, and that it accuses none of the buses without them."""

import os

import pytest
import recorded_cases as cases
from pyspark.sql import SparkSession
from spark_samples import Sample

from busproof.pipeline.rules import RULES
from busproof.spec import load

pytestmark = pytest.mark.slow

FULL = os.environ.get("BUSPROOF_SIZE") == "full"

ERRORS = "which refusal came is not looked at"
ELSEWHERE = "told by the rule on what was seen instead"
MISSED = {
    "mismatch-wrong-error": ERRORS,
    "keyless-wrong-error": ERRORS,
    "mismatch-refused-yet-stored": ELSEWHERE,
    "dead-partition-refuses-yet-stores": ELSEWHERE,
    "session-read-without-lock": ELSEWHERE,
    "session-out-of-order-after-abandon": "the order of what was given back is not looked at",
    "key-order-lost-after-outage": "the order in queues that had an outage is not looked at",
    "peek-locks": "what a peek leaves behind is not looked at",
    "peek-removes": "what a peek leaves behind is not looked at",
    "lost-at-commit": "what does not come after a commit is not looked at",
    "refused-conflict-comes": ELSEWHERE,
    "full-keeps-what-it-refused": ELSEWHERE,
    "too-large-called-full": ERRORS,
    "too-large-is-kept": ELSEWHERE,
    "scheduled-session-is-next": "which sessions have messages is not looked at",
    "subscription-lifetime-ignored": "the copies of subscriptions are not followed",
    "size-divided": "a refusal for want of room that comes too early is not looked at",
    "scheduled-takes-no-room": "what is scheduled is not counted as taking room",
}
"""Seeded faults of rules that have a query which does not find them; the list may only shrink."""

SAMPLE = frozenset(
    {
        "DEFER-01", "DEFER-05", "DEFER-08", "DLQ-01", "DLQ-06", "DLQ-10", "DLQ-11", "DLQ-14",
        "KEY-08", "LIFE-04", "LIMIT-08", "SCHED-01", "SCHED-04", "SCHED-06", "SCHED-12",
        "SEQ-01", "SESS-16", "SESS-17", "SIZE-04", "SIZE-06", "TTL-01", "TTL-08", "TXN-04",
        "TXN-08",
    }
)  # fmt: skip
"""What is asked at gate size: rules of most frames, none that `test_checking.py` asks."""


@pytest.fixture(scope="module")
def runs(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Sample:
    """The run in which each fault shows, of the bus that has it and of the one that has not."""
    of = {rule.id for rule in load().rules} if FULL else SAMPLE
    histories = [*cases.seeded(faulty=False, rules=of), *cases.seeded(faulty=True, rules=of)]
    file = tmp_path_factory.mktemp("faults") / "history.jsonl"
    return Sample(spark, file, histories, cases.faults_header(), RULES if FULL else SAMPLE)


@pytest.fixture(scope="module")
def faulty(runs: Sample) -> list[cases.Case]:
    return [case for case in runs.cases if case.broken]


def test_a_bus_without_the_fault_is_accused_of_nothing(runs: Sample) -> None:
    """By any query, in any of the runs that show the faults of all rules."""
    conforming = {case.name for case in runs.cases if not case.broken}
    assert len(conforming) > (300 if FULL else 30)
    assert 0 == runs.read.quarantine.count()
    assert {} == {name: rules for name, rules in runs.found.items() if name in conforming}


def test_only_what_the_model_accuses_is_accused(runs: Sample, faulty: list[cases.Case]) -> None:
    """A fault that no test can tell from a conforming bus is none to Spark either."""
    accused = [case for case in faulty if case.name in runs.found]
    assert len(accused) > (100 if FULL else 25)
    assert [] == [case.name for case in accused if not cases.is_accused(case)]


def test_the_query_of_a_rule_finds_the_faults_of_that_rule(
    runs: Sample, faulty: list[cases.Case]
) -> None:
    """Each that the model finds, but for those that are listed with a reason."""
    missed = {
        case.name
        for case in faulty
        if case.broken <= runs.rules
        and not case.broken & runs.found.get(case.name, set())
        and cases.is_accused(case)
    }
    asked = {case.name for case in faulty if case.broken <= runs.rules}
    assert set(MISSED) & asked == missed


def test_every_query_finds_a_fault_of_its_rule(runs: Sample, faulty: list[cases.Case]) -> None:
    """None is there that finds nothing."""
    found = {rule for case in faulty for rule in case.broken & runs.found.get(case.name, set())}
    assert runs.rules == found
