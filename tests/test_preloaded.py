"""A command that is forked from the preloaded process is a process like one that was started."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from preloaded import Forked, popen

pytestmark = pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="nothing is forked here")

BUSPROOF = (sys.executable, "-m", "busproof")
SERVE = (*BUSPROOF, "serve", "--port", "0", "--admin-port", "0")
ERRORS = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "text": True}
OUTPUT = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}


def test_output_and_exit_code_are_those_of_a_started_process() -> None:
    for arguments in (("rules", "KEY-08"), ("rules", "KEY-99"), ("judge",)):
        environment = os.environ | {"COLUMNS": "100"}
        forked = popen([*BUSPROOF, *arguments], env=environment, **OUTPUT)
        assert isinstance(forked, Forked)
        command = [*BUSPROOF, *arguments]
        started = subprocess.run(command, env=environment, check=False, **OUTPUT)
        assert (started.stdout, None) == forked.communicate(60)
        assert started.returncode == forked.returncode


def test_environment_and_folder_are_the_given_ones(tmp_path: Path) -> None:
    (tmp_path / "printing.py").write_text("import os; print(os.getcwd(), sorted(os.environ))")
    given = {"PYTHONPATH": str(tmp_path), "BUSPROOF_MARK": "here"}
    started = popen([sys.executable, "-m", "printing"], cwd=tmp_path, env=given, **OUTPUT)
    assert not isinstance(started, Forked), "another search path needs another interpreter"
    options = {"cwd": tmp_path, "env": os.environ | {"COLUMNS": "40"}}
    forked = popen([*BUSPROOF, "run", "--rule", "KEY-09", "--name", "it"], **options, **OUTPUT)
    assert isinstance(forked, Forked)
    printed, _ = forked.communicate(120)
    assert (tmp_path / "reports" / "runs" / "it" / "history.jsonl").exists()
    # A command is printed in one line, so that it can be copied.
    assert max(len(line) for line in printed.splitlines() if not line.startswith("Next: ")) <= 40


@pytest.mark.needs("proton")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 0), (signal.SIGKILL, -9)])
def test_signals_end_it_with_its_own_exit_code(number: int, code: int) -> None:
    process = popen(SERVE, **ERRORS)
    while "Endpoint=" not in process.stderr.readline():
        assert process.poll() is None
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(0.01)
    process.send_signal(number)
    assert code == process.wait(60) == process.poll()
    process.kill()  # what has ended is sent nothing
    assert "" == process.stderr.read() or code == 0
