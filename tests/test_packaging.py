"""What may import what, what locks pin, and what must not stand in any file."""

import ast
import os
import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from mypy.main import process_options
from packaging.requirements import Requirement
from packaging.version import Version
from repository import ROOT, files

import busproof

PACKAGE = ROOT / "src" / "busproof"
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
LOCKS = sorted((ROOT / "requirements").glob("*.lock"))

MAY_IMPORT: dict[str, set[str]] = {
    "spec": set(),
    "vocabulary": {"spec"},
    "filters": {"vocabulary"},
    "model": {"vocabulary", "filters", "spec"},
    "oracle": {"vocabulary", "filters"},
    "history": {"vocabulary"},
    "mutants": {"vocabulary", "model"},
    "adapters": {"vocabulary", "history", "pipeline", "model", "mutants"},
    "broker": {"vocabulary", "filters", "model", "spec", "adapters.hostile"},
    "judging": {"vocabulary", "oracle", "spec", "history", "adapters.base"},
    "exploration": {"vocabulary", "history", "judging", "spec", "adapters.base"},
    "steps": {"vocabulary", "history", "judging", "exploration", "spec"}
    | {"adapters.base", "adapters.finding"}
    | {"tla.manifest", "tla.graphs.command_mapping", "tla.graphs.setup", "tla.graphs.paths"},
    "features": {"vocabulary", "steps", "history.records", "tla.graphs.paths"},
    "reports": {"vocabulary", "spec", "history"},
    "tla": {"vocabulary", "model", "oracle", "spec", "history"},
    "pipeline": {"vocabulary", "spec", "history", "judging"},
}
"""The table of docs/architecture.md: room to the rooms and modules that it may import."""

WITHIN: dict[str, set[str]] = {
    "pipeline.bus": {"vocabulary", "spec", "history", "pipeline.schema", "pipeline.bus"},
}
"""Parts of rooms that may import less: the bus on Spark is none of the judge's rules."""

ALL_MAY_IMPORT = {"errors", "extras", "__version__"}
IMPORT_NOTHING = {"errors", "steps.plugin", "steps.allure"}
MOST_FILES = 30
"""Number of modules that a folder of the package or of the tests may have."""
MOST_LINES, MOST_LINES_OF_TESTS = 350, 400
"""Numbers of lines that a module, and a file of tests, may have."""


def modules() -> dict[str, Path]:
    """Every module of the package by its name without `busproof.`; the root is ''."""
    found = {}
    for folder, _, names in os.walk(PACKAGE, followlinks=True):
        for path in (Path(folder, name) for name in names if name.endswith(".py")):
            parts = path.relative_to(PACKAGE).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


MODULES = modules()


def imported(path: Path) -> Iterator[str]:
    """What of ours a module imports, anywhere in it, without `busproof.`."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names: list[str] = []
        match node:
            case ast.ImportFrom(level=level, names=aliases) if level:
                names = [f"busproof.a relative import of {alias.name}" for alias in aliases]
            case ast.ImportFrom(module=str(module), names=aliases):
                names = [f"{module}.{alias.name}" for alias in aliases]
            case ast.Import(names=aliases):
                names = [alias.name for alias in aliases]
            case ast.Call(
                func=ast.Attribute(attr="import_module"), args=[ast.Constant(value=str(name))]
            ):
                names = [name]
        yield from (name.removeprefix("busproof.") for name in names if is_ours(name))


def is_ours(name: str) -> bool:
    return name == "busproof" or name.startswith("busproof.")


def is_within(name: str, allowed: set[str]) -> bool:
    return any(name == each or name.startswith(f"{each}.") for each in allowed)


def test_every_room_stands_in_the_table() -> None:
    """A folder that is linked into the package has its row, here and in the document."""
    rooms = {path.name for path in PACKAGE.iterdir() if path.is_symlink()}
    table = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    assert sorted(MAY_IMPORT) == sorted(rooms)
    assert [] == [room for room in rooms if f"| `{room}/` |" not in table]


def test_imports_go_one_way() -> None:
    """A module of a room imports what the table permits; the command line imports anything."""
    wrong = [
        f"{name} imports {each}"
        for name, path in sorted(MODULES.items())
        for each in imported(path)
        if not is_within(each, permitted(name))
    ]
    assert [] == wrong


def test_no_folder_is_too_long_to_take_in() -> None:
    """Nobody finds a file among sixty; a folder of modules or tests is divided by subject."""
    files = [*MODULES.values(), *(ROOT / "tests").rglob("*.py")]
    folders = Counter(path.parent for path in files)
    assert {} == {str(folder): number for folder, number in folders.items() if number > MOST_FILES}


def test_no_module_is_too_long_to_read_at_a_sitting() -> None:
    """A long module is divided by subject, in the benchmarks, the tools and the tests too."""
    rooms = {"benchmarks": MOST_LINES, "tools": MOST_LINES, "tests": MOST_LINES_OF_TESTS}
    limits = dict.fromkeys(MODULES.values(), MOST_LINES)
    limits |= {path: most for room, most in rooms.items() for path in (ROOT / room).rglob("*.py")}
    sizes = {path: path.read_text(encoding="utf-8").count("\n") for path in limits}
    long = {path: lines for path, lines in sizes.items() if lines > limits[path]}
    assert {} == {str(path.relative_to(ROOT)): lines for path, lines in long.items()}


def permitted(name: str) -> set[str]:
    """Return the rooms and modules that a module may import."""
    room = name.partition(".")[0]
    if name in IMPORT_NOTHING:
        return set()
    for part, allowed in WITHIN.items():
        if is_within(name, {part}):
            return allowed | ALL_MAY_IMPORT
    if room in MAY_IMPORT:
        return MAY_IMPORT[room] | {room} | ALL_MAY_IMPORT
    return {*MAY_IMPORT, *MODULES, *ALL_MAY_IMPORT}


def test_mypy_sees_every_module(monkeypatch: pytest.MonkeyPatch) -> None:
    """A layout that hides modules from it would let it pass."""
    monkeypatch.chdir(ROOT)
    sources, _ = process_options([])
    seen = {each.module for each in sources}
    assert {f"busproof.{name}".rstrip(".") for name in MODULES} - seen == set()


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
    assert newest is not None
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
def test_a_lock_has_all_that_the_project_asks_for(
    name: str, requirements: list[Requirement]
) -> None:
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
