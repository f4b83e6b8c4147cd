"""Mutants of FWD: sources and destinations of each kind, updates, transactions, transfers."""

from collections.abc import Iterable
from itertools import takewhile
from typing import Any, Final

import attrs

from busproof import vocabulary as v
from busproof.model.answers import Answer
from busproof.model.rules import Namespace
from busproof.model.state import BufferedSend, Entity, QueuedMessage
from busproof.model.values import DIRECT, EntitySettings, InTransit, Key
from busproof.mutants.entities import siblings
from busproof.mutants.forwarding import (
    DELIVER,
    END,
    FORWARD,
    KEYED,
    PAIR,
    TAKE,
    TAKE_SOURCE,
    TOPIC,
    USUAL,
    destination_of,
    end,
    keep,
    source,
    subscribe,
    take,
)
from busproof.mutants.mutant import beside, mutant, run
from busproof.mutants.own_rules import RULES
from busproof.mutants.partitions import ALL_DOWN, ALL_UP
from busproof.mutants.runs import (
    DEAD,
    QUEUE,
    Run,
    create,
    dead_letter,
    down,
    home,
    receive,
    schedule,
    send,
    wait,
)
from busproof.mutants.wrappers import afterwards, beforehand, only_where, refuses, tells, with_other

DEAD_LETTER: Final = "forwarding.forward_dead_letter"
CHECK: Final = "forwarding.check_settings"
UPDATE: Final = "management.apply_update"


def redirect(forward_to: str) -> v.UpdateQueue:
    """Return an update that lets the queue forward to another one, or to none."""
    return v.UpdateQueue(queue=QUEUE, forward_to=forward_to)


BEGIN: Final = v.BeginTransaction(transaction="t")
ROLL_BACK: Final = v.RollBackTransaction(transaction="t")
SESSIONS_END: Final[Run] = (end(requires_session=True), source())
IN_SESSION: Final = send("m1", session_id="s")
BUFFERED: Final = send("m1", partition_key="a", within="t")
TAKE_IN_SESSION: Final[Run] = (
    v.AcceptSession(queue="end", session_id="a"),
    receive("a", delete=True, queue="end"),
)
DOWN_AT_END: Final[Run] = (
    *(END, send("m0", queue="end", partition_key="a")),
    down(home("a"), "end"),
)
TWO_FORWARD: Final[Run] = (
    *(END, end("other"), TOPIC, subscribe(forward_to="end")),
    *(subscribe("two", forward_to="other"), send("m1"), take("other")),
)
DEAD_LETTERED: Final[Run] = (
    *(END, create(forward_dead_letters_to="end"), send("m1")),
    *(receive(), dead_letter(0)),
)


@mutant("FWD-26", DELIVER, (*SESSIONS_END, IN_SESSION, TAKE), only_where, literal=True)
def forwarded_out_of_session(namespace: Namespace, source: Entity) -> bool:
    """A message forwarded to a queue that requires sessions is lost."""
    return not destination_of(namespace, source).settings.requires_session


@mutant("FWD-25", CHECK, (END, source(requires_session=True), IN_SESSION, TAKE))
def session_source_forwards(namespace: Namespace, settings: EntitySettings) -> None:
    """A queue that requires sessions can forward."""
    settings = attrs.evolve(settings, requires_session=False)
    USUAL.check_settings(namespace, settings)


@mutant("FWD-29", CHECK, (source(),), only_where)
def source_of_nothing(namespace: Namespace, settings: EntitySettings) -> bool:
    """A queue can be created that forwards to one that does not exist."""
    return settings.forward_to is None or settings.forward_to in namespace.entities


@mutant("FWD-27", DELIVER, (*SESSIONS_END, KEYED, *TAKE_IN_SESSION), with_other("message"))
def session_made_up(namespace: Namespace, source: Entity, message: v.Message) -> v.Message:
    """A forwarded message without a SessionId gets one if its destination requires sessions."""
    required = destination_of(namespace, source).settings.requires_session
    if required and message.session_id is None:
        message = attrs.evolve(message, session_id=message.partition_key)
    return message


@mutant("FWD-30", FORWARD, TWO_FORWARD, only_where, literal=True)
def only_first_subscription_forwards(source: Entity) -> bool:
    """Only the first subscription of a topic that should forward does so."""
    earlier = takewhile(lambda sibling: sibling is not source, siblings(source))
    return not any(sibling.settings.forward_to is not None for sibling in earlier)


def _forward_now(namespace: Namespace, sends: Iterable[BufferedSend]) -> None:
    """Deliver the messages that a transaction sent to forwarding entities."""
    for buffered in sends:
        if buffered.entity.settings.forward_to is not None:
            RULES.transactions.deliver(namespace, buffered)


@beside("transactions.deliver", only_where)
def _deliver_others(buffered: BufferedSend) -> bool:
    return buffered.entity.settings.forward_to is None


@mutant("FWD-33", "transactions.send", also=_deliver_others)
@run(*PAIR, BEGIN, BUFFERED, TAKE)
def forwarded_before_commit(
    namespace: Namespace, entity: Entity, messages: tuple[v.Message, ...], name: str
) -> Answer:
    """Messages sent to a source in a transaction are forwarded before the commit."""
    transaction = namespace.rules.transactions.running(name)
    before = len(transaction.sends)
    answer = RULES.transactions.send(namespace, entity, messages, name)
    _forward_now(namespace, transaction.sends[before:])
    return answer


