"""npm packages that tests need, installed as their package-lock.json pins them."""

import fcntl
import hashlib
import shutil
import subprocess
from pathlib import Path

__all__ = ["installed", "program"]


def program(name: str) -> str:
    """Return the path of a program that the test is marked to need."""
    found = shutil.which(name)
    assert found is not None, f"{name} is missing: mark the test with needs('node')"
    return found


def installed(home: Path) -> Path:
    """Return `home`, its npm packages installed in `home/node_modules`.

    They stay there for the next session; several processes may ask at once.
    """
    modules = home / "node_modules"
    stamp = modules / ".installed"
    pinned = hashlib.sha256((home / "package-lock.json").read_bytes()).hexdigest()
    with (home / ".npm.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (stamp.exists() and stamp.read_text() == pinned):
            command = [program("npm"), "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
            ended = subprocess.run(command, cwd=home, capture_output=True, text=True, check=False)
            assert ended.returncode == 0, ended.stderr
            stamp.write_text(pinned)
    return home
