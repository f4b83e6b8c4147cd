"""A project with scenarios of ours and of a host, run under allure-pytest, and its results."""

import json
import os
import sys
from pathlib import Path

import preloaded

PLUGIN = Path(__file__).parents[2] / "steps" / "allure.py"

FEATURE = '''
Feature: Partition keys

  Background:
    Given a bus

  @KEY-02 @KEY-01
  Scenario: Every step passes
    It says why.

    Given the messages
      | body | key |
      | m, 1 | a   |
    And the text
      """
      as it is
      """
    Then it holds

  @KEY-03
  Scenario: A step fails {here}
    Given a bus
    Then it does not hold
    Then it holds

  @TXN-01
  Scenario: A step breaks
    Then it breaks

  @TXN-02
  Scenario: A step is not defined
    Then nobody knows

  @TXN-03
  Scenario: A step cannot begin
    Then its fixture is missing

  @LIFE-01
  Scenario: A step skips
    Then it is not applicable

  @LIFE-03
  Scenario: A step needs more than is declared
    Then more is needed

  @LIFE-02 @unready
  Scenario: Nothing is tried

  @KEY-04
  Scenario Outline: A key is kept
    Then <key> holds

    Examples:
      | key |
      | a   |
      | b   |
'''

CONFTEST = """
import importlib.util
from pathlib import Path

import pytest
from pytest_bdd import given, parsers, then

PLUGIN = Path(__file__).parent.parent / "steps" / "allure.py"
spec = importlib.util.spec_from_file_location("steps_allure", PLUGIN)
plugin = importlib.util.module_from_spec(spec)
spec.loader.exec_module(plugin)


def pytest_configure(config):
    config.addinivalue_line("markers", "unready: skipped in its setup")
    if plugin.is_active(config):
        config.pluginmanager.register(plugin, "steps_allure")


@pytest.hookimpl(tryfirst=True)
def pytest_bdd_apply_tag(tag, function):
    if "-" in tag:
        pytest.mark.rule(tag)(function)
        return True


@pytest.fixture(autouse=True)
def ready(request):
    if request.node.get_closest_marker("unready"):
        pytest.skip("capability: peek")


@given("a bus")
def _(): ...


@given("the messages")
def _(datatable): ...


@given("the text")
def _(docstring): ...


@then("it holds")
def _(): ...


@then(parsers.parse("{key} holds"))
def _(key): ...


@then("it does not hold")
def _():
    assert 1 == 2


@then("it breaks")
def _():
    raise OSError("gone")


@then("its fixture is missing")
def _(no_such_fixture): ...


class NotApplicable(Exception):
    __module__ = "ours"


@then("more is needed")
def _():
    raise NotApplicable("capability: peek")


@then("it is not applicable")
def _():
    pytest.skip("capability: peek")
"""

TESTS = """
from pytest_bdd import scenarios

scenarios("keys.feature")


def test_exploring():
    pass
"""

HOSTS = """
import pytest
from pytest_bdd import scenarios, then

scenarios("../suite/features/host.feature")


@pytest.fixture(scope="module")
def shared():
    pass


@pytest.fixture
def alone(shared):
    pass


@pytest.mark.rule("KEY-99")
def test_host(alone):
    pass


@then("the host is content")
def _():
    pass
"""

HOST_FEATURE = """
Feature: A host
  Scenario: A scenario of the host
    Then the host is content
"""


def run(project: Path, *args: str, **environment: str) -> str:
    quiet = ("-p", "no:cacheprovider", "-p", "no:cov", "--strict-markers")
    ended = preloaded.run(
        [sys.executable, "-m", "pytest", *quiet, *args],
        cwd=project,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **environment},
    )
    assert ended.returncode in (0, 1), ended.stdout + ended.stderr
    return ended.stdout


def results(folder: Path) -> dict[str, dict]:
    """The results by their titles."""
    found = [json.loads(file.read_text()) for file in sorted(folder.glob("*-result.json"))]
    return {result["name"]: result for result in found}


def labels(result: dict, *names: str) -> list[tuple[str, str]]:
    ours = {(label["name"], label["value"]) for label in result["labels"] if label["name"] in names}
    return sorted(ours)


def steps(result: dict) -> list[tuple[str, str]]:
    return [(step["name"], step["status"]) for step in result.get("steps", ())]


def parameters(result: dict) -> dict[str, str]:
    return {each["name"]: each["value"] for each in result.get("parameters", ())}
