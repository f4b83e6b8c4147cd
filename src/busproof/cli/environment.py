"""Programs and packages that busproof can use; looking for them changes nothing."""

import importlib.metadata
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import attrs

from busproof.errors import ConformanceError

__all__ = ["EXTRAS", "NEEDS", "Finding", "chromium", "findings"]

EXTRAS: Final = {
    "report": "Allure results, JUnit XML",
    "amqp": "busproof serve, adapters over AMQP",
    "spark": "busproof check --engine spark",
    "tla": "busproof modelcheck",
}
"""Extras of the package, with their purposes."""

NEEDS: Final = (*EXTRAS, "node", "chromium")
"""Findings that can be selected by name."""

OLDEST_PYTHON: Final = (3, 11)
OLDEST_NODE: Final = 18
_BROWSERS: Final = ("chromium", "chromium-browser", "google-chrome")
_PATIENCE: Final = 60.0
"""Maximum time for a program to print its version, in seconds."""


@attrs.frozen(kw_only=True)
class Finding:
    """A program, package or service that busproof can use.

    Attributes:
        name: the name of the program, package or service.
        purpose: its purpose in busproof.
        told: version or location; if it is missing, a sentence on how to get it.
        there: whether it is available.
        need: the name that selects this finding; empty if every command needs it.
    """

    name: str
    purpose: str
    told: str
    there: bool
    need: str = ""


def findings() -> Iterator[Finding]:
    """Yield all findings; those that every command needs come first."""
    yield _python()
    yield _writable("this folder", "the reports of runs", Path.cwd())
    yield _writable("the folder of temporary files", "every run", Path(tempfile.gettempdir()))
    for extra, purpose in EXTRAS.items():
        yield _extra(extra, purpose)
    yield _ask("Java for Spark", EXTRAS["spark"], "spark", _java_for_spark)
    yield _ask("Java for TLC", EXTRAS["tla"], "tla", _java_for_tlc)
    yield _ask("TLC", EXTRAS["tla"], "tla", _tlc)
    yield _node()
    yield _chromium()


def chromium() -> str | None:
    """Return the path of Chromium, or `None` if it is not on PATH."""
    return next(filter(None, map(shutil.which, _BROWSERS)), None)


def _python() -> Finding:
    there = sys.version_info >= OLDEST_PYTHON
    oldest = ".".join(map(str, OLDEST_PYTHON))
    old = f"Python {platform.python_version()} is too old; install Python {oldest} or later."
    sentence = f"{platform.python_version()}, {sys.executable}" if there else old
    return Finding(name="Python", purpose="everything", told=sentence, there=there)


def _writable(name: str, purpose: str, folder: Path) -> Finding:
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        sentence = f"{folder} cannot be written ({error.strerror}); go to a folder that can be."
        return Finding(name=name, purpose=purpose, told=sentence, there=False)
    return Finding(name=name, purpose=purpose, told=str(folder), there=True)


def _extra(extra: str, purpose: str) -> Finding:
    packages = list(_packages(extra))
    missing = [name for name, version in packages if version is None]
    sentence = ", ".join(f"{name} {version}" for name, version in packages)
    if missing:
        sentence = (
            f"{_and(missing)} {'is' if len(missing) == 1 else 'are'} not installed; "
            f"pip install 'busproof[{extra}]' installs what is missing."
        )
    name = f"the extra {extra}"
    return Finding(name=name, purpose=purpose, told=sentence, there=not missing, need=extra)


def _packages(extra: str) -> Iterator[tuple[str, str | None]]:
    """Yield the packages of an extra, with their installed versions."""
    for text in importlib.metadata.requires("busproof") or ():
        requirement, _, marker = text.partition(";")
        name = re.match(r"[\w.-]+", requirement)
        if name is not None and re.search(rf"\bextra == ['\"]{extra}['\"]", marker):
            try:
                yield name[0], importlib.metadata.version(name[0])
            except importlib.metadata.PackageNotFoundError:
                yield name[0], None


def _ask(name: str, purpose: str, need: str, find: Callable[[], str]) -> Finding:
    """Return what a function of busproof finds, or the message of its error."""
    try:
        return Finding(name=name, purpose=purpose, told=find(), there=True, need=need)
    except ConformanceError as error:
        return Finding(name=name, purpose=purpose, told=f"{error}.", there=False, need=need)


def _java_for_spark() -> str:
    from busproof.pipeline.java import java_home  # other commands start faster

    return java_home() or shutil.which("java") or "on PATH"


def _java_for_tlc() -> str:
    from busproof.tla.java import find_java

    return str(find_java())


def _tlc() -> str:
    from busproof.tla.java import find_jar

    return str(find_jar())


def _node() -> Finding:
    version = _version_of("node")
    number = re.match(r"v(\d+)", version or "")
    there = number is not None and int(number[1]) >= OLDEST_NODE
    missing = (
        f"Node.js {OLDEST_NODE} or later is not on PATH; install it with your system's packages "
        "(Debian, Ubuntu: apt-get install nodejs)."
    )
    return Finding(
        name="Node.js",
        purpose="the adapter in JavaScript, Allure's page",
        told=str(version) if there else missing,
        there=there,
        need="node",
    )


def _chromium() -> Finding:
    path = chromium()
    missing = (
        f"no {_and(list(_BROWSERS), 'or')} is on PATH; install one with your system's packages "
        "(Debian: apt-get install chromium)."
    )
    return Finding(
        name="Chromium",
        purpose="the tests of the page",
        told=path or missing,
        there=path is not None,
        need="chromium",
    )


def _version_of(program: str) -> str | None:
    """Return a program's version line, or `None` if it is missing or does not run."""
    place = shutil.which(program)
    if place is None:
        return None
    try:
        ended = subprocess.run(
            [place, "--version"], capture_output=True, check=False, timeout=_PATIENCE, text=True
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return ended.stdout.strip() if ended.returncode == os.EX_OK else None


def _and(names: list[str], word: str = "and") -> str:
    *most, last = names
    return f"{', '.join(most)} {word} {last}" if most else last
