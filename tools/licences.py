"""Prints docs/licences.md: every package that busproof brings along, and its licence.

What is told is what the installed packages say of themselves; `make licences` writes the file.
"""

import importlib.metadata
import re
from collections.abc import Iterator

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
    "BSD 3-Clause License": "BSD-3-Clause",
    "GNU General Public License v2 (GPLv2)": "GPL-2.0",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Python Software Foundation License": "PSF-2.0",
}
"""The names that packages use, and one for each licence."""

HEAD = """\
# Licences

Every package that busproof needs, directly or through another one, with the licence that the package states.
busproof itself is under the Apache License 2.0; none of these is part of it.
[Dependencies](dependencies.md) says why each is needed.
`make licences` writes this page.

| package | licence | comes with |
| --- | --- | --- |
"""  # noqa: E501 - one sentence a line


def wanted(name: str, extras: frozenset[str], seen: set[tuple[str, frozenset[str]]]) -> None:
    """Put a package and all that it asks for on this machine into `seen`."""
    if (name, extras) in seen:
        return
    seen.add((name, extras))
    for text in importlib.metadata.requires(name) or ():
        requirement = Requirement(text)
        applies = requirement.marker is None or any(
            requirement.marker.evaluate({"extra": extra}) for extra in extras or {""}
        )
        if applies:
            wanted(plain(requirement.name), frozenset(requirement.extras), seen)


def plain(name: str) -> str:
    """A package's name in its one spelling."""
    return re.sub(r"[-_.]+", "-", name).lower()


def packages(*extras: str) -> set[str]:
    """What comes with busproof and these extras."""
    seen: set[tuple[str, frozenset[str]]] = set()
    wanted("busproof", frozenset({"", *extras}), seen)
    return {name for name, _ in seen} - {"busproof"}


def licence(name: str) -> str:
    """A package's licence: as an expression, in a word, or by its classifiers."""
    told = importlib.metadata.metadata(name)
    expression = told.get("License-Expression", "")
    if expression:
        return expression
    words = told.get("License", "").partition("\n")[0].strip()
    classified = [
        each.rpartition(" :: ")[2]
        for each in told.get_all("Classifier") or ()
        if each.startswith("License :: ")
    ]
    if words in SAYS_NOTHING or words.startswith("Copyright"):
        words = " or ".join(SHORT.get(each, each) for each in classified)
    return SHORT.get(words, words)


def rows() -> Iterator[str]:
    """A line for each package, those of the base install first."""
    base, told = packages(), set[str]()
    for name, found in (("base", base), *((extra, packages(extra) - base) for extra in EXTRAS)):
        for package in sorted(found - told):
            told.add(package)
            yield f"| {package} | {licence(package)} | {name} |\n"


def page() -> str:
    """The whole page."""
    return HEAD + "".join(rows())


if __name__ == "__main__":
    print(page(), end="")
