"""`tools/slowed.py`: a command gets a part of each core, or runs beside busy loops."""

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from repository import ROOT

TOOL = ROOT / "tools" / "slowed.py"
COUNT = """
from pathlib import Path
import os
children = Path(f"/proc/{os.getppid()}/task/{os.getppid()}/children").read_text().split()
print(len(children) - 1)
print(Path("/proc/self/cgroup").read_text())
raise SystemExit(7)
"""


@pytest.fixture
def slowed() -> ModuleType:
    spec = importlib.util.spec_from_file_location("slowed", TOOL)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def ran(*options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(TOOL), *options, sys.executable, "-c", COUNT]
    return subprocess.run(command, capture_output=True, text=True, check=False)


pytestmark = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="no /proc")


def test_busy_loops_run_beside_the_command_and_end_with_it() -> None:
    ended = ran("--load", "2")
    assert (7, "2") == (ended.returncode, ended.stdout.split()[0])


def groups() -> set[Path]:
    """The control groups of the tool; there is one if this test runs slowed itself."""
    root = Path("/sys/fs/cgroup")
    return {*root.glob("busproof-slowed-*"), *root.glob("cpu/busproof-slowed-*")}


def test_share_is_a_quota_or_as_many_loops() -> None:
    before = groups()
    ended = ran("--share", "0.5")
    assert 7 == ended.returncode
    assert ("busproof-slowed-" in ended.stdout) is ("busy loops instead" not in ended.stdout)
    assert before == groups()


def test_quota_is_a_part_of_each_core(
    slowed: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """In the files of either version; without a place for groups it is an error that is told."""
    monkeypatch.setattr(slowed, "cores", lambda: 4)
    monkeypatch.setattr(slowed, "GROUPS", tmp_path)
    monkeypatch.setattr(slowed, "TRIES", 0)
    with pytest.raises(OSError, match="No such file"), slowed.made_group(0.4):
        pass
    (tmp_path / "cpu").mkdir()
    with slowed.made_group(0.4) as group:
        assert "160000" == (group / "cpu.cfs_quota_us").read_text()
    (tmp_path / "cgroup.controllers").touch()
    with slowed.made_group(0.4) as group:
        assert "160000 100000" == (group / "cpu.max").read_text()
    assert 12 == slowed.loops_for(0.4)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--share", "0.4"], "no command; name one"),
        (["--share", "4", "true"], "--share is 4.0, and must be more than 0 and less than 1"),
    ],
)
def test_senseless_words_are_refused(
    slowed: ModuleType, words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        slowed.main(words)
    assert said in capsys.readouterr().err
