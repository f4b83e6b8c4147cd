"""Cutting a history into parts that can be judged one by one.

**Parts that have nothing to do with each other.** A request works on one queue, with its dead
letters, or on a topic, with its subscriptions, or on a transaction and the queues that were sent to
in it. Nothing that the model says of one queue depends on another that shares no transaction with
it and does not forward to it: the state is one value for each queue. So a history has an order in
which every answer was allowed exactly if each part has one: an order of the whole gives one of each
part by leaving out the others, and the parts' orders can be merged by the moments at which each
event took effect at the earliest (`merged`), because two events of which one returned before the
other was called keep their order there. Three things are common to all queues, and keep queues
together: how empty properties are read (EMPTY-KEY), once it was seen, commands that name no
queue, or that this module does not know, and how many entities there are, once there may be so many
that one more may be refused.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

import attrs

from busproof.oracle.entity_counts import MOST_PARTITIONED
from busproof.vocabulary.addressing import created_path, destinations
from busproof.vocabulary.commands import (
    Abandon,
    AcceptNextSession,
    AcceptSession,
    AddRule,
    BeginTransaction,
    BringPartitionUp,
    CancelScheduled,
    CloseSession,
    Command,
    CommitTransaction,
    Complete,
    CreateQueue,
    CreateSubscription,
    CreateTopic,
    Creation,
    DeadLetter,
    Defer,
    DeleteQueue,
    DeleteTopic,
    GetQueue,
    GetSessionState,
    GetTopic,
    ListRules,
    ListSessions,
    ListSubscriptions,
    Peek,
    Receive,
    ReceiveBatch,
    ReceiveDeferred,
    RemoveRule,
    RenewLock,
    RenewSessionLock,
    RestoreQueue,
    RollBackTransaction,
    Schedule,
    Send,
    SendBatch,
    SetSessionState,
    TakePartitionDown,
    UpdateQueue,
    UpdateTopic,
)
from busproof.vocabulary.messages import Message
from busproof.vocabulary.outcomes import Event

__all__ = ["KNOWN", "Connections", "Groups", "Name", "concerned", "is_crowded", "merged", "parts"]

KNOWN: Final = (
    CreateQueue,
    Send,
    Schedule,
    CancelScheduled,
    Receive,
    Complete,
    Abandon,
    DeadLetter,
    Defer,
    ReceiveDeferred,
    RenewLock,
    Peek,
    AcceptSession,
    AcceptNextSession,
    RenewSessionLock,
    CloseSession,
    SetSessionState,
    GetSessionState,
    ListSessions,
    BeginTransaction,
    CommitTransaction,
    RollBackTransaction,
    TakePartitionDown,
    BringPartitionUp,
)
"""The commands of which it is known that they concern nothing but what they name, and messages."""

MANAGING: Final = (RestoreQueue, GetQueue, UpdateQueue, DeleteQueue)
"""Commands that concern one queue as a whole: no other queue, but every message of this one."""

_OF_SEVERAL: Final = (SendBatch, ReceiveBatch)
"""Commands about several messages of one queue, or of one transaction."""

_OF_TOPICS: Final = (
    *(CreateTopic, GetTopic, UpdateTopic, DeleteTopic, ListSubscriptions),
    *(CreateSubscription, AddRule, RemoveRule, ListRules),
)
"""Those on topics, which concern nothing but what they name either."""


_OF_A_PART: Final = (*KNOWN, *MANAGING, *_OF_SEVERAL, *_OF_TOPICS)
"""All of these: a history with any other command is one part."""

Name = tuple[str, ...]
"""What a command may have to do with: its kind, and its name where there are several."""


class Groups:
    """Names, put together with whatever they have to do with; the classes of an equivalence."""

    def __init__(self) -> None:
        self._parents: dict[Any, Any] = {}

    def __iter__(self) -> Iterator[Any]:
        """All names that are known."""
        return iter(tuple(self._parents))

    def root(self, name: Any) -> Any:
        """The name that stands for all that were put together with this one."""
        parents = self._parents
        root = name
        while (parent := parents.setdefault(root, root)) != root:
            root = parent
        while parents[name] != root:
            parents[name], name = root, parents[name]
        return root

    def join(self, one: Any, other: Any) -> None:
        """Put two names together."""
        self._parents[self.root(one)] = self.root(other)


@attrs.define
class Connections:
    """What has to do with what in a history, learned command by command, in any order.

    Attributes:
        groups: names that were put together.
        entities: the names of all entities.
        counted: what was created or deleted, for which it matters how many entities there are.
        whole: whether a command came that may concern anything.
    """

    groups: Groups = attrs.field(factory=Groups)
    entities: set[str] = attrs.field(factory=set)
    counted: set[Name] = attrs.field(factory=set)
    whole: bool = False

    def add(self, command: Command) -> None:
        """Learn from one command."""
        first, *others = concerned(command)
        self.groups.root(first)
        for other in others:
            self.groups.join(first, other)
        self.entities.update(_named(command))
        if isinstance(command, Creation | DeleteQueue | DeleteTopic):
            self.counted.add(first)
        self.whole = self.whole or not isinstance(command, _OF_A_PART)

    def finish(self) -> None:
        """Put together what the number of entities keeps together, once all commands are known."""
        if len(self.entities) >= MOST_PARTITIONED:
            for name in self.counted:
                self.groups.join(name, ("number of entities",))

    def part(self, command: Command) -> Name | None:
        """The name of the part that a command belongs to, which is known after `finish`."""
        return None if self.whole else self.groups.root(next(concerned(command)))


def parts(events: Sequence[Event]) -> list[list[int]]:
    """The events' indices, in parts that have nothing to do with each other."""
    connections = Connections()
    for event in events:
        connections.add(event.command)
    connections.finish()
    found: dict[Name | None, list[int]] = defaultdict(list)
    for index, event in enumerate(events):
        found[connections.part(event.command)].append(index)
    return list(found.values())


