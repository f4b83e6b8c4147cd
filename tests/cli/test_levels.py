"""`--require` and `--badges`: the levels of a run on the command line."""

import json
import os

import pytest

pytestmark = pytest.mark.slow

LITTLE = """
import attrs
from busproof.adapters.model import ModelAdapter

class Little(ModelAdapter):
    @property
    def declaration(self):
        return attrs.evolve(super().declaration, capabilities=frozenset())
"""


@pytest.fixture
def little(busproof):
    """A shell beside an adapter that declares nothing, and a run of it."""
    (busproof.folder / "mine.py").write_text(LITTLE)
    path = os.pathsep.join(filter(None, [".", busproof.environment.get("PYTHONPATH")]))
    busproof.environment["PYTHONPATH"] = path
    return busproof


def test_what_is_required_and_not_claimed_is_exit_code_3(little) -> None:
    """The verdicts are as they were; the problem says which level, and JSON and badges agree."""
    about = ("run", "--adapter", "mine:Little", "--only", "distilled", "--name", "r")
    ended = little(*about, "--require", "sessions", "--require", "core")
    assert 3 == ended.code
    assert "required level sessions is not claimed" in ended.problems
    assert "required level core is partial: " in ended.problems
    assert "%" not in ended.out
    written = json.loads(
        (little.folder / "reports" / "runs" / "r" / "conformance.json").read_text()
    )
    states = {each["id"]: each["state"] for each in written["levels"]}
    assert ("partial", "not claimed") == (states["core"], states["sessions"])
    assert 0 == little("report", "r", "--badges", "badges").code
    assert "not claimed" in (little.folder / "badges" / "sessions.svg").read_text()
    again = little("check", "reports/runs/r", "--require", "topics")
    assert (3, True) == (again.code, "required level topics is not claimed" in again.problems)


def test_limited_run_has_no_badges(busproof) -> None:
    about = ("run", "--rule", "KEY-08", "--only", "features", "--name", "r")
    assert 0 == busproof(*about).code
    ended = busproof("report", "r", "--badges", "badges")
    assert 0 == ended.code
    assert "says nothing of levels" in ended.err
    assert not (busproof.folder / "badges").exists()
