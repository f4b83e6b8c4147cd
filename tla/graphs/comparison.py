"""What comparing a graph came to, with what differs, to be shown."""

from collections import Counter
from collections.abc import Mapping
from typing import Final

import attrs

from busproof.tla.graphs.replies import Reply
from busproof.vocabulary.values import RuleId

__all__ = ["Comparison", "Disagreement", "Edge"]

KEPT: Final = 200
"""Disagreements that are kept; the first ones are the ones to look at."""

Spoken = Mapping[str, object]


@attrs.frozen
class Edge:
    """An edge that leaves the state in question: the reply, and the next state as text.

    The next state is empty where only replies are compared.
    """

    reply: Reply
    onto: str = ""


@attrs.frozen(kw_only=True)
class Disagreement:
    """A state in which the spec, and the model or the oracle, answer a command differently.

    Attributes:
        way: the commands and replies that lead there.
        states: the spec's states, as printed.
        command: what was asked.
        spec_only: the edges that only the spec has.
        model_only: those that only the other side has.
        rules: the rules by which that answers so.
    """

    way: tuple[tuple[Spoken, Reply], ...]
    states: tuple[str, ...]
    command: Spoken
    spec_only: tuple[Edge, ...]
    model_only: tuple[Edge, ...]
    rules: tuple[RuleId, ...]


@attrs.define(kw_only=True)
class Comparison:
    """What comparing came to.

    Attributes:
        states: how many states were compared.
        edges: edges of the graph that were compared.
        rules: rule id to how many edges the model decided by it, by command.
        disagreements: none is a pass.
        disagreeing: how many there were.
        open: edges that only one side has, as the manifest says.
        deviations: sentences on other numbers than the manifest has; none is a pass.
    """

    states: int = 0
    edges: int = 0
    rules: Counter[tuple[RuleId, str]] = attrs.field(factory=Counter)
    disagreements: list[Disagreement] = attrs.field(factory=list)
    disagreeing: int = 0
    open: int = 0
    deviations: list[str] = attrs.field(factory=list)

    def disagree(self, found: Disagreement) -> None:
        """Note one more disagreement."""
        self.disagreeing += 1
        if len(self.disagreements) < KEPT:
            self.disagreements.append(found)
