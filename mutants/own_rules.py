"""The model's own rules, as functions of the namespace, whatever a mutant has replaced there."""

import inspect
from collections.abc import Callable
from functools import cache, wraps
from typing import Any, Final

from busproof.model import FAMILIES, Namespace

__all__ = ["RULES", "as_method", "own_rule"]

Rule = Callable[..., Any]


@cache
def own_rule(family: str, name: str) -> Rule:
    """Return a rule of the model as a function whose first parameter is the namespace.

    A static method, which reads no namespace, is returned as it is.
    """
    kind = FAMILIES[family]
    method: Rule = getattr(kind, name)
    if _is_static(family, name):
        return method

    @wraps(method)
    def rule(namespace: Namespace, *args: Any, **named: Any) -> Any:
        return method(getattr(namespace.rules, family), *args, **named)

    signature = inspect.signature(method)
    _, *others = signature.parameters.values()
    first = inspect.Parameter("namespace", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    rule.__signature__ = signature.replace(parameters=[first, *others])  # type: ignore[attr-defined]
    return rule


def as_method(family: str, name: str, function: Rule) -> Any:
    """Return a function of the namespace as the method of a class that replaces a family."""
    if _is_static(family, name):
        return staticmethod(function)

    def method(self: Any, *args: Any, **named: Any) -> Any:
        return function(self.namespace, *args, **named)

    return method


def _is_static(family: str, name: str) -> bool:
    return isinstance(inspect.getattr_static(FAMILIES[family], name), staticmethod)


class _Family:
    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, rule: str) -> Rule:
        return own_rule(self._name, rule)


class _Rules:
    def __getattr__(self, family: str) -> _Family:
        return _Family(family)


RULES: Final[Any] = _Rules()
"""The model's own rules: `RULES.keys.home(namespace, entity, key)`."""
