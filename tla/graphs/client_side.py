"""Comparison of a graph of what clients see with the model, of which a client sees replies.

A client may be in several states of the graph. A point of the comparison pairs the set of them with
a state of the model that gives the same replies. At each point and for each command, the graph must
have each reply that the model may give. A command that the graph lacks at a point must have no
effect, unless the spec bounds it. If this holds, the model keeps what the graph promises.

The other way round, the model must give each reply that the graph has, though not at each point:
the graph forgets what clients cannot see, such as which messages an outage hits, and the model has
it. So of all points with the same states of the graph, one has to give the reply. If this holds,
too, the graph promises all that the model keeps.
"""

from collections import deque
from collections.abc import Callable, Hashable, Iterator, Mapping
from typing import Final

import attrs

from busproof import vocabulary as v
from busproof.model.life_cycle import LOCKED_STATES
from busproof.tla.graphs.comparison import Comparison, Disagreement, Edge, find_miscounted
from busproof.tla.graphs.graph import Graph
from busproof.tla.graphs.memory import NOTHING, Memory
from busproof.tla.graphs.model_side import Model
from busproof.tla.graphs.plain_graph import words_of
from busproof.tla.graphs.replies import ANY_REFUSAL, Reply, reply_of
from busproof.tla.graphs.state_tree import Cursor, Node
from busproof.tla.manifest import Setting

__all__ = ["compare_observed"]

TOLD_EVERY: Final = 500
WITHOUT_EFFECT: Final = ("Refused", "Empty", "Peeked")

Spoken = Mapping[str, object]


def compare_observed(
    graph: Graph,
    setting: Setting,
    progress: Callable[[int], None] | None = None,
    *,
    first: bool = False,
) -> Comparison:
    """Compare a graph with the model, as a client sees both.

    Args:
        graph: the graph of a spec of what clients see.
        setting: the setting of the comparison.
        progress: called from time to time with the number of compared edges.
        first: whether to stop at the first disagreement.

    Raises:
        SpecificationError: the vocabulary lacks a command of the graph.
    """
    return _Observing(graph, setting, progress).run(first=first)


@attrs.frozen
class _Answers:
    """The model's answers to a command in one state: reply to states, and to rules."""

    onto: dict[Reply, set[Node]] = attrs.field(factory=dict)
    rules: dict[Reply, tuple[v.RuleId, ...]] = attrs.field(factory=dict)


@attrs.frozen(eq=False)
class _Point:
    """A point of the comparison: states of the graph, one of the model, and the way there."""

    states: frozenset[int]
    node: Node
    parent: "_Point | None" = None
    command: Spoken = attrs.field(factory=dict)
    reply: Reply = ("Done", None)

    def way(self) -> tuple[tuple[Spoken, Reply], ...]:
        """Return the commands and replies that lead here."""
        way = []
        point = self
        while point.parent is not None:
            way.append((point.command, point.reply))
            point = point.parent
        return tuple(way[::-1])


