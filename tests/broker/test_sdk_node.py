"""The official JavaScript client, unmodified, against the broker."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from .conftest import Served

pytestmark = pytest.mark.slow

HERE = Path(__file__).parent / "node"
LEAST_NODE = 20


def program(name: str) -> str:
    """Where a program is; there is no skipping without it."""
    found = shutil.which(name)
    if found is None:
        pytest.fail(
            f"{name} is missing, which the tests by JavaScript's client need; install Node.js "
            f"{LEAST_NODE} or later with npm (Debian, Ubuntu: apt-get install nodejs npm)"
        )
    return found


@pytest.fixture(scope="session")
def node_modules(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the tests and what they need, by the registry that npm is set up for."""
    kept = HERE / "node_modules"
    wanted = json.loads((HERE / "package.json").read_text(encoding="utf-8"))["dependencies"]
    if all(_version(kept / name) == version for name, version in wanted.items()):
        return HERE
    folder = tmp_path_factory.mktemp("node")
    for name in ("package.json", "client.test.js"):
        shutil.copy(HERE / name, folder)
    command = [program("npm"), "install", "--no-package-lock", "--no-audit", "--no-fund"]
    done = subprocess.run(  # noqa: S603 - a fixed command
        command, cwd=folder, capture_output=True, text=True, check=False
    )
    assert 0 == done.returncode, done.stderr
    return folder


def _version(package: Path) -> str | None:
    described = package / "package.json"
    if not described.exists():
        return None
    version: str = json.loads(described.read_text(encoding="utf-8"))["version"]
    return version


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
