"""Following a path of a spec's graph on a bus: what the path asks is asked, the judge judges.

A bus may answer otherwise than the path, where it is free to. The path goes on from there as far as
what it asks still means something.
"""

from collections.abc import Mapping
from typing import Any, Final

import attrs

from busproof.judging.scenario_outcome import NotApplicable
from busproof.steps.bus import Bus
from busproof.steps.definitions.setup import create
from busproof.tla.graphs.command_mapping import DEAD, NOBODYS, asked, connection_of
from busproof.tla.graphs.paths import Path_
from busproof.tla.graphs.setup import creations
from busproof.tla.manifest import Setting
from busproof.vocabulary.capabilities import Capability
from busproof.vocabulary.commands import (
    AdvanceClock,
    BringPartitionUp,
    Command,
    Schedule,
    Send,
    TakePartitionDown,
)
from busproof.vocabulary.messages import MessageView
from busproof.vocabulary.outcomes import Done, Outcome, Received, ReceivedSeveral, Scheduled
from busproof.vocabulary.values import MICROSECONDS

__all__ = ["follow"]

SHORT: Final = {"lock_duration": 5 * MICROSECONDS, "duplicate_window": 20 * MICROSECONDS}
"""On a clock that cannot be moved, time is waited for."""


@attrs.define
class _Followed:
    """What was sent and locked on the way, by the spec's numbers."""

    attempts: int = 0
    bodies: list[str] = attrs.field(factory=list)
    tokens: dict[int, str] = attrs.field(factory=dict)
    dead: set[int] = attrs.field(factory=set)
    numbers: dict[int, int] = attrs.field(factory=dict)
    later: dict[int, int] = attrs.field(factory=dict)
    places: dict[int, int] = attrs.field(factory=dict)

    def fresh_body(self) -> str:
        return f"m{self.attempts}"

    def token(self, message: int, *, held: bool) -> str | None:  # noqa: ARG002 - a protocol's
        """The latest lock of the message: the path says whether it is to be held or lost by now."""
        return self.tokens.get(message)

    def is_dead(self, message: int, *, held: bool) -> bool:  # noqa: ARG002 - a protocol's
        """Return whether its latest lock was given in the dead-letter queue."""
        return message in self.dead

    def scheduled(self, message: int) -> int:
        """The number that was told when it was scheduled; else one that none can have."""
        return self.later.get(message, NOBODYS + message)

    def number(self, message: int) -> int:
        """The number that was told with it; else one that none can have in so short a path."""
        return self.numbers.get(message, NOBODYS + message)

    def note(self, outcome: Outcome, command: Command, *, dead: bool) -> None:
        """Remember what later steps refer to; `dead`: whether dead letters were asked for."""
        if isinstance(outcome, Received):
            self._received(outcome.message, dead=dead)
        elif isinstance(outcome, ReceivedSeveral):
            for view in outcome.messages:
                self._received(view, dead=False)
        elif isinstance(outcome, Done | Scheduled) and isinstance(command, Send | Schedule):
            self.bodies.append(command.message.body)
            if isinstance(outcome, Scheduled) and outcome.sequence_number is not None:
                self.later[len(self.bodies)] = outcome.sequence_number

    def _received(self, view: MessageView, *, dead: bool) -> None:
        if view.body not in self.bodies:
            return
        message = self.bodies.index(view.body) + 1
        if view.lock_token is not None:
            self.tokens[message] = view.lock_token
        if view.sequence_number is not None and not dead:
            self.numbers[message] = view.sequence_number
        self.dead = self.dead | {message} if dead else self.dead - {message}


def follow(bus: Bus, path: Path_, setting: Setting) -> tuple[int, int]:
    """Follow a path; how many of its steps were answered as in the spec, and how many it has.

    Raises:
        NotApplicable: the adapter, or the tier, lacks what the path is about.
        NotConforming: the bus did what no rule allows.
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


def _kind(outcome: Outcome) -> str:
    """The kind of reply that it is to a spec, which receives one message at a time."""
    return type(outcome).__name__.removesuffix("Several")


def _ask(
    bus: Bus,
    spoken: Mapping[str, Any],
    reply: Mapping[str, Any],
    setting: Setting,
    followed: _Followed,
) -> Outcome | None:
    followed.attempts += 1
    command = asked(spoken, setting, followed)
    if command is None:
        return None
    if isinstance(command, AdvanceClock):
        bus.pass_time(command.duration)
        return Done()
    if isinstance(command, TakePartitionDown | BringPartitionUp):
        bus.need(Capability.OUTAGES)
        place = followed.places.setdefault(command.partition, _free(followed, command.partition))
        command = attrs.evolve(command, partition=place)
    outcome = bus.do(command, connection_of(spoken))
    followed.note(outcome, command, dead=spoken.get("from") == DEAD)
    taken = bus.partition_of.get(command.message.body) if isinstance(command, Send) else None
    if taken is not None and "partition" in reply and taken not in followed.places.values():
        followed.places.setdefault(reply["partition"], taken)
    return outcome


def _free(followed: _Followed, partition: int) -> int:
    """A partition of the bus that stands for none of the spec's yet, this number if it can be."""
    taken = set(followed.places.values())
    free: int = next(each for each in (partition, *range(len(taken) + 1)) if each not in taken)
    return free
