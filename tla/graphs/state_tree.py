"""A tree of states of the model, and a cursor that moves the model from one to another."""

from typing import Self, cast

import attrs

from busproof.tla.graphs.memory import NOTHING, Memory
from busproof.tla.graphs.model_side import Model, Request

__all__ = ["Cursor", "Node"]


@attrs.frozen(kw_only=True, eq=False)
class Node:
    """A state of the model: how it was reached, and a client's memory there.

    Attributes:
        memory: what a client remembers there.
        parent: the state before; `None` in the first one.
        request: what was requested there; `None` if that changed nothing.
        script: the choices that the model made.
    """

    memory: Memory = NOTHING
    parent: "Node | None" = None
    request: Request | None = None
    script: tuple[int, ...] = ()

    def path(self) -> list[Self]:
        """Return the nodes from the first state to this one, without the first."""
        path = []
        node = self
        while node.parent is not None:
            path.append(node)
            node = cast(Self, node.parent)  # the nodes of a tree have one class
        return path[::-1]


class Cursor:
    """The place of the model in the tree."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._path: list[tuple[Node, int]] = []
        """The nodes to the present state, each with the journal's mark before it."""

    def move_to(self, node: Node) -> None:
        """Undo steps until the state is ahead, and repeat those that lead to it."""
        path = node.path()
        here = self._path
        common = 0
        while common < min(len(path), len(here)) and here[common][0] is path[common]:
            common += 1
        journal = self._model.namespace.journal
        if common < len(here):
            journal.undo(here[common][1])
            del here[common:]
        self._model.tidy()
        for further in path[common:]:
            here.append((further, journal.mark()))
            if further.request is not None:
                self._model.go(further.request, further.script)
