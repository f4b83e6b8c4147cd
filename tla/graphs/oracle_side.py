"""Comparison of the contract's graph with the client oracle, which sees only replies.

A client may be in several states of the graph, and the oracle considers several namespaces
possible. So a point of the comparison pairs a set of graph states with the oracle's belief after
the same replies. At each point and for each command, the oracle must accept exactly the replies
that the graph has there, among all replies that the graph has to the command anywhere. A command
that the graph lacks at a point must have no effect, unless the spec bounds it. If all this holds,
no client can distinguish the graph from the oracle.

A set of states is compared when it is first reached. When other replies lead to it again, it is
compared again only sometimes.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

import attrs
from immutables import Map

from busproof import vocabulary as v
from busproof.oracle.state import Namespace, fresh_namespace
from busproof.oracle.step import Acceptance, accept
from busproof.spec import load as load_catalogue
from busproof.tla.graphs.command_mapping import ANY, NOBODYS, asked, body_of, connection_of
from busproof.tla.graphs.comparison import Comparison, Disagreement, Edge
from busproof.tla.graphs.graph import Graph
from busproof.tla.graphs.plain_graph import words_of
from busproof.tla.graphs.replies import ANY_REFUSAL, Reply, reply_of
from busproof.tla.graphs.setup import creations
from busproof.tla.manifest import Setting

__all__ = ["observed"]

TOLD_EVERY: Final = 500
AGAIN_FIRST: Final = 1000
AGAIN_EVERY: Final = 100
"""A point that is reached again is compared up to the first thousand, then at each hundredth."""

WITHOUT_EFFECT: Final = ("Refused", "Empty", "Peeked")
RUNNING: Final = {"OUTAGE-CLOCK": "runs"}
"""Reading that the specs have: clocks run in an outage, which the documents leave open."""

Spoken = Mapping[str, object]


def observed(
    graph: Graph,
    setting: Setting,
    progress: Callable[[int], None] | None = None,
    *,
    first: bool = False,
) -> Comparison:
    """Compare a graph with the client oracle.

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
class _Client:
    """A client's memory along one path; commands read it as `Known`.

    Attributes:
        sent: the accepted messages, in order.
        tokens: message number to the latest lock token that its receiver got.
        now: the time so far, in microseconds.
    """

    sent: tuple[v.Message, ...] = ()
    tokens: Map[int, str] = Map()
    now: int = 0

    def fresh_body(self) -> str:
        """Return the body of the next message to send."""
        return body_of(len(self.sent) + 1)

    def token(self, message: int, *, is_held: bool) -> str | None:
        """Return the message's latest lock token, or one that nobody holds if not `is_held`."""
        return self.tokens.get(message) if is_held else f"an earlier lock of {body_of(message)}"

    def is_dead(self, message: int, *, is_held: bool) -> bool:  # noqa: ARG002 - required by Known
        """Return false, because the contract has no dead-letter queues."""
        return False

    def scheduled(self, message: int) -> int:
        """Return a number that no message has, because the contract schedules none."""
        return NOBODYS + message

    def number(self, message: int) -> int:
        """Return a number that no message has, because the contract defers none."""
        return NOBODYS + message

    def outcome(self, command: v.Command, reply: Reply, lock: int) -> v.Outcome | None:
        """Return the outcome that stands for a reply to this client; `None` if impossible."""
        match reply:
            case ("Done", _):
                return v.Done()
            case ("Empty",):
                return v.Empty()
            case ("Refused", error):
                return v.Refused(error=v.Error.OTHER if error == ANY else v.Error(error))
            case ("Received", int(message)) if message <= len(self.sent):
                return v.Received(message=self._given(command, message, lock))
            case ("Peeked", messages) if max(messages, default=0) <= len(self.sent):
                views = (v.MessageView.of(self.sent[message - 1]) for message in messages)
                return v.Peeked(messages=tuple(views))
            case _:
                return None

    def _given(self, command: v.Command, message: int, lock: int) -> v.MessageView:
        view = v.MessageView.of(self.sent[message - 1])
        if getattr(command, "mode", None) is not v.ReceiveMode.PEEK_LOCK:
            return view
        return attrs.evolve(
            view, lock_token=self._next_token(message), locked_until=self.now + lock
        )

    def _next_token(self, message: int) -> str:
        return f"{self.tokens.get(message, 'lock of ' + body_of(message))}, again"

    def after(self, command: v.Command, outcome: v.Outcome) -> "_Client":
        """Return the client's memory after an outcome."""
        if isinstance(command, v.AdvanceClock):
            return attrs.evolve(self, now=self.now + command.duration)
        if isinstance(command, v.Send) and isinstance(outcome, v.Done):
            return attrs.evolve(self, sent=(*self.sent, command.message))
        if isinstance(outcome, v.Received) and outcome.message.lock_token is not None:
            message = int(outcome.message.body.removeprefix("m"))
            tokens = self.tokens.set(message, outcome.message.lock_token)
            return attrs.evolve(self, tokens=tokens)
        return self


