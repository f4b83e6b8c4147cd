"""`tools/slowed.py`: a command gets a part of each core, or runs beside busy loops."""

import subprocess
import sys
from pathlib import Path

import pytest
from repository import ROOT
from tools import slowed

TOOL = ROOT / "tools" / "slowed.py"
COUNT = """
from pathlib import Path
import os
children = Path(f"/proc/{os.getppid()}/task/{os.getppid()}/children").read_text().split()
print(len(children) - 1)
print(Path("/proc/self/cgroup").read_text())
raise SystemExit(7)
"""


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


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--share", "0.4"], "no command; name one"),
        (["--share", "4", "true"], "--share is 4.0, and must be more than 0 and less than 1"),
    ],
)
def test_senseless_words_are_refused(words, said, capsys) -> None:
    with pytest.raises(SystemExit):
        slowed.main(words)
    assert said in capsys.readouterr().err
