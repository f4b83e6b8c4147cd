"""The official JavaScript client, unmodified, against the broker."""

import os
import re
import subprocess
from pathlib import Path

import pytest
from node_packages import installed, program

from ..conftest import Served, Start

pytestmark = pytest.mark.slow

HERE = Path(__file__).parent / "node"


@pytest.mark.needs("node")
def test_the_javascript_client_is_served(served: Served) -> None:
    """Sending, settling, peeking, scheduling, sessions, rules, outages, errors."""
    ran("client.test.js", served.connection_string, BUSPROOF_ADMIN=served.admin)


@pytest.mark.needs("node")
def test_the_javascript_administration_client_is_served(start: Start, tmp_path: Path) -> None:
    """Queues, topics, subscriptions and rules, whose names it reads from their addresses."""
    served = start("--admin-tls", str(tmp_path / "authority.pem"))
    port = served.admin.rpartition(":")[2]
    text = re.sub(r"sb://[^;]+", f"sb://localhost:{port}", served.connection_string)
    ran("admin.test.js", text, NODE_EXTRA_CA_CERTS=str(tmp_path / "authority.pem"))


def ran(program_of_tests: str, connection: str, **more: str) -> None:
    done = subprocess.run(
        [program("node"), "--test", program_of_tests],
        cwd=installed(HERE),
        env=os.environ | {"BUSPROOF_CONNECTION": connection} | more,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert 0 == done.returncode, done.stdout
