"""Comparison of a spec's graph with the reference model, state by state.

One namespace walks along a spanning tree of the graph by the shortest way: it undoes steps until it
can go on to the next state. In each state it executes every command of the graph in every way. Each
way ends in a state of the model, which a projection maps to a state of the spec. The two sets of
(reply, next state) must be equal. Where the documents leave behaviour open and only one side has
it, the manifest lists the difference, with the number of edges.

A state is compared on the path that reached it first. The projection implies that the path does not
matter; to check that, some of the states that are reached again are compared again.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

import attrs

from busproof.errors import SpecificationError
from busproof.model.rules import NO_FAULT, Families
from busproof.tla.graphs.comparison import Comparison, Disagreement, Edge, find_miscounted
from busproof.tla.graphs.graph import Graph
from busproof.tla.graphs.memory import NOTHING, Memory
from busproof.tla.graphs.model_side import Model, Request, Went
from busproof.tla.graphs.plain_graph import PlainGraph, Step, plain_graph
from busproof.tla.graphs.projections import projection_of
from busproof.tla.graphs.replies import ANY_REFUSAL, Reply
from busproof.tla.graphs.state_tree import Cursor, Node
from busproof.tla.manifest import Configuration, Difference, Setting

__all__ = ["compare_states"]

TOLD_EVERY: Final = 500
AGAIN_EVERY: Final = 100
"""One of so many edges to known states leads to another comparison there."""

UNKNOWN: Final = -1
"""Number of a state that the spec does not have."""


@attrs.frozen(kw_only=True, eq=False)
class _Node(Node):
    """A state in the tree, with the spec's state, and the command and the reply that led there."""

    state: int
    command: int = 0
    reply: Reply = ("Done", None)


def compare_states(
    graph: Graph,
    configuration: Configuration,
    progress: Callable[[int], None] | None = None,
    *,
    first: bool = False,
    families: Families = NO_FAULT,
) -> Comparison:
    """Compare a graph with the model, as the setting of its configuration says.

    Args:
        graph: the graph of the configuration.
        configuration: the configuration, with its setting.
        progress: called from time to time with the number of compared edges.
        first: whether to stop at the first state with a disagreement.
        families: families of rules with a fault.

    Raises:
        SpecificationError: the vocabulary lacks a command of the graph, or there is no projection
            to its variables.
    """
    setting = configuration.graph
    if setting is None:
        raise SpecificationError(f"{configuration.name} has nothing to compare the model with")
    return _Walk(graph, configuration.module, setting, families, progress).run(first=first)


