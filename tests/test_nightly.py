"""`tools/nightly.py`: parts of the nightly checks are resumed, kept and repeated when due."""

import json
import sys
from pathlib import Path
from types import ModuleType

import pytest
from tools import nightly as tool
from tools.benchmarks import figures

pytestmark = pytest.mark.needs("git")

ROOT = Path(__file__).parent.parent


@pytest.fixture
def nightly(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ModuleType:
    """The tool, with results in an empty folder and two parts of one and two steps."""
    monkeypatch.setattr(tool, "RESULTS", tmp_path)
    monkeypatch.setattr(tool, "PRODUCT", ("pyproject.toml",))
    monkeypatch.setattr(tool, "PARTS", {"short": (step(tool, "a"),), "long": ()})
    return tool


def step(nightly: ModuleType, name: str, code: str = "print('rows: 3 (at most 4)')"):
    return nightly.Step(name, f'"{sys.executable}" -c "{code}"')


def ran(nightly: ModuleType, monkeypatch, capsys, *arguments: str) -> tuple[int, list[str]]:
    """Call the tool; return its exit code and the steps that were run."""
    monkeypatch.setattr(sys, "argv", ["nightly.py", *arguments])
    code = nightly.main()
    out = capsys.readouterr().out
    return code, [line.partition(": ")[2] for line in out.splitlines() if line.startswith("== ")]


def test_a_part_keeps_commit_date_and_figures_with_their_bounds(
    nightly, monkeypatch, capsys, tmp_path
) -> None:
    assert (0, ["a"]) == ran(nightly, monkeypatch, capsys, "short")
    kept = json.loads((tmp_path / "short.json").read_text())
    assert [] == kept["failed"]
    (result,) = kept["steps"].values()
    assert {"commit", "date", "digest", "seconds"} <= result.keys()
    kept = {"figure": "rows", "value": 3.0, "bound": 4.0, "target": None, "holds": True}
    assert [kept] == result["figures"]


def test_figures_are_read_as_benchmarks_print_them(nightly: ModuleType) -> None:
    printed = [
        figures.Figure("MB in the end", 1637.0),
        figures.at_most("rows, the median", 3, 4),
        figures.at_least("rows", 3, 1_000_000),
        figures.at_most("growth", 1.7, 1.8, target=1.3),
        figures.at_most("growth, worse", 1.9, 1.8, target=1.3),
    ]
    lines = "".join(f"{figure}\n" for figure in printed)
    assert "growth: 1.70 (at most 1.8; target 1.3)\n" in lines
    assert [
        (figure.name, figure.value, figure.bound, figure.target, figure.holds) for figure in printed
    ] == [tuple(read.values()) for read in nightly.figures(lines)]
    assert ["rows", "growth, worse"] == nightly.failures(lines)


def test_only_what_is_missing_failed_or_out_of_date_is_run(nightly, monkeypatch, capsys) -> None:
    fails = step(nightly, "b", "raise SystemExit('rows: 5 (at most 4, which does not hold)')")
    nightly.PARTS["long"] = (step(nightly, "a"), fails)
    assert (1, ["a", "a", "b"]) == ran(nightly, monkeypatch, capsys)
    assert ["rows"] == nightly.known("long")["b"]["failed"]
    assert (1, ["b"]) == ran(nightly, monkeypatch, capsys)
    nightly.PARTS["long"] = (step(nightly, "a"), step(nightly, "b"))
    assert (0, ["b"]) == ran(nightly, monkeypatch, capsys)
    assert (0, []) == ran(nightly, monkeypatch, capsys)
    nightly.PRODUCT = ("README.md",)
    assert "out of date" == nightly.state("short")
    assert (0, ["a", "a", "b"]) == ran(nightly, monkeypatch, capsys)


def test_a_part_that_was_broken_off_goes_on_where_it_was(nightly, monkeypatch, capsys) -> None:
    interrupts = step(nightly, "b", "import os, signal; os.kill(os.getppid(), signal.SIGINT)")
    nightly.PARTS["long"] = (step(nightly, "a"), interrupts, step(nightly, "c"))
    assert (130, ["a", "b"]) == ran(nightly, monkeypatch, capsys, "long")
    assert "broken off" == nightly.state("long")
    nightly.PARTS["long"] = (step(nightly, "a"), step(nightly, "b"), step(nightly, "c"))
    assert (0, ["b", "c"]) == ran(nightly, monkeypatch, capsys, "long")


def test_a_whole_part_is_run_again_when_it_is_asked_for(nightly, monkeypatch, capsys) -> None:
    for _ in range(2):
        assert (0, ["a"]) == ran(nightly, monkeypatch, capsys, "short")


def test_a_result_that_cannot_be_read_counts_as_none(nightly, tmp_path) -> None:
    (tmp_path / "short.json").write_text('{"steps": ')
    assert "not run" == nightly.state("short")


def test_the_status_runs_nothing_and_names_what_failed(nightly, monkeypatch, capsys) -> None:
    nightly.PARTS["long"] = (step(nightly, "b", "raise SystemExit(1)"),)
    ran(nightly, monkeypatch, capsys)
    monkeypatch.setattr(sys, "argv", ["nightly.py", "--status"])
    assert 0 == nightly.main()
    rows = {line.split()[0]: line for line in capsys.readouterr().out.splitlines()}
    assert " passed " in rows["short"]
    assert " failed " in rows["long"]
    assert rows["long"].endswith(" b")


def test_step_that_a_part_no_longer_has_counts_no_more(nightly, monkeypatch, capsys) -> None:
    nightly.PARTS["long"] = (step(nightly, "a"), step(nightly, "b", "raise SystemExit(1)"))
    assert (1, ["a", "b"]) == ran(nightly, monkeypatch, capsys, "long")
    nightly.PARTS["long"] = (step(nightly, "a"),)
    assert ["a"] == list(nightly.known("long"))
    assert "passed" == nightly.state("long")


def test_every_test_at_full_size_is_in_a_part() -> None:
    """No folder of tests is forgotten."""
    source = (ROOT / "tools" / "nightly.py").read_text(encoding="utf-8")
    folders = {path.parent.relative_to(ROOT).as_posix() for path in ROOT.glob("tests/*/test_*.py")}
    assert {"tests/model"} <= folders
    assert set() == {folder for folder in folders if f'"{folder}"' not in source}
