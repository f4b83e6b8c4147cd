"""Hashes of the sources of a recorded result, which is valid while its hash is the same."""

import hashlib
import re
from pathlib import Path
from typing import Final

__all__ = ["sources_hash"]

_EXTENDS: Final = re.compile(r"^\s*EXTENDS\s+(.+?)\s*$", re.MULTILINE)
_INSTANCE: Final = re.compile(r"\bINSTANCE\s+(\w+)")


def sources_hash(folder: Path, module: str, *texts: str) -> str:
    """Return the hash of a module, of the local modules that it uses, and of further texts."""
    digest = hashlib.sha256()
    for name in sorted(_find_modules(folder, module)):
        digest.update(name.encode())
        digest.update((folder / f"{name}.tla").read_bytes())
    for text in texts:
        digest.update(text.encode())
    return digest.hexdigest()[:16]


def _find_modules(folder: Path, module: str) -> set[str]:
    """Return the modules of the folder that a module uses, directly or not, with itself."""
    reached: set[str] = set()
    waiting = [module]
    while waiting:
        name = waiting.pop()
        path = folder / f"{name}.tla"
        if name in reached or not path.exists():
            continue
        reached.add(name)
        text = path.read_text(encoding="utf-8")
        for names in _EXTENDS.findall(text):
            waiting += [extended.strip() for extended in names.split(",")]
        waiting += _INSTANCE.findall(text)
    return reached
