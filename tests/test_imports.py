"""Modules import one way: no module needs one that needs it, not even for its types."""

import ast
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Final

import pytest

import busproof

ROOT: Final = Path(busproof.__file__).parent
CARRIED: Final = ("busproof.model.state", "busproof.model.rules")
"""The one import against the rest, for a type: a namespace carries the record of all rules.

Each rule is a function of the namespace, and calls the other rules through the record that it
finds there, so the types need each other. Without the circle the field would have no type, and
mypy would check no call of one rule by another; a protocol would repeat each signature.
"""


def modules() -> dict[str, Path]:
    """Return each module of the package by its name."""
    rooms = [room for room in ROOT.iterdir() if room.is_dir() and room.name.isidentifier()]
    paths = [*ROOT.glob("*.py"), *(path for room in rooms for path in room.rglob("*.py"))]
    return {_name_of(path): path for path in paths}


def _name_of(path: Path) -> str:
    parts = ("busproof", *path.relative_to(ROOT).with_suffix("").parts)
    return ".".join(parts).removesuffix(".__init__")


def imported(path: Path, known: Mapping[str, Path]) -> Iterator[str]:
    """Yield the modules that a module imports, but for those that a function imports."""
    waiting = list(ast.parse(path.read_text(encoding="utf-8")).body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                name = f"{node.module}.{alias.name}"
                yield name if name in known else str(node.module)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            waiting.extend(
                each for each in ast.iter_child_nodes(node) if isinstance(each, ast.stmt)
            )


def circle(graph: Mapping[str, set[str]]) -> list[str]:
    """Return modules that import each other in a circle, or nothing."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return [str(name) for name in error.args[1]]
    return []


def test_no_modules_import_each_other() -> None:
    """Those that import each other can only be read together."""
    known = modules()
    graph = {
        name: {each for each in imported(path, known) if each in known and each != name}
        for name, path in known.items()
    }
    importer, carried = CARRIED
    graph[importer].remove(carried)
    assert len(graph) > 400
    assert circle(graph) == []


@pytest.mark.parametrize("condition", ["True", "TYPE_CHECKING"])
def test_circle_of_two_modules_is_noticed(tmp_path: Path, condition: str) -> None:
    """Also where one import is for types alone."""
    (tmp_path / "a.py").write_text("import b\n")
    (tmp_path / "b.py").write_text(f"if {condition}:\n    from a import thing\n")
    known = {name: tmp_path / f"{name}.py" for name in "ab"}
    graph = {name: set(imported(path, known)) for name, path in known.items()}
    assert sorted(set(circle(graph))) == ["a", "b"]
