"""Evidence for a rule: scenarios by tag, distilled sequences, seeded faults, TLA+ specs."""

from collections.abc import Iterable, Iterator
from importlib import resources
from typing import Any

from busproof.errors import SpecificationError
from busproof.spec import Rule

__all__ = ["evidence"]


def evidence(rules: Iterable[Rule]) -> dict[str, dict[str, Any]]:
    """Return the tests and specs of each rule by its id, as plain values for JSON.

    Raises:
        SpecificationError: a feature file, a distilled sequence or a spec is broken.
        HistoryError: the recorded sample of generated mutants is broken.
    """
    from busproof.mutants import MUTANTS  # brings the model along
    from busproof.mutants.by_machine.record import load_sample
    from busproof.steps.distilled import distilled_sequences
    from busproof.tla.coverage import find_shown

    scenarios = _scenarios()
    specs = find_shown()
    sample = load_sample()
    distilled = distilled_sequences()
    return {
        rule.id: {
            "scenarios": [place for tags, place in scenarios if rule.id in tags],
            "distilled": [
                {"file": sequence.file, "name": sequence.name}
                for sequence in distilled
                if sequence.rule == rule.id
            ],
            "faults": [
                {"id": fault.id, "summary": fault.summary}
                for fault in MUTANTS
                if fault.rule == rule.id
            ],
            "generated": dict(zip(("noticed", "of"), sample.count_noticed(rule.id), strict=True)),
            "tla": specs.get(rule.id, {}),
        }
        for rule in rules
    }


def _scenarios() -> list[tuple[frozenset[str], dict[str, str]]]:
    """Return every scenario: its tags without `@`, its file and its name."""
    from gherkin.errors import ParserError  # the plain table needs no Gherkin
    from gherkin.parser import Parser

    scenarios = []
    for file in sorted(resources.files("busproof.features").iterdir(), key=lambda file: file.name):
        if file.name.endswith(".feature"):
            try:
                feature: Any = Parser().parse(file.read_text(encoding="utf-8")).get("feature")
            except ParserError as error:
                raise SpecificationError(f"features/{file.name}: {error}") from error
            for tags, name in _find_tagged(feature or {}, frozenset()):
                scenarios.append((tags, {"file": file.name, "name": name}))
    return scenarios


def _find_tagged(
    parent: dict[str, Any], above: frozenset[str]
) -> Iterator[tuple[frozenset[str], str]]:
    """Yield the scenarios of a feature or a Gherkin `Rule`, with the tags that they inherit."""
    above |= _tags(parent)
    for child in parent.get("children", ()):
        if "rule" in child:
            yield from _find_tagged(child["rule"], above)
        elif "scenario" in child:
            yield above | _tags(child["scenario"]), child["scenario"]["name"]


def _tags(node: dict[str, Any]) -> frozenset[str]:
    return frozenset(tag["name"].removeprefix("@") for tag in node.get("tags", ()))
