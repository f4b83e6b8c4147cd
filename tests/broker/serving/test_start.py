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

from ..test_bounds import cpu

MOST_CPU: Final = 0.6
"""Seconds of processor time."""
MOST_MEMORY: Final = 60 * 2**20
"""Bytes of resident memory."""
SERVE: Final = (
    *(sys.executable, "-m", "busproof", "serve"),
    *("--port", "0", "--admin-port", "0"),
)
NOT_NEEDED: Final = ("busproof.mutants", "busproof.oracle", "hypothesis", "pytest", "structlog")


@contextmanager
def started(said: Path, **env: str) -> Iterator[int]:
    """The process id of a broker that listens; what it says is in a file."""
    with said.open("w", encoding="utf-8") as file:
        process = subprocess.Popen(SERVE, stdout=file, stderr=file, env=os.environ | env)
    with process:
        try:
            while "Endpoint=" not in said.read_text(encoding="utf-8"):
                assert process.poll() is None
                time.sleep(0.05)
            yield process.pid
        finally:
            process.kill()


def memory(process_id: int) -> int:
    """Bytes of memory that a process has."""
    status = Path(f"/proc/{process_id}/status").read_text(encoding="utf-8")
    return int(status.partition("VmRSS:")[2].split()[0]) * 1024


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="no /proc")
def test_start_is_cheap(tmp_path: Path) -> None:
    """The best of three, because the machine may have other work."""
    costs = []
    for _ in range(3):
        with started(tmp_path / "said") as process:
            costs.append((cpu(process), memory(process)))
    assert min(seconds for seconds, _ in costs) < MOST_CPU, costs
    assert min(size for _, size in costs) < MOST_MEMORY, costs


def test_start_imports_nothing_that_serving_does_without(tmp_path: Path) -> None:
    with started(tmp_path / "said", PYTHONPROFILEIMPORTTIME="1"):
        pass
    lines = (tmp_path / "said").read_text(encoding="utf-8").splitlines()
    names = {line.rpartition("|")[2].strip() for line in lines}
    assert "busproof.broker.server" in names
    assert names.isdisjoint(NOT_NEEDED), names & set(NOT_NEEDED)