class _Observing:
    def __init__(
        self, graph: Graph, setting: Setting, progress: Callable[[int], None] | None
    ) -> None:
        self._graph = graph
        self._setting = setting
        self._progress = progress
        self._commands = [words_of(graph.commands.record(n)) for n in range(len(graph.commands))]
        self._replies = [
            reply_of(words_of(graph.replies.record(n))) for n in range(len(graph.replies))
        ]
        self._alphabet: dict[int, set[Reply]] = {}
        for leading in graph.out.values():
            for command, edges in leading.items():
                known = self._alphabet.setdefault(command, set())
                known.update(self._replies[reply] for reply, _ in edges)
        self._model = Model(setting, self._commands)
        self._cursor = Cursor(self._model)
        self._nodes: dict[Hashable, Node] = {}
        self._answers: dict[tuple[Node, int], _Answers] = {}
        self._leading: dict[frozenset[int], Mapping[int, Mapping[Reply, frozenset[int]]]] = {}
        self._wanted: dict[tuple[frozenset[int], int], tuple[_Point, set[Reply]]] = {}
        """Replies of the graph that no point with these states has given so far."""
        self._found = Comparison()

    def run(self, *, first: bool) -> Comparison:
        begin = Node()
        self._nodes[self._key(NOTHING)] = begin
        start = _Point(frozenset({self._graph.initial}), begin)
        visited = {(start.states, start.node)}
        waiting = deque([start])
        counted: set[frozenset[int]] = set()
        while waiting and not (first and self._found.disagreeing):
            point = waiting.popleft()
            is_new = point.states not in counted
            counted.add(point.states)
            self._found.states += is_new
            for further in self._compare(point, counts=is_new):
                key = further.states, further.node
                if key not in visited:
                    visited.add(key)
                    waiting.append(further)
            if self._progress is not None and self._found.states % TOLD_EVERY == 0:
                self._progress(self._found.edges)
        if not waiting:
            self._compare_missing()
        return self._found

    def _compare_missing(self) -> None:
        """Compare the replies of the graph that the model gives at no point with these states."""
        open_edges = dict.fromkeys(self._setting.differences, 0)
        for (_, command), (point, missing) in self._wanted.items():
            operation = self._commands[command]["op"]
            unexplained = []
            for reply in missing:
                difference = next(
                    (one for one in open_edges if one.explains("spec", operation, reply)), None
                )
                if difference is None:
                    unexplained.append(reply)
                else:
                    open_edges[difference] += 1
                    self._found.open += 1
            if unexplained:
                self._disagree(point, self._commands[command], tuple(unexplained), {})
        self._found.deviations += find_miscounted(open_edges)

    def _compare(self, point: _Point, *, counts: bool) -> Iterator[_Point]:
        """Compare every command at a point; yield the points that its replies lead to."""
        leading = self._leading_from(point.states)
        for command, spoken in enumerate(self._commands):
            wanted = leading.get(command)
            if wanted is not None:
                yield from self._compare_asked(point, command, wanted, counts=counts)
            elif spoken["op"] not in self._setting.bounded:
                self._compare_absent(point, command)

    def _leading_from(self, states: frozenset[int]) -> Mapping[int, Mapping[Reply, frozenset[int]]]:
        """Return command and reply to the graph states that they lead to."""
        known = self._leading.get(states)
        if known is not None:
            return known
        leading: dict[int, dict[Reply, set[int]]] = {}
        for state in states:
            for command, edges in self._graph.out.get(state, {}).items():
                self._found.edges += len(edges)
                by_reply = leading.setdefault(command, {})
                for reply, target in edges:
                    by_reply.setdefault(self._replies[reply], set()).add(target)
        found = self._leading[states] = {
            command: {reply: frozenset(targets) for reply, targets in by_reply.items()}
            for command, by_reply in leading.items()
        }
        return found

    def _compare_absent(self, point: _Point, command: int) -> None:
        """Check that a command which the spec lacks here has no effect in the model either."""
        answers = self._answers_at(point.node, command)
        effects = {
            reply: answers.rules[reply]
            for reply, onto in answers.onto.items()
            if reply[0] not in WITHOUT_EFFECT and onto != {point.node}
        }
        if effects:
            self._disagree(point, self._commands[command], (), effects)

    def _compare_asked(
        self, point: _Point, command: int, wanted: Mapping[Reply, frozenset[int]], *, counts: bool
    ) -> Iterator[_Point]:
        spoken = self._commands[command]
        errors = {reply for reply in wanted if reply[0] == "Refused"}
        onto: dict[Reply, set[Node]] = {}
        rules: dict[Reply, tuple[v.RuleId, ...]] = {}
        answers = self._answers_at(point.node, command)
        for given, nodes in answers.onto.items():
            reply = given
            if given[0] == "Refused" and given not in errors and ANY_REFUSAL in errors:
                reply = ANY_REFUSAL
            onto.setdefault(reply, set()).update(nodes)
            rules.setdefault(reply, answers.rules[given])
        more = {reply: rules[reply] for reply in onto if reply not in wanted}
        if more:
            self._disagree(point, spoken, (), more)
        _, missing = self._wanted.setdefault((point.states, command), (point, set(wanted)))
        missing.difference_update(onto)
        for reply, targets in wanted.items():
            if reply not in onto:
                continue
            for rule in rules[reply] if counts else ():
                self._found.rules[rule, str(spoken["op"])] += 1
            for node in onto[reply]:
                yield _Point(targets, node, point, spoken, reply)

    def _disagree(
        self,
        point: _Point,
        spoken: Spoken,
        spec_only: tuple[Reply, ...],
        more: Mapping[Reply, tuple[v.RuleId, ...]],
    ) -> None:
        self._found.disagree(
            Disagreement(
                way=point.way(),
                states=tuple(
                    self._graph.states.texts[state].replace('\\"', '"')
                    for state in sorted(point.states)
                ),
                command=spoken,
                spec_only=tuple(map(Edge, spec_only)),
                model_only=tuple(map(Edge, more)),
                rules=tuple(dict.fromkeys(rule for rules in more.values() for rule in rules)),
            )
        )

    # The model ----------------------------------------------------------------------------------

    def _answers_at(self, node: Node, command: int) -> _Answers:
        """Return the model's answers to a command in a state; each is asked for once."""
        known = self._answers.get((node, command))
        if known is not None:
            return known
        answers = self._answers[node, command] = _Answers()
        self._cursor.move_to(node)
        request = self._model.request(self._commands[command], node.memory)
        if request is None:
            return answers
        for went in self._model.ways(request, node.memory):
            target = node
            if went.changed:
                further = Node(memory=went.memory, parent=node, request=request, script=went.script)
                target = self._nodes.setdefault(self._key(went.memory), further)
            # A client does not see which partition has accepted a message.
            reply = ("Done", None) if went.reply[0] == "Done" else went.reply
            answers.onto.setdefault(reply, set()).add(target)
            answers.rules.setdefault(reply, went.rules)
        return answers

    def _key(self, memory: Memory) -> Hashable:
        """Return the model's present state as a value; two equal ones have the same futures."""
        namespace = self._model.namespace
        entities = []
        for path, entity in sorted(namespace.entities.items()):
            messages = sorted(entity.messages.values(), key=lambda one: (one.partition, one.number))
            entities.append(
                (
                    path,
                    entity.base.down,
                    frozenset(entity.homes.items()),
                    tuple(
                        (
                            one.message.body,
                            one.partition,
                            one.state,
                            one.failed,
                            one.cached_by,
                            one.locked_until - namespace.now if one.state in LOCKED_STATES else 0,
                        )
                        for one in messages
                    ),
                )
            )
        known = tuple(
            (sent.message, sent.token is not None, sent.lost is not None) for sent in memory.sent
        )
        return tuple(entities), known
