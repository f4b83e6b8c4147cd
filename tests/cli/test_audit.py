"""The suite notices every seeded fault by the tests of the fault's own rule."""

import json
import os
import subprocess
import sys

import attrs
import pytest

from busproof.cli.mutation.audit import Job, audit_apart, record_apart
from busproof.errors import ConformanceError, UsageError
from busproof.mutants import MUTANTS

FULL = os.environ.get("BUSPROOF_SIZE") == "full"
COMPARED = [each.id for each in MUTANTS[:: len(MUTANTS) // 12]] if FULL else ["abandoned-is-lost"]


@pytest.mark.slow
@pytest.mark.full_size("`make audit` does it for all faults: run by the nightly part commands")
def test_a_seeded_fault_of_each_family_is_killed_by_its_own_rule(tmp_path):
    families = {each.rule.partition("-")[0]: each.id for each in MUTANTS}
    command = [sys.executable, "-m", "busproof", "audit", "--format", "json", *families.values()]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    faults = json.loads(ended.stdout)["faults"]
    assert [] == [each["id"] for each in faults if each["result"] == "silent"]
    assert all(each["why"] for each in faults if each["result"] == "equivalent")
    assert all(each["killed_by"] for each in faults if each["result"] == "killed")
    assert sorted(families.values()) == sorted(each["id"] for each in faults)
    assert 0 == ended.returncode


def test_error_in_the_process_of_a_fault_is_raised_here(tmp_path):
    with pytest.raises(UsageError, match="there is no fault 'none'"):
        audit_apart(Job(fault="none"), tmp_path)
    with pytest.raises(ConformanceError, match=r"there is a run .*mismatch-accepted"):
        for _ in range(2):
            assert "killed" == audit_apart(Job(fault="mismatch-accepted"), tmp_path).result.value


@pytest.mark.slow
def test_equal_answers_need_no_run(tmp_path):
    """The matrix is the same as if every scenario were run on every fault."""
    for fault in COMPARED:
        whole = Job(fault=fault, whole=FULL)
        beside = record_apart(whole.counterpart(), tmp_path)
        left_out = audit_apart(attrs.evolve(whole, beside=beside), tmp_path / "left out")
        assert left_out == audit_apart(whole, tmp_path / "whole")
        assert left_out.violated


def test_a_fault_that_changes_no_answer_is_silent(tmp_path):
    own = Job(fault="mismatch-accepted")
    beside = record_apart(own.request(), tmp_path)
    found = audit_apart(attrs.evolve(own, beside=beside), tmp_path)
    assert ("silent", ()) == (found.result.value, found.killed_by)
    assert "every scenario has the same answers as without it" == found.why
