"""Coverage of rules by the specs: operators, properties, edges and mutants, read from files."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from busproof.errors import SpecificationError
from busproof.tla.checking import properties_of
from busproof.tla.evidence import load_evidence
from busproof.tla.manifest import FOLDER, read_toml

__all__ = ["Shown", "find_shown", "reasons_in"]

OPERATORS: Final = "operators.toml"

Shown = dict[str, list[dict[str, Any]]]
"""Lists of records for JSON: `operators`, `properties`, `edges` and `mutants`."""


def find_shown(folder: Path = FOLDER) -> dict[str, Shown]:
    """Return what the specs have on each rule, by rule id.

    Raises:
        SpecificationError: one of the files is broken.
    """
    rules: dict[str, Shown] = {}
    for rule, kind, record in _records(folder):
        shown = rules.setdefault(rule, _nothing())
        shown[kind].append(record)
    return rules


def reasons_in(folder: Path = FOLDER) -> dict[str, str]:
    """Return the reasons for rules without an operator, by rule id.

    Raises:
        SpecificationError: the file is broken.
    """
    if not _has(folder, OPERATORS):
        return {}
    entries = read_toml(folder / OPERATORS).get("without", [])
    return {str(entry.get("id")): str(entry.get("reason", "")) for entry in entries}


def _nothing() -> Shown:
    return {"operators": [], "properties": [], "edges": [], "mutants": []}


def _records(folder: Path) -> Iterator[tuple[str, str, dict[str, Any]]]:
    yield from _operators(folder)
    evidence = load_evidence(folder)
    for graph, records in evidence["graphs"].items():
        for rule, number in records["rules"].items():
            yield rule, "edges", {"graph": graph, "edges": number}
    mutants = (
        read_toml(folder / "mutants.toml").get("mutant", []) if _has(folder, "mutants.toml") else []
    )
    for mutant in mutants:
        fate = evidence["mutants"].get(mutant.get("name"), {})
        record = {
            "name": mutant.get("name"),
            "module": mutant.get("module"),
            "killed_by": fate.get("told", ""),
        }
        yield str(mutant.get("rule")), "mutants", record


def _has(folder: Path, name: str) -> bool:
    return (folder / name).exists()


def _operators(folder: Path) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield the operators of each rule; one that a configuration checks counts as a property."""
    if not _has(folder, OPERATORS):
        return
    checked = _checked_properties(folder)
    for entry in read_toml(folder / OPERATORS).get("rule", []):
        try:
            rule, names = str(entry["id"]), list(entry["operators"])
        except (KeyError, TypeError):
            raise SpecificationError(
                f"{OPERATORS}: an entry needs an id and operators, and is {entry!r}"
            ) from None
        for name in names:
            module, _, operator = str(name).partition("!")
            kind = "properties" if operator in checked else "operators"
            yield rule, kind, {"module": module, "name": operator}


def _checked_properties(folder: Path) -> set[str]:
    """Return the names of all properties that any configuration checks."""
    names: set[str] = set()
    for path in sorted(folder.glob("*.cfg")):
        text = path.read_text(encoding="utf-8")
        names.update(properties_of(text, "INVARIANT", "PROPERTY", "PROPERTIES"))
    if _has(folder, "manifest.toml"):
        entries = read_toml(folder / "manifest.toml").get("configuration", [])
        names.update(str(entry.get("expect")) for entry in entries)
    return names
