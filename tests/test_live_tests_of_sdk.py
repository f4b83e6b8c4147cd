"""`tools/live_tests_of_sdk.py`: what it makes of the tests that ran."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parent.parent
REPORT = """<testsuites><testsuite>
<testcase classname="test_a.TestA" name="test_passes[pyamqp]"/>
<testcase classname="test_a.TestA" name="test_fails[pyamqp]"><failure/></testcase>
<testcase classname="test_a.TestA" name="test_breaks"><error/></testcase>
<testcase classname="test_a.TestA" name="test_skipped"><skipped/></testcase>
</testsuite></testsuites>"""


@pytest.fixture
def tool(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    path = ROOT / "tools" / "live_tests_of_sdk.py"
    spec = importlib.util.spec_from_file_location("live_tests_of_sdk", path)
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "live_tests_of_sdk", module)
    spec.loader.exec_module(module)
    return module


def test_report_names_what_ran_and_what_failed(tool: ModuleType) -> None:
    """Without parameters; what is skipped did not run."""
    ran, failed = tool.results(REPORT)
    assert {"test_a.TestA.test_passes", *failed} == ran
    assert {"test_a.TestA.test_fails", "test_a.TestA.test_breaks"} == failed


def test_failure_that_is_not_known_is_named(tool: ModuleType) -> None:
    """One that is known is not, and one that passes by now is."""
    known = [
        tool.Failure("fails", "reason"),
        tool.Failure("mended", "reason"),
        tool.Failure("at-times", "reason", sometimes=True),
        tool.Failure("elsewhere", "reason"),
    ]
    said = tool.differences({"fails", "new", "mended", "at-times"}, {"fails", "new"}, known)
    assert [
        "fails, and is not known: new",
        "passes, and is known to fail (reason): mended",
    ] == said


def test_each_known_failure_has_a_reason(tool: ModuleType) -> None:
    """And is listed once."""
    known = tool.known(tool.KNOWN.read_text(encoding="utf-8"))
    assert len(known) == len({each.test for each in known}) > 0
    assert all(each.reason for each in known)
