"""Mutants of FWD about messages that cannot be forwarded, or not at once.

A message lost in transit might still arrive later: such faults show in no run, but in the
scenarios' waiting times.
"""

from typing import Any, Final

from busproof import vocabulary as v
from busproof.model.answers import Answer
from busproof.model.rules import RULES
from busproof.model.state import Entity, Namespace, QueuedMessage
from busproof.model.values import DIRECT, InTransit
from busproof.mutants.management.management import described
from busproof.mutants.mutant import mutant
from busproof.mutants.partitions import ALL_DOWN, ALL_UP
from busproof.mutants.runs import QUEUE, Run, create, dead_letter, receive, schedule, send, wait
from busproof.mutants.wrappers import afterwards, only_where

PAIR: Final[Run] = (create(queue="end"), create(forward_to="end"))
ARRIVED: Final = receive(delete=True, queue="end")
STUCK: Final = receive(delete=True, queue=QUEUE + v.TRANSFERS)
SHUT: Final = v.UpdateQueue(queue="end", status=v.EntityStatus.SEND_DISABLED)
DEAD: Final[Run] = (create(), send("m1"), receive(), dead_letter(0))
FULL: Final[Run] = (
    create(queue="end", partitioned=False),
    create(forward_to="end", partitioned=False),
    send("m1", queue="end", size=600_000_000, stands_in=True),
    send("m2", size=600_000_000, stands_in=True),
)
DELETED: Final[Run] = (*PAIR, v.DeleteQueue(queue="end"), send("m1"), STUCK)
DUE: Final[Run] = (*PAIR, schedule("m1", 5), *ALL_DOWN, wait(10), *ALL_UP, ARRIVED)


@mutant("FWD-19", "forwarding.deliver", (*PAIR, SHUT, send("m1"), ARRIVED))
def disabled_destination_is_given_messages(
    namespace: Namespace, source: Entity, message: v.Message, onward: InTransit
) -> str | None:
    """A message is forwarded although its destination is disabled."""
    destination = namespace.entities.get(source.settings.forward_to or "")
    if destination is None:
        return RULES.forwarding.deliver(namespace, source, message, onward)
    status = destination.status
    namespace.journal.touch(destination)
    destination.status = v.EntityStatus.ACTIVE
    reason = RULES.forwarding.deliver(namespace, source, message, onward)
    destination.status = status
    return reason


def _keep_unless(lost: str, namespace: Namespace, source: Entity, *what: Any) -> None:
    """Keep what cannot be forwarded, unless it is for this reason."""
    if what[-1] != lost:
        RULES.forwarding.keep(namespace, source, *what)


@mutant("FWD-19", "forwarding.keep", (*PAIR, SHUT, send("m1"), STUCK), literal=True)
def lost_before_disabled_destination(namespace: Namespace, source: Entity, *what: Any) -> None:
    """A message is lost if its destination is disabled."""
    _keep_unless("DestinationDisabled", namespace, source, *what)


@mutant("FWD-20", "forwarding.keep", DELETED, literal=True)
def lost_with_its_destination(namespace: Namespace, source: Entity, *what: Any) -> None:
    """A message is lost if its destination was deleted."""
    _keep_unless("DestinationNotFound", namespace, source, *what)


@mutant("FWD-21", "forwarding.keep", (*FULL, STUCK), literal=True)
def lost_before_full_destination(namespace: Namespace, source: Entity, *what: Any) -> None:
    """A message is lost if its destination is full."""
    _keep_unless("DestinationFull", namespace, source, *what)


@mutant("FWD-23", "forwarding.forward", DUE, only_where, literal=True)
def due_in_outage_not_forwarded(source: Entity, partition: int) -> bool:
    """A message that becomes due at a source in an outage is never forwarded."""
    return partition not in source.base.down


@mutant("FWD-32", "dead_letters.dead_letter", (*DEAD, STUCK), afterwards)
def dead_letters_among_transfers(namespace: Namespace, queued: QueuedMessage, reason: str) -> None:
    """A message dead-lettered on request is among the transfer dead letters as well."""
    message, transit = queued.message, DIRECT._replace(reason=reason)
    if queued.entity.transfers is not None:
        RULES.messages.enqueue(
            namespace, queued.entity.transfers, message, queued.partition, transit
        )


@mutant("FWD-32", "management.get_queue", (*DEAD, v.GetQueue(queue=QUEUE)))
def dead_letters_counted_as_transfers(namespace: Namespace, command: v.GetQueue) -> Answer:
    """Dead letters are counted as transfer dead letters."""
    dlq = namespace.entities[command.queue].dead_letters
    dead = 0 if dlq is None else len(dlq.messages)

    def both(description: v.QueueDescription) -> dict[str, int]:
        return {"transfer_dead_letters": (description.transfer_dead_letters or 0) + dead}

    return described(namespace, command, both)
