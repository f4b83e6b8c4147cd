"""Replay of paths through a TLA+ spec's state graph on a bus, under the judge.

If the rules leave a choice, a bus may answer otherwise than the path. The replay then continues as
long as the path's commands make sense.
"""

from collections.abc import Mapping
from typing import Any, Final

import attrs

from busproof import vocabulary as v
from busproof.judging.scenario_outcome import NotApplicable
from busproof.steps.bus import BusUnderTest
from busproof.steps.definitions.setup import create
from busproof.tla.graphs.command_mapping import DEAD, NOBODYS, connection_of, map_command
from busproof.tla.graphs.paths import Path_
from busproof.tla.graphs.setup import creations
from busproof.tla.manifest import Setting

__all__ = ["follow"]

SHORT: Final = {"lock_duration": 5 * v.MICROSECONDS, "duplicate_window": 20 * v.MICROSECONDS}
"""Short durations, because a real clock cannot be advanced."""


@attrs.define
class _Followed:
    """The messages and locks of a replay, by the spec's numbers."""

    attempts: int = 0
    bodies: list[str] = attrs.field(factory=list)
    tokens: dict[int, str] = attrs.field(factory=dict)
    dead: set[int] = attrs.field(factory=set)
    numbers: dict[int, int] = attrs.field(factory=dict)
    later: dict[int, int] = attrs.field(factory=dict)
    places: dict[int, int] = attrs.field(factory=dict)

    def fresh_body(self) -> str:
        return f"m{self.attempts}"

    def token(self, message: int, *, is_held: bool) -> str | None:  # noqa: ARG002 - a protocol's
        """Return a message's latest lock token; the path determines whether the lock is held."""
        return self.tokens.get(message)

    def is_dead(self, message: int, *, is_held: bool) -> bool:  # noqa: ARG002 - a protocol's
        """Return whether the latest lock of a message is from the dead-letter queue."""
        return message in self.dead

    def scheduled(self, message: int) -> int:
        """Return the sequence number of a scheduled message, or one that no message has."""
        return self.later.get(message, NOBODYS + message)

    def number(self, message: int) -> int:
        """Return the sequence number of a message, or one too high for so short a path."""
        return self.numbers.get(message, NOBODYS + message)

    def note(self, outcome: v.Outcome, command: v.Command, *, dead: bool) -> None:
        """Record what later commands may refer to; `dead` marks receives of dead letters."""
        if isinstance(outcome, v.Received):
            self._received(outcome.message, dead=dead)
        elif isinstance(outcome, v.ReceivedSeveral):
            for view in outcome.messages:
                self._received(view, dead=False)
        elif isinstance(outcome, v.Done | v.Scheduled) and isinstance(command, v.Send | v.Schedule):
            self.bodies.append(command.message.body)
            if isinstance(outcome, v.Scheduled) and outcome.sequence_number is not None:
                self.later[len(self.bodies)] = outcome.sequence_number

    def _received(self, view: v.MessageView, *, dead: bool) -> None:
        if view.body not in self.bodies:
            return
        message = self.bodies.index(view.body) + 1
        if view.lock_token is not None:
            self.tokens[message] = view.lock_token
        if view.sequence_number is not None and not dead:
            self.numbers[message] = view.sequence_number
        self.dead = self.dead | {message} if dead else self.dead - {message}


def follow(bus: BusUnderTest, path: Path_, setting: Setting) -> tuple[int, int]:
    """Replay a path; return how many answers the spec agrees with, and the length of the path.

    Raises:
        NotApplicable: the adapter or the tier lacks something that the path needs.
        NotConforming: the bus broke a rule.
    """
    if bus.profile.partitions < setting.partitions:
        raise NotApplicable(f"partitions: the path needs {setting.partitions}")
    setting = attrs.evolve(setting, queue={**SHORT, **setting.queue})
    for creation in creations(setting, (command for command, _ in path.steps)):
        create(bus, creation)
    followed, alike = _Followed(), 0
    for command, reply in path.steps:
        outcome = _ask(bus, command, reply, setting, followed)
        if outcome is None:
            break
        alike += _kind(outcome) == reply["type"]
    return alike, len(path.steps)


def _kind(outcome: v.Outcome) -> str:
    """Return the type that the spec has for an outcome; a batch counts as one message."""
    return type(outcome).__name__.removesuffix("Several")


def _ask(
    bus: BusUnderTest,
    spoken: Mapping[str, Any],
    reply: Mapping[str, Any],
    setting: Setting,
    followed: _Followed,
) -> v.Outcome | None:
    followed.attempts += 1
    command = map_command(spoken, setting, followed)
    if command is None:
        return None
    if isinstance(command, v.AdvanceClock):
        bus.pass_time(command.duration)
        return v.Done()
    if isinstance(command, v.TakePartitionDown | v.BringPartitionUp):
        bus.need(v.Capability.OUTAGES)
        place = followed.places.setdefault(command.partition, _free(followed, command.partition))
        command = attrs.evolve(command, partition=place)
    outcome = bus.do(command, connection_of(spoken))
    followed.note(outcome, command, dead=spoken.get("from") == DEAD)
    taken = bus.partition_of.get(command.message.body) if isinstance(command, v.Send) else None
    if taken is not None and "partition" in reply and taken not in followed.places.values():
        followed.places.setdefault(reply["partition"], taken)
    return outcome


def _free(followed: _Followed, partition: int) -> int:
    """Return a partition of the bus that no partition of the spec stands for; this one if free."""
    taken = set(followed.places.values())
    free: int = next(
        candidate for candidate in (partition, *range(len(taken) + 1)) if candidate not in taken
    )
    return free
