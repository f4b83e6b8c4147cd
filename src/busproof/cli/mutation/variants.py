"""Variants of recorded commands: some left out, repeated, changed, or taken from elsewhere.

A variant ends with requests that show the stored messages, because a fault that changes only the
state stays hidden until a request reveals it.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from random import Random
from typing import Any, Final

import attrs

from busproof import vocabulary as v
from busproof.history.replay import RecordedCommand

__all__ = ["Material", "vary"]

MOST_CHANGES: Final = 4
LONGEST_OUTAGE: Final = 6
"""Maximum length of an outage or a transaction, in commands."""
PAUSES: Final = tuple(seconds * v.MICROSECONDS for seconds in (1, 31, 61, 3_700, 90_000))


@attrs.frozen
class Material:
    """Commands by kind, and values by kind and field, from other recordings."""

    commands: dict[type, list[v.Command]] = attrs.field(factory=lambda: defaultdict(list))
    values: dict[tuple[type, str], list[Any]] = attrs.field(factory=lambda: defaultdict(list))

    @classmethod
    def of(cls, recorded: Iterable[v.Command]) -> "Material":
        """Collect each command and each value once, in the order of the recordings."""
        material = cls()
        for command in dict.fromkeys(recorded):
            material.commands[type(command)].append(command)
            material._note(command)
            if isinstance(command, v.Send | v.Schedule):
                material._note(command.message)
        for field, values in material.values.items():
            material.values[field] = list(dict.fromkeys(values))
        return material

    def _note(self, thing: Any) -> None:
        for name in _fields(thing):
            self.values[type(thing), name].append(getattr(thing, name))


def vary(
    commands: Sequence[RecordedCommand],
    partitions: Sequence[int],
    material: Material,
    random: Random,
) -> tuple[RecordedCommand, ...]:
    """Return a variant of some commands.

    Args:
        commands: the commands to vary.
        partitions: partitions that stored messages, so that an outage of them matters.
        material: commands and values from other recordings.
        random: source of random choices.
    """
    author = _Author(list(commands), partitions or (0,), material, random)
    for _ in range(random.randint(1, MOST_CHANGES)):
        random.choice(CHANGES)(author)
    author.show()
    return tuple(author.commands)


@attrs.define
class _Author:
    """Builder of a variant."""

    commands: list[RecordedCommand]
    partitions: Sequence[int]
    material: Material
    random: Random

    def place(self) -> int:
        """Return a random place in the sequence; early commands create what later ones need."""
        return self.random.randrange(len(self.commands))

    def put(self, place: int, command: v.Command) -> None:
        """Insert a command, on one of the existing connections."""
        number = 1 + max(other.number for other in self.commands)
        connection = self.random.choice(self.commands).connection
        recorded = RecordedCommand(number=number, connection=connection, command=command)
        self.commands.insert(place, recorded)

    def paths(self) -> list[str]:
        """Return the paths of the entities that the sequence creates."""
        return list(_paths(recorded.command for recorded in self.commands))

    def drop(self) -> None:
        """Leave out one or a few commands."""
        place = self.place()
        if len(self.commands) > 1:
            del self.commands[place : place + min(self.random.choice((1, 1, 2, 5)), place or 1)]

    def repeat(self) -> None:
        """Repeat a command, at once or later."""
        place = self.place()
        self.put(self.random.randint(place + 1, len(self.commands)), self.commands[place].command)

    def swap(self) -> None:
        """Move a command towards the beginning."""
        place, other = sorted((self.place(), self.place()))
        self.commands.insert(place, self.commands.pop(other))

    def alter(self) -> None:
        """Change one property of a command, or its connection."""
        place = self.place()
        recorded = self.commands[place]
        command: Any = recorded.command
        if self.random.random() < 0.1:
            other = "c2" if recorded.connection == "c1" else "c1"
            self.commands[place] = attrs.evolve(recorded, connection=other)
        elif isinstance(command, v.Send | v.Schedule):
            message = self._alter(command.message)
            self.commands[place] = attrs.evolve(
                recorded, command=attrs.evolve(command, message=message)
            )
        else:
            self.commands[place] = attrs.evolve(recorded, command=self._alter(command))

    def _alter(self, thing: Any) -> Any:
        names = [name for name in _fields(thing) if self.material.values[type(thing), name]]
        if not names:
            return thing
        name = self.random.choice(names)
        return attrs.evolve(
            thing, **{name: self.random.choice(self.material.values[type(thing), name])}
        )

    def borrow(self) -> None:
        """Insert a command from another recording, on an entity of this one."""
        kind = self.random.choice(list(self.material.commands))
        command: Any = self.random.choice(self.material.commands[kind])
        place = self.random.randint(1, len(self.commands))
        paths = self.paths()
        if paths and hasattr(command, "queue"):
            command = attrs.evolve(command, queue=self.random.choice(paths))
        if hasattr(command, "lock_token"):
            earlier = [one for one in self.commands[:place] if isinstance(one.command, v.Receive)]
            if not earlier:
                return
            receive: Any = self.random.choice(earlier)
            command = attrs.evolve(
                command, queue=receive.command.queue, lock_token=f"@{receive.number}"
            )
        self.put(place, command)

    def fail(self) -> None:
        """Take down a partition, and bring it up a few commands later or not at all."""
        paths = self.paths()
        if paths:
            place = self.random.randint(1, len(self.commands))
            path = self.random.choice(paths)
            partition = self.random.choice(self.partitions)
            end = place + 1 + self.random.randint(1, LONGEST_OUTAGE)
            self.put(place, v.TakePartitionDown(queue=path, partition=partition))
            if end <= len(self.commands):
                self.put(end, v.BringPartitionUp(queue=path, partition=partition))

    def enlist(self) -> None:
        """Wrap a few commands in a transaction that is committed or rolled back."""
        place = self.random.randint(1, len(self.commands))
        name = f"t{len(self.commands)}"
        end = min(len(self.commands), place + self.random.randint(1, LONGEST_OUTAGE))
        for at in range(place, end):
            recorded = self.commands[at]
            if hasattr(recorded.command, "transaction") and not isinstance(recorded.command, ENDS):
                inside: Any = recorded.command
                enlisted = attrs.evolve(inside, transaction=name)
                self.commands[at] = attrs.evolve(recorded, command=enlisted)
        self.put(end, self.random.choice(ENDS[1:])(transaction=name))
        self.put(place, ENDS[0](transaction=name))

    def wait(self) -> None:
        """Advance the clock."""
        duration = self.random.choice(PAUSES)
        self.put(self.random.randint(1, len(self.commands)), v.AdvanceClock(duration=duration))

    def show(self) -> None:
        """Append requests that show the stored messages, twice, with time in between."""
        paths = self.paths()
        chosen = self.random.sample(paths, min(2, len(paths)))
        for _ in range(2):
            for path in chosen:
                for command in _peek_and_describe(path):
                    self.put(len(self.commands), command)
            self.put(len(self.commands), v.AdvanceClock(duration=self.random.choice(PAUSES)))


ENDS: Final = (v.BeginTransaction, v.CommitTransaction, v.RollBackTransaction)

CHANGES: Final[tuple[Callable[[_Author], None], ...]] = (
    *(_Author.drop, _Author.repeat, _Author.swap, _Author.alter, _Author.alter),
    *(_Author.borrow, _Author.borrow, _Author.fail, _Author.enlist, _Author.wait),
)


def _fields(thing: Any) -> list[str]:
    names = [field.name for field in attrs.fields(type(thing))]
    return [name for name in names if name not in ("lock_token", "queue", "topic", "message")]


def _paths(commands: Iterable[v.Command]) -> Iterator[str]:
    for command in commands:
        match command:
            case v.CreateQueue(queue=path) | v.CreateTopic(topic=path):
                yield path
            case v.CreateSubscription(topic=topic, subscription=name):
                yield v.subscription_path(topic, name)


def _peek_and_describe(path: str) -> Iterator[v.Command]:
    yield v.GetQueue(queue=path)
    yield v.GetTopic(topic=path)
    yield v.Peek(queue=path, count=20)
    yield v.AcceptNextSession(queue=path)
    yield v.ReceiveBatch(queue=path, count=20)
    yield v.Receive(queue=path)
    yield v.Peek(queue=path + v.DEAD_LETTERS, count=20)
    yield v.Receive(queue=path + v.DEAD_LETTERS, mode=v.ReceiveMode.RECEIVE_AND_DELETE)
