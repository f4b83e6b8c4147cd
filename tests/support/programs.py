"""Programs and packages that some tests need and a machine may lack.

A test that needs one is marked `needs("node")`; a whole file that cannot even be imported without
a package stands in `FILES`. What is missing is skipped, counted and listed at the end of a session
with the package that brings it. `BUSPROOF_REQUIRE_ALL=1`, which `.ci/run` sets, makes it a failure.
"""

import functools
import importlib.util
import os
import re
import resource
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, NoReturn

import attrs
import pytest

from busproof.cli.environment import chromium

__all__ = ["NEEDS", "Tally", "is_there", "lacking", "needs_of_file", "refuse"]

REQUIRE_ALL: Final = "BUSPROOF_REQUIRE_ALL"
OLDEST_NODE: Final = 20


@attrs.frozen
class Need:
    """Something that a machine may lack.

    Attributes:
        there: returns whether the machine has it.
        brought_by: what installs it, for a person to type.
    """

    there: Callable[[], bool]
    brought_by: str


def _on_path(*names: str) -> Callable[[], bool]:
    return lambda: all(shutil.which(name) for name in names)


def _importable(*names: str) -> Callable[[], bool]:
    return lambda: all(importlib.util.find_spec(name) for name in names)


def _node() -> bool:
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        return False
    said = subprocess.run([node, "--version"], capture_output=True, text=True, check=False)
    version = re.match(r"v(\d+)", said.stdout)
    return version is not None and int(version[1]) >= OLDEST_NODE


def _own_mount() -> bool:
    if shutil.which("unshare") is None:
        return False
    command = ["unshare", "-rm", "mount", "-t", "tmpfs", "none", "/mnt"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def _rabbitmq() -> bool:
    return shutil.which("erl") is not None and Path("/usr/lib/rabbitmq/bin").exists()


def _may_open(files: int) -> Callable[[], bool]:
    def there() -> bool:
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        return hard == resource.RLIM_INFINITY or hard >= files

    return there


NEEDS: Final = {
    "bash": Need(_on_path("bash", "sh", "dirname"), "apt-get install bash coreutils"),
    "chromium": Need(lambda: chromium() is not None, "apt-get install chromium"),
    "fish": Need(_on_path("fish"), "apt-get install fish"),
    "full-device": Need(Path("/dev/full").exists, "Linux: /dev/full is a disk that is always full"),
    "git": Need(_on_path("git"), "apt-get install git"),
    "index": Need(lambda: True, "a package index that pip can reach; the test itself finds out"),
    "many-files": Need(_may_open(7_000), "ulimit -Hn 7000 or more"),
    "mount": Need(_on_path("mount"), "apt-get install mount"),
    "node": Need(_node, f"apt-get install nodejs npm (Node.js {OLDEST_NODE} or later)"),
    "own-mount": Need(
        _own_mount, "apt-get install util-linux mount, and a kernel where unshare -rm may mount"
    ),
    "proton": Need(
        _importable("proton"),
        "apt-get install gcc libc6-dev python3-dev pkg-config libssl-dev, then make dev",
    ),
    "ps": Need(_on_path("ps"), "apt-get install procps"),
    "root": Need(lambda: os.geteuid() == 0, "sudo make test: a small disk is mounted"),
    "zsh": Need(_on_path("zsh"), "apt-get install zsh"),
    "rabbitmq": Need(_rabbitmq, "apt-get install rabbitmq-server"),
}
"""Each need by the name that tests are marked with."""

FILES: Final = {
    "tests/adapters/amqp/": "proton",
    "tests/adapters/http/": "proton",
    "tests/broker/": "proton",
    "tests/clients/": "proton",
    "tests/recorder/": "proton",
}
"""Where tests import something at once that may be missing, and what that is."""

FOLDERS: Final = {"tests/pipeline/": "bash"}
"""What all tests of a folder need: Spark is started by a script of bash."""

FIXTURES: Final = {"axe": "node", "browser": "chromium", "lint": "node"}
"""What fixtures need, and so every test that uses them."""


@functools.cache
def is_there(need: str) -> bool:
    """Return whether this machine has something, by its name in `NEEDS`."""
    return NEEDS[need].there()


def needs_of_file(file: str) -> str | None:
    """Return what is missing without which this file cannot be imported."""
    found = (need for start, need in FILES.items() if file.startswith(start))
    return next((need for need in found if not is_there(need)), None)


def lacking(item: pytest.Item) -> str | None:
    """Return the first thing missing that a test is marked to need."""
    asked = [need for mark in item.iter_markers("needs") for need in mark.args]
    asked += [need for start, need in FOLDERS.items() if item.nodeid.startswith(start)]
    asked += [FIXTURES[name] for name in getattr(item, "fixturenames", ()) if name in FIXTURES]
    return next((need for need in asked if not is_there(need)), None)


def refuse(need: str) -> NoReturn:
    """Skip a test for lack of something, or fail where nothing may be lacking."""
    said = f"needs {need}: {NEEDS[need].brought_by}"
    if os.environ.get(REQUIRE_ALL):
        pytest.fail(f"{said} ({REQUIRE_ALL} is set)", pytrace=False)
    pytest.skip(said)


class Tally:
    """Lists at the end of a session what was skipped, and why."""

    def __init__(self, reports: list[pytest.TestReport]) -> None:
        self._reports = reports

    def lines(self) -> Iterator[str]:
        """Yield one line a reason: how many tests, of which files."""
        files: dict[str, list[str]] = {}
        for report in self._reports:
            if isinstance(report.longrepr, tuple):
                reason = report.longrepr[2].removeprefix("Skipped: ")
                files.setdefault(reason, []).append(report.nodeid.partition("::")[0])
        for reason, skipped in sorted(files.items()):
            yield f"{len(skipped)} not run: {reason} ({', '.join(sorted(set(skipped)))})"
