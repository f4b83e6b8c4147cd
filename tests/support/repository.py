"""The repository that the tests belong to."""

import shutil
import subprocess
from pathlib import Path
from typing import Final

import pytest
from programs import refuse

__all__ = ["ROOT", "files"]

ROOT: Final = Path(__file__).parents[2]


def files() -> list[Path]:
    """The files of the repository: those in git, and those that could be added to it."""
    git = shutil.which("git")
    if git is None:
        refuse("git")
    if not (ROOT / ".git").exists():
        pytest.skip("no git repository to look at")
    listed = subprocess.run(
        [git, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
        text=True,
    ).stdout
    return [ROOT / name for name in listed.split("\0") if name and (ROOT / name).exists()]