@attrs.frozen(eq=False)
class _Point:
    """A point of the comparison: graph states, the oracle's belief, and how it was reached."""

    states: frozenset[int]
    possible: tuple[Namespace, ...]
    client: _Client = _Client()
    parent: "_Point | None" = None
    command: Spoken = attrs.field(factory=dict)
    reply: Reply = ("Done", None)

    def way(self) -> tuple[tuple[Spoken, Reply], ...]:
        """Return the commands and replies that lead here."""
        way, point = [], self
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
        self._lock = 0
        self._again = 0
        self._found = Comparison()

    def run(self, *, first: bool) -> Comparison:
        start = _Point(frozenset({self._graph.initial}), self._created())
        visited, waiting = {start.states}, deque([start])
        while waiting and not (first and self._found.disagreeing):
            point = waiting.popleft()
            self._found.states += 1
            for further in self._compare(point):
                if further.states not in visited:
                    visited.add(further.states)
                    waiting.append(further)
                else:
                    self._again += 1
                    if self._again <= AGAIN_FIRST or self._again % AGAIN_EVERY == 0:
                        deque(self._compare(further, counts=False), maxlen=0)
            if self._progress is not None and self._found.states % TOLD_EVERY == 0:
                self._progress(self._found.edges)
        return self._found

    def _created(self) -> tuple[Namespace, ...]:
        """Return the oracle's belief after the creation of the queues."""
        profile = v.profile_for(
            load_catalogue(),
            readings={**RUNNING, **self._setting.readings},
            partitions=self._setting.partitions,
        )
        first = fresh_namespace(profile, v.Observability(partitions=False))
        possible: tuple[Namespace, ...] = (first,)
        for creation in creations(self._setting, iter(self._commands)):
            self._lock = creation.lock_duration
            possible = accept(possible, v.Event(command=creation, outcome=v.Done())).possible
        return possible

    def _compare(self, point: _Point, *, counts: bool = True) -> Iterator[_Point]:
        """Compare every command at a point; yield the points that its replies lead to."""
        leading: dict[int, dict[Reply, set[int]]] = {}
        for state in point.states:
            for command, edges in self._graph.out.get(state, {}).items():
                self._found.edges += len(edges) if counts else 0
                by_reply = leading.setdefault(command, {})
                for reply, target in edges:
                    by_reply.setdefault(self._replies[reply], set()).add(target)
        for command, spoken in enumerate(self._commands):
            asked_for = asked(spoken, self._setting, point.client)
            if asked_for is None:
                continue
            wanted = leading.get(command)
            if wanted is None and spoken["op"] not in self._setting.bounded:
                self._compare_absent(point, command, asked_for)
            elif wanted is not None:
                yield from self._compare_asked(point, command, asked_for, wanted, counts=counts)

    def _accepted(
        self, point: _Point, spoken: Spoken, command: v.Command, replies: Iterable[Reply]
    ) -> dict[Reply, tuple[v.Outcome, Acceptance]]:
        """Return the replies that the oracle accepts, each with its outcome and belief."""
        accepted = {}
        for reply in replies:
            outcome = point.client.outcome(command, reply, self._lock)
            if outcome is None:
                continue
            event = v.Event(connection=connection_of(spoken), command=command, outcome=outcome)
            acceptance = accept(point.possible, event, explain=False)
            if acceptance.possible:
                accepted[reply] = outcome, acceptance
        return accepted

    def _compare_absent(self, point: _Point, command: int, asked_for: v.Command) -> None:
        """Check that a command which the spec lacks here has no effect for the oracle either."""
        spoken = self._commands[command]
        telling = [reply for reply in self._alphabet[command] if reply[0] not in WITHOUT_EFFECT]
        accepted = self._accepted(point, spoken, asked_for, telling)
        effects = {
            reply: acceptance
            for reply, (_, acceptance) in accepted.items()
            if acceptance.possible != point.possible
        }
        if effects:
            self._disagree(point, spoken, (), effects)

    def _compare_asked(
        self,
        point: _Point,
        command: int,
        asked_for: v.Command,
        wanted: Mapping[Reply, set[int]],
        *,
        counts: bool,
    ) -> Iterator[_Point]:
        spoken = self._commands[command]
        looser = spoken["op"] in self._setting.looser
        tried = {*wanted} if looser else {*self._alphabet[command]}
        if ANY_REFUSAL not in wanted and any(reply[0] == "Refused" for reply in wanted):
            # Where the spec names the error of a refusal, the oracle may leave it open.
            tried.discard(ANY_REFUSAL)
        accepted = self._accepted(point, spoken, asked_for, tried)
        spec_only = tuple(reply for reply in wanted if reply not in accepted)
        more = {reply: extra for reply, (_, extra) in accepted.items() if reply not in wanted}
        if spec_only or more:
            self._disagree(point, spoken, spec_only, more)
        for reply, targets in wanted.items():
            if reply not in accepted:
                continue
            outcome, acceptance = accepted[reply]
            for rule in acceptance.rules if counts else ():
                self._found.rules[rule, str(spoken["op"])] += 1
            client = point.client.after(asked_for, outcome)
            yield _Point(frozenset(targets), acceptance.possible, client, point, spoken, reply)

    def _disagree(
        self,
        point: _Point,
        spoken: Spoken,
        spec_only: tuple[Reply, ...],
        more: Mapping[Reply, Acceptance],
    ) -> None:
        rules = [rule for acceptance in more.values() for rule in acceptance.rules]
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
                rules=tuple(dict.fromkeys(rules)),
            )
        )
