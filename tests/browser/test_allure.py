"""Allure's page of a run in a browser: a failed rule with its steps; nothing is sent anywhere."""

import json
import subprocess
import sys
from pathlib import Path

import attrs
import pytest
from playwright.sync_api import Browser, expect

from busproof.reports.allure import collect_results
from busproof.reports.allure_cases import verdict_cases

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent.parent


def made(results: Path, output: Path, history: Path) -> subprocess.CompletedProcess[str]:
    """As `make allure` makes it."""
    command = [sys.executable, str(ROOT / "tools" / "allure_page.py"), str(results)]
    options = ["--output", str(output), "--history", str(history)]
    return subprocess.run([*command, *options], capture_output=True, text=True, check=False)


@pytest.mark.needs("node")
def test_a_failing_rule_is_found_with_its_steps(
    browser: Browser, runs, catalogue, tmp_path: Path
) -> None:
    """One test for all of it: Allure takes seconds."""
    kept = tuple(rule for rule in runs[1].rules if rule.id.startswith(("KEY-", "SESS-", "LIFE-")))
    run = attrs.evolve(runs[1], rules=kept)
    cases = verdict_cases("Broken 1.0", run, catalogue)
    collect_results({"Broken 1.0": run}, [], cases, tmp_path / "results")
    page, history = tmp_path / "allure.html", tmp_path / "history.jsonl"
    ended = made(tmp_path / "results", page, history)
    assert ended.returncode == 0, ended.stderr
    assert len([json.loads(line) for line in history.read_text().splitlines()]) == 1
    assert "googletagmanager" not in page.read_text(encoding="utf-8")

    opened = browser.new_page(viewport={"width": 1400, "height": 1000})
    asked: list[str] = []
    opened.on("request", lambda request: asked.append(request.url))
    opened.goto(page.as_uri())
    opened.get_by_text("KEY-08").first.wait_for()
    opened.get_by_placeholder("Search tests").fill("KEY-08 ")
    opened.get_by_text(f"KEY-08 {catalogue.rule('KEY-08').title} (Broken 1.0)").last.click()
    expect(opened.get_by_text("violated: 1 counterexample").first).to_be_visible()
    expect(opened.get_by_text("Create queue q: partitioned -> Done").first).to_be_visible()
    for name in ("scenario.feature", "history excerpt"):
        expect(opened.get_by_text(name).first).to_be_visible()
    expect(opened.get_by_text("Category: Violated").first).to_be_visible()
    assert [] == [url for url in asked if url.startswith("http")]
    assert opened.evaluate("window.hacked") is None
    opened.close()
