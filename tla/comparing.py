"""A spec's graph beside the reference model, or beside the client oracle.

The model is compared state by state (`walking`), and the oracle, which sees answers only, so: the
contract keeps what a client cannot see, and the oracle keeps several states possible: a state of
the comparison is a set of the graph's states beside a set of the model's. From the initial pair on,
every command that the graph asks somewhere in the set is asked of the model; both must give the
same replies, and each reply leads to the next pair. What the graph asks elsewhere and not here must
be without effect, but for commands that the spec bounds. Equality in all of them means that no
client could ever tell the two apart.
"""

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import attrs

from busproof.errors import SpecificationError
from busproof.tla.answering import Answered, Answers
from busproof.tla.comparison import Comparison, Disagreement, Edge
from busproof.tla.graph import Graph
from busproof.tla.manifest import Configuration, Setting
from busproof.tla.replies import Reply, reply_of
from busproof.tla.twin import born
from busproof.tla.walking import walked

__all__ = ["compared"]

_TOLD_EVERY: Final = 500
_WITHOUT_EFFECT: Final = ("Refused", "Empty", "Peeked")
Spoken = Mapping[str, object]


@attrs.frozen(eq=False)
class _Pair:
    """A set of the graph's states and a set of the model's, and the way there."""

    states: frozenset[int]
    twins: frozenset[int]
    parent: "_Pair | None" = None
    step: tuple[int, Reply] | None = None

    def key(self) -> object:
        return (self.states, self.twins)


def compared(
    graph: Graph,
    configuration: Configuration,
    progress: Callable[[int], None] | None = None,
    *,
    first: bool = False,
) -> Comparison:
    """Compare a graph with the model or the oracle, as the manifest's setting says.

    Args:
        graph: of the configuration.
        configuration: with its setting.
        progress: is called now and then with the edges compared.
        first: whether to stop at the first disagreement.

    Raises:
        SpecificationError: there is no setting, or the graph asks what the model has no words for.
    """
    setting = configuration.graph
    if setting is None:
        raise SpecificationError(f"{configuration.name} has nothing to compare the model with")
    if setting.beside == "model":
        return walked(graph, configuration, progress, first=first)
    return _Comparing(graph, setting, progress).run(first=first)


