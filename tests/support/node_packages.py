"""Packages of npm that tests need, by the registry that npm is set up for."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

__all__ = ["installed", "program"]

_LEAST_NODE = 20


def program(name: str) -> str:
    """Where a program of Node.js is; there is no skipping without it."""
    found = shutil.which(name)
    if found is None:
        pytest.fail(
            f"{name} is missing, which this test needs; install Node.js {_LEAST_NODE} or later "
            "with npm (Debian, Ubuntu: apt-get install nodejs npm)"
        )
    return found


def installed(home: Path, scratch: Path) -> Path:
    """A folder with the packages that `home/package.json` names, exactly in those versions.

    Args:
        home: where the package.json is; if it has them in `node_modules`, that is the folder.
        scratch: an empty folder, where they are put otherwise.
    """
    described = json.loads((home / "package.json").read_text(encoding="utf-8"))
    wanted: dict[str, str] = described["dependencies"]
    if all(_version(home / "node_modules" / name) == each for name, each in wanted.items()):
        return home
    shutil.copy(home / "package.json", scratch)
    command = [program("npm"), "install", "--no-package-lock", "--no-audit", "--no-fund"]
    done = subprocess.run(  # noqa: S603 - a fixed command
        command, cwd=scratch, capture_output=True, text=True, check=False
    )
    assert 0 == done.returncode, done.stderr
    return scratch


def _version(package: Path) -> str | None:
    described = package / "package.json"
    if not described.exists():
        return None
    version: str = json.loads(described.read_text(encoding="utf-8"))["version"]
    return version
