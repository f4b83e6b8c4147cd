"""The official JavaScript client, unmodified, against the broker."""

import os
import subprocess
from pathlib import Path

import pytest
from node_packages import installed, program

from .conftest import Served

pytestmark = pytest.mark.slow

HERE = Path(__file__).parent / "node"


@pytest.mark.needs("node")
def test_the_javascript_client_is_served(served: Served) -> None:
    """Sending, settling, peeking, scheduling, sessions, rules, outages, errors."""
    done = subprocess.run(  # noqa: S603 - a fixed command
        [program("node"), "--test", "client.test.js"],
        cwd=installed(HERE),
        env=os.environ
        | {"BUSPROOF_CONNECTION": served.connection_string, "BUSPROOF_ADMIN": served.admin},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert 0 == done.returncode, done.stdout
