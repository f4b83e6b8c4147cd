"""Mutants of SEQ and LIFE: the sequence numbers of messages."""

from typing import Final

import attrs

from busproof import vocabulary as v
from busproof.model.answers import Answer
from busproof.model.partitions import Partitions
from busproof.model.state import QueuedMessage
from busproof.model.transactions import Transactions
from busproof.mutants.entities import Switch
from busproof.mutants.messages import ACCEPT, LOCKED, PEEKED, TWO
from busproof.mutants.mutant import memory
from busproof.mutants.runs import Run, abandon, create, down, home, receive, send, up
from busproof.mutants.views import changes_view
from busproof.mutants.wrappers import afterwards, beforehand

RECEIVE_TWO: Final[Run] = (receive(), receive())
COMMIT_TWO: Final[Run] = (
    v.BeginTransaction(transaction="t"),
    *(send(body, within="t", partition_key="a") for body in ("m1", "m2")),
    v.CommitTransaction(transaction="t"),
)
MANY: Final = 1 << 40
"""More numbers than any partition of a test assigns."""
RECOVERED: Final[Run] = (
    *(create(), send("m1", partition_key="a"), down(home("a")), up(home("a"))),
    *(send("m2", partition_key="a"), *RECEIVE_TWO),
)
REGULAR: Final[Run] = (
    *(create(partitioned=False, requires_session=True), send("m1", session_id="s")),
    *(send("m2", session_id="s"), ACCEPT, receive("s"), receive("s")),
)
MANY_SENT: Final[Run] = tuple(send(f"m{number}") for number in range(41))
FORTY_ONE: Final[Run] = (create(partitioned=False), *MANY_SENT, *(receive(delete=True),) * 41)
SECOND_COMMIT: Final[Run] = (
    *(create(), v.BeginTransaction(transaction="t0"), v.RollBackTransaction(transaction="t0")),
    *(*COMMIT_TWO, *RECEIVE_TWO),
)


def _renumber_view(queued: QueuedMessage, view: v.MessageView, number: int) -> v.MessageView:
    """Return a view of a message with another number of the same partition."""
    return attrs.evolve(view, sequence_number=(queued.partition << v.SEQUENCE_BITS) + number)


def _number(queued: QueuedMessage) -> int:
    """Return the sequence number of a message without the bits of its partition."""
    return queued.number - (queued.partition << v.SEQUENCE_BITS)


@changes_view("LIFE-12", (*LOCKED, abandon(0), receive()))
def sequence_number_changes(queued: QueuedMessage, view: v.MessageView) -> v.MessageView:
    """A redelivered message has a new sequence number."""
    return _renumber_view(queued, view, _number(queued) + 1000 * max(queued.deliveries - 1, 0))


@changes_view("LIFE-12", (create(), send("m1"), receive()))
def sequence_number_names_other_partition(
    queued: QueuedMessage, view: v.MessageView
) -> v.MessageView:
    """A sequence number names the partition after the one that took the message."""
    wrong = (queued.partition + 1) % len(queued.entity.partitions)
    return attrs.evolve(view, sequence_number=(wrong << v.SEQUENCE_BITS) + _number(queued))


@changes_view("SEQ-01", (*TWO, *RECEIVE_TWO))
def numbers_fall(queued: QueuedMessage, view: v.MessageView) -> v.MessageView:
    """A partition assigns falling sequence numbers."""
    if not queued.entity.settings.partitioned:
        return view
    return _renumber_view(queued, view, MANY - _number(queued))


class _NoteOutage(Partitions):
    @afterwards
    def switch(self, command: Switch) -> None:
        entities = self.namespace.entities.values()
        for entity in entities if isinstance(command, v.BringPartitionUp) else ():
            if entity.base.path == command.queue:
                known = memory(self.namespace, dict[tuple[str, int], int])
                arrivals = entity.partitions[command.partition].arrivals
                known.setdefault((entity.path, command.partition), arrivals)


