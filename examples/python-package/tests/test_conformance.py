"""busproof's verdict on the bus, as anybody gets it who has both installed."""

import json
import subprocess
import sys
from pathlib import Path

AT_LEAST = 25
"""Rules shown; sessions, transactions and regular queues are not declared."""


def test_every_applicable_rule_is_shown(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "busproof", "run", "--adapter", "shelf", "--name", "it"]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert 0 == ended.returncode, ended.stdout + ended.stderr
    report = tmp_path / "reports" / "runs" / "it" / "conformance.json"
    summary = json.loads(report.read_text(encoding="utf-8"))["summary"]
    assert summary["applicable"] == summary["shown"] >= AT_LEAST


def test_the_adapter_keeps_to_the_protocol() -> None:
    command = [sys.executable, "-m", "busproof", "check-adapter", "shelf"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert 0 == ended.returncode, ended.stdout + ended.stderr
