"""Rooms and their contracts, what locks pin, and what must not stand in any file."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.version import Version
from repository import ROOT, files

import busproof

PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
LOCKS = sorted((ROOT / "requirements").glob("*.lock"))


def test_the_version_is_the_same_everywhere() -> None:
    """In the project, the package and the changelog, whose newest release it is."""
    headings = re.findall(
        r"^## \[(\d[^\]]*)\]", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert [busproof.__version__] == [PROJECT["project"]["version"]] == headings[:1]


def test_citation_names_the_newest_release() -> None:
    """And the day of the changelog."""
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    newest = re.search(
        r"^## \[(\d[^\]]*)\] - (\S+)$", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE
    )
    assert newest.groups() == (cited["version"], cited["date-released"])


def machine_words() -> re.Pattern[str]:
    """Package indexes, and places on a machine that wrote the file; each word is put together."""
    hosts = ["pypi" + ".org", "pythonhosted" + ".org", "npmjs" + ".org", "debian" + ".org"]
    places = ["/" + place + "/" for place in ("work", "root", "tmp")]
    return re.compile(
        "|".join([*map(re.escape, hosts), r"(?<![\w.}])(?:" + "|".join(places) + ")"])
    )


def test_no_file_names_a_package_index_or_a_place_on_a_machine() -> None:
    """Each machine uses what it is set up for."""
    words = machine_words()
    found = []
    for path in files():
        if path.is_file():
            text = path.read_text(encoding="utf-8", errors="replace")
            found += [f"{path.relative_to(ROOT)}: {match[0]}" for match in words.finditer(text)]
    assert [] == found


def pins(lock: Path) -> dict[str, str]:
    """Name to version."""
    return dict(
        re.findall(r"^([\w.-]+)==([^\s;]+)", lock.read_text(encoding="utf-8"), re.MULTILINE)
    )


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.stem)
def test_a_lock_has_names_versions_and_hashes_only(lock: Path) -> None:
    """No address, and no package without a hash."""
    text = lock.read_text(encoding="utf-8").replace("\\\n", "")
    line = re.compile(r"[a-z0-9-]+==[\w.]+( ; [\w '\"=!<>.()]+)?( +--hash=sha256:[0-9a-f]{64})+ *")
    assert [] == [each for each in text.splitlines() if not line.fullmatch(each)]


def wanted(extra: str) -> Iterator[Requirement]:
    """What an extra asks for, extras within it followed."""
    for text in PROJECT["project"]["optional-dependencies"][extra]:
        requirement = Requirement(text)
        if requirement.name == "busproof":
            for inner in sorted(requirement.extras):
                yield from wanted(inner)
        else:
            yield requirement


@pytest.mark.parametrize(
    ("name", "requirements"),
    [
        ("build", [Requirement(text) for text in PROJECT["build-system"]["requires"]]),
        ("base", [Requirement(text) for text in PROJECT["project"]["dependencies"]]),
        ("dev", list(wanted("dev"))),
    ],
)
def test_a_lock_has_all_that_the_project_asks_for(name, requirements) -> None:
    """`make lock` writes it anew."""
    pinned = pins(ROOT / "requirements" / f"{name}.lock")
    assert [] == [
        str(each)
        for each in requirements
        if each.name.lower() not in pinned
        or Version(pinned[each.name.lower()]) not in each.specifier
    ]


def test_the_locks_agree() -> None:
    """A package has one version, whoever asks for it."""
    versions: dict[str, set[str]] = {}
    for lock in LOCKS:
        for name, version in pins(lock).items():
            versions.setdefault(name, set()).add(version)
    assert {} == {name: found for name, found in versions.items() if len(found) > 1}


def test_base_asks_for_no_extra() -> None:
    """Neither directly nor by way of another package."""
    base = pins(ROOT / "requirements" / "base.lock")
    extras = {
        Requirement(text).name
        for extra in ("report", "amqp", "spark", "tla")
        for text in PROJECT["project"]["optional-dependencies"][extra]
    }
    assert set() == extras & set(base)
