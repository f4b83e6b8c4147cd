"""However an adapter breaks, the run ends, and nothing that broke is taken for a pass."""

import os
import re

import pytest

from busproof.history.conformance import Verdict
from busproof.reports import conformance as reports

pytestmark = pytest.mark.slow

FULL = os.environ.get("BUSPROOF_SIZE") == "full"

BROKEN = {
    "hang": r"did not answer request \d+ \(CreateQueue\) within 10 s",
    "crash": r"ended with exit code 7 before it answered request \d+ \(CreateQueue\)",
    "garbage": r"the line must be JSON, and is not .*: 'hello, I am no JSON'; its log belongs on",
    "mixed-ids": r"id is \d+, and must be \d+ as in the request",
    "long-line": r"answered request \d+ \(CreateQueue\) with a line of more than 16777216 bytes",
    "invalid-utf8": r"the line must be UTF-8, and byte \d+ of it is not",
}


SHOWN_WITHOUT = {"KEY-08", "KEY-09", "KEY-16", "KEY-17", "LIFE-01", "LIFE-03"}
"""Rules that an adapter shows which declares nothing."""
FEW = tuple(
    word
    for rule in ("KEY-02", "KEY-03", "KEY-08", "KEY-13", "LIFE-01", "LIFE-03")
    for word in ("--rule", rule)
)
"""Some of the scenarios, for what does not depend on how many there are; KEY-13 applies to none."""


def test_an_adapter_that_hangs_at_its_third_scenario_is_judged_on_two(busproof, bus):
    """What came before is judged; all that could not be tried is errored, not left out."""
    ended = busproof.features(bus("hang", "--at", "3"), *FEW, "--timeout", "10")
    run = busproof.run("it")
    assert 3 == ended.code == run.report.exit_code
    assert re.search(BROKEN["hang"], ended.problems)
    assert "| about to do this: hang" in ended.problems
    assert "broke 4 times and is not started again; at last: it" in ended.problems
    endings = run.report.scenarios
    assert 2 == endings["passed"]
    assert run.history.header.planned == sum(endings.values())
    assert endings.keys() == {"passed", "errored", "not-applicable"}


@pytest.mark.parametrize("action", BROKEN if FULL else ("hang", "garbage"))
def test_an_adapter_that_breaks_is_reported_with_its_log(busproof, bus, action):
    """The sentence says what came instead of what; the matrix says which rule it concerns."""
    adapter = bus(action, "--at", "2")
    options = ("--rule", "KEY-04", "--timeout", "10" if action == "hang" else "30", "--name=it")
    ended = busproof("run", "--only", "features", "--adapter", adapter, *options)
    run = busproof.run("it")
    assert 3 == ended.code == run.report.exit_code
    assert re.search(BROKEN[action], ended.problems)
    assert f"| about to do this: {action}" in ended.problems
    assert {"passed": 1, "errored": 1} == run.report.scenarios
    assert Verdict.ERRORED is run.verdict("KEY-04").verdict
    assert re.search(r"KEY-04 .* ! errored", ended.out)


def test_a_rule_with_an_errored_scenario_is_never_shown(busproof, bus):
    """Though other scenarios of the same rule have passed."""
    # All scenarios of KEY-02 come before the crash, and some of LIFE-03.
    busproof.features(bus("crash", "--at", "20"), "--rule", "KEY-02", "--rule", "LIFE-03")
    run = busproof.run("it")
    assert "KEY-02" in run.rules(Verdict.SHOWN)
    assert "LIFE-03" in run.rules(Verdict.ERRORED)
    assert not run.broken() & run.rules(Verdict.SHOWN)


def test_a_violation_before_a_crash_stays_a_violation(busproof, bus):
    """Exit code 1 comes before 3."""
    options = ("--lose", "--at", "10")
    ended = busproof.features(bus("crash", *options), *FEW)
    assert 1 == ended.code
    assert busproof.run("it").rules(Verdict.VIOLATED)
    assert busproof.run("it").rules(Verdict.ERRORED)


@pytest.mark.needs("bash")
def test_an_adapter_that_cannot_be_started_is_reported_with_its_log(busproof):
    """There was nothing to record."""
    ended = busproof(
        "run",
        "--only",
        "features",
        "--adapter",
        "exec:sh -c 'read it; echo no bus here >&2; exit 4'",
    )
    assert (3, "") == (ended.code, ended.out)
    assert "ended with exit code 4 before it answered request 1 (hello)" in ended.sentences[0]
    assert "its log ends with:\n  no bus here\n" in ended.err
    assert set() == busproof.runs


CLAIMS = {
    "outages": (["TakePartitionDown", "BringPartitionUp"], "KEY-15"),
    "peek": (["Peek"], "LIFE-07"),
}
"""Capability to the commands that it lets one ask, and to a rule that needs it."""


@pytest.mark.parametrize("capability", CLAIMS)
def test_a_capability_that_is_declared_and_not_there_stands_out(busproof, bus, capability):
    """Its rule is errored and not shown, and the claim is listed separately."""
    commands, rule = CLAIMS[capability]
    ended = busproof.features(bus("--unsupported", *commands), "--rule", rule)
    run = busproof.run("it")
    assert 3 == ended.code == run.report.exit_code
    claims = ended.out.partition("\nClaimed, but not shown\n")[2].partition("\n\n")[0]
    assert f"{capability}: " in claims
    assert "declared, yet unsupported: " in ended.problems
    assert {rule} == run.rules(Verdict.ERRORED) <= run.broken()
    assert set() == run.rules(Verdict.VIOLATED)


