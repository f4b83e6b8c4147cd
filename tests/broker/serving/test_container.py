"""What the container is made of: its command and its check are tried where no container is."""

import json
import re
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
from work import PATIENCE

from busproof.cli.main import main

from ..conftest import launched, running

ROOT = Path(__file__).parents[3]
BUSPROOF, PYTHON = "/opt/busproof/bin/busproof", "/opt/busproof/bin/python"


def said(instruction: str) -> list[str]:
    """The command that an instruction of the container's file gives, as a list."""
    text = (ROOT / "Containerfile").read_text(encoding="utf-8").replace("\\\n", " ")
    [found] = re.findall(rf"^{instruction} .*?(\[.*\])$", text, flags=re.MULTILINE)
    words: list[str] = json.loads(found)
    return words


def test_container_refuses_the_well_known_key(capfd: pytest.CaptureFixture[str]) -> None:
    """Unless an option asks for it: other containers can reach it, whatever ports are published."""
    name, *options = said("ENTRYPOINT")
    assert BUSPROOF == name
    assert 2 == main(options)
    assert "--allow-public-key" in capfd.readouterr().err


@pytest.mark.slow
def test_its_command_serves_and_its_check_finds_that(tmp_path: Path) -> None:
    options = said("ENTRYPOINT")[2:]
    free = ("--port", "0", "--admin-port", "0", "--allow-public-key")
    served = running(launched(*options, *free, "--store", str(tmp_path / "store")))
    port = served.admin.rpartition(":")[2]
    name, *check = said("HEALTHCHECK")[0:]
    assert PYTHON == name
    asked = [sys.executable, *(each.replace(":5300/", f":{port}/") for each in check)]
    assert asked[1:] != check
    try:
        subprocess.run(asked, check=True)
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/health") as answer:
            assert 200 == answer.status
    finally:
        served.process.terminate()
        served.process.communicate(timeout=PATIENCE)
    failed = subprocess.run(asked, check=False, capture_output=True)
    assert 0 != failed.returncode


def test_all_that_the_wheel_is_built_of_goes_into_it() -> None:
    let_in = {
        line.removeprefix("!").partition("/")[0]
        for line in (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
        if line.startswith("!")
    }
    rooms = {
        each.resolve().name for each in (ROOT / "src" / "busproof").iterdir() if each.is_symlink()
    }
    assert rooms
    assert (
        rooms | {"src", "requirements", "pyproject.toml", "README.md", "LICENSE", "NOTICE"}
        <= let_in
    )
