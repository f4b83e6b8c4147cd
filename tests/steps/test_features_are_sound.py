"""No scenario accuses a conforming bus that chooses otherwise than the most regular one.

What a scenario expects is written by hand, and may be more than the documents promise. The random
model makes every choice that they leave open, the hostile one the least regular choices; some of
its answers are late or never come.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import attrs
import pytest

from busproof.cli.running.child_run import HISTORY, Counted, Request, record
from busproof.history import files
from busproof.history.conformance import Verdict
from busproof.history.records import ScenarioVerdict
from busproof.judging.verdicts import conformance
from busproof.spec import load

pytestmark = pytest.mark.slow

FULL = os.environ.get("BUSPROOF_SIZE") == "full"
CATALOGUE = load()
SEEDS = 2
"""Seeds for each policy in each kind of namespace; no two kinds have the same ones."""
POLICIES = ("random", "hostile") if FULL else ("hostile",)
"""At the gate `test_choices_reached.py` plays them on the random model."""
NAMESPACES = {
    "basic": Request(tier="basic"),
    "standard": Request(tier="standard"),
    "premium": Request(tier="premium"),
    "premium-2": Request(tier="premium", namespace_partitions="2"),
    "premium-4": Request(tier="premium", namespace_partitions="4"),
}
PARTITIONED_NAMESPACES = "en-2026-02"
"""Only edition with partitioned Premium namespaces."""


def kinds() -> list[tuple[str, str]]:
    """Return every edition with the namespaces that it knows; at the gate only one."""
    if not FULL:
        return [(CATALOGUE.default_edition, "standard")]
    return [
        (edition.id, name)
        for edition in CATALOGUE.editions
        for name, request in NAMESPACES.items()
        if request.namespace_partitions is None or edition.id == PARTITIONED_NAMESPACES
    ]


def cases() -> Iterator[tuple[str, str, str, int]]:
    """Yield edition, namespace, policy and seed of each run."""
    for number, (edition, name) in enumerate(kinds()):
        for policy in POLICIES:
            for seed in range(SEEDS if FULL else 1):
                yield edition, name, policy, number * SEEDS + seed


def accusations(request: Request, folder: Path) -> str:
    """Return the details of scenarios that failed, or the rules that the run breaks.

    With a profile, scenarios end with last looks. A run can break a rule that no scenario noticed:
    the time that has passed between answers is only looked at by its verdicts. At full size the
    history is judged once more, as `busproof check` does.
    """
    request = attrs.evolve(request, only="features", profile="quick")
    finished = record(request, folder, ignored)
    assert () == finished.messages
    recorded = finished.recorded
    assert recorded is not None
    assert recorded.conformance.scenarios["passed"]
    verdicts = [recorded.conformance]
    if FULL:
        verdicts.append(conformance(files.load(folder / HISTORY), CATALOGUE))
    broken = [
        rule.id for judged in verdicts for rule in judged.rules if rule.verdict is Verdict.VIOLATED
    ]
    endings = [(scenario.name, scenario.ended) for scenario in recorded.scenarios]
    failed = [
        f"{name}: {ended.detail}"
        for name, ended in endings
        if ended is not None and ended.verdict in (ScenarioVerdict.FAILED, ScenarioVerdict.ERRORED)
    ]
    return "\n".join((*failed, *broken))


def ignored(_: Counted) -> None:
    """Ignore the progress."""


@pytest.mark.parametrize(("edition", "namespace", "policy", "seed"), list(cases()))
def test_no_scenario_accuses_a_bus_whatever_it_chooses(
    edition: str, namespace: str, policy: str, seed: int, tmp_path: Path
) -> None:
    request = attrs.evolve(
        NAMESPACES[namespace],
        adapter=f"model?policy={policy}&seed={seed}",
        edition=edition,
    )
    assert "" == accusations(request, tmp_path)


def test_a_bus_that_breaks_a_rule_is_accused(tmp_path: Path) -> None:
    """The check above sees a scenario that fails."""
    request = Request(adapter="faulty:mismatch-accepted", rules=("KEY-08",))
    assert "KEY-08: " in accusations(request, tmp_path)