def test_an_adapter_that_never_gets_an_answer_shows_nothing_and_breaks_nothing(busproof, bus):
    """Every rule that applies is inconclusive."""
    ended = busproof.features(bus("--indeterminate"), *FEW)
    report = busproof.run("it").report
    assert 3 == ended.code == report.exit_code
    asked = [each.verdict for each in report.rules if each.id.startswith(("KEY", "LIFE"))]
    assert {Verdict.INCONCLUSIVE, Verdict.NOT_APPLICABLE} == {*asked}


def test_an_adapter_that_declares_nothing_is_asked_for_nothing_else(busproof, bus):
    """What is not declared is not tried: it is not applicable, with its cause."""
    undeclared = ["Peek", "Complete", "Abandon", "AcceptSession", "BeginTransaction"]
    adapter = bus("--capabilities", "", "--unsupported", *undeclared, "TakePartitionDown")
    some = ("--rule", "KEY", "--rule", "LIFE-01", "--rule", "LIFE-03")
    ended = busproof.features(adapter, *some)
    run = busproof.run("it")
    assert 0 == ended.code
    assert {"passed", "not-applicable"} == run.report.scenarios.keys()
    assert set() == run.rules(Verdict.ERRORED) | run.rules(Verdict.VIOLATED)
    assert run.rules(Verdict.SHOWN) >= SHOWN_WITHOUT
    causes = {each.cause for each in run.report.rules if each.verdict is Verdict.NOT_APPLICABLE}
    assert all(cause.startswith(("capability: ", "edition: ", "tier: ")) for cause in causes)


IN_PROCESS = """
import os
from busproof.adapters.base import Observed
from busproof.adapters.model import ModelAdapter
from busproof.vocabulary.commands import Send

class Asserting(ModelAdapter):
    def do(self, command, connection):
        if isinstance(command, Send):
            assert command.timeout == 0, "a belief of the adapter"
        return super().do(command, connection)

class Mute(ModelAdapter):
    def do(self, command, connection):
        return None

class Unstartable(ModelAdapter):
    def start(self, profile):
        raise KeyError("namespace")

class Unstoppable(ModelAdapter):
    def stop(self):
        raise OSError("it goes on")

class Deadly(ModelAdapter):
    def do(self, command, connection):
        if isinstance(command, Send):
            os.abort()
        return super().do(command, connection)

class Leaving(ModelAdapter):
    def do(self, command, connection):
        if isinstance(command, Send):
            os._exit(9)
        return super().do(command, connection)
"""

RAISED = {
    "Asserting": "the adapter raised AssertionError: a belief of the adapter",
    "Mute": "the adapter answered CreateQueue with None, and must return an Observed",
    "Unstartable": "the adapter raised KeyError: 'namespace'",
    "Unstoppable": "the adapter raised OSError: it goes on",
    "Deadly": "the process of the adapter ended, killed by SIGABRT",
    "Leaving": "the process of the adapter ended, exit code 9",
}


@pytest.mark.parametrize("adapter", RAISED if FULL else ("Asserting", "Unstoppable", "Deadly"))
def test_a_fault_of_an_adapter_in_python_is_none_of_the_bus(busproof, adapter):
    """Not even a failed assert of the adapter's is a violation."""
    (busproof.folder / "faults.py").write_text(IN_PROCESS)
    ended = busproof.features(f"faults:{adapter}", "--rule", "KEY-09")
    run = busproof.run("it")
    assert 3 == ended.code == run.report.exit_code
    assert RAISED[adapter] in ended.problems
    assert set() == run.rules(Verdict.VIOLATED)
    if adapter != "Unstoppable":
        assert Verdict.ERRORED is run.verdict("KEY-09").verdict


LONG_WINDED = """
from busproof.adapters.model import ModelAdapter
from busproof.adapters.base import Observed
from busproof.vocabulary.commands import Receive
from busproof.vocabulary.outcomes import Refused
from busproof.vocabulary.values import Error

class Talkative(ModelAdapter):
    def do(self, command, connection):
        if isinstance(command, Receive) and self._namespace.now:
            return Observed(Refused(error=Error.OTHER, detail="x" * 17_000_000))
        return super().do(command, connection)
"""


def test_an_answer_that_no_history_can_hold_is_the_adapters_fault(busproof):
    """Its scenario is errored, the others are judged, and the history can be read back."""
    (busproof.folder / "wordy.py").write_text(LONG_WINDED)
    ended = busproof("run", "--adapter", "wordy:Talkative", "--rule", "LIFE-05", "--name", "it")
    run = busproof.run("it")
    assert 3 == ended.code == run.report.exit_code
    said = "the adapter answered Receive with so much that it does not fit on a line of the history"
    assert said in ended.problems
    assert Verdict.ERRORED is run.verdict("LIFE-05").verdict
    assert run.history.header.planned == sum(run.report.scenarios.values())
    assert 3 == busproof("check", "reports/runs/it", "--report", "again").code
    assert run.report.rules == reports.read(busproof.folder / "again").rules
