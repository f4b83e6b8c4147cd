"""Definitions of steps are looked up once for each text, and found as pytest-bdd finds them."""

from importlib import import_module
from types import SimpleNamespace

import pytest

from busproof.steps.lookups import remember_definitions

SCENARIO = import_module("pytest_bdd.scenario")
NAMES = ("find_fixturedefs_for_step", "get_fixture_names", "getfixturedefs")


class Session:
    """What holds the definitions."""


class Definition:
    """A fixture; `kind` is none where it is no step's, and any where it fits every kind."""

    def __init__(self, text: str, kind: str = "") -> None:
        self.text = text
        self.kind = kind

    def func(self) -> None:
        """Stand for the step's function: each definition has its own."""


DEFINITIONS = {
    "bus": [Definition("a bus")],
    "step 1": [Definition("a queue", "given")],
    "step 2": [Definition("a queue", "then")],
    "step 3": [Definition("a queue", "any"), Definition("a topic", "any")],
    "step 4": [],
}


@pytest.fixture
def asked(monkeypatch) -> list[tuple[str, str]]:
    """Which fixtures of which node were asked for, in sessions that have those above."""
    asked: list[tuple[str, str]] = []

    def in_reach(_session, name, node):
        asked.append((name, node))
        return DEFINITIONS[name] or None

    contexts = {
        each.func: SimpleNamespace(
            type=None if each.kind == "any" else each.kind,
            parser=SimpleNamespace(is_matching=each.text.__eq__),
        )
        for found in DEFINITIONS.values()
        for each in found
        if each.kind
    }
    monkeypatch.setattr(SCENARIO, "get_fixture_names", lambda fixturemanager: list(DEFINITIONS))  # noqa: ARG005 - pytest-bdd's
    monkeypatch.setattr(SCENARIO, "getfixturedefs", in_reach)
    monkeypatch.setattr(SCENARIO, "step_function_context_registry", contexts)
    monkeypatch.setattr(SCENARIO, NAMES[0], getattr(SCENARIO, NAMES[0]))
    remember_definitions(lambda node: node == "ours")
    return asked


def found(session: Session, kind: str, text: str, node: str) -> list[Definition]:
    step = SimpleNamespace(type=kind, name=text)
    return list(SCENARIO.find_fixturedefs_for_step(step, session, node))


@pytest.mark.parametrize("kind", ["given", "when", "then"])
@pytest.mark.parametrize("text", ["a queue", "a topic", "a bus", "a step of nobody"])
def test_ours_are_found_as_pytest_bdd_finds_anybodys(asked, kind, text) -> None:
    """The same definitions in the same order."""
    session = Session()
    assert found(session, kind, text, "ours") == found(session, kind, text, "theirs")
    assert {node for _, node in asked} == {"ours", "theirs"}


def test_ours_are_looked_for_once_in_each_session(asked) -> None:
    """Nobody else's are remembered."""
    one, other = Session(), Session()
    for text in ("a queue", "a topic", "a queue"):
        found(one, "given", text, "ours")
    once = [(name, "ours") for name in DEFINITIONS]
    assert asked == once
    found(other, "given", "a queue", "ours")
    assert asked == once * 2
    for _ in range(2):
        found(one, "given", "a queue", "theirs")
    assert asked == once * 2 + [(name, "theirs") for name in DEFINITIONS] * 2


def test_this_version_of_pytest_bdd_has_what_is_remembered() -> None:
    """A newer one that has not is slower, and nothing else would show it."""
    assert all(callable(getattr(SCENARIO, name)) for name in NAMES)
    assert hasattr(SCENARIO, "step_function_context_registry")


@pytest.mark.parametrize("name", NAMES)
def test_an_older_pytest_bdd_goes_on_as_it_does(monkeypatch, name) -> None:
    """Nothing is put in its way."""
    finding = getattr(SCENARIO, NAMES[0])
    monkeypatch.delattr(SCENARIO, name)
    remember_definitions(lambda _node: True)
    assert not hasattr(SCENARIO, name)
    assert name == NAMES[0] or getattr(SCENARIO, NAMES[0]) is finding