class _Walk:
    def __init__(
        self,
        graph: Graph,
        module: str,
        setting: Setting,
        families: Families,
        progress: Callable[[int], None] | None,
    ) -> None:
        self._projection = projection_of(module)
        self._graph: PlainGraph = plain_graph(graph, setting, self._projection)
        self._first = graph.states.record(graph.initial)
        self._setting = setting
        self._model = Model(
            setting, [command for command in self._graph.commands if command], families
        )
        self._progress = progress
        self._found = Comparison()
        self._nodes: dict[int, _Node] = {}
        self._waiting: deque[_Node] = deque()
        self._cursor = Cursor(self._model)
        self._again = 0
        self._open: dict[Difference, int] = dict.fromkeys(setting.differences, 0)

    def run(self, *, first: bool) -> Comparison:
        start = _Node(state=self._graph.initial)
        if self._state(NOTHING) != start.state:
            raise SpecificationError("the model does not begin in the initial state of the graph")
        self._add(start)
        while self._waiting and not (first and self._found.disagreeing):
            node = self._waiting.popleft()
            self._cursor.move_to(node)
            self._compare(node, grows=True)
            self._found.states += 1
            self._found.edges += self._graph.counts[node.state]
            if self._progress is not None and self._found.states % TOLD_EVERY == 0:
                self._progress(self._found.edges)
        self._found.deviations += self._deviations()
        return self._found

    def _deviations(self) -> Iterator[str]:
        """Yield a sentence for each number that differs from the manifest."""
        yield from find_miscounted(self._open)
        unreached = sum(
            state not in self._nodes and count > 0 for state, count in enumerate(self._graph.counts)
        )
        if unreached != self._setting.unreached:
            yield (
                f"the model does not come to {unreached:,} states, and the manifest has "
                f"{self._setting.unreached:,}"
            )

    def _add(self, node: _Node) -> None:
        self._nodes[node.state] = node
        self._waiting.append(node)

    def _state(self, memory: Memory) -> int:
        """Return the number of the spec's state that the model's present state is projected to."""
        standing = self._model.standing(memory)
        if standing is None:
            return UNKNOWN
        value = self._projection.of_model(standing, self._first)
        return self._graph.states.get(value, UNKNOWN)

    def _compare(self, node: _Node, *, grows: bool) -> None:
        """Compare all edges that leave the model's present state."""
        leading = self._graph.out[node.state]
        for command, spoken in enumerate(self._graph.commands):
            wanted = leading.get(command)
            if not spoken or (wanted is None and spoken["op"] in self._setting.bounded):
                continue
            request = self._model.request(spoken, node.memory)
            taken: dict[Step, Went] = {}
            if request is not None:
                self._take(node, command, request, wanted, taken, grows=grows)
            if wanted is None:
                # A spec may leave out commands that change nothing.
                wanted = frozenset(step for step in taken if step[1] == node.state)
            if wanted != taken.keys():
                self._differ(node, command, wanted, taken, counts=grows)
            if grows:
                for step in wanted & taken.keys():
                    for rule in taken[step].rules:
                        self._found.rules[rule, str(spoken["op"])] += 1

    def _take(
        self,
        node: _Node,
        command: int,
        request: Request,
        wanted: frozenset[Step] | None,
        taken: dict[Step, Went],
        *,
        grows: bool,
    ) -> None:
        """Collect each way in which the model may answer, and add new states to the walk."""
        errors = frozenset(reply for reply, _ in wanted or () if reply[0] == "Refused")
        for went in self._model.ways(request, node.memory):
            state = self._state(went.memory) if went.changed else node.state
            reply = self._projection.reply(went.reply)
            if reply[0] == "Refused" and reply not in errors and ANY_REFUSAL in errors:
                reply = ANY_REFUSAL
            step = (reply, state)
            if step in taken:
                continue
            taken[step] = went
            if not grows or state == UNKNOWN or (wanted is not None and step not in wanted):
                continue
            further = _Node(
                memory=went.memory,
                parent=node,
                request=request,
                script=went.script,
                state=state,
                command=command,
                reply=reply,
            )
            if state not in self._nodes:
                self._add(further)
            elif state != node.state:
                self._again += 1
                if self._again % AGAIN_EVERY == 0:
                    self._compare(further, grows=False)

    def _differ(
        self,
        node: _Node,
        command: int,
        wanted: frozenset[Step],
        taken: dict[Step, Went],
        *,
        counts: bool,
    ) -> None:
        spoken = self._graph.commands[command]
        spec_only = self._find_unexplained("spec", spoken, wanted - taken.keys(), counts)
        model_only = self._find_unexplained("model", spoken, taken.keys() - wanted, counts)
        if not spec_only and not model_only:
            return
        rules = [rule for step in model_only for rule in taken[step].rules]
        self._found.disagree(
            Disagreement(
                way=tuple(
                    (self._graph.commands[passed.command], passed.reply) for passed in node.path()
                ),
                states=(self._graph.texts[node.state],),
                command=spoken,
                spec_only=tuple(self._make_edge(step, node) for step in spec_only),
                model_only=tuple(self._make_edge(step, node) for step in model_only),
                rules=tuple(dict.fromkeys(rules)),
            )
        )

    def _find_unexplained(
        self, only: str, spoken: Mapping[str, object], steps: Iterable[Step], counts: bool
    ) -> list[Step]:
        """Return the edges that no difference listed in the manifest explains."""
        unexplained = []
        for step in steps:
            difference = next(
                (one for one in self._open if one.explains(only, spoken["op"], step[0])),
                None,
            )
            if difference is None:
                unexplained.append(step)
            elif counts:
                self._open[difference] += 1
                self._found.open += 1
        return unexplained

    def _make_edge(self, step: Step, node: _Node) -> Edge:
        reply, state = step
        if state == node.state:
            return Edge(reply, "the same state")
        return Edge(
            reply, "a state that the spec has not" if state < 0 else self._graph.texts[state]
        )
