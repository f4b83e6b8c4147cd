"""No document says by when a bus has done what it does by itself: a late bus conforms."""

import os
from pathlib import Path

import pytest

from busproof.history.conformance import Verdict

pytestmark = pytest.mark.slow

FULL = os.environ.get("BUSPROOF_SIZE") == "full"
BUSES = Path(__file__).parents[1] / "support" / "late_bus.py"
RULES = {
    "LateSchedules": ("SCHED-14", "TTL-12", "SCHED-05", "SCHED-06", "SCHED-07", "SCHED-02"),
    "LateForwarding": ("FWD-01", "FWD-22", "FWD-04", "FWD-16", "FWD-26", "FWD-30", "FWD-35"),
    "LateDeadLetters": ("DLQ-04", "DLQ-02", "TTL-07"),
    "LateCounts": ("MGMT-21", "FWD-32", "MGMT-20"),
    "NeverSchedules": ("SCHED-14", "SCHED-02"),
    "NeverForwards": ("FWD-01", "FWD-04"),
}
"""What is tried on each of them: some of the rules that a late answer was taken to break.

Those of few scenarios come first, and are tried at the gate: two where nothing has to be shrunk,
and one where each is broken.
"""
FEW = {"Late": 2, "Never": 1}
TRIED = {
    bus: rules if FULL else rules[: FEW["Never" if bus.startswith("Never") else "Late"]]
    for bus, rules in RULES.items()
}


@pytest.fixture
def verdicts(busproof):
    """Runs the rules of a bus on it; what became of each."""
    (busproof.folder / "late_bus.py").write_text(BUSES.read_text())

    def run(bus: str, *readings: str) -> dict[str, Verdict]:
        rules = [word for rule in TRIED[bus] for word in ("--rule", rule)]
        held = [word for reading in readings for word in ("--reading", reading)]
        options = (*rules, *held, "--name", "it")
        busproof("run", "--adapter", f"late_bus:{bus}", *options)
        assert "errored" not in busproof.run("it").report.scenarios
        return {rule: busproof.run("it").verdict(rule).verdict for rule in TRIED[bus]}

    return run


@pytest.mark.parametrize("bus", [name for name in RULES if name.startswith("Late")])
def test_bus_that_is_a_minute_late_is_not_accused(verdicts, bus):
    assert dict.fromkeys(TRIED[bus], Verdict.SHOWN) == verdicts(bus)


@pytest.mark.parametrize("bus", [name for name in RULES if name.startswith("Never")])
def test_missing_message_is_a_violation_by_default(verdicts, bus):
    assert dict.fromkeys(TRIED[bus], Verdict.VIOLATED) == verdicts(bus)


@pytest.mark.parametrize(
    ("bus", "reading"),
    [
        ("NeverSchedules", "SCHEDULE-DELAY=unbounded"),
        ("NeverForwards", "FORWARD-DELAY=unbounded"),
    ],
)
def test_missing_message_is_inconclusive_under_an_unbounded_reading(verdicts, bus, reading):
    assert dict.fromkeys(TRIED[bus], Verdict.INCONCLUSIVE) == verdicts(bus, reading)
