"""The adapter understands administration as the real service was recorded to answer it."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from commands import run_here
from work import PATIENCE

from busproof.adapters.amqp.embedded import Embedded

from .recorded_shape import serving

pytestmark = pytest.mark.slow

QUICK = ("MGMT-01", "MGMT-16", "SIZE-06", "TOPIC-24", "FILTER-07", "FWD-29")
"""Rules whose scenarios create, get, list, update and delete, and wait for nothing."""


@pytest.fixture(scope="module")
def broker() -> Iterator[Embedded]:
    """A broker in real time."""
    started = Embedded(("--clock", "real"), timeout=PATIENCE)
    yield started
    started.stop()


def verdicts(broker: Embedded, admin: str, rules: tuple[str, ...], folder: Path) -> dict[str, str]:
    """Run the scenarios of these rules against a broker, and return the verdicts."""
    target = broker.target
    address = (
        f"Endpoint=sb://{target.host}:{target.port};SharedAccessKeyName={target.key_name};"
        f"SharedAccessKey={target.key};UseDevelopmentEmulator=true;AdminEndpoint={admin};"
        "ReceiveWait=0"
    )
    chosen = [word for rule in rules for word in ("--rule", rule)]
    options = ["--only", "features", "--name", "shape", *chosen]
    run_here("run", "--adapter", address, "--yes", *options, folder=folder)
    written = (folder / "reports/runs/shape/conformance.json").read_text(encoding="utf-8")
    return {each["id"]: each["verdict"] for each in json.loads(written)["rules"]}


def compare(broker: Embedded, folder: Path, rules: tuple[str, ...]) -> dict[str, str]:
    """Return the verdicts through the proxy, which are those without it."""
    own = folder / "own"
    other = folder / "other"
    for place in (own, other):
        place.mkdir()
    with serving(broker.target.admin) as admin:
        direct = verdicts(broker, broker.target.admin, rules, own)
        through = verdicts(broker, admin, rules, other)
    assert direct == through
    return through


def test_run_through_the_recorded_shape_has_the_same_verdicts(
    broker: Embedded, tmp_path: Path
) -> None:
    """Each of these rules is shown, with nothing in the answers but what was recorded."""
    found = compare(broker, tmp_path, QUICK)
    assert dict.fromkeys(QUICK, "shown") == {rule: found[rule] for rule in QUICK}


@pytest.mark.full_size("minutes for all scenarios of management, twice, in real time")
def test_no_rule_of_management_is_violated_in_the_recorded_shape(
    broker: Embedded, tmp_path: Path
) -> None:
    """Whatever the service leaves out, or says in other words than our broker."""
    found = compare(broker, tmp_path, ("MGMT", "SIZE", "FILTER"))
    assert [] == [rule for rule, verdict in found.items() if verdict in ("violated", "errored")]
