"""Small specs of the tests' own, in a folder that a test may change."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from busproof.tla.manifest import Manifest, load

SPECS = Path(__file__).parent / "specs"


@pytest.fixture
def specs(tmp_path: Path) -> Path:
    """A copy of the small specs."""
    return Path(shutil.copytree(SPECS, tmp_path / "specs"))


@pytest.fixture
def manifest(specs: Path) -> Manifest:
    """Their manifest."""
    return load(specs)


@pytest.fixture
def changed(specs: Path) -> Callable[..., Manifest]:
    """Replaces a text that a file of the copy has, and loads the manifest anew."""

    def change(name: str, old: str, new: str) -> Manifest:
        path = specs / name
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new), encoding="utf-8")
        return load(specs)

    return change


@pytest.fixture
def extra(specs: Path) -> Callable[[str], Manifest]:
    """Adds a configuration of another module, which only has `Spec`, and loads the manifest."""

    def add(module: str) -> Manifest:
        entry = (
            f'\n[[configuration]]\nname = "{module.lower()}"\nmodule = "{module}"\n'
            'config = "Plain.cfg"\nsize = "gate"\nkind = "check"\ntitle = "x"\n'
        )
        path = specs / "manifest.toml"
        path.write_text(path.read_text(encoding="utf-8") + entry, encoding="utf-8")
        return load(specs)

    return add
