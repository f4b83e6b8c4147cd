"""The state graph of a spec, read from a run of TLC that prints each edge.

A line is `"E~command~reply~state~next state"`, whose parts are TLA+ values without a `~`. Equal
values are printed as equal texts, so most parts are looked up instead of parsed.
"""

from collections import defaultdict
from collections.abc import Callable

import attrs
from immutables import Map

from busproof.errors import TlcError
from busproof.tla.checking import Checked, compare_run, task_of
from busproof.tla.manifest import Configuration, Manifest
from busproof.tla.tlc import Progress, run
from busproof.tla.values import Function, Value, parse

__all__ = ["Edge", "Graph", "Labels", "explore_graph"]

Edge = tuple[int, int]
"""The number of a reply, and the number of the next state."""

_PARTS = 5


class Labels:
    """Values by their printed text; each different value has a number and is parsed once."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self._numbers: dict[str, int] = {}
        self._values: dict[int, Value] = {}

    def __len__(self) -> int:
        return len(self.texts)

    def number(self, text: str) -> int:
        """Return the number of a text; a new text gets the next one."""
        number = self._numbers.get(text)
        if number is None:
            number = self._numbers[text] = len(self.texts)
            self.texts.append(text)
        return number

    def value(self, number: int) -> Value:
        """Return the value with this number."""
        if number not in self._values:
            # PrintT escapes the quotes in the result of ToString.
            text = self.texts[number].replace('\\"', '"').replace("\\\\", "\\")
            self._values[number] = parse(text)
        return self._values[number]

    def record(self, number: int) -> Function:
        """Return the record with this number.

        Raises:
            TlcError: the value is not a record.
        """
        value = self.value(number)
        if not isinstance(value, Map):
            raise TlcError(f"a record was to be printed, and {self.texts[number]!r} was")
        return value


@attrs.define
class Graph:
    """A state graph: commands, replies and states by number, and the edges between states.

    Attributes:
        commands: all commands.
        replies: all replies.
        states: all states.
        out: state to command to edges, each a reply and the next state.
        initial: the state that the first edge leaves.
        edges: how many edges there are.
    """

    commands: Labels = attrs.field(factory=Labels)
    replies: Labels = attrs.field(factory=Labels)
    states: Labels = attrs.field(factory=Labels)
    out: dict[int, dict[int, list[Edge]]] = attrs.field(factory=lambda: defaultdict(dict))
    initial: int = 0
    edges: int = 0

    def take(self, line: str) -> None:
        """Add the edge of a printed line.

        Raises:
            TlcError: the line is not an edge.
        """
        parts = line[1:-1].split("~")
        if len(parts) != _PARTS or parts[0] != "E":
            raise TlcError(f"a graph run printed a line that is not an edge: {line[:120]}")
        command = self.commands.number(parts[1])
        state = self.states.number(parts[3])
        edge = (self.replies.number(parts[2]), self.states.number(parts[4]))
        leading = self.out[state]
        if command in leading:
            leading[command].append(edge)
        else:
            leading[command] = [edge]
        self.edges += 1


def explore_graph(
    manifest: Manifest,
    configuration: Configuration,
    *,
    progress: Progress | None = None,
    timeout: float | None = None,
    heap: str | None = None,
    printed: Callable[[str], None] | None = None,
) -> tuple[Graph, Checked]:
    """Run a graph's configuration; return the graph, and the check against the manifest.

    There must be as many edges as generated states without the initial ones. Otherwise the run has
    failed to print some of them.

    Raises:
        TlcError: TLC gave no verdict, or printed a line that is not an edge.
    """
    graph = Graph()

    def take(line: str) -> None:
        graph.take(line)
        if printed is not None:
            printed(line)

    task = task_of(manifest, configuration, timeout=timeout, heap=heap)
    checked = compare_run(manifest, configuration, run(task, take, progress))
    return graph, attrs.evolve(checked, deviations=(*checked.deviations, *_missing(graph, checked)))


def _missing(graph: Graph, checked: Checked) -> list[str]:
    setting = checked.configuration.graph
    pinned = setting.edges if setting is not None else 0
    deviations = []
    expected = checked.generated - checked.configuration.initial
    if checked.deviations:
        return []
    if graph.edges != expected:
        deviations.append(f"{graph.edges:,} edges were printed, and {expected:,} generated")
    if graph.edges != pinned:
        deviations.append(f"there are {graph.edges:,} edges, and the manifest has {pinned:,}")
    if len(graph.states) != checked.distinct:
        deviations.append(
            f"{len(graph.states):,} states were printed, and {checked.distinct:,} are distinct"
        )
    return deviations
