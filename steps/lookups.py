"""Finding the definition of a step once for each text; and the name of a scenario.

pytest-bdd asks at every step every fixture of the session whether it is in reach and fits. That
grows with steps times definitions, and takes longer than the scenarios themselves. All of our
scenarios are in reach of the same definitions: those are looked for once, and what was found for
a text is found again.
"""

from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from typing import Any, Final
from weakref import WeakKeyDictionary

import pytest

__all__ = ["remember_definitions", "scenario_name"]


def scenario_name(item: pytest.Item) -> str:
    """The scenario's name as the feature words it, with the values of its row; or the path's."""
    row = getattr(item, "callspec", None)
    params = {} if row is None else row.params
    for kind in ("path", "situation"):
        if kind in params:
            return str(params[kind].name)
    name = str(item.function.__doc__).partition(": ")[2]  # type: ignore[attr-defined]
    example = params.get("_pytest_bdd_example", {})
    values = ", ".join(f"{key} {value}" for key, value in example.items())
    return f"{name} ({values})" if values else name


def remember_definitions(is_ours: Callable[[pytest.Item], bool]) -> None:
    """Let pytest-bdd remember the definitions of our scenarios' steps; of no other scenario's.

    Where its version has not what that takes, it goes on as it does.
    """
    # By its name: pytest_bdd.scenario is the decorator, too.
    scenario = import_module("pytest_bdd.scenario")
    if all(hasattr(scenario, name) for name in _NEEDED):
        remembering = _Remembering(scenario, is_ours)
        scenario.find_fixturedefs_for_step = remembering.found  # type: ignore[attr-defined]


_NEEDED: Final = (
    "find_fixturedefs_for_step",
    "get_fixture_names",
    "getfixturedefs",
    "step_function_context_registry",
)


class _Remembering:
    """Finds as pytest-bdd does, what is ours from memory."""

    def __init__(self, scenario: Any, is_ours: Callable[[pytest.Item], bool]) -> None:
        self._scenario = scenario
        self._find = scenario.find_fixturedefs_for_step
        self._is_ours = is_ours
        self._sessions: WeakKeyDictionary[Any, _Session] = WeakKeyDictionary()

    def found(self, step: Any, fixturemanager: Any, node: Any) -> Iterable[Any]:
        """The definitions that fit a step."""
        if not self._is_ours(node):
            found: Iterable[Any] = self._find(step=step, fixturemanager=fixturemanager, node=node)
            return found
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
    """The definitions in reach of our scenarios, and which of them fit the texts asked for."""

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