@mutant("FWD-33", "transactions.roll_back", how=beforehand, deep=True)
@run(*PAIR, BEGIN, BUFFERED, ROLL_BACK, TAKE)
def forwarded_though_rolled_back(namespace: Namespace, command: v.RollBackTransaction) -> None:
    """Messages sent to a source in a transaction are forwarded after its rollback."""
    _forward_now(namespace, namespace.rules.transactions.running(command.transaction).sends)


@mutant("FWD-34", "transactions.key_of", (*SESSIONS_END, BEGIN, BUFFERED), refuses("FWD-34"))
def sessions_of_destination_required(
    namespace: Namespace, entity: Entity, message: v.Message
) -> bool:
    """In a transaction, a message needs the SessionId that its destination requires."""
    required = destination_of(namespace, entity).settings.requires_session
    return required and message.session_id is None


def _go_on_as_before(
    namespace: Namespace, entity: Entity, command: v.UpdateQueue, *, begins: bool
) -> None:
    """Apply an update without its destination, if it starts (or ends) forwarding."""
    before = entity.settings.forward_to
    RULES.management.apply_update(namespace, entity, command)
    if command.forward_to is not None and bool(command.forward_to) is begins:
        entity.settings = attrs.evolve(entity.settings, forward_to=before)


@mutant("FWD-05", UPDATE, (END, create(), redirect("end"), send("m1"), TAKE_SOURCE, TAKE))
def forwarding_not_begun_by_update(
    namespace: Namespace, entity: Entity, command: v.UpdateQueue
) -> None:
    """An update that starts forwarding is reported, but the queue keeps its messages."""
    _go_on_as_before(namespace, entity, command, begins=True)


@mutant("FWD-05", UPDATE, (*PAIR, redirect(""), send("m1"), TAKE_SOURCE))
def forwarding_not_ended_by_update(
    namespace: Namespace, entity: Entity, command: v.UpdateQueue
) -> None:
    """A source still forwards after an update that ends forwarding."""
    _go_on_as_before(namespace, entity, command, begins=False)


@mutant("FWD-22", "forwarding.place", (*DOWN_AT_END, source(), KEYED, TAKE), deep=True)
def key_does_not_wait_at_destination(
    namespace: Namespace, destination: Entity, message: v.Message, key: Key | None
) -> int | None:
    """A forwarded message whose partition is down goes to another partition."""
    down = destination.base.down
    place = USUAL.place(namespace, destination, message, key)
    up = (number for number in range(len(destination.partitions)) if number not in down)
    return next(up, place) if place in down else place


@mutant("FWD-35", "", (*DEAD_LETTERED, receive(queue=DEAD)), also={DEAD_LETTER: keep})
def dead_letters_not_forwarded() -> None:
    """Dead letters are never forwarded, whatever the settings say."""


@mutant("FWD-35", DEAD_LETTER, (*DEAD_LETTERED, TAKE), with_other("transit"))
def reason_lost_with_dead_letters(transit: InTransit) -> InTransit:
    """A dead letter arrives at its destination with another reason."""
    return transit._replace(reason=f"forwarded: {transit.reason}")


@mutant("FWD-36", DEAD_LETTER, (*DEAD_LETTERED, receive(queue=DEAD)), afterwards)
def dead_letters_copied(namespace: Namespace, source: Entity, *rest: Any) -> None:
    """A dead letter is forwarded, and can still be received from its dead-letter queue."""
    keep(namespace, source, *rest)


ARRIVED: Final = receive(delete=True, queue="end")
STUCK: Final = receive(delete=True, queue=QUEUE + v.TRANSFERS)
SHUT: Final = v.UpdateQueue(queue="end", status=v.EntityStatus.SEND_DISABLED)
LETTER: Final[Run] = (create(), send("m1"), receive(), dead_letter(0))
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


@mutant("FWD-19", "forwarding.keep", (*PAIR, SHUT, send("m1"), STUCK), only_where, literal=True)
def lost_before_disabled_destination(reason: str) -> bool:
    """A message is lost if its destination is disabled."""
    return reason != "DestinationDisabled"


@mutant("FWD-20", "forwarding.keep", DELETED, only_where, literal=True)
def lost_with_its_destination(reason: str) -> bool:
    """A message is lost if its destination was deleted."""
    return reason != "DestinationNotFound"


@mutant("FWD-21", "forwarding.keep", (*FULL, STUCK), only_where, literal=True)
def lost_before_full_destination(reason: str) -> bool:
    """A message is lost if its destination is full."""
    return reason != "DestinationFull"


@mutant("FWD-23", "forwarding.forward", DUE, only_where, literal=True)
def due_in_outage_not_forwarded(source: Entity, partition: int) -> bool:
    """A message that becomes due at a source in an outage is never forwarded."""
    return partition not in source.base.down


@mutant("FWD-32", "dead_letters.dead_letter", (*LETTER, STUCK), afterwards)
def dead_letters_among_transfers(namespace: Namespace, queued: QueuedMessage, reason: str) -> None:
    """A message dead-lettered on request is also among the transfer dead letters."""
    message, transit = queued.message, DIRECT._replace(reason=reason)
    transfers = queued.entity.transfers
    if transfers is not None:
        RULES.messages.enqueue(namespace, transfers, message, queued.partition, transit)


@mutant("FWD-32", "management.get_queue", (*LETTER, v.GetQueue(queue=QUEUE)), tells("description"))
def dead_letters_counted_as_transfers(
    usual: v.QueueDescription, namespace: Namespace, command: v.GetQueue
) -> v.QueueDescription:
    """Dead letters are counted as transfer dead letters."""
    dlq = namespace.entities[command.queue].dead_letters
    dead = 0 if dlq is None else len(dlq.messages)
    return attrs.evolve(usual, transfer_dead_letters=(usual.transfer_dead_letters or 0) + dead)