@changes_view("SEQ-01", RECOVERED, also=(_NoteOutage,), deep=True)
def numbers_begin_anew_after_outage(queued: QueuedMessage, view: v.MessageView) -> v.MessageView:
    """After an outage a partition assigns lower numbers than before it."""
    known = memory(queued.entity.namespace, dict[tuple[str, int], int])
    last = known.get((queued.entity.path, queued.partition), MANY)
    return view if _number(queued) > last else _renumber_view(queued, view, MANY + _number(queued))


@changes_view("SEQ-05", REGULAR)
def regular_numbers_fall(queued: QueuedMessage, view: v.MessageView) -> v.MessageView:
    """A regular entity assigns falling sequence numbers."""
    if queued.entity.settings.partitioned:
        return view
    return _renumber_view(queued, view, MANY - _number(queued))


@changes_view("SEQ-03", FORTY_ONE, deep=True)
def number_given_again(queued: QueuedMessage, view: v.MessageView) -> v.MessageView:
    """After 40 messages a partition assigns the same numbers again."""
    return _renumber_view(queued, view, (_number(queued) - 1) % 40 + 1)


@changes_view("SEQ-03", (*TWO, *RECEIVE_TWO))
def two_with_one_number(queued: QueuedMessage, view: v.MessageView) -> v.MessageView:
    """Every second message has the same sequence number as the one before."""
    return _renumber_view(queued, view, _number(queued) - (_number(queued) + 1) % 2)


@changes_view("SEQ-04", PEEKED)
def peek_tells_another_number(queued: QueuedMessage, view: v.MessageView) -> v.MessageView:
    """A peek shows another sequence number for a message that was not received yet."""
    return view if queued.deliveries else _renumber_view(queued, view, MANY + _number(queued))


@changes_view("SEQ-04", (create(), send("m1"), receive(), abandon(0), receive()))
def abandoned_is_numbered_anew(queued: QueuedMessage, view: v.MessageView) -> v.MessageView:
    """An abandoned message is delivered with a new sequence number."""
    return _renumber_view(queued, view, _number(queued) + MANY * max(queued.deliveries - 1, 0))


@attrs.define
class _Commits:
    """The first and the last sequence number that a partition assigned in each commit."""

    numbers: dict[tuple[str, int], list[tuple[int, int]]] = attrs.field(factory=dict)
    rolled_back: bool = False

    def of(self, queued: QueuedMessage) -> tuple[int, int]:
        """Return the numbers of the commit that a message came with; without one, only its own."""
        number = _number(queued)
        groups = self.numbers.get((queued.entity.path, queued.partition), ())
        own = (group for group in groups if group[0] <= number <= group[1])
        return next(own, (number, number))


class _NoteCommit(Transactions):
    def commit(self, command: v.CommitTransaction, connection: str) -> Answer:
        entities = self.namespace.entities.values()
        before = [
            (entity.path, part, part.arrivals) for entity in entities for part in entity.partitions
        ]
        answer = super().commit(command, connection)
        for path, part, arrivals in before:
            if arrivals < part.arrivals:
                commits = memory(self.namespace, _Commits)
                numbers = commits.numbers.setdefault((path, part.number), [])
                numbers.append((arrivals + 1, part.arrivals))
        return answer


@changes_view("SEQ-07", (create(), *COMMIT_TWO, *RECEIVE_TWO), also=(_NoteCommit,))
def commit_numbers_backwards(queued: QueuedMessage, view: v.MessageView) -> v.MessageView:
    """A commit assigns falling sequence numbers to its messages."""
    first, last = memory(queued.entity.namespace, _Commits).of(queued)
    return _renumber_view(queued, view, first + last - _number(queued))


class _NoteRollback(Transactions):
    @beforehand
    def roll_back(self) -> None:
        memory(self.namespace, _Commits).rolled_back = True


@changes_view("SEQ-07", SECOND_COMMIT, also=(_NoteCommit, _NoteRollback), deep=True)
def commit_numbers_its_first_last(queued: QueuedMessage, view: v.MessageView) -> v.MessageView:
    """After a rollback, each later commit gives its first message the last of its numbers."""
    commits = memory(queued.entity.namespace, _Commits)
    number = _number(queued)
    first, last = commits.of(queued)
    if not commits.rolled_back or first == last:
        return view
    return _renumber_view(queued, view, last if number == first else number - 1)
