"""Result of comparing a graph, with the disagreements."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final

import attrs

from busproof import vocabulary as v
from busproof.tla.graphs.replies import Reply
from busproof.tla.manifest import Difference

__all__ = ["Comparison", "Disagreement", "Edge", "find_miscounted"]

KEPT: Final = 200
"""Number of disagreements that are kept; the first ones say most."""

Spoken = Mapping[str, object]


@attrs.frozen
class Edge:
    """An edge from the state of a disagreement: the reply, and the next state as text.

    The next state is empty if only replies are compared.
    """

    reply: Reply
    onto: str = ""


@attrs.frozen(kw_only=True)
class Disagreement:
    """A state in which the spec and its counterpart answer a command differently.

    Attributes:
        way: the commands and replies that lead to the state.
        states: the states of the spec, as printed.
        command: the command.
        spec_only: edges that only the spec has.
        model_only: edges that only the model has.
        rules: rules behind the edges in `model_only`.
    """

    way: tuple[tuple[Spoken, Reply], ...]
    states: tuple[str, ...]
    command: Spoken
    spec_only: tuple[Edge, ...]
    model_only: tuple[Edge, ...]
    rules: tuple[v.RuleId, ...]


@attrs.define(kw_only=True)
class Comparison:
    """Result of a comparison.

    Attributes:
        states: how many states were compared.
        edges: how many edges of the graph were compared.
        rules: (rule id, operation) to the number of edges that the rule decided.
        disagreements: the first disagreements; empty if it passed.
        disagreeing: how many disagreements there are in total.
        open: how many edges only one side has, as the manifest lists.
        deviations: the differences from numbers in the manifest, as sentences; empty if it passed.
    """

    states: int = 0
    edges: int = 0
    rules: Counter[tuple[v.RuleId, str]] = attrs.field(factory=Counter)
    disagreements: list[Disagreement] = attrs.field(factory=list)
    disagreeing: int = 0
    open: int = 0
    deviations: list[str] = attrs.field(factory=list)

    def disagree(self, disagreement: Disagreement) -> None:
        """Record a disagreement."""
        self.disagreeing += 1
        if len(self.disagreements) < KEPT:
            self.disagreements.append(disagreement)


def find_miscounted(found: Mapping[Difference, int]) -> Iterator[str]:
    """Yield a sentence for each listed difference of which another number of edges was found."""
    for difference, edges in found.items():
        if edges != difference.edges:
            reply = f" -> {difference.reply}" if difference.reply else ""
            yield (
                f"only the {difference.only} has {edges:,} edges "
                f"{difference.op}{reply}, and the manifest has {difference.edges:,}"
            )
