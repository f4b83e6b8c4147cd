"""A scenario that missed an answer is tried again; what never answers is inconclusive."""

import pytest

from busproof.history.conformance import Verdict
from busproof.history.records import REPEATED
from busproof.reports import conformance as reports

pytestmark = pytest.mark.slow

BUSES = """
from busproof.adapters.base import Observed
from busproof.adapters.model import ModelAdapter
from busproof.vocabulary.commands import Receive, Schedule, Send, SendBatch
from busproof.vocabulary.outcomes import Indeterminate, Received
from busproof.vocabulary.values import Error
from busproof.vocabulary.outcomes import Refused

LOST = Observed(Indeterminate(detail="no answer came in time"))

class Forgetful(ModelAdapter):
    "Loses the answer to its first two sends."
    lost = 0
    def do(self, command, connection):
        if isinstance(command, Send) and self.lost < 2:
            self.lost += 1
            return LOST
        return super().do(command, connection)

class Silent(ModelAdapter):
    "Answers nothing that sends."
    def do(self, command, connection):
        if isinstance(command, Send | SendBatch | Schedule):
            return LOST
        return super().do(command, connection)

class Wrong(Forgetful):
    "Refuses what it should not, once it answers."
    def do(self, command, connection):
        if isinstance(command, Send) and self.lost == 2:
            return Observed(Refused(error=Error.QUOTA_EXCEEDED))
        return super().do(command, connection)
"""


@pytest.fixture
def run(busproof):
    """Runs a rule on one of the buses."""
    (busproof.folder / "buses.py").write_text(BUSES)

    def runs(bus: str, rule: str = "KEY-08"):
        ended = busproof("run", "--adapter", f"buses:{bus}", "--rule", rule, "--name", "it")
        return ended, busproof.run("it")

    return runs


def repeated(run) -> int:
    return sum(each.feature == REPEATED for each in run.history.scenarios)


def test_answers_lost_by_chance_leave_no_rule_undecided(run):
    """Two tries are more, and count as the scenarios that they were of."""
    ended, recorded = run("Forgetful")
    assert 0 == ended.code
    assert Verdict.SHOWN is recorded.verdict("KEY-08").verdict
    assert {"passed": recorded.history.header.planned} == recorded.report.scenarios
    assert 2 == repeated(recorded)
    assert recorded.report.problems == ()


def test_a_bus_that_never_answers_is_asked_three_times(run):
    ended, recorded = run("Silent")
    assert 3 == ended.code
    assert Verdict.INCONCLUSIVE is recorded.verdict("KEY-08").verdict
    planned = recorded.history.header.planned
    assert {"inconclusive": planned} == recorded.report.scenarios
    assert 2 * planned == repeated(recorded)


def test_violation_in_a_later_try_counts(run):
    """Only the first try had no verdict."""
    ended, recorded = run("Wrong")
    assert 1 == ended.code
    assert recorded.rules(Verdict.VIOLATED)
    assert recorded.report.scenarios["failed"]


def test_the_history_is_judged_to_the_same_again(busproof, run):
    """The tries are in it."""
    _, recorded = run("Forgetful")
    busproof("check", "reports/runs/it", "--report", "again")
    again = reports.read(busproof.folder / "again")
    assert (recorded.report.rules, recorded.report.scenarios) == (again.rules, again.scenarios)
