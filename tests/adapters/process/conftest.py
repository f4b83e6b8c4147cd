"""Fixtures of the tests of child processes."""

import os
import shlex
import sys
import tempfile
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from children import CHILD, Make
from work import PATIENCE, until

from busproof.adapters.process import ProcessAdapter
from busproof.errors import AdapterError


@pytest.fixture(autouse=True)
def nothing_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No process of this test, no file of it and no descriptor outlives it."""
    mark = f"BUSPROOF_TEST={uuid.uuid4()}"
    monkeypatch.setenv(*mark.split("="))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    descriptors = _descriptors()
    yield
    assert until(lambda: not _running(mark)), _running(mark)
    assert [] == [file for file in tmp_path.iterdir() if file.name.startswith("tmp")]
    assert descriptors == _descriptors()


def _descriptors() -> int:
    folder = Path("/proc/self/fd")
    return len(list(folder.iterdir())) if folder.exists() else 0


def _running(mark: str) -> list[str]:
    return [
        process.name
        for process in Path("/proc").glob("[0-9]*")
        if int(process.name) != os.getpid() and (_is_ours(process, mark) or _is_zombie(process))
    ]


def _is_ours(process: Path, mark: str) -> bool:
    try:
        return mark.encode() in (process / "environ").read_bytes()
    except OSError:
        return False


def _is_zombie(process: Path) -> bool:
    try:
        state, parent = (process / "stat").read_text().rpartition(")")[2].split()[:2]
    except OSError:
        return False
    return state == "Z" and int(parent) == os.getpid()


@pytest.fixture
def make() -> Iterator[Make]:
    made = []

    def make(*arguments: str, timeout: float = PATIENCE) -> ProcessAdapter:
        command = shlex.join([sys.executable, "-I", "-S", str(CHILD), *arguments])
        made.append(ProcessAdapter(command, timeout))
        return made[-1]

    yield make
    for adapter in made:
        try:
            adapter.stop()
        except AdapterError:
            adapter.stop()
