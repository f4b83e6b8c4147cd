"""What is shipped: the wheel and the source distribution, as `make dist` builds them."""

import email
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from repository import ROOT, files

pytestmark = pytest.mark.slow

PACKAGE = ROOT / "src" / "busproof"
DATA = {".yaml", ".json", ".jsonl", ".feature", ".typed", ".tla", ".cfg", ".toml", ".properties"}
DATA |= {".html", ".css", ".js"}


def cloned(clone: Path, *, mode: int, when: int) -> Path:
    """The repository's files elsewhere, with these permissions and times."""
    for path in files():
        copy = clone / path.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, copy, follow_symlinks=False)
        if not copy.is_symlink():
            copy.chmod(mode | (copy.stat().st_mode & 0o100))
            os.utime(copy, (when, when))
    return clone


def build(clone: Path, umask: int) -> Path:
    """The folder with the source distribution, and the wheel that was built from it."""
    subprocess.run(
        [sys.executable, "tools/dist.py"],
        cwd=clone,
        env={**os.environ, "SOURCE_DATE_EPOCH": "1763791800"},
        umask=umask,
        capture_output=True,
        check=True,
    )
    return clone / "dist"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """As `make dist` builds it, of files that lie elsewhere."""
    clone = tmp_path_factory.mktemp("clone")
    return build(cloned(clone, mode=0o644, when=1_600_000_000), 0o022)


def shipped() -> set[str]:
    """The files of the package as a wheel must have them."""
    known = {path.relative_to(ROOT).as_posix() for path in files()}
    found = set()
    for folder, _, names in os.walk(PACKAGE, followlinks=True):
        for path in (Path(folder, name) for name in names):
            real = path.resolve().relative_to(ROOT.resolve()).as_posix()
            if real in known and path.suffix in {".py", *DATA}:
                found.add(f"busproof/{path.relative_to(PACKAGE).as_posix()}")
    return found


def test_the_wheel_has_every_module_and_all_data(built: Path) -> None:
    """As real files, under one name; beside them only what describes it."""
    (wheel,) = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if not name.endswith("/")}
        links = [each.filename for each in archive.infolist() if each.external_attr >> 28 == 0xA]
    described = {name for name in names if ".dist-info/" in name}
    assert sorted(shipped()) == sorted(names - described)
    assert [] == links
    assert any(name.endswith("/licenses/LICENSE") for name in described)


def test_the_source_distribution_has_no_links(built: Path) -> None:
    """It is unpacked where links may not be had."""
    (sdist,) = built.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        members = archive.getmembers()
    assert [] == [each.name for each in members if each.issym() or each.islnk()]
    names = {each.name.partition("/src/")[2] for each in members}
    assert sorted(shipped() - names) == []


def test_source_distribution_has_no_tests_and_its_licence(built: Path) -> None:
    """The tests need the whole repository, so a part of them would be of no use."""
    (sdist,) = built.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert [] == sorted(name for name in names if name.startswith("tests"))
    assert names >= {"LICENSE", "NOTICE", "README.md", "CHANGELOG.md"}


def test_long_description_has_absolute_links_only(built: Path) -> None:
    """A package index shows it without the repository."""
    (wheel,) = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (each for each in archive.namelist() if each.endswith(".dist-info/METADATA"))
        metadata = email.message_from_bytes(archive.read(name))
    links = re.findall(r"\]\(([^)\s]+)\)", str(metadata.get_payload()))
    assert len(links) > 20
    assert [] == [each for each in links if not each.startswith(("https://", "#"))]
    assert metadata.get_all("Project-URL")
    assert metadata["Author"]


def test_distribution_is_reproducible(built: Path, tmp_path: Path) -> None:
    """Byte by byte: at another place and time, of files with other permissions and times."""
    clone = cloned(tmp_path / "another" / "place", mode=0o600, when=1_700_000_000)
    again = build(clone, 0o077)
    names = {file.name for file in built.iterdir()}
    assert names == {file.name for file in again.iterdir()}
    assert len(names) == 2
    for name in names:
        assert digest(built / name) == digest(again / name), name


def digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()
