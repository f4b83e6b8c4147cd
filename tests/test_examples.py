"""The examples are what a third party would write: they conform, from outside the checkout."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from commands import run_here
from node_packages import program
from preloaded import run

from busproof.adapters.model import ModelAdapter
from busproof.exploration.machine import terms_of
from busproof.history.conformance import Conformance, Verdict
from busproof.reports.conformance import read

EXAMPLES = Path(__file__).parent.parent / "examples"
NODE = EXAMPLES / "node-adapter"
PACKAGE = EXAMPLES / "python-package"
EMBEDDED = EXAMPLES / "embedded-broker"

pytestmark = pytest.mark.slow

FULL = os.environ.get("BUSPROOF_SIZE") == "full"


FEW = ("KEY", "SEQ")
"""Families of the gate; DUP is in the bus' own tests."""


def run_on(adapter: str, folder: Path, *options: str) -> Conformance:
    ended = run_here("run", "--adapter", adapter, "--name", "it", *options, folder=folder)
    report = folder / "reports" / "runs" / "it"
    assert report.exists(), ended.err
    return read(report)


def rules(found: Conformance, *verdicts: Verdict) -> set[str]:
    return {rule.id for rule in found.rules if rule.verdict in verdicts}


@pytest.mark.needs("node")
def test_the_bus_in_javascript_shows_what_it_does_not_list(tmp_path: Path) -> None:
    """All that applies to it, and of what applies to the model all but what it lists.

    At the gate that is said of three families, by scenarios alone.
    """
    terms = terms_of(ModelAdapter())
    families = [*dict.fromkeys(rule.family for rule in terms.catalogue.rules)] if FULL else FEW
    few = () if FULL else tuple(word for family in FEW for word in ("--rule", family))
    bus = run_on(f"exec:node {NODE / 'adapter.js'}", tmp_path, *few)
    asked = {
        rule.id
        for rule in terms.catalogue.rules
        if rule.family in families and not terms.inapplicable(rule)
    }
    shown = rules(bus, Verdict.SHOWN)
    listed = yaml.safe_load((NODE / "not-shown.yaml").read_text(encoding="utf-8"))["not_shown"]
    assert asked - shown == {rule for rule in listed if rule.partition("-")[0] in families}
    assert [] == [rule for rule, reason in listed.items() if not str(reason).strip()]
    assert rules(bus, Verdict.VIOLATED, Verdict.ERRORED, Verdict.INCONCLUSIVE) == set()
    # Nor is it asked, in a scenario or an exploration, for what it does not declare.
    assert ((), 0) == (bus.problems, bus.exit_code)
    assert shown == rules(bus, *set(Verdict) - {Verdict.NOT_APPLICABLE})
    assert len(shown & asked) >= len(asked) / 2, "it shows less than half of what the model can"


@pytest.mark.needs("node")
def test_the_adapter_in_javascript_passes_its_own_tests() -> None:
    ended = subprocess.run(
        [program("node"), "--test"], cwd=NODE, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stdout


@pytest.fixture(scope="module")
def outside(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """A copy of the package, and an environment in which it is installed beside the others."""
    folder = tmp_path_factory.mktemp("outside")
    copy = shutil.copytree(
        PACKAGE, folder / "package", ignore=shutil.ignore_patterns("build", "*.egg-info")
    )
    site = folder / "site"
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps"]
    options = ["--no-build-isolation", f"--target={site}", str(copy)]
    installed = subprocess.run([*command, *options], capture_output=True, text=True, check=False)
    assert installed.returncode == 0, installed.stderr
    return copy, {**os.environ, "PYTHONPATH": str(site)}


def test_the_package_is_found_by_its_name(outside) -> None:
    _, environment = outside
    command = [sys.executable, "-m", "busproof", "adapters", "--format", "json"]
    completed = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    found = {each["name"]: each for each in json.loads(completed.stdout)}
    assert ("installed", "shelfbus 0.1.0") == (found["shelf"]["kind"], found["shelf"]["summary"])


@pytest.mark.full_size("a whole run, which .ci/run has too: run by the nightly part commands")
def test_the_package_passes_its_own_tests(outside) -> None:
    """Its conformance is one of them."""
    copy, environment = outside
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests"]
    ended = subprocess.run(
        command, cwd=copy, env=environment, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stdout


def test_the_project_with_an_embedded_broker_passes_its_own_tests(tmp_path: Path) -> None:
    """And notices the transaction over two sessions, though its queue would be a regular one."""
    project = shutil.copytree(EMBEDDED, tmp_path / "project")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    ended = run(command, cwd=project)
    assert ended.returncode == 0, ended.stdout
    mistaken = project / "ledger.py"
    text = mistaken.read_text(encoding="utf-8")
    right = 'return [("transfers", [Booking(payer, -cents), Booking(payee, cents)])]'
    wrong = "return in_two_sessions(payer, payee, cents)"
    assert right in text
    mistaken.write_text(text.replace(right, wrong), encoding="utf-8")
    command.append("test_ledger.py::test_a_transfer_arrives_whole_and_in_order")
    ended = run(command, cwd=project)
    assert "RefusedError: The operation is not allowed here (TXN-08" in ended.stdout
