"""`busproof client`: what it prints and writes, its exit codes, and what it refuses."""

import json
import sys
from pathlib import Path

import pytest

from busproof.cli.main import main

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
PROTON = ROOT / "examples" / "clients" / "proton_client.py"
PRINTS_NOTHING = [sys.executable, "-c", ""]


def client(*words: str) -> int:
    return main(["client", *words])


def test_run_writes_a_page_json_and_a_badge(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    code = client(
        *("--rule", "CLIENT-01", "--report", str(tmp_path), "--format", "json"),
        *("--", sys.executable, str(PROTON)),
    )
    printed = json.loads(capsys.readouterr().out)
    assert printed == json.loads((tmp_path / "client.json").read_text())
    assert [(one["rule"], one["verdict"]) for one in printed["rules"]] == [("CLIENT-01", "shown")]
    assert printed["level"] == {"id": "client", "state": "partial"}
    assert 'id="CLIENT-01"' in (tmp_path / "client.html").read_text()
    assert "busproof client: partial" in (tmp_path / "client.svg").read_text()
    assert code == 0


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("", "ended and reported neither 'done' nor 'unsupported'"),
        ("print('hello')", "printed 'hello', which is no report in JSON"),
        ("raise SystemExit('why')", "ended with exit code 1: why"),
    ],
)
def test_program_that_fails_has_errored(tmp_path: Path, capsys, program: str, said: str):
    words = ("--rule", "CLIENT-04", "--report", str(tmp_path), "--", sys.executable, "-c", program)
    assert client(*words) == 3
    printed = " ".join(capsys.readouterr().out.split())
    assert f"CLIENT-04 errored: names: the program {said}" in printed


def test_program_that_ignores_its_task_shows_nothing(tmp_path: Path, capsys):
    program = """print('{"event": "done"}')"""
    words = ("--rule", "CLIENT-04", "--report", str(tmp_path), "--", sys.executable, "-c", program)
    assert client(*words) == 3
    assert "CLIENT-04 not shown: names: 0 of 3 messages were sent" in capsys.readouterr().out


def test_program_that_never_ends_is_inconclusive(tmp_path: Path, capsys):
    program = "import time; time.sleep(1000)"
    words = ("--rule", "CLIENT-04", "--report", str(tmp_path), "--timeout", "0.1")
    assert client(*words, "--", sys.executable, "-c", program) == 3
    assert "CLIENT-04 inconclusive" in capsys.readouterr().out


def test_rules_of_a_task_that_is_unsupported_are_not_applicable(tmp_path: Path, capsys):
    program = """print('{"event": "unsupported", "reason": "no keys"}')"""
    words = ("--rule", "CLIENT-04", "--report", str(tmp_path), "--", sys.executable, "-c", program)
    assert client(*words) == 0
    assert "CLIENT-04 not applicable: names: no keys" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "no program is named; write it behind --"),
        (("--", "no-such-program"), "cannot start 'no-such-program'"),
        (("--rule", "KEY-01", "--", "true"), "there is no rule 'KEY-01' for clients"),
        (("--scenario", "x", "--", "true"), "there is no scenario 'x'; there are batch"),
        (("--timeout", "0", "--", "true"), "the timeout is 0 s"),
        (("--jobs", "0", "--", "true"), "--jobs is 0; give 1 to 64"),
    ],
)
def test_wrong_usage_is_one_sentence(capsys, words: tuple[str, ...], said: str):
    assert client(*words) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert said in line


def test_report_that_cannot_be_written_is_one_sentence(tmp_path: Path, capsys):
    (tmp_path / "file").write_text("")
    words = ("--rule", "CLIENT-04", "--report", str(tmp_path / "file"), "--", *PRINTS_NOTHING)
    assert client(*words) == 3
    assert "cannot write the report in" in capsys.readouterr().err
