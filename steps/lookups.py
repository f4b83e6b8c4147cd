"""Finding the definition of a step once for each text.

pytest-bdd asks at every step every fixture of the session whether it is in reach and fits. That
grows with steps times definitions, and takes longer than the scenarios themselves. All of our
scenarios are in reach of the same definitions, so what was found for a text is found again.
"""

from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from typing import Any
from weakref import WeakKeyDictionary

import pytest

__all__ = ["remember_definitions"]

Found = dict[tuple[str, str], list[Any]]


def remember_definitions(is_ours: Callable[[pytest.Item], bool]) -> None:
    """Let pytest-bdd remember the definitions of our scenarios' steps; of no other scenario's.

    Where its version has no such function, it goes on as it does.
    """
    name = "find_fixturedefs_for_step"
    # By its name: pytest_bdd.scenario is the decorator, too.
    scenario = import_module("pytest_bdd.scenario")
    find: Callable[..., Iterable[Any]] | None = getattr(scenario, name, None)
    if find is not None:
        setattr(scenario, name, _remembering(find, is_ours))


def _remembering(
    find: Callable[..., Iterable[Any]], is_ours: Callable[[pytest.Item], bool]
) -> Callable[..., Iterator[Any]]:
    sessions: WeakKeyDictionary[Any, Found] = WeakKeyDictionary()

    def found(step: Any, fixturemanager: Any, node: Any) -> Iterator[Any]:
        if not is_ours(node):
            yield from find(step=step, fixturemanager=fixturemanager, node=node)
            return
        known = sessions.setdefault(fixturemanager, {})
        key = (step.type, step.name)
        if key not in known:
            known[key] = list(find(step=step, fixturemanager=fixturemanager, node=node))
        yield from known[key]

    return found