def is_crowded(events: Iterable[Event]) -> bool:
    """Return whether there may be so many entities at some time that one more may be refused."""
    names = {name for event in events for name in _named(event.command)}
    return len(names) >= MOST_PARTITIONED


def _named(command: Command) -> Iterator[str]:
    """The names of entities that a command has to do with, also of one that it creates."""
    yield from _entities(command)
    created = _created(command)
    if created is not None:
        yield created


def _created(command: Command) -> str | None:
    return created_path(command) if isinstance(command, Creation) else None


def _entities(command: Command) -> list[str]:
    """The names of entities that stand in a command."""
    named = [getattr(command, field, None) for field in ("queue", "topic")]
    return [*(name for name in named if name is not None), *destinations(command)]


def concerned(command: Command) -> Iterator[Name]:
    """What a command has to do with, by name; never nothing."""
    transaction = getattr(command, "transaction", None)
    entities = _entities(command)
    for name in entities:
        yield ("entity", _owner(name))
    if transaction is not None:
        yield ("transaction", transaction)
    if any(map(_has_empty, _messages(command))):
        yield ("empty properties",)
    if not entities and transaction is None:
        yield ("nothing",)


def _messages(command: Command) -> tuple[Message, ...]:
    """The messages that are to be sent."""
    if isinstance(command, SendBatch):
        return command.messages
    return (command.message,) if isinstance(command, Send | Schedule) else ()


def _owner(name: str) -> str:
    """The queue or topic that an entity belongs to, by the first part of its path.

    Queues whose paths begin alike are taken together, which is no more than was needed.
    """
    return name.partition("/")[0]


def _has_empty(message: Message) -> bool:
    return "" in (message.session_id, message.partition_key, message.message_id)


def merged(events: Sequence[Event], orders: Sequence[Sequence[int]]) -> tuple[int, ...]:
    """One order of all events that keeps each of these, and the times."""
    moments: list[tuple[int, int, int]] = []
    for part, order in enumerate(orders):
        latest = 0
        for index in order:
            latest = max(latest, events[index].called)
            moments.append((latest, part, index))
    # Stable: within a part the order is the one that was found.
    return tuple(index for _, _, index in sorted(moments, key=lambda each: each[:2]))