class _Comparing:
    def __init__(
        self, graph: Graph, setting: Setting, progress: Callable[[int], None] | None
    ) -> None:
        self._graph = graph
        self._setting = setting
        self._progress = progress
        self._commands: list[Spoken] = [
            _words(graph.commands.record(number)) for number in range(len(graph.commands))
        ]
        self._replies: list[Reply] = [
            reply_of(_words(graph.replies.record(number))) for number in range(len(graph.replies))
        ]
        self._silent = frozenset(
            number
            for number, command in enumerate(self._commands)
            if command["op"] in setting.silent
        )
        self._closures: dict[int, frozenset[int]] = {}
        self._alphabet = self._replies_by_command()
        alone = len({command.get("connection", 1) for command in self._commands}) == 1
        self._answers = Answers(self._commands, setting, alone=alone)
        self._found = Comparison()

    def _replies_by_command(self) -> dict[int, set[Reply]]:
        """Every reply that the graph gives to a command anywhere: what else may be tried."""
        alphabet: dict[int, set[Reply]] = {}
        for leading in self._graph.out.values():
            for command, edges in leading.items():
                known = alphabet.setdefault(command, set())
                known.update(self._replies[reply] for reply, _ in edges)
        return alphabet

    def run(self, *, first: bool) -> Comparison:
        first_twin = self._answers.number(born(self._setting, iter(self._commands)))
        start = _Pair(self._closed({self._graph.initial}), frozenset((first_twin,)))
        seen = {start.key()}
        waiting = deque([start])
        while waiting and not (first and self._found.disagreeing):
            pair = waiting.popleft()
            self._found.states += 1
            for further in self._compare(pair):
                key = further.key()
                if key not in seen:
                    seen.add(key)
                    waiting.append(further)
            if self._progress is not None and self._found.states % _TOLD_EVERY == 0:
                self._progress(self._found.edges)
        return self._found

    def _closed(self, states: Iterable[int]) -> frozenset[int]:
        """The states, and those that the bus may have gone on to by itself."""
        if not self._silent:
            return frozenset(states)
        return frozenset().union(*(self._reached(state) for state in states))

    def _reached(self, state: int) -> frozenset[int]:
        if state not in self._closures:
            found, waiting = {state}, [state]
            while waiting:
                leading = self._graph.out.get(waiting.pop(), {})
                for command in self._silent & leading.keys():
                    further = {target for _, target in leading[command]} - found
                    found |= further
                    waiting += further
            self._closures[state] = frozenset(found)
        return self._closures[state]

    def _compare(self, pair: _Pair) -> Iterable[_Pair]:
        """Compare all commands of a pair; the pairs that their replies lead to."""
        out = self._graph.out
        if len(pair.states) == 1:
            (state,) = pair.states
            leading = out.get(state, {})
        else:
            leading = {}
            for state in pair.states:
                for command, edges in out.get(state, {}).items():
                    leading[command] = leading.get(command, []) + edges
        for command, edges in leading.items():
            if command in self._silent:
                continue
            by_reply: dict[Reply, set[int]] = {}
            for reply, target in edges:
                by_reply.setdefault(self._replies[reply], set()).add(target)
            self._found.edges += len(edges)
            yield from self._compare_command(pair, command, by_reply)
        for command in range(len(self._commands)):
            if (
                command not in leading
                and command not in self._silent
                and self._commands[command]["op"] not in self._setting.bounded
            ):
                self._compare_absent(pair, command)

    def _compare_absent(self, pair: _Pair, command: int) -> None:
        """What the spec does not ask here must be without effect on the model."""
        effects: dict[Reply, list[Answered]] = {}
        for twin in pair.twins:
            for answer in self._answers.offers(twin, command):
                if answer.replies[0][0] not in _WITHOUT_EFFECT and answer.after != twin:
                    effects.setdefault(answer.replies[0], []).append(answer)
        if effects:
            self._disagree(pair, command, [], list(effects), effects)

    def _compare_command(
        self, pair: _Pair, command: int, by_reply: dict[Reply, set[int]]
    ) -> Iterable[_Pair]:
        answers, offered = self._answered(pair.twins, command, by_reply)
        spec_only = [reply for reply in by_reply if reply not in answers]
        model_only = [reply for reply in answers if reply not in by_reply]
        if self._may_be_looser(command):
            model_only = [reply for reply in model_only if reply in offered]
        if spec_only or model_only:
            self._disagree(pair, command, spec_only, model_only, answers)
        for reply, targets in by_reply.items():
            if found := answers.get(reply):
                operation = str(self._commands[command]["op"])
                for rule in found[0].rules:
                    self._found.rules[rule, operation] += 1
                twins = frozenset(answer.after for answer in found)
                yield _Pair(self._closed(targets), twins, pair, (command, reply))

    def _may_be_looser(self, command: int) -> bool:
        return self._commands[command]["op"] in self._setting.looser

    def _answered(
        self, twins: Iterable[int], command: int, wanted: dict[Reply, set[int]]
    ) -> tuple[dict[Reply, list[Answered]], set[Reply]]:
        """The model's answers by reply, and which of them its `step` offers by itself.

        What `step` does not offer is tried as a client would see it: all that the graph answers
        here and, unless the judge may be looser, all that it ever answers to this command.
        """
        looser = self._may_be_looser(command)
        found: dict[Reply, list[Answered]] = {}
        offered: set[Reply] = set()
        for twin in twins:
            known: set[Reply] = set()
            for answer in self._answers.offers(twin, command):
                fitting = [reply for reply in answer.replies if reply in wanted]
                for reply in fitting or answer.replies[:1]:
                    found.setdefault(reply, []).append(answer)
                    offered.add(reply)
                known.update(answer.replies)
            tried = wanted if looser else self._alphabet[command]
            for reply in tried:
                if reply not in known:
                    admitted = self._answers.admits(twin, command, reply)
                    if admitted:
                        found.setdefault(reply, []).extend(admitted)
        return found, offered

    def _disagree(
        self,
        pair: _Pair,
        command: int,
        spec_only: list[Reply],
        model_only: list[Reply],
        answers: dict[Reply, list[Answered]],
    ) -> None:
        rules = [rule for each in answers.values() for answer in each for rule in answer.rules]
        self._found.disagree(
            Disagreement(
                way=self._way(pair),
                states=tuple(
                    self._graph.states.texts[state].replace('\\"', '"')
                    for state in sorted(pair.states)
                ),
                command=self._commands[command],
                spec_only=tuple(map(Edge, spec_only)),
                model_only=tuple(map(Edge, model_only)),
                rules=tuple(dict.fromkeys(rules)),
            )
        )

    def _way(self, pair: _Pair) -> tuple[tuple[Spoken, Reply], ...]:
        way = []
        point: _Pair | None = pair
        while point is not None and point.step is not None:
            command, reply = point.step
            way.append((self._commands[command], reply))
            point = point.parent
        return tuple(way[::-1])


def _words(record: Mapping[Any, object]) -> Spoken:
    return {str(name): value for name, value in record.items()}
