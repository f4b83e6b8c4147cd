"""The official JavaScript client, unmodified, through the recording."""

import os
import subprocess
from pathlib import Path

import pytest
from node_packages import installed, program
from work import PATIENCE

from busproof import vocabulary as v

from .conftest import HOST, KEY, Recorded, violated

pytestmark = pytest.mark.slow
HERE = Path(__file__).parent


@pytest.mark.needs("node")
def test_the_javascript_client_is_recorded(recording: Recorded) -> None:
    """It drains its links, so that a receive that came back empty is seen as such."""
    with recording.administration() as admin:
        admin.create_queue("plain", enable_partitioning=True)
        admin.create_queue("sessions", enable_partitioning=True, requires_session=True)
    packages = installed(HERE.parent / "broker" / "clients" / "node") / "node_modules"
    connection = f"Endpoint=sb://{HOST}:{recording.port};{KEY}UseDevelopmentEmulator=true;"
    done = subprocess.run(
        [program("node"), str(HERE / "speak.js")],
        env=os.environ | {"BUSPROOF_CONNECTION": connection, "NODE_PATH": str(packages)},
        capture_output=True,
        text=True,
        check=False,
        timeout=10 * PATIENCE,
    )
    assert 0 == done.returncode, done.stderr
    events = recording.events()
    kinds = [type(event.command) for event in events]
    settled = (v.Complete, v.Abandon, v.DeadLetter, v.Defer)
    assert [6, 1, 1, 1] == [kinds.count(kind) for kind in settled]
    assert [v.Empty()] == [event.outcome for event in events if isinstance(event.outcome, v.Empty)]
    assert {v.AcceptSession, v.AcceptNextSession, v.SetSessionState, v.RenewLock} <= set(kinds)
    assert 2 == kinds.count(v.CloseSession)
    unanswered = [event for event in events if isinstance(event.outcome, v.Indeterminate)]
    assert [] == unanswered
    assert [] == violated(recording.verdict())
