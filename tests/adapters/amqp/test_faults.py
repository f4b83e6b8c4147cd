"""Seeded faults, served by our own broker: the tests of their rules notice them over the wire."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import yaml

from busproof.cli.mutation.audit import Job, audit_apart
from busproof.judging.audit import Result
from busproof.mutants import MUTANTS

from .test_verdicts import by_rule, verdicts

pytestmark = pytest.mark.slow

NOT_CAUGHT: dict[str, str] = yaml.safe_load(
    Path(__file__).with_name("not_caught.yaml").read_text(encoding="utf-8")
)
MOST_NOT_CAUGHT = 14
"""Never more than this; less as soon as something of it is caught."""

SAMPLE = ["key-moves", "mismatch-accepted"]
"""One that is noticed by what was sent before, and one by the answer itself."""


def result_of(fault: str, scratch: Path) -> Result:
    """What became of a fault that was served and asked over AMQP."""
    return audit_apart(Job(fault=fault, wire=True), scratch).result


@pytest.mark.parametrize("fault", SAMPLE)
def test_a_fault_is_caught_over_the_wire(fault: str, tmp_path: Path) -> None:
    assert result_of(fault, tmp_path) is Result.KILLED


def test_uncaught_faults_are_seeded_and_few() -> None:
    assert NOT_CAUGHT.keys() <= {fault.id for fault in MUTANTS}
    assert all(NOT_CAUGHT.values())
    assert len(NOT_CAUGHT) <= MOST_NOT_CAUGHT


@pytest.mark.full_size("minutes for a run of each fault: run by the nightly part broker")
def test_all_faults_are_caught_over_the_wire(tmp_path: Path) -> None:
    with ThreadPoolExecutor(2) as pool:
        found = dict(pool.map(lambda each: (each.id, result_of(each.id, tmp_path)), MUTANTS))
    silent = sorted(each for each, result in found.items() if result is Result.SILENT)
    assert silent == sorted(NOT_CAUGHT)


@pytest.mark.full_size("minutes for all features: run by the nightly part broker")
def test_the_same_bus_without_a_fault_is_not_accused(tmp_path: Path) -> None:
    found = by_rule(verdicts(tmp_path, "--adapter", "amqp?fault=none", "--only", "features"))
    assert [rule for rule, verdict in found.items() if verdict in ("violated", "errored")] == []
