"""The base class of families of rules.

A family decides some requests (`@handles`), and has the rules that other families call. Each method
is one rule, or a step of one: its docstring names the ids. A bus with a fault has a subclass in a
family's place: `class ClosingCounts(Sessions)` overrides one method, and may call `super()`.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, TypeVar

from busproof import vocabulary as v
from busproof.model.answers import Answer
from busproof.model.state import NamespaceState

if TYPE_CHECKING:
    from busproof.model.rules import Rules

__all__ = ["HANDLED", "Family", "handles"]

HANDLED: Final = "__handled_commands__"
"""Attribute of a method: the kinds of commands that it decides."""

Decide = TypeVar("Decide", bound=Callable[..., Answer])


class Family:
    """Rules on one subject, for one namespace.

    Attributes:
        namespace: the state that the rules read and change.
        rules: all families for this namespace, for rules that need another family's.
    """

    __slots__ = ("namespace", "rules")

    def __init__(self, namespace: NamespaceState, rules: "Rules") -> None:
        self.namespace = namespace
        self.rules = rules


def handles(*kinds: type[v.Command]) -> Callable[[Decide], Decide]:
    """Return a decorator of the method that decides commands of these kinds."""

    def declare(decide: Decide) -> Decide:
        setattr(decide, HANDLED, kinds)
        return decide

    return declare
