"""A spec's whole state graph, edge by edge, as a graph run prints it.

A line is `"E~command~reply~state~next state"`; each part is a TLA+ value, and no value has a `~` in
it. Equal parts are equal texts, so most of reading is looking texts up.
"""

from collections import defaultdict
from collections.abc import Callable

import attrs
from immutables import Map

from busproof.errors import TlcError
from busproof.tla.checking import Checked, judged, task_of
from busproof.tla.manifest import Configuration, Manifest
from busproof.tla.tlc import Progress, run
from busproof.tla.values import Function, Value, parse

__all__ = ["Edge", "Graph", "Labels", "explored"]

Edge = tuple[int, int]
"""The reply's number and the next state's."""

_PARTS = 5


class Labels:
    """Values by their printed text: each distinct one has a number and is parsed once."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self._numbers: dict[str, int] = {}
        self._values: dict[int, Value] = {}

    def __len__(self) -> int:
        return len(self.texts)

    def number(self, text: str) -> int:
        """The number of this text, a new one if it is new."""
        found = self._numbers.get(text)
        if found is None:
            found = self._numbers[text] = len(self.texts)
            self.texts.append(text)
        return found

    def value(self, number: int) -> Value:
        """The value with this number."""
        if number not in self._values:
            # PrintT has escaped the quotes of what ToString gave.
            text = self.texts[number].replace('\\"', '"').replace("\\\\", "\\")
            self._values[number] = parse(text)
        return self._values[number]

    def record(self, number: int) -> Function:
        """The record with this number.

        Raises:
            TlcError: it is another kind of value.
        """
        value = self.value(number)
        if not isinstance(value, Map):
            raise TlcError(f"a record was to be printed, and {self.texts[number]!r} was")
        return value


@attrs.define
class Graph:
    """States, commands and replies by number, and where each command leads from each state.

    Attributes:
        commands: what was asked.
        replies: what was answered.
        states: all states.
        out: state to command to (reply, next state).
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
        """Take in one printed line.

        Raises:
            TlcError: it is no edge.
        """
        parts = line[1:-1].split("~")
        if len(parts) != _PARTS or parts[0] != "E":
            raise TlcError(f"a graph run printed what is no edge: {line[:120]}")
        command = self.commands.number(parts[1])
        state = self.states.number(parts[3])
        edge = (self.replies.number(parts[2]), self.states.number(parts[4]))
        leading = self.out[state]
        if command in leading:
            leading[command].append(edge)
        else:
            leading[command] = [edge]
        self.edges += 1


def explored(
    manifest: Manifest,
    configuration: Configuration,
    *,
    progress: Progress | None = None,
    timeout: float | None = None,
    heap: str | None = None,
    printed: Callable[[str], None] | None = None,
) -> tuple[Graph, Checked]:
    """The graph of a configuration, and how its run compares with the manifest.

    A copy of the spec that had lost edges would go unnoticed: so their number must be that of the
    states generated, but for the initial ones.

    Raises:
        TlcError: TLC gave no verdict, or printed what is no edge.
    """
    graph = Graph()

    def take(line: str) -> None:
        graph.take(line)
        if printed is not None:
            printed(line)

    task = task_of(manifest, configuration, timeout=timeout, heap=heap)
    found = judged(manifest, configuration, run(task, take, progress))
    return graph, attrs.evolve(found, deviations=(*found.deviations, *_missing(graph, found)))


def _missing(graph: Graph, found: Checked) -> list[str]:
    setting = found.configuration.graph
    pinned = setting.edges if setting is not None else 0
    deviations = []
    expected = found.generated - found.configuration.initial
    if found.deviations:
        return []
    if graph.edges != expected:
        deviations.append(f"{graph.edges:,} edges were printed, and {expected:,} generated")
    if graph.edges != pinned:
        deviations.append(f"there are {graph.edges:,} edges, and the manifest has {pinned:,}")
    if len(graph.states) != found.distinct:
        deviations.append(
            f"{len(graph.states):,} states were printed, and {found.distinct:,} are distinct"
        )
    return deviations
