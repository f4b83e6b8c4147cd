"""The features as texts: every scenario counts for rules, has a name of its own and known steps."""

import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from importlib import import_module, resources
from typing import Any

import attrs
from gherkin.parser import Parser
from pytest_bdd.scenario import make_python_name
from pytest_bdd.steps import StepFunctionContext, step_function_context_registry

from busproof.spec import load
from busproof.steps import STEP_MODULES
from busproof.steps.plugin import ANY_READING

STEPS = [import_module(name) for name in STEP_MODULES]
CATALOGUE = load()
SHOWABLE = {rule.id for rule in CATALOGUE.rules if rule.shown_by != "never"}


@attrs.frozen
class Scenario:
    """One scenario, or one row of an outline."""

    feature: str
    name: str
    row: tuple[tuple[str, str], ...]
    tags: tuple[str, ...]
    steps: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        return f"{self.feature}: {self.name} {dict(self.row) or ''}".strip()


def documents() -> Iterator[tuple[str, dict[str, Any]]]:
    for file in sorted(resources.files("busproof.features").iterdir(), key=lambda each: each.name):
        if file.name.endswith(".feature"):
            yield file.name, Parser().parse(file.read_text(encoding="utf-8"))["feature"]


def scenarios(file: str, parent: dict[str, Any], tags: tuple[str, ...] = ()) -> Iterator[Scenario]:
    tags = (*tags, *names_of_tags(parent))
    for child in parent["children"]:
        if "rule" in child:
            yield from scenarios(file, child["rule"], tags)
        elif "scenario" in child:
            written = child["scenario"]
            for row in rows(written):
                own = (*tags, *names_of_tags(written))
                yield Scenario(file, written["name"], row, own, tuple(steps(written, dict(row))))


def names_of_tags(node: dict[str, Any]) -> list[str]:
    return [tag["name"].removeprefix("@") for tag in node.get("tags", ())]


def rows(written: dict[str, Any]) -> list[tuple[tuple[str, str], ...]]:
    found = []
    for table in written["examples"]:
        heads = [cell["value"] for cell in table["tableHeader"]["cells"]]
        for line in table["tableBody"]:
            cells = [cell["value"] for cell in line["cells"]]
            found.append(tuple(zip(heads, cells, strict=True)))
    return found or [()]


def steps(written: dict[str, Any], row: dict[str, str]) -> Iterator[tuple[str, str]]:
    kind = ""
    for step in written["steps"]:
        word = step["keyword"].strip().lower()
        kind = kind if word in ("and", "but", "*") else word
        text = step["text"]
        for name, value in row.items():
            text = text.replace(f"<{name}>", value)
        yield kind, text


@cache
def every_scenario() -> list[Scenario]:
    """All of them: parsing takes a second, which no process spends that only collects the tests."""
    return [each for file, feature in documents() for each in scenarios(file, feature)]


DEFINITIONS: list[StepFunctionContext] = [
    context
    for context in list(step_function_context_registry.values())
    if context.step_func.__module__ in {module.__name__ for module in STEPS}
]


@cache
def definitions_of(kind: str, text: str) -> list[StepFunctionContext]:
    """The step definitions that take this text."""
    return [
        each for each in DEFINITIONS if each.type in (None, kind) and each.parser.is_matching(text)
    ]


def test_no_two_scenarios_have_one_name():
    """Rows of outlines differ in their values; reports and histories know scenarios by name."""
    twice = [
        name
        for name, count in Counter((each.name, each.row) for each in every_scenario()).items()
        if count > 1
    ]
    assert [] == twice
    written = {(each.feature, each.name) for each in every_scenario()}
    assert len(written) == len({make_python_name(name) for _, name in written})


def test_every_scenario_is_about_rules_that_can_be_shown():
    """Each tag is one of them; also where the scenario stands under a Gherkin Rule."""
    allowed = {ANY_READING, *SHOWABLE}
    assert [] == [
        str(each) for each in every_scenario() if not each.tags or set(each.tags) - allowed
    ]


def test_every_rule_that_can_be_shown_has_a_scenario():
    """Its own tests are those that carry its tag."""
    tagged = {tag for each in every_scenario() for tag in each.tags}
    assert [] == sorted(SHOWABLE - tagged)


def test_every_step_has_one_definition():
    """Neither none nor two to choose from; no placeholder is left."""
    texts = {step: str(each) for each in every_scenario() for step in each.steps}
    assert [] == [f"{texts[step]}: {step}" for step in texts if re.search(r"<\w+>", step[1])]
    assert [] == [f"{texts[step]}: {step}" for step in texts if len(definitions_of(*step)) != 1]


def test_every_scenario_does_something_and_expects_something():
    """It begins with a Given and ends with a Then."""
    ends = {str(each): (each.steps[0][0], each.steps[-1][0]) for each in every_scenario()}
    assert {} == {name: found for name, found in ends.items() if found != ("given", "then")}


FOR_OTHERS = "busproof.steps.definitions.any_command"
"""The steps of scenarios that explorations write; our features have none of them."""


def test_every_step_definition_is_used():
    """What no scenario says any more can go."""
    steps_used = {step for each in every_scenario() for step in each.steps}
    used = {id(found) for step in steps_used for found in definitions_of(*step)}
    unused = [
        f"{each.step_func.__module__}: {each.type} {each.parser.name!r}"
        for each in DEFINITIONS
        if id(each) not in used and each.step_func.__module__ != FOR_OTHERS
    ]
    assert [] == unused
