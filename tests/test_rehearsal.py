"""The rehearsal of a release says what failed; its parts run in `make release-rehearsal`."""

import sys
from pathlib import Path

import pytest
from tools.release import rehearsal

pytestmark = pytest.mark.slow


@pytest.fixture
def it(tmp_path: Path) -> rehearsal.Rehearsal:
    """A rehearsal in an empty folder."""
    return rehearsal.Rehearsal(tmp_path)


def run(it: rehearsal.Rehearsal, code: int, *codes: int) -> None:
    """Run a program that prints a line and ends with an exit code.

    It is busy for longer than the clock of processors takes for a tick.
    """
    busy = "sum(range(3_000_000)); print('a line')"
    command = [sys.executable, "-c", f"{busy}; raise SystemExit({code})"]
    it.run(command, it.folder, codes=codes or (0,))


def test_part_passes_with_the_exit_code_that_is_expected(it: rehearsal.Rehearsal) -> None:
    it.do("well", lambda: run(it, 0))
    it.do("violated", lambda: run(it, 1, 1))
    assert ["passed", "passed"] == [row.outcome for row in it.rows]
    assert all(row.processors > 0 for row in it.rows)


def test_part_fails_with_any_other_and_the_rest_goes_on(it: rehearsal.Rehearsal) -> None:
    it.do("wrong", lambda: run(it, 3))
    it.do("missing", lambda: it.run(["no-such-program"], it.folder) and None)
    it.do("well", lambda: run(it, 0))
    wrong, missing, well = (row.outcome for row in it.rows)
    assert wrong.startswith("failed: ")
    assert wrong.endswith("ended with 3: a line")
    assert "no-such-program" in missing
    assert "passed" == well
    assert "-> 3" in (it.folder / "log.txt").read_text(encoding="utf-8")


def test_a_failed_part_is_the_exit_code(monkeypatch, capsys, tmp_path) -> None:
    monkeypatch.setattr(sys, "argv", ["rehearsal.py", "--keep", str(tmp_path)])
    rows = [
        rehearsal.Row("a clone", "passed", 1.0, 0.5),
        rehearsal.Row("a stranger", "failed: no page", 2.0, 3.0),
    ]
    monkeypatch.setattr(rehearsal, "rehearse", lambda _: rows)
    assert 1 == rehearsal.main()
    assert "| a stranger | failed: no page | 2 | 3 |" in capsys.readouterr().out
    monkeypatch.setattr(rehearsal, "rehearse", lambda _: rows[:1])
    assert 0 == rehearsal.main()
