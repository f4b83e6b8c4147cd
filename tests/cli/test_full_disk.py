"""On a full disk a run ends with one sentence, and what was recorded before can be read."""

import os
import resource
import subprocess

import pytest
from programs import refuse

from busproof.history.conformance import Verdict
from busproof.history.files import load

pytestmark = pytest.mark.slow


FULL = os.environ.get("BUSPROOF_SIZE") == "full"
FEW = ("--only", "features", "--rule", "KEY", "--rule", "LIFE")
"""More than the disks of these tests have room for."""


def limited(size: int):
    """No file may grow beyond `size` bytes, as on a disk with a quota."""
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


@pytest.mark.parametrize("size", [100_000, 60_001] if FULL else [60_001])
def test_a_history_that_cannot_grow_is_judged_as_far_as_it_goes(busproof, size):
    """The scenario in which it happened is errored; the sentence names the file and the cause."""
    ended = busproof("run", *FEW, "--jobs", "1", "--name", "it", prepare=limited(size))
    run = busproof.run("it")
    kept = (run.folder / "history.jsonl").stat().st_size
    assert 3 == ended.code == run.report.exit_code
    assert size - 2000 < kept <= size
    assert (
        "cannot write the history reports/runs/it/history.jsonl: File too large; "
        f"the first {kept} bytes were kept and can be read"
    ) in ended.problems
    assert not run.history.cut
    assert run.rules(Verdict.SHOWN)
    assert [] == ended.sentences


def test_run_without_space_for_a_header_leaves_nothing(busproof):
    """There is nothing to judge, and one sentence says why."""
    ended = busproof("run", "--only", "features", "--rule", "KEY-08", prepare=limited(200))
    assert 3 == ended.code
    assert "File too large; the first 0 bytes were kept" in ended.sentence
    assert set() == busproof.runs


@pytest.mark.needs("mount")
def test_a_full_disk_keeps_what_was_recorded_and_prints_the_verdicts(busproof, tmp_path):
    """Not even the report finds room, so that it is said and not written."""
    disk = tmp_path / "disk"
    disk.mkdir()
    small = ["mount", "-t", "tmpfs", "-o", "size=200k", "none", str(disk)]
    if subprocess.run(small, check=False, capture_output=True).returncode:
        refuse("root")
    try:
        ended = busproof("run", *FEW, "--jobs", "1", "--name", "it", folder=disk)
        history = load(disk / "reports/runs/it/history.jsonl")
    finally:
        subprocess.run(["umount", "--lazy", str(disk)], check=True)
    assert 3 == ended.code
    assert "No space left on device" in ended.problems
    assert "cannot write the report reports/runs/it/conformance.json" in ended.sentences[0]
    assert history.scenarios
    assert f"{sum(len(each.events) for each in history.scenarios)} events" in ended.out
