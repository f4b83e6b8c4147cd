"""The start of a broker: what it costs until it listens, and what it does without."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest
from work import PATIENCE

MOST_CALLS: Final = 1_500_000
"""Functions called until it listens: half more than there are."""
MOST_MEMORY: Final = 60 * 2**20
"""Bytes of resident memory."""
ARGUMENTS: Final = ("serve", "--port", "0", "--admin-port", "0")
SERVE: Final = (sys.executable, "-m", "busproof", *ARGUMENTS)
COUNTED: Final = f"""
import cProfile, runpy, sys
sys.argv = ["busproof", *{ARGUMENTS!r}]
profile = cProfile.Profile(subcalls=False)
profile.enable()
try:
    runpy.run_module("busproof", run_name="__main__")
finally:
    profile.disable()
    print("calls", sum(each.callcount for each in profile.getstats()))
"""
NOT_NEEDED: Final = ("busproof.mutants", "hypothesis", "pytest", "structlog")


@contextmanager
def started(
    said: Path, command: tuple[str, ...] = SERVE, **env: str
) -> Iterator[subprocess.Popen[bytes]]:
    """A broker that listens; what it says is in a file."""
    with said.open("w", encoding="utf-8") as file:
        process = subprocess.Popen(command, stdout=file, stderr=file, env=os.environ | env)
    with process:
        try:
            while "Endpoint=" not in said.read_text(encoding="utf-8"):
                assert process.poll() is None
                time.sleep(0.05)
            yield process
        finally:
            process.kill()


def memory(process_id: int) -> int:
    """Bytes of memory that a process has."""
    status = Path(f"/proc/{process_id}/status").read_text(encoding="utf-8")
    return int(status.partition("VmRSS:")[2].split()[0]) * 1024


@pytest.mark.slow
def test_start_calls_few_functions(tmp_path: Path) -> None:
    with started(tmp_path / "said", (sys.executable, "-c", COUNTED)) as process:
        process.terminate()
        assert process.wait(PATIENCE) == 0
    said = (tmp_path / "said").read_text(encoding="utf-8")
    assert int(said.rpartition("calls ")[2]) <= MOST_CALLS


@pytest.mark.slow
@pytest.mark.skipif(
    not Path("/proc/self/stat").exists(), reason="memory is read from /proc, which only Linux has"
)
def test_start_takes_little_memory(tmp_path: Path) -> None:
    with started(tmp_path / "said") as process:
        assert memory(process.pid) < MOST_MEMORY


def test_start_imports_nothing_that_serving_does_without(tmp_path: Path) -> None:
    with started(tmp_path / "said", PYTHONPROFILEIMPORTTIME="1"):
        pass
    lines = (tmp_path / "said").read_text(encoding="utf-8").splitlines()
    names = {line.rpartition("|")[2].strip() for line in lines}
    assert "busproof.broker.server" in names
    assert names.isdisjoint(NOT_NEEDED), names & set(NOT_NEEDED)
