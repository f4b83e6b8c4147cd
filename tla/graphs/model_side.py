"""The reference model, set up for a configuration and driven by the spec's commands."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import attrs

from busproof import vocabulary as v
from busproof.model import new_namespace, step, ways
from busproof.model.answers import Answer
from busproof.model.choices import RoundRobin, Scripted
from busproof.model.indexes import TIDY_FROM, Line
from busproof.model.life_cycle import State
from busproof.model.rules import NO_FAULT, Families
from busproof.model.state import Partition, QueuedMessage, Session
from busproof.model.step import is_live, run_timers
from busproof.spec import load as load_catalogue
from busproof.tla.graphs.command_mapping import NONE, connection_of, map_command
from busproof.tla.graphs.memory import Happened, Memory, find_held, remember
from busproof.tla.graphs.model_state import Standing
from busproof.tla.graphs.replies import Reply, reply_for
from busproof.tla.graphs.setup import creations
from busproof.tla.manifest import Setting

__all__ = ["Model", "Request", "Went"]

Spoken = Mapping[str, object]
SILENT_FOR_CLIENTS: Final = (v.Refused, v.Empty, v.Peeked, v.SessionState, v.SessionsListed)
"""Outcomes that leave a client's memory as it is, unless the state has changed."""


@attrs.frozen
class Request:
    """A spec's command in the vocabulary, its connection, and commands to execute before it."""

    operation: str
    before: tuple[v.Command, ...]
    command: v.Command
    connection: str


@attrs.frozen
class Went:
    """Result of executing a command in one way.

    Attributes:
        script: the positions of the chosen candidates.
        reply: the reply, in the spec's form.
        memory: the client's memory after it.
        changed: whether the state or the memory may have changed.
        rules: the rules that decided the answer.
    """

    script: tuple[int, ...]
    reply: Reply
    memory: Memory
    changed: bool
    rules: tuple[v.RuleId, ...]


UNSTATED: Final = {
    "FWD-15": "what a source answers to a receiver",
    "REGULAR-ORDER": "in which order an entity gives messages that is not partitioned",
    "SCHED-05": "whether a message that is gone can be cancelled",
    "SESS-01": "whether a message without its session is refused or dead-lettered",
    "SESS-08": "whether a session can be closed that is not held",
}
"""Freedoms of the model where the documents are silent, and the specs state only what is usual.

The walk leaves out the other answers. Whatever else the model may choose, the specs have, too.
"""


class Model:
    """A namespace of the model, which is moved from state to state.

    Args:
        setting: the setting of the configuration.
        commands: all commands of the graph.
        families: families of rules with a fault.
    """

    def __init__(
        self, setting: Setting, commands: Sequence[Spoken], families: Families = NO_FAULT
    ) -> None:
        self.setting = setting
        self._pinned = {name: pin.to for name, pin in setting.pinned.items()}
        profile = v.profile_for(
            load_catalogue(), readings=dict(setting.readings), partitions=setting.partitions
        )
        self.namespace = new_namespace(profile, **families)
        for creation in creations(setting, iter(commands)):
            step(self.namespace, creation, "c1", RoundRobin())
            places = {**setting.places, **setting.elsewhere.get(creation.queue, {})}
            homes = {key: place for key, place in places.items() if key != NONE}
            self.namespace.entities[creation.queue].homes.update(homes)

    def request(self, spoken: Spoken, memory: Memory) -> Request | None:
        """Return the command in the vocabulary; `None` if it needs a lock that nobody has had.

        In a spec an outage affects the partition in all queues, unless the command names one.
        """
        command = map_command(spoken, self.setting, memory)
        if command is None:
            return None
        others: tuple[v.Command, ...] = ()
        if isinstance(command, v.TakePartitionDown | v.BringPartitionUp) and "queue" not in spoken:
            others = tuple(
                attrs.evolve(command, queue=entity.path)
                for entity in self.namespace.entities.values()
                if entity.owner is entity and entity.path != command.queue
            )
        return Request(str(spoken["op"]), others, command, connection_of(spoken))

    def ways(self, request: Request, memory: Memory) -> Iterator[Went]:
        """Yield each way to execute a command, with the namespace in the state after it."""
        journal = self.namespace.journal
        mark = journal.mark()
        for command in request.before:
            step(self.namespace, command, request.connection, RoundRobin(), keep=True)
        for way, answer in ways(self.namespace, request.command, request.connection):
            if any(self._pinned.get(name, place) != place for name, place in way):
                continue
            if any(name in UNSTATED and place for name, place in way):
                continue
            self._settle()
            yield self._went(request, memory, tuple(place for _, place in way), answer)
        journal.undo(mark)

    def go(self, request: Request, script: Sequence[int]) -> None:
        """Execute a command in one way; `undo` of the journal takes it back."""
        for command in request.before:
            step(self.namespace, command, request.connection, RoundRobin(), keep=True)
        step(self.namespace, request.command, request.connection, Scripted(script), keep=True)
        self._settle()

    def tidy(self) -> None:
        """Rebuild indexes that are large, because undoing steps leaves stale entries in them.

        An undo later adds the messages that it restores to the indexes again.
        """
        namespace = self.namespace
        timers = namespace.timers
        if len(timers.heap) > TIDY_FROM:
            timers.tidy(is_live)
        for entity in namespace.entities.values():
            holders: list[Partition | Session] = [*entity.partitions, *entity.sessions.values()]
            for holder in holders:
                line: Line[QueuedMessage] = holder.line
                if len(line.order) + len(line.returned) > TIDY_FROM:
                    there = list(line.behind(entity.messages, 0))
                    holder.line = Line()
                    for queued in there:
                        holder.line.append(queued, available=queued.state is State.ACTIVE)

    def standing(self, memory: Memory) -> Standing | None:
        """Return the arguments of projections; `None` if a message is in two places."""
        by_body = find_held(self.namespace)
        return None if by_body is None else Standing(self.namespace, memory, by_body, self.setting)

    def _settle(self) -> None:
        """Run timers that are due, and forget the readings that were chosen.

        A bus chooses a reading once and for all. A spec that leaves it open chooses at every step.
        """
        namespace = self.namespace
        heap, readings = namespace.timers.heap, namespace.readings
        if heap and heap[0][0] <= namespace.now:
            run_timers(namespace, namespace.now)
        for name in tuple(readings):
            namespace.journal.drop(readings, name)

    def _went(
        self, request: Request, memory: Memory, script: tuple[int, ...], answer: Answer
    ) -> Went:
        outcome = answer.outcome
        partition = self._accepting_partition(request.command, answer)
        changed = bool(answer.changes) or not isinstance(outcome, SILENT_FOR_CLIENTS)
        by_body = find_held(self.namespace) if changed else None
        if by_body is not None:
            happened = Happened(
                request.operation, request.command, request.connection, outcome, partition
            )
            memory = remember(memory, self.namespace, by_body, happened)
        reply = reply_for(outcome, sent=len(memory.sent), partition=partition)
        return Went(script, reply, memory, changed, answer.rules)

    def _accepting_partition(self, command: v.Command, answer: Answer) -> int | None:
        """Return the partition of an accepted message; `None` if its entity has no partitions."""
        if not isinstance(command, v.Send | v.Schedule):
            return None
        entity = self.namespace.entities.get(command.queue)
        return answer.partition if entity is not None and entity.settings.partitioned else None
