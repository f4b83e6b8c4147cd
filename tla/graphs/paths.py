"""Paths through a spec's graph that implementations replay; they cover every class of step.

A class is an operation in a context: the command and its reply, the state of its message, the kinds
of the other messages, and the rest of the state. Paths are stored with the hash of their spec.
"""

import json
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, cast

import attrs
from immutables import Map

from busproof.errors import SpecificationError
from busproof.tla.graphs.command_mapping import plain
from busproof.tla.graphs.graph import Graph
from busproof.tla.manifest import Setting
from busproof.tla.values import Value

__all__ = ["FILE", "Path_", "Suite", "covering", "load_suites", "write_suites"]

FILE: Final = "paths.jsonl"
LONGEST: Final = 30
"""Number of steps at which a path ends; a short path is easier to understand when it fails."""

_AHEAD: Final = 3
"""How many steps a path may take to reach another class that is not covered yet."""

_MESSAGES: Final = ("messages", "goods")

Walk = tuple[int, int, int, int]
"""An edge of the graph, by numbers: state, command, reply, next state."""

Step = tuple[dict[str, Any], dict[str, Any]]
"""A command, and the reply that the spec gives."""


@attrs.frozen
class Path_:  # noqa: N801 - `Path` is pathlib's everywhere
    """A path: its commands, with the replies that the spec gives.

    The `repr` leaves the steps out, because Allure prints every parameter of a test.
    """

    name: str
    steps: tuple[Step, ...] = attrs.field(repr=False)


@attrs.frozen(kw_only=True)
class Suite:
    """All paths of a configuration.

    Attributes:
        configuration: the name of the configuration.
        sources: the hash of the spec.
        setting: the setting of the queues that the paths need.
        classes: how many classes of steps the paths cover.
        paths: the paths.
    """

    configuration: str
    sources: str
    setting: Setting
    classes: int
    paths: tuple[Path_, ...] = attrs.field(repr=False)


def covering(graph: Graph, configuration: str, sources: str, setting: Setting) -> Suite:
    """Return paths from the initial state on that cover every class of step in the graph."""
    cover = _Covering(graph)
    walks = list(cover.walks())
    paths = tuple(
        Path_(f"{configuration} {number}", tuple(_requested_steps(graph, setting, walk)))
        for number, walk in enumerate(walks, start=1)
    )
    return Suite(
        configuration=configuration,
        sources=sources,
        setting=setting,
        classes=len(cover.first),
        paths=paths,
    )


def _requested_steps(graph: Graph, setting: Setting, walk: Sequence[Walk]) -> Iterator[Step]:
    """Yield the steps of a walk, without those that a bus makes without a request."""
    for _, command, reply, _ in walk:
        words = (plain(graph.commands.value(command)), plain(graph.replies.value(reply)))
        step = cast(Step, words)
        if step[0]["op"] not in setting.silent:
            yield step


