"""The model stays a first read: small files, one a family, and nothing of the oracle."""

import ast
import re
from pathlib import Path

import attrs
import pytest

from busproof import spec
from busproof.model.rules import Rules

ROOT = Path(__file__).parent.parent.parent
FILES = sorted((ROOT / "model").glob("*.py"))
MOST_LINES, MOST_IN_FILE, MOST_FILES, MOST_IN_ADAPTER = 4_500, 350, 30, 150
SPREAD = {"FEAT"}
"""Rules of what partitioned entities can do at all; each is in the family that it is about."""


def lines(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def families_of(text: str) -> set[str]:
    """The families that a file's first sentence names, as in `LIFE, SEQ: a message is enqueued`."""
    opening = ast.get_docstring(ast.parse(text)) or ""
    named = re.match(r"([A-Z]+(?:, [A-Z]+)*): ", opening)
    return set(named[1].split(", ")) if named else set()


def test_model_is_read_within_an_hour() -> None:
    sizes = {path.name: lines(path) for path in FILES}
    assert sum(sizes.values()) <= MOST_LINES
    assert len(sizes) <= MOST_FILES
    assert {} == {name: size for name, size in sizes.items() if size > MOST_IN_FILE}


def test_adapter_of_the_model_hides_no_rules() -> None:
    assert lines(ROOT / "adapters" / "model.py") <= MOST_IN_ADAPTER


def test_each_family_of_the_catalogue_opens_one_file_of_its_rules() -> None:
    records = {field.name for field in attrs.fields(Rules)}
    opened = [
        (family, path.stem)
        for path in FILES
        for family in families_of(path.read_text(encoding="utf-8"))
    ]
    families = {rule.id.partition("-")[0] for rule in spec.load().rules}
    assert sorted(families - SPREAD) == sorted(family for family, _ in opened)
    assert records == {name for _, name in opened}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_each_file_opens_with_its_theory(path: Path) -> None:
    """A sentence that names it, and a few lines of how it works."""
    opening = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    assert 3 <= len(opening.splitlines()) <= 10
