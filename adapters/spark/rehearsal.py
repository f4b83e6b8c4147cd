"""A rehearsal of a run, where the reference model stands in for the bus on Spark.

Its answers are neither judged nor recorded. It finds the commands that the scenarios will issue, so
that Spark can fold all of them in one job. The model makes the same choices as the bus on Spark, so
as long as the two answer alike, the scenarios will continue as they did here.
"""

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeVar

from busproof import vocabulary as v
from busproof.adapters.spark.adapter import SparkAdapter
from busproof.adapters.spark.namespaces import READINGS, REHEARSED, Commands, digests
from busproof.errors import AdapterError
from busproof.model import Namespace, RoundRobin, new_namespace, step
from busproof.model.messages import Messages
from busproof.model.scheduling import Scheduling
from busproof.model.state import Entity, Partition, QueuedMessage, ScheduledMessage
from busproof.model.values import Key
from busproof.pipeline.bus.folding import COMMANDS
from busproof.pipeline.bus.sending import PLANNED_FROM

__all__ = ["Rehearsal"]

T = TypeVar("T")


class Rehearsal:
    """An adapter that records commands, and answers as the bus on Spark probably will."""

    def __init__(self) -> None:
        self._commands: Commands | None = None
        self._namespace: Namespace | None = None
        self._choices = _Regular()
        self._written: set[bytes] = set()

    @property
    def declaration(self) -> v.Declaration:
        """The declaration of the bus on Spark."""
        return SparkAdapter().declaration

    def start(self, profile: v.Profile) -> None:
        """Write the commands of the previous namespace to the file, and begin with an empty one."""
        self.stop()
        self._commands, self._choices = Commands(profile), _Regular()
        self._namespace = new_namespace(profile, messages=_Messages, scheduling=_Scheduling)

    def do(self, command: v.Command, connection: str) -> v.Observed:
        """Record a command, and return the model's answer."""
        if self._commands is None or self._namespace is None:
            raise AssertionError("an adapter takes commands only between start and stop")
        if type(command).__name__ not in COMMANDS:
            return v.Observed(v.Unsupported(detail=f"no expression for {type(command).__name__}"))
        self._commands.add(command, connection)
        answer = step(self._namespace, command, connection, self._choices)
        self._commands.saw(answer.outcome)
        sent = isinstance(command, v.Send | v.SendBatch) and isinstance(answer.outcome, v.Done)
        place = answer.partition if sent else None
        return v.Observed(answer.outcome, None if place is None else v.Witness(partition=place))

    def stop(self) -> None:
        """Write the commands of the namespace to the file, unless it has them already.

        Raises:
            AdapterError: the file cannot be written.
        """
        commands, self._commands = self._commands, None
        path = os.environ.get(REHEARSED)
        if commands is None or not commands.requests or path is None:
            return
        if commands.digest in self._written:
            return
        self._written.update(digests(commands.state, commands.requests))
        row = json.dumps({"state": commands.state, "requests": commands.requests})
        try:
            with Path(path).open("a", encoding="utf-8") as file:
                file.write(row + "\n")
        except OSError as error:
            raise AdapterError(f"cannot write {path}: {error.strerror}") from None


class _Regular(RoundRobin):
    """The choices that the bus on Spark makes."""

    def pick(self, name: str, candidates: Iterable[T]) -> T:
        """Return the candidate that the bus on Spark would choose.

        Of free sessions (SESS-06), this is the one with the oldest message; for an ambiguity, the
        reading that the bus follows; otherwise the first candidate.
        """
        choices = list(candidates)
        if name == "SESS-06":
            return min(choices, key=_first_arrival)
        return next((choice for choice in choices if choice == READINGS.get(name)), choices[0])


def _first_arrival(session: Any) -> int:
    first = session.line.first(session.entity.messages)
    return _arrival(first) if first is not None else 0


class _Messages(Messages):
    """Number messages across partitions, and deliver the oldest message first."""

    _arrived = 0

    def next_number(self, entity: Entity, counters: Partition) -> int:  # noqa: ARG002 - as the rule
        self._arrived += 1
        return (counters.number << v.SEQUENCE_BITS) + self._arrived

    def next_available(self, entity: Entity) -> QueuedMessage | None:
        down, table = entity.base.down, entity.messages
        lines = (partition.line for partition in entity.partitions if partition.number not in down)
        first = (line.first(table) for line in lines)
        return min(
            (message for message in first if message is not None), key=_arrival, default=None
        )


class _Scheduling(Scheduling):
    """Number scheduled messages in the sequence of all, moved up."""

    def numbered(
        self,
        entity: Entity,
        message: v.Message,
        key: Key | None,
        partition: int,
        due: int,
    ) -> ScheduledMessage:
        number = (
            self.rules.messages.next_number(entity, entity.partitions[partition]) + PLANNED_FROM
        )
        return ScheduledMessage(entity, number, partition, message, key, due)


def _arrival(queued: QueuedMessage) -> int:
    return queued.arrival
