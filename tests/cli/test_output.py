"""What a run prints, and where: verdicts on the output, all else beside it."""

import json
import os
import pty
import re
import sys
import time
from pathlib import Path

import pytest
from preloaded import popen
from work import until

from busproof.cli.console import busy, progress
from busproof.cli.running import one_run
from busproof.cli.running.child_run import Counted
from busproof.history.conformance import Verdict
from busproof.reports.document import conformance_of

pytestmark = pytest.mark.slow

BESIDE = """\
Report: reports/runs/it
Next: busproof report it writes a page; busproof adapters lists what can be tested
"""
COLOUR = re.compile(r"\x1b\[(?:\d+;)*(?:[349]|10)\d[;m]")


def seen(busproof, *arguments: str, **environment: str) -> tuple[str, str]:
    """Output, and what a terminal behind standard error was sent."""
    ours, theirs = pty.openpty()
    # A file: nobody reads from a pipe while the terminal is read, and a report may fill it.
    printed = busproof.folder / "printed.txt"
    with printed.open("w") as output:
        process = popen(
            [sys.executable, "-m", "busproof", *arguments],
            cwd=busproof.folder,
            env=busproof.environment | {"TERM": "xterm"} | environment,
            stdout=output,
            stderr=theirs,
        )
    os.close(theirs)
    shown = b""
    try:
        while chunk := os.read(ours, 4096):
            shown += chunk
    except OSError:
        pass  # Linux tells so that nobody has the terminal open any more
    os.close(ours)
    process.wait()
    return printed.read_text(), shown.decode()


def test_json_is_all_that_is_printed(busproof):
    """And the output is the report that stands in the folder."""
    chosen = ("--only", "features", "--rule", "KEY-08", "--name", "it")
    ended = busproof("run", *chosen, "--format", "json")
    assert 0 == ended.code
    assert BESIDE == ended.err
    printed = json.loads(ended.out)
    assert busproof.run("it").report == conformance_of(printed)
    assert json.loads((busproof.run("it").folder / "conformance.json").read_text()) == printed


def test_progress_goes_to_a_terminal_and_nowhere_else(busproof):
    """The bar counts scenarios on standard error; the JSON stays JSON."""
    out, shown = seen(busproof, "run", "--only", "features", "--format", "json", "--rule", "KEY-09")
    assert json.loads(out)
    assert "Running on model" in shown
    assert re.search(r"(\d+) of \1 scenarios", shown)


def test_no_progress_goes_to_a_file_where_colours_are_forced(busproof):
    words = ("run", "--only", "features", "--rule", "KEY-09", "--name", "it")
    ended = busproof(*words, environment={"FORCE_COLOR": "1"})
    assert BESIDE == ended.err


def test_no_color_takes_all_colours_away(busproof):
    """On a terminal, and where colours are forced."""
    _, plain = seen(busproof, "run", "--only", "features", "--rule", "KEY-09", NO_COLOR="1")
    assert not COLOUR.search(plain)
    forced = {"FORCE_COLOR": "1", "NO_COLOR": "1"}
    ended = busproof("run", "--only", "features", "--rule", "KEY-09", environment=forced)
    assert not COLOUR.search(ended.out)


def test_a_report_is_plain_text_where_there_is_no_terminal(busproof):
    """No escape sequence at all, and no progress."""
    ended = busproof("run", "--only", "features", "--rule", "KEY-09", "--name", "it")
    assert "\x1b" not in ended.out
    assert BESIDE == ended.err
    assert "KEY-09" in ended.out


def test_latest_points_to_the_newest_run(busproof):
    """One name for whoever looks at the last run."""
    for name in ("one", "two"):
        busproof("run", "--only", "features", "--rule", "KEY-09", "--name", name)
    latest = busproof.folder / "reports/runs/latest"
    assert "two" == os.readlink(latest)  # noqa: PTH115 - a str
    assert 0 == busproof("check", str(latest)).code


def test_runs_without_a_name_have_folders_of_their_own(busproof):
    """Even those that begin in the same millisecond."""
    started = [busproof.start("run", "--only", "features", "--rule", "KEY-09") for _ in range(2)]
    assert [0, 0] == [busproof.finish(each).code for each in started]
    assert 2 == len(busproof.runs - {"latest"})


def test_files_in_the_users_folder_do_not_stand_in_for_pythons_own(busproof):
    """A project may well have a queue.py, a types.py and a json.py."""
    program = Path(sys.executable).with_name("busproof")
    assert program.exists(), "busproof must be installed beside this Python: `make test` does so"
    for name in ("queue", "types", "json", "random", "conftest", "pytest"):
        (busproof.folder / f"{name}.py").write_text("raise RuntimeError('not that one')\n")
    words = ("run", "--only", "features", "--rule", "KEY-08", "--name", "it")
    ended = busproof(*words, program=(str(program),))
    assert Verdict.SHOWN is busproof.run("it").verdict("KEY-08").verdict, ended.err


def test_options_of_a_users_pytest_do_not_reach_a_run(busproof):
    """The features run as they are, whatever the folder and the environment say."""
    (busproof.folder / "pytest.ini").write_text("[pytest]\naddopts = -k nothing --no-such\n")
    (busproof.folder / "conftest.py").write_text("raise RuntimeError('not that one')\n")
    environment = {"PYTEST_ADDOPTS": "-k nothing", "PYTEST_PLUGINS": "no_such_plugin"}
    words = ("run", "--only", "features", "--rule", "KEY-08", "--name", "it")
    busproof(*words, environment=environment)
    assert Verdict.SHOWN is busproof.run("it").verdict("KEY-08").verdict


def test_long_work_writes_a_line_now_and_then_without_a_terminal(monkeypatch, capsys):
    monkeypatch.setattr("busproof.cli.console.EVERY", 0.01)
    said: list[str] = []

    def is_said() -> bool:
        said.append(capsys.readouterr().err)
        return re.search(r"^Judging 7 events: \d+ s$", "".join(said), re.MULTILINE) is not None

    with busy("Judging 7 events", lines=True):
        assert until(is_said)
    capsys.readouterr()
    with busy("Waiting"):
        time.sleep(0.05)
    assert "" == capsys.readouterr().err


def test_progress_is_a_line_every_half_minute_without_a_terminal(monkeypatch, capsys):
    with progress("Seeded faults", 3) as advance:
        advance()
    assert "" == capsys.readouterr().err
    monkeypatch.setattr("busproof.cli.console.EVERY", 0)
    with progress("Seeded faults", 3) as advance:
        advance()
        advance()
    assert [
        "Seeded faults: 1 of 3",
        "Seeded faults: 2 of 3",
    ] == capsys.readouterr().err.splitlines()


def test_an_audit_shows_its_progress_in_a_terminal(busproof):
    printed, shown = seen(busproof, "audit", "mismatch-accepted")
    assert "1 killed" in printed
    assert "Seeded faults" in shown
    assert "100%" in shown


def test_verdicts_of_a_family_are_printed_at_once_without_a_terminal(capsys):
    """The last one comes with the whole table; how far the run is, every half minute."""
    lines, formed = one_run._Lines(), ("KEY Keys: 26 shown", "LOCK Locks: 1 shown")
    for ended in range(3):
        lines(Counted(planned=2, total=2, ended=ended, formed=formed[:ended]))
        lines(Counted(planned=2, total=2, ended=ended, formed=formed[:ended]))
    assert "KEY Keys: 26 shown\n" == capsys.readouterr().err
