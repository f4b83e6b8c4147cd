"""The suite notices every seeded fault by the tests of the fault's own rule."""

import json
import subprocess
import sys

import pytest

from busproof.adapters.faults import FAULTS
from busproof.auditing import Job, audited_apart
from busproof.errors import ConformanceError, UsageError


@pytest.mark.slow
def test_a_seeded_fault_of_each_family_is_killed_by_its_own_rule(tmp_path):
    """All of them are the work of `make audit`, which the CI runs beside the tests."""
    families = {each.rule.partition("-")[0]: each.id for each in FAULTS}
    command = [sys.executable, "-m", "busproof", "audit", "--format", "json", *families.values()]
    ended = subprocess.run(  # noqa: S603 - our own interpreter and command
        command, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    faults = json.loads(ended.stdout)["faults"]
    assert [] == [each["id"] for each in faults if each["result"] == "silent"]
    assert all(each["why"] for each in faults if each["result"] == "equivalent")
    assert all(each["killed_by"] for each in faults if each["result"] == "killed")
    assert sorted(families.values()) == sorted(each["id"] for each in faults)
    assert 0 == ended.returncode


def test_what_goes_wrong_in_a_fault_s_own_process_is_told_here(tmp_path):
    with pytest.raises(UsageError, match="there is no fault 'none'"):
        audited_apart(Job(fault="none"), tmp_path)
    with pytest.raises(ConformanceError, match=r"there is a run .*mismatch-accepted"):
        for _ in range(2):
            assert "killed" == audited_apart(Job(fault="mismatch-accepted"), tmp_path).result.value
