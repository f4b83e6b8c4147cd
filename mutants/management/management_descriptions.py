"""Mutants of MGMT: what a queue is described with, and what is disabled."""

from typing import Final

import attrs

from busproof import vocabulary as v
from busproof.model.answers import Answer
from busproof.model.rules import RULES
from busproof.model.state import Entity, Namespace
from busproof.model.values import DIRECT
from busproof.mutants.management.management import GET, empty
from busproof.mutants.management.management_updates import LAST, ONE_EACH
from busproof.mutants.mutant import memory, mutant
from busproof.mutants.runs import QUEUE, Run, create, down, receive, schedule, send, up, wait
from busproof.mutants.wrappers import refuses_yet, with_other

__all__ = ["AT_ONCE"]

IN_OUTAGE: Final[Run] = (create(), down(LAST), wait(1), GET)
AT_ONCE: Final = {"GET-LAG": "at-once"}
"""By default a description may be late, and the judge alone sees nothing."""
SHUT: Final = v.UpdateQueue(queue=QUEUE, status=v.EntityStatus.SEND_DISABLED)
CLOSED: Final = v.UpdateQueue(queue=QUEUE, status=v.EntityStatus.RECEIVE_DISABLED)
OPEN: Final = v.UpdateQueue(queue=QUEUE, status=v.EntityStatus.ACTIVE)
RECOVERED: Final[Run] = (create(), down(LAST), up(LAST), wait(1), GET)


@mutant("MGMT-20", "management.count", (*ONE_EACH, GET), readings=AT_ONCE)
def one_partition_counted(entity: Entity) -> int:
    """Only the messages of one partition are counted."""
    return entity.partitions[0].messages


@mutant(
    "MGMT-29",
    "management.count",
    (create(), schedule("m1", 9), GET),
    readings={**AT_ONCE, "SCHEDULED-COUNT": "counted"},
)
def scheduled_not_counted(entity: Entity) -> int:
    """Messages that are scheduled are not counted."""
    return len(entity.messages)


@mutant(
    "MGMT-30",
    "management.count",
    (create(), schedule("m1", 9), GET),
    readings={**AT_ONCE, "SCHEDULED-COUNT": "left-out"},
)
def scheduled_counted(entity: Entity) -> int:
    """Messages that are scheduled are counted."""
    return len(entity.messages) + len(entity.scheduled)


def _note_outage(
    namespace: Namespace, command: v.TakePartitionDown | v.BringPartitionUp, connection: str
) -> Answer:
    entity = namespace.entities.get(command.queue)
    path = command.queue if entity is None else entity.base.path
    if isinstance(command, v.TakePartitionDown):
        memory(namespace, set[tuple[str, int]]).add((path, command.partition))
    return RULES.partitions.switch(namespace, command, connection)


@mutant(
    "MGMT-20",
    "management.count",
    (*ONE_EACH, down(LAST), up(LAST), GET),
    also={"partitions.switch": _note_outage},
    readings=AT_ONCE,
    deep=True,
)
def recovered_partition_not_counted(namespace: Namespace, entity: Entity) -> int:
    """A partition that was down once is never counted again."""
    lost, path = memory(namespace, set[tuple[str, int]]), entity.base.path
    return sum(
        partition.messages
        for partition in entity.partitions
        if (path, partition.number) not in lost
    )


@mutant("MGMT-21", "management.availability", IN_OUTAGE, readings=AT_ONCE)
def never_limited() -> v.Availability:
    """Availability is never reported as limited."""
    return v.Availability.AVAILABLE


@mutant("MGMT-22", "management.availability", RECOVERED, readings=AT_ONCE, deep=True)
def limited_for_good(namespace: Namespace, entity: Entity) -> v.Availability:
    """After an outage availability stays limited."""
    was_down = entity.base.path in namespace.down
    return v.Availability.LIMITED if was_down else v.Availability.AVAILABLE


@mutant("MGMT-26", "topics.sendable", (create(), SHUT, send("m1")))
def disabled_takes(namespace: Namespace, path: str) -> Entity:
    """A queue that is disabled for sending accepts messages."""
    return namespace.rules.topics.addressed(namespace, path)


@mutant(
    "MGMT-26",
    "messages.send",
    (create(), SHUT, send("m1"), receive()),
    refuses_yet("MGMT-26", in_transactions=False),
)
def disabled_keeps_for_later(namespace: Namespace, command: v.Send) -> None:
    """A message refused by a disabled queue arrives anyway."""
    rules, message = namespace.rules, command.message
    entity = rules.topics.addressed(namespace, command.queue)
    key = rules.keys.effective_key(namespace, entity, message)
    partition = rules.keys.place(namespace, entity, key, 0, command.timeout)
    rules.messages.accept(namespace, entity, message, key, partition, DIRECT)


@mutant("MGMT-27", "topics.receivable", (create(), send("m1"), CLOSED, receive()))
def disabled_gives(namespace: Namespace, path: str) -> Entity:
    """A queue that is disabled for receiving gives messages."""
    return namespace.rules.topics.readable(namespace, path)


@mutant("MGMT-27", "management.apply_update", (create(), send("m1"), CLOSED, OPEN, receive()))
def disabling_empties(namespace: Namespace, entity: Entity, command: v.UpdateQueue) -> None:
    """A queue that is disabled loses its messages."""
    RULES.management.apply_update(namespace, entity, command)
    if command.status is not None and not command.status.gives:
        empty(namespace, entity)


@mutant("MGMT-28", "management.apply_update", (create(), CLOSED, send("m1")), with_other("command"))
def disabled_for_one_is_disabled_for_all(command: v.UpdateQueue) -> v.UpdateQueue:
    """A queue that is disabled for sending or receiving is disabled for both."""
    if command.status not in (None, v.EntityStatus.ACTIVE):
        command = attrs.evolve(command, status=v.EntityStatus.DISABLED)
    return command
