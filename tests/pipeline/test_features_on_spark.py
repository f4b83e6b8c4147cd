"""The features on Spark: which rules it declares, and that those that were run are shown."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from busproof.adapters.model import CAPABILITIES
from busproof.adapters.spark import SparkAdapter
from busproof.history.conformance import Verdict
from busproof.reports import conformance as reports
from busproof.spec import load

FULL = os.environ.get("BUSPROOF_SIZE") == "full"
PATIENCE = 3600
RULE = "KEY-08"
MISSING = tomllib.loads(Path(__file__).with_name("not_on_spark.toml").read_text(encoding="utf-8"))


def test_rules_that_only_the_model_can_be_asked_are_pinned_with_a_reason() -> None:
    """Exactly these: what is covered by now is taken off the list."""
    declared = SparkAdapter().declaration.capabilities
    of_model = [rule for rule in load().rules if not rule.unmet(CAPABILITIES)]
    pinned = [rule for each in MISSING["missing"] if each["reason"] for rule in each["rules"]]
    assert sorted(rule.id for rule in of_model if rule.unmet(declared)) == sorted(pinned)
    assert len(pinned) <= 0.17 * len(of_model)


@pytest.mark.slow
def test_the_features_hold_on_spark(tmp_path: Path) -> None:
    """Those of one rule; at full size all, and a quick exploration."""
    only = [] if FULL else ["--rule", RULE]
    ended = subprocess.run(
        [sys.executable, "-m", "busproof", "run", "--adapter", "spark", "--name", "run", *only],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )
    rules = reports.read(tmp_path / "reports" / "runs" / "run").rules
    verdicts = {each.id: each.verdict for each in rules}
    bad = [each.id for each in rules if each.verdict in (Verdict.VIOLATED, Verdict.ERRORED)]
    assert (0, []) == (ended.returncode, bad), ended.stdout + ended.stderr
    assert Verdict.SHOWN is verdicts[RULE]
