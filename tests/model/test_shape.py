"""Each family of the catalogue has one file of rules in the model."""

import ast
import re
from pathlib import Path

from busproof import spec
from busproof.model import FAMILIES

ROOT = Path(__file__).parent.parent.parent
FILES = sorted((ROOT / "model").glob("*.py"))
SPREAD = {"FEAT"}
"""Rules of what partitioned entities can do at all; each is in the family that it is about."""


def families_of(text: str) -> set[str]:
    """The families that a file's first sentence names, as in `LIFE, SEQ: a message is enqueued`."""
    opening = ast.get_docstring(ast.parse(text)) or ""
    named = re.match(r"([A-Z]+(?:, [A-Z]+)*): ", opening)
    return set(named[1].split(", ")) if named else set()


def test_each_family_of_the_catalogue_opens_one_file_of_its_rules() -> None:
    opened = [
        (family, path.stem)
        for path in FILES
        for family in families_of(path.read_text(encoding="utf-8"))
    ]
    families = {rule.id.partition("-")[0] for rule in spec.load().rules}
    assert sorted(families - SPREAD) == sorted(family for family, _ in opened)
    assert FAMILIES.keys() == {name for _, name in opened}
