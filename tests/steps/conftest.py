"""A project of somebody else's, in which busproof happens to be installed."""

import os
import sys
from pathlib import Path
from typing import Any

import attrs
import pytest
from preloaded import run, run_new

PROJECT = {
    "pyproject.toml": """
[tool.pytest.ini_options]
addopts = "--strict-markers"
markers = ["smoke: quick ones", "ticket(id): what a tracker calls it"]
""",
    "conftest.py": """
import re
import pytest

def pytest_addoption(parser):
    parser.addoption("--adapter", default="of the host")
    parser.addoption("--edition", default="of the host")

def pytest_bdd_apply_tag(tag, function):
    if re.fullmatch(r"[A-Z]+-\\d+", tag):
        pytest.mark.ticket(tag)(function)
        return True

@pytest.fixture
def bus():
    return "bus of the host"

@pytest.fixture
def queue():
    return "queue of the host"

@pytest.fixture
def outcome():
    return "outcome of the host"
""",
    "tests/checkout.feature": """
Feature: Checkout

  @smoke
  Scenario: One order
    Given a partitioned queue
    Then it is accepted

  @KEY-03 @ABC-12
  Scenario: Two orders
    Given a partitioned queue
    Then it is accepted
""",
    "tests/test_checkout.py": """
import pytest
from pytest_bdd import given, scenarios, then

scenarios("checkout.feature")

@given("a partitioned queue")
def a_queue(bus, queue):
    assert (bus, queue) == ("bus of the host", "queue of the host")

@then("it is accepted")
def accepted(outcome, request):
    assert outcome == "outcome of the host"
    tickets = [mark.args[0] for mark in request.node.iter_markers("ticket")]
    assert sorted(tickets) in ([], ["ABC-12", "KEY-03"])
    assert not list(request.node.iter_markers("rule"))

@pytest.mark.smoke
def test_options(pytestconfig):
    assert pytestconfig.getoption("--adapter") == "of the host"
    assert pytestconfig.getoption("--edition") == "of the host"

def test_that_fails(bus):
    assert bus == "bus of busproof"

@pytest.mark.skip(reason="not today")
def test_that_is_skipped():
    pass
""",
}


@attrs.frozen(kw_only=True)
class Session:
    """What a session of pytest ended with."""

    code: int
    out: str
    err: str

    @property
    def outcomes(self) -> list[str]:
        """Each test with its outcome, as `-rA` prints them."""
        kinds = ("PASSED ", "FAILED ", "SKIPPED ", "ERROR ")
        return sorted(line for line in self.out.splitlines() if line.startswith(kinds))

    @property
    def counted(self) -> str:
        """The last line without its time, such as `5 passed, 1 skipped`."""
        return self.out.strip().splitlines()[-1].strip("= ").rpartition(" in ")[0]


class Host:
    """The folder of a project, and pytest in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name, content in PROJECT.items():
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text(content)

    def pytest(self, *arguments: str, is_new: bool = False, **environment: str) -> Session:
        """Run pytest in the project's folder, in a new interpreter or in a preloaded one."""
        inherited = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("PYTEST_", "COV_"))
        }
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments]
        variables = inherited | {"COLUMNS": "250"} | environment
        ended = (run_new if is_new else run)(command, cwd=self.folder, env=variables)
        return Session(code=ended.returncode, out=ended.stdout, err=ended.stderr)

    def features(self, *arguments: str, **options: Any) -> Session:
        """Run busproof's features from the project's folder."""
        return self.pytest("-q", "--pyargs", "busproof.features", *arguments, **options)


@pytest.fixture
def host(tmp_path: Path) -> Host:
    """A project with scenarios, tags, options and fixtures of its own."""
    return Host(tmp_path)
