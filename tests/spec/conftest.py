"""A copy of the catalogue to break, and the complaint that comes of it."""

import json
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

import busproof.spec
from busproof.errors import SpecificationError
from busproof.spec import Catalogue, load

Change = Callable[[Any], object]


OWN = Path(busproof.spec.__file__).parent


@cache
def content_of(name: str) -> str:
    """One of busproof's own files, as JSON."""
    return json.dumps(yaml.safe_load((OWN / name).read_text(encoding="utf-8")))


@pytest.fixture(scope="session")
def catalogue() -> Catalogue:
    return load()


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A folder with the catalogue's files, free to be changed."""
    for kind in ("rules", "ambiguities", "observed", "clients"):
        (tmp_path / kind).mkdir()
    for file in OWN.glob("**/*.yaml"):
        shutil.copy(file, tmp_path / file.relative_to(OWN))
    return tmp_path


@pytest.fixture
def complaint(copy: Path) -> Callable[[str, Change], str]:
    """What loading says after one change to one file's content."""

    def broken(name: str, change: Change) -> str:
        content = json.loads(content_of(name))
        change(content)
        # JSON is YAML, and much faster to write.
        (copy / name).write_text(json.dumps(content), encoding="utf-8")
        return complaint_about(copy)

    return broken


def complaint_about(folder: Path) -> str:
    with pytest.raises(SpecificationError) as caught:
        load(folder)
    return str(caught.value)
