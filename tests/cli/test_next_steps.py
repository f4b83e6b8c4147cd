"""The commands of the first minutes name the next step, in one line beside their output."""

import pytest

from busproof.cli.main import main


def next_steps(printed: str) -> list[str]:
    """The lines of standard error that name a next step."""
    return [line for line in printed.splitlines() if line.startswith("Next: ")]


def test_busproof_alone_names_the_next_step(capsys):
    """The exit code is that of a wrong usage."""
    assert 2 == main([])
    printed = capsys.readouterr()
    assert "" == printed.out
    assert [
        "busproof: name a COMMAND; busproof --help lists them",
        "Next: busproof run --rule KEY tests the reference model, in seconds",
    ] == printed.err.splitlines()


@pytest.mark.slow
def test_doctor_has_what_every_command_needs_repaired_first(capsys, monkeypatch):
    monkeypatch.chdir("/proc")
    assert 3 == main(["doctor"])
    assert ["Next: repair what is marked ✗, and repeat busproof doctor"] == next_steps(
        capsys.readouterr().err
    )


@pytest.mark.slow
def test_a_violated_run_sends_to_the_repair(busproof):
    words = ("--adapter", "faulty:mismatch-accepted", "--rule", "KEY-08", "--only", "features")
    ended = busproof("run", *words, "--name", "it")
    assert 1 == ended.code
    assert [
        "Next: repair the bus and repeat the run; busproof report it writes a page"
    ] == next_steps(ended.err)
