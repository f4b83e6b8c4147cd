"""A graph in plain form for comparison: states without details, and no silent operations.

States that differ only in irrelevant details become one (see `projections`). Silent operations,
which the setting lists, are taken at once: only states in which none is possible remain, and an
edge leads to all such states that it may end in.
"""

from collections.abc import Mapping
from typing import Any

import attrs

from busproof.tla.graphs.graph import Graph
from busproof.tla.graphs.projections import Projection
from busproof.tla.graphs.replies import Reply, reply_of
from busproof.tla.manifest import Setting
from busproof.tla.values import Value

__all__ = ["PlainGraph", "Step", "plain_graph", "words_of"]

Step = tuple[Reply, int]
"""A reply, and the number of the next state."""


@attrs.frozen
class PlainGraph:
    """A graph in plain form.

    Attributes:
        commands: the commands by number; silent ones are empty.
        initial: the initial state.
        states: value of a state to its number.
        texts: state to its text, as it was printed first.
        out: state to its commands, each with the steps that it may take.
        counts: state to the number of edges that leave it in the original graph.
    """

    commands: tuple[Mapping[str, object], ...]
    initial: int
    states: Mapping[Value, int]
    texts: tuple[str, ...]
    out: tuple[Mapping[int, frozenset[Step]], ...]
    counts: tuple[int, ...]


def words_of(record: Any) -> dict[str, object]:
    """Return a record of a spec, with texts as keys."""
    return {str(name): value for name, value in record.items()}


def plain_graph(graph: Graph, setting: Setting, projection: Projection) -> PlainGraph:
    """Return a graph in plain form."""
    return _Plain(graph, setting, projection).made()


class _Plain:
    def __init__(self, graph: Graph, setting: Setting, projection: Projection) -> None:
        self._graph = graph
        self._commands = [words_of(graph.commands.record(n)) for n in range(len(graph.commands))]
        self._silent = frozenset(
            number
            for number, command in enumerate(self._commands)
            if command["op"] in setting.silent
        )
        self._replies = [
            projection.reply(reply_of(words_of(graph.replies.record(number))))
            for number in range(len(graph.replies))
        ]
        self._plain = projection.of_spec
        self._numbers: dict[Value, int] = {}
        self._texts: list[str] = []
        self._known: dict[int, int] = {}
        self._ends: dict[int, frozenset[int]] = {}

    def made(self) -> PlainGraph:
        initial = self._number(self._graph.initial)
        out: dict[int, dict[int, set[Step]]] = {}
        counts: dict[int, int] = {}
        for state, leading in self._graph.out.items():
            if not self._silent.isdisjoint(leading):
                continue
            number = self._number(state)
            counts[number] = counts.get(number, 0) + sum(map(len, leading.values()))
            mine = out.setdefault(number, {})
            for command, edges in leading.items():
                steps = mine.setdefault(command, set())
                for reply, target in edges:
                    steps.update((self._replies[reply], end) for end in self._leads_to(target))
        return PlainGraph(
            commands=tuple(
                {} if number in self._silent else command
                for number, command in enumerate(self._commands)
            ),
            initial=initial,
            states=self._numbers,
            texts=tuple(self._texts),
            out=tuple(
                {command: frozenset(steps) for command, steps in out.get(number, {}).items()}
                for number in range(len(self._texts))
            ),
            counts=tuple(counts.get(number, 0) for number in range(len(self._texts))),
        )

    def _number(self, state: int) -> int:
        """Return the number of the plain form of a state."""
        known = self._known.get(state)
        if known is None:
            value = self._plain(self._graph.states.record(state))
            known = self._numbers.setdefault(value, len(self._texts))
            if known == len(self._texts):
                self._texts.append(self._graph.states.texts[state].replace('\\"', '"'))
            self._known[state] = known
        return known

    def _leads_to(self, state: int) -> frozenset[int]:
        """Return the states that a state leads to by silent operations."""
        if not self._silent:
            return frozenset((self._number(state),))
        if state not in self._ends:
            reached, waiting, ends = {state}, [state], set()
            while waiting:
                here = waiting.pop()
                leading = self._graph.out.get(here, {})
                onward = {
                    target
                    for command in self._silent & leading.keys()
                    for _, target in leading[command]
                }
                if not onward:
                    ends.add(self._number(here))
                waiting += onward - reached
                reached |= onward
            self._ends[state] = frozenset(ends)
        return self._ends[state]
