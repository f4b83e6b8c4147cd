"""Fast lookup of step definitions, and the names of scenarios.

At every step, pytest-bdd checks for every fixture of the session whether it is in scope and
matches. This costs the number of steps times the number of definitions, more than running the
scenarios. All scenarios here have the same definitions in scope, so these are collected once, and
matches are cached by text.
"""

from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from typing import Any, Final
from weakref import WeakKeyDictionary

import pytest

__all__ = ["remember_definitions", "scenario_name"]


def scenario_name(item: pytest.Item) -> str:
    """Return the scenario's name, with the values of its row; for a path, the path's name."""
    row = getattr(item, "callspec", None)
    params = {} if row is None else row.params
    for kind in ("path", "sequence"):
        if kind in params:
            return str(params[kind].name)
    name = str(item.function.__doc__).partition(": ")[2]  # type: ignore[attr-defined]  # a test function
    example = params.get("_pytest_bdd_example", {})
    values = ", ".join(f"{key} {value}" for key, value in example.items())
    return f"{name} ({values})" if values else name


def remember_definitions(is_ours: Callable[[pytest.Item], bool]) -> None:
    """Cache pytest-bdd's lookup of definitions, for the suite's scenarios only.

    If a version of pytest-bdd lacks the functions to patch, nothing is changed.
    """
    # Import it by name, because `pytest_bdd.scenario` is also the decorator.
    scenario = import_module("pytest_bdd.scenario")
    if all(hasattr(scenario, name) for name in _NEEDED):
        remembering = _Remembering(scenario, is_ours)
        scenario.find_fixturedefs_for_step = remembering.found  # type: ignore[attr-defined]  # it is there


_NEEDED: Final = (
    "find_fixturedefs_for_step",
    "get_fixture_names",
    "getfixturedefs",
    "step_function_context_registry",
)


class _Remembering:
    """A replacement of pytest-bdd's lookup, with a cache for the suite's scenarios."""

    def __init__(self, scenario: Any, is_ours: Callable[[pytest.Item], bool]) -> None:
        self._scenario = scenario
        self._find = scenario.find_fixturedefs_for_step
        self._is_ours = is_ours
        self._sessions: WeakKeyDictionary[Any, _Session] = WeakKeyDictionary()

    def found(self, step: Any, fixturemanager: Any, node: Any) -> Iterable[Any]:
        """Return the definitions that match a step."""
        if not self._is_ours(node):
            definitions: Iterable[Any] = self._find(
                step=step, fixturemanager=fixturemanager, node=node
            )
            return definitions
        session = self._sessions.get(fixturemanager)
        if session is None:
            session = _Session(list(self._in_reach(fixturemanager, node)))
            self._sessions[fixturemanager] = session
        return session.fitting(step.type, step.name)

    def _in_reach(self, fixturemanager: Any, node: Any) -> Iterator[tuple[Any, Any]]:
        scenario = self._scenario
        for name in scenario.get_fixture_names(fixturemanager=fixturemanager):
            for definition in scenario.getfixturedefs(fixturemanager, name, node) or ():
                context = scenario.step_function_context_registry.get(definition.func)
                if context is not None:
                    yield definition, context


class _Session:
    """A cache of the step definitions that match each step's text."""

    def __init__(self, definitions: list[tuple[Any, Any]]) -> None:
        self._definitions = definitions
        self._known: dict[tuple[str, str], list[Any]] = {}

    def fitting(self, kind: str, text: str) -> list[Any]:
        if (kind, text) not in self._known:
            self._known[kind, text] = [
                definition
                for definition, context in self._definitions
                if context.type in (None, kind) and context.parser.is_matching(text)
            ]
        return self._known[kind, text]
