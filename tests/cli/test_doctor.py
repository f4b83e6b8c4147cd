"""`busproof doctor` lists what is missing, what for, and how to get it."""

import importlib.metadata
import json
import os

import pytest

from busproof.cli import environment
from busproof.cli.main import main

pytestmark = pytest.mark.slow


def diagnosed(capsys: pytest.CaptureFixture[str], code: int, *arguments: str) -> dict[str, dict]:
    """What was found, by its name."""
    assert code == main(["doctor", "--format", "json", *arguments])
    return {each["name"]: each for each in json.loads(capsys.readouterr().out)}


@pytest.mark.needs("node", "chromium", "proton")
def test_a_developers_machine_lacks_nothing(capsys) -> None:
    found = diagnosed(capsys, 0, *environment.NEEDS)
    assert [] == [name for name, each in found.items() if not each["there"]]
    assert {each["need"] for each in found.values()} == {"", *environment.NEEDS}


def test_a_program_that_is_missing_is_reported_and_hinders_only_who_needs_it(
    capsys, monkeypatch, tmp_path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    found = diagnosed(capsys, 0)
    assert found["Node.js"]["told"].startswith("Node.js 18 or later is not on PATH; install it")
    assert "apt-get install chromium" in found["Chromium"]["told"]
    for name in ("node", "chromium"):
        diagnosed(capsys, 3, name)
    diagnosed(capsys, 0, "report")


@pytest.mark.parametrize(("says", "there"), [("v18.0.0", True), ("v9.1.0", False), ("9", False)])
def test_an_old_node_counts_as_missing(capsys, monkeypatch, tmp_path, says, there) -> None:
    program = tmp_path / "node"
    program.write_text(f"#!/bin/sh\necho {says}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    found = diagnosed(capsys, 0 if there else 3, "node")
    assert found["Node.js"]["there"] is there


@pytest.fixture
def lacking(monkeypatch) -> None:
    """Two packages of an extra are not installed."""
    real = importlib.metadata.version

    def without(name: str) -> str:
        if name in ("h11", "trustme"):
            raise importlib.metadata.PackageNotFoundError(name)
        return real(name)

    monkeypatch.setattr(importlib.metadata, "version", without)


@pytest.mark.usefixtures("lacking")
def test_an_extra_shows_what_it_lacks(capsys) -> None:
    said = diagnosed(capsys, 3, "amqp")["the extra amqp"]["told"]
    assert said == (
        "h11 and trustme are not installed; pip install 'busproof[amqp]' installs what is missing."
    )


def test_a_java_that_does_not_run_is_reported_for_whatever_needs_it(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    found = diagnosed(capsys, 3, "spark")
    assert f"JAVA_HOME is {str(tmp_path)!r}" in found["Java for Spark"]["told"]
    assert f"JAVA_HOME is {str(tmp_path)!r}" in found["Java for TLC"]["told"]
    assert not found["Java for TLC"]["there"]


def test_a_folder_that_cannot_be_written_hinders_every_command(capsys, monkeypatch) -> None:
    monkeypatch.chdir("/proc")
    said = diagnosed(capsys, 3)["this folder"]["told"]
    assert said.startswith("/proc cannot be written (")
    assert said.endswith("; go to a folder that can be.")


@pytest.mark.usefixtures("lacking")
def test_each_missing_thing_has_its_sentence(capsys, monkeypatch, tmp_path) -> None:
    """Below the table, on one line however narrow the window is."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "60")
    assert main(["doctor"]) == 0
    printed = capsys.readouterr().out.splitlines()
    missing = [each for each in environment.findings() if not each.there]
    assert {"the extra amqp", "Node.js", "Chromium"} <= {each.name for each in missing}
    lines = printed[-len(missing) :]
    assert lines == [f"{each.name}, for {each.purpose}: {each.told}" for each in missing]
    assert all(line.endswith(".") for line in lines)


def test_unknown_program_is_refused(capsys) -> None:
    assert main(["doctor", "docker"]) == 2
    assert "doctor knows nothing called 'docker'; name report, amqp" in capsys.readouterr().err
