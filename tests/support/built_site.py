"""The documents' site, built as `make docs` builds it."""

import os
import subprocess
import sys
from pathlib import Path

from node_packages import installed
from programs import is_there

__all__ = ["build", "built_site"]

ROOT = Path(__file__).parents[2]


def build(config: Path, target: Path) -> subprocess.CompletedProcess[str]:
    """Build the site of a configuration, without Material's advice."""
    command = [sys.executable, "-m", "mkdocs", "build", "--strict"]
    return subprocess.run(
        [*command, "--config-file", str(config), "--site-dir", str(target)],
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


def built_site(target: Path) -> Path:
    """Return the folder with our site; its diagrams are drawn where npm could install how."""
    if is_there("node"):
        installed(ROOT / "tools" / "mermaid")
    ended = build(ROOT / "mkdocs.yml", target)
    assert 0 == ended.returncode, ended.stderr
    return target
