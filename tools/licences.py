"""Print docs/licences.md: every package that comes with busproof, and its licence.

The licences are those in the metadata of the installed packages; `make licences` writes the file.
"""

import importlib.metadata
import re
from collections.abc import Iterator
from email.message import Message
from typing import cast

from packaging.requirements import Requirement

EXTRAS = ("report", "amqp", "spark", "tla", "dev")
SAYS_NOTHING = {"UNKNOWN", ""}
SHORT = {
    "Apache Software License": "Apache-2.0",
    "Apache License, Version 2.0": "Apache-2.0",
    "Apache 2.0": "Apache-2.0",
    "MIT License": "MIT",
    "BSD License": "BSD",
    "3-Clause BSD License": "BSD-3-Clause",
    "BSD 2-Clause License": "BSD-2-Clause",
    "BSD 3-Clause License": "BSD-3-Clause",
    "GNU General Public License v2 (GPLv2)": "GPL-2.0",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Python Software Foundation License": "PSF-2.0",
}
"""One short name for each licence, by the names that packages use."""

HEAD = """\
# Licences

Every package that busproof needs, directly or through another one, with the licence that the package states.
busproof itself is under the Apache License 2.0; none of these is part of it.
[Dependencies](dependencies.md) says why each is needed.
`make licences` writes this page.

| package | licence | comes with |
| --- | --- | --- |
"""  # noqa: E501 - one sentence a line


def wanted(name: str, extras: frozenset[str], visited: set[tuple[str, frozenset[str]]]) -> None:
    """Add a package, and all packages that it requires on this machine, to `visited`."""
    if (name, extras) in visited:
        return
    visited.add((name, extras))
    for text in importlib.metadata.requires(name) or ():
        requirement = Requirement(text)
        applies = requirement.marker is None or any(
            requirement.marker.evaluate({"extra": extra}) for extra in extras or {""}
        )
        if applies:
            wanted(plain(requirement.name), frozenset(requirement.extras), visited)


def plain(name: str) -> str:
    """Return the normalized name of a package."""
    return re.sub(r"[-_.]+", "-", name).lower()


def packages(*extras: str) -> set[str]:
    """Return the packages that come with busproof and these extras."""
    visited: set[tuple[str, frozenset[str]]] = set()
    wanted("busproof", frozenset({"", *extras}), visited)
    return {name for name, _ in visited} - {"busproof"}


def licence(name: str) -> str:
    """Return a package's licence: from its expression, its licence field, or its classifiers."""
    metadata = cast("Message", importlib.metadata.metadata(name))
    expression = str(metadata.get("License-Expression", ""))
    if expression:
        return expression
    words = str(metadata.get("License", "")).partition("\n")[0].strip()
    classified = [
        classifier.rpartition(" :: ")[2]
        for classifier in metadata.get_all("Classifier") or ()
        if classifier.startswith("License :: ")
    ]
    if words in SAYS_NOTHING or words.startswith("Copyright"):
        words = " or ".join(SHORT.get(part, part) for part in classified)
    return SHORT.get(words, words)


def rows() -> Iterator[str]:
    """Yield a line for each package, first those of the base install."""
    base, listed = packages(), set[str]()
    for name, names in (("base", base), *((extra, packages(extra) - base) for extra in EXTRAS)):
        for package in sorted(names - listed):
            listed.add(package)
            yield f"| {package} | {licence(package)} | {name} |\n"


def page() -> str:
    """Return the whole page."""
    return HEAD + "".join(rows())


if __name__ == "__main__":
    print(page(), end="")
