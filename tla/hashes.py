"""What a recorded result rests on, as a hash: it holds as long as the hash is the same."""

import hashlib
import re
from pathlib import Path
from typing import Final

__all__ = ["sources_hash"]

_EXTENDS: Final = re.compile(r"^\s*EXTENDS\s+(.+?)\s*$", re.MULTILINE)
_INSTANCE: Final = re.compile(r"\bINSTANCE\s+(\w+)")


def sources_hash(folder: Path, module: str, *texts: str) -> str:
    """Of a module, of all of ours that it extends or instantiates, and of further texts."""
    digest = hashlib.sha256()
    for name in sorted(_reached(folder, module)):
        digest.update(name.encode())
        digest.update((folder / f"{name}.tla").read_bytes())
    for text in texts:
        digest.update(text.encode())
    return digest.hexdigest()[:16]


def _reached(folder: Path, module: str) -> set[str]:
    """The modules in the folder that this one needs, itself among them."""
    found: set[str] = set()
    waiting = [module]
    while waiting:
        name = waiting.pop()
        path = folder / f"{name}.tla"
        if name in found or not path.exists():
            continue
        found.add(name)
        text = path.read_text(encoding="utf-8")
        for names in _EXTENDS.findall(text):
            waiting += [each.strip() for each in names.split(",")]
        waiting += _INSTANCE.findall(text)
    return found
