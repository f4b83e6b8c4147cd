"""`tools/nightly.py`: what has passed is not run again, and no test is forgotten."""

import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from doit.cmd_base import ModuleTaskLoader
from doit.doit_cmd import DoitMain
from tools import nightly as tool

pytestmark = pytest.mark.needs("git")

ROOT = Path(__file__).parent.parent


@pytest.fixture
def nightly(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[ModuleType]:
    """The tool, with results in an empty folder, and a part of two steps that pass."""
    monkeypatch.setattr(tool, "RESULTS", tmp_path)
    monkeypatch.setattr(tool, "PRODUCT", ("pyproject.toml",))
    monkeypatch.setattr(tool, "PARTS", {"part": (step("a"), step("b"))})
    monkeypatch.setitem(tool.DOIT_CONFIG, "dep_file", str(tmp_path / "passed.sqlite3"))
    terminate = signal.getsignal(signal.SIGTERM)
    yield tool
    signal.signal(signal.SIGTERM, terminate)


def step(name: str, code: str = "print('rows: 3')") -> tool.Step:
    return tool.Step(name, f'"{sys.executable}" -c "{code}"')


def run(nightly: ModuleType, capfd: pytest.CaptureFixture[str]) -> tuple[bool, list[str]]:
    """Run all that is due; return whether all passed, and the steps that were run."""
    code = DoitMain(ModuleTaskLoader(vars(nightly))).run(["run"])
    lines = capfd.readouterr().out.splitlines()
    return code == 0, [line.split(": ")[1] for line in lines if ": exit code " in line]


def test_only_what_is_missing_failed_or_changed_is_run(nightly, capfd, monkeypatch) -> None:
    nightly.PARTS["part"] = (step("a"), step("b", "raise SystemExit(1)"), step("c"))
    assert (False, ["a", "b", "c"]) == run(nightly, capfd)
    assert (False, ["b"]) == run(nightly, capfd)
    nightly.PARTS["part"] = (step("a"), step("b"), step("c"))
    assert (True, ["b"]) == run(nightly, capfd)
    assert (True, []) == run(nightly, capfd)
    monkeypatch.setattr(nightly, "PRODUCT", ("README.md",))
    assert (True, ["a", "b", "c"]) == run(nightly, capfd)


def test_what_a_step_prints_is_kept(nightly, capfd, tmp_path) -> None:
    run(nightly, capfd)
    assert "rows: 3\n" == (tmp_path / "part-a.txt").read_text(encoding="utf-8")


def test_what_was_interrupted_goes_on_where_it_was(nightly, capfd) -> None:
    interrupts = step("b", "import os, signal; os.kill(os.getppid(), signal.SIGTERM)")
    nightly.PARTS["part"] = (step("a"), interrupts, step("c"))
    with pytest.raises(SystemExit, match="goes on from here"):
        run(nightly, capfd)
    capfd.readouterr()
    nightly.PARTS["part"] = (step("a"), step("b"), step("c"))
    assert (True, ["b", "c"]) == run(nightly, capfd)


def test_every_test_at_full_size_is_in_a_part() -> None:
    """No folder of tests is forgotten."""
    source = (ROOT / "tools" / "nightly.py").read_text(encoding="utf-8")
    folders = {path.parent.relative_to(ROOT).as_posix() for path in ROOT.glob("tests/*/test_*.py")}
    assert {"tests/model"} <= folders
    assert set() == {folder for folder in folders if f'"{folder}"' not in source}
