"""The official JavaScript client, unmodified, against the broker."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from node_packages import installed, program

from .conftest import Served

pytestmark = pytest.mark.slow

HERE = Path(__file__).parent / "node"


@pytest.fixture(scope="session")
def node_modules(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the tests and what they need."""
    folder = installed(HERE, tmp_path_factory.mktemp("node"))
    if folder != HERE:
        shutil.copy(HERE / "client.test.js", folder)
    return folder


def test_the_javascript_client_is_served(served: Served, node_modules: Path) -> None:
    """Sending, settling, peeking, scheduling, sessions, rules, outages, errors."""
    done = subprocess.run(  # noqa: S603 - a fixed command
        [program("node"), "--test", "client.test.js"],
        cwd=node_modules,
        env=os.environ
        | {"BUSPROOF_CONNECTION": served.connection_string, "BUSPROOF_ADMIN": served.admin},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert 0 == done.returncode, done.stdout