class _Covering:
    """Search for walks: each leads to an uncovered class, and goes on while others are near."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._classes: dict[tuple[int, int, int], object] = {}
        self._parents: dict[int, Walk | None] = {graph.initial: None}
        self.first: dict[object, Walk] = {}
        self._explore()

    def _explore(self) -> None:
        """Find the shortest way to each state, and the first edge of each class."""
        waiting = deque([self._graph.initial])
        while waiting:
            state = waiting.popleft()
            for edge in self._edges(state):
                self.first.setdefault(self._class(edge), edge)
                if edge[3] not in self._parents:
                    self._parents[edge[3]] = edge
                    waiting.append(edge[3])

    def _edges(self, state: int) -> Iterator[Walk]:
        for command, leading in self._graph.out.get(state, {}).items():
            for reply, target in leading:
                yield (state, command, reply, target)

    def walks(self) -> Iterator[list[Walk]]:
        left = dict(self.first)
        while left:
            # The farthest class comes first, because the way there covers others.
            edge = left[next(reversed(left))]
            walk = [*self._way(edge[0]), edge]
            self._cover(walk, left)
            while len(walk) < LONGEST and (further := self._near(walk[-1][3], left)):
                walk += further
                self._cover(further, left)
            yield walk

    def _way(self, state: int) -> list[Walk]:
        way = []
        while (edge := self._parents[state]) is not None:
            way.append(edge)
            state = edge[0]
        return way[::-1]

    def _cover(self, walk: Sequence[Walk], left: dict[object, Walk]) -> None:
        for edge in walk:
            left.pop(self._class(edge), None)

    def _near(self, state: int, left: dict[object, Walk]) -> list[Walk] | None:
        """Return the shortest way to an edge of an uncovered class; `None` if none is near."""
        waiting: deque[tuple[int, list[Walk]]] = deque([(state, [])])
        visited = {state}
        while waiting:
            here, walk = waiting.popleft()
            for edge in self._edges(here):
                if self._class(edge) in left:
                    return [*walk, edge]
                if edge[3] not in visited and len(walk) + 1 < _AHEAD:
                    visited.add(edge[3])
                    waiting.append((edge[3], [*walk, edge]))
        return None

    def _class(self, edge: Walk) -> object:
        state, command, reply, _ = edge
        known = self._classes.get(edge[:3])
        if known is None:
            known = self._classes[edge[:3]] = _class_of(
                self._graph.states.value(state),
                self._graph.commands.value(command),
                self._graph.replies.value(reply),
            )
        return known


def _class_of(state: Value, command: Value, reply: Value) -> object:
    """Return the class of a step, from its state, command and reply."""
    if not (isinstance(state, Map) and isinstance(command, Map) and isinstance(reply, Map)):
        raise SpecificationError("a graph's states, commands and replies must be records")
    touched = command.get("message", reply.get("message"))
    name = next((name for name in _MESSAGES if name in state), "")
    messages = cast(tuple[Value, ...], state.get(name, ()))
    is_there = isinstance(touched, int) and 0 < touched <= len(messages)
    others = frozenset(
        _kind(message) for number, message in enumerate(messages, start=1) if number != touched
    )
    return (
        _omit_message(command),
        _omit_message(reply),
        messages[cast(int, touched) - 1] if is_there else None,
        others,
        _rest(state, name),
    )


def _rest(state: Map[Value, Value], messages: str) -> object:
    """Return the rest of a state by sizes only, such as how many partitions are up."""
    rest = {str(key): value for key, value in state.items() if key != messages}
    return tuple(
        (key, len(value) if isinstance(value, tuple | frozenset) else value)
        for key, value in sorted(rest.items())
    )


def _omit_message(record: Map[Value, Value]) -> Map[Value, Value]:
    return record.delete("message") if "message" in record else record


def _kind(message: Value) -> Value:
    """Return the kind of another message: its texts, such as its key and its state."""
    if isinstance(message, tuple):
        return tuple(part for part in message if isinstance(part, str))
    return message


def write_suites(path: Path, suites: Sequence[Suite]) -> None:
    """Write suites: for each, a line with all different steps, then a line for each path."""
    lines = []
    for suite in suites:
        texts = {_text(step): step for path_ in suite.paths for step in path_.steps}
        numbers = {text: number for number, text in enumerate(sorted(texts))}
        head = {
            "suite": suite.configuration,
            "sources": suite.sources,
            "classes": suite.classes,
            "setting": _needed_fields(suite.setting),
            "steps": [texts[text] for text in sorted(texts)],
        }
        lines.append(_text(head))
        for path_ in suite.paths:
            steps = [numbers[_text(step)] for step in path_.steps]
            lines.append(_text({"path": path_.name, "steps": steps}))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _text(value: object) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def _needed_fields(setting: Setting) -> dict[str, Any]:
    """Return the fields of a setting that replaying a path needs."""
    names = ("edges", "partitions", "queue", "queues", "lock_ticks", "window_ticks")
    fields = {name: getattr(setting, name) for name in names}
    return {name: value for name, value in fields.items() if name != "queues" or value}


def load_suites(path: Path = Path(__file__).parent.parent / FILE) -> tuple[Suite, ...]:
    """Return the suites in a file; none if the file does not exist.

    Raises:
        SpecificationError: the file is broken.
    """
    if not path.exists():
        return ()
    suites: list[Suite] = []
    paths: list[Path_] = []
    found_in: dict[int, list[Path_]] = {}
    steps: list[Step] = []
    try:
        for line in path.read_text(encoding="utf-8").splitlines():
            record = json.loads(line)
            if "suite" in record:
                steps = [(command, reply) for command, reply in record["steps"]]
                suites.append(_suite(record))
                paths = found_in.setdefault(len(suites) - 1, [])
            else:
                path_ = Path_(record["path"], tuple(steps[number] for number in record["steps"]))
                paths.append(path_)
    except (OSError, ValueError, KeyError, TypeError, IndexError) as error:
        raise SpecificationError(f"{path.name} is broken: {error!r}") from None
    return tuple(
        attrs.evolve(suite, paths=tuple(found_in[number])) for number, suite in enumerate(suites)
    )


def _suite(record: Mapping[str, Any]) -> Suite:
    return Suite(
        configuration=record["suite"],
        sources=record["sources"],
        classes=record["classes"],
        setting=Setting(**record["setting"]),
        paths=(),
    )
