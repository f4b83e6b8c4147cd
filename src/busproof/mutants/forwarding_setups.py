"""Mutants of FWD: sources and destinations of each kind, updates, transactions, transfers."""

from collections.abc import Iterable
from itertools import takewhile
from typing import Any, Final

import attrs

from busproof import vocabulary as v
from busproof.model.answers import Answer
from busproof.model.dead_letters import DeadLetters
from busproof.model.forwarding import Forwarding
from busproof.model.management import Management
from busproof.model.rules import Namespace
from busproof.model.state import BufferedSend, Entity, QueuedMessage
from busproof.model.transactions import Transactions
from busproof.model.values import DIRECT, EntitySettings, InTransit, Key
from busproof.mutants.entities import siblings
from busproof.mutants.forwarding import (
    END,
    KEYED,
    PAIR,
    TAKE,
    TAKE_SOURCE,
    TOPIC,
    destination_of,
    end,
    keep,
    source,
    subscribe,
    take,
)
from busproof.mutants.mutant import mutant, run
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


@mutant("FWD-26", (*SESSIONS_END, IN_SESSION, TAKE), literal=True)
class ForwardedOutOfSession(Forwarding):
    """A message forwarded to a queue that requires sessions is lost."""

    @only_where
    def deliver(self, source: Entity) -> bool:
        return not destination_of(self.rules.namespace, source).settings.requires_session


@mutant("FWD-25", (END, source(requires_session=True), IN_SESSION, TAKE))
class SessionSourceForwards(Forwarding):
    """A queue that requires sessions can forward."""

    def check_settings(self, settings: EntitySettings) -> None:
        settings = attrs.evolve(settings, requires_session=False)
        super().check_settings(settings)


@mutant("FWD-29", (source(),))
class SourceOfNothing(Forwarding):
    """A queue can be created that forwards to one that does not exist."""

    @only_where
    def check_settings(self, settings: EntitySettings) -> bool:
        return settings.forward_to is None or settings.forward_to in self.namespace.entities


@mutant("FWD-27", (*SESSIONS_END, KEYED, *TAKE_IN_SESSION))
class SessionMadeUp(Forwarding):
    """A forwarded message without a SessionId gets one if its destination requires sessions."""

    @with_other("message")
    def deliver(self, source: Entity, message: v.Message) -> v.Message:
        required = destination_of(self.rules.namespace, source).settings.requires_session
        if required and message.session_id is None:
            message = attrs.evolve(message, session_id=message.partition_key)
        return message


@mutant(
    "FWD-30",
    TWO_FORWARD,
    literal=True,
    by_step="the judge cannot try all the moments at which the other messages may be forwarded",
)
class OnlyFirstSubscriptionForwards(Forwarding):
    """Only the first subscription of a topic that should forward does so."""

    @only_where
    def forward(self, source: Entity) -> bool:
        earlier = takewhile(lambda sibling: sibling is not source, siblings(source))
        return not any(sibling.settings.forward_to is not None for sibling in earlier)


def _forward_now(namespace: Namespace, sends: Iterable[BufferedSend]) -> None:
    """Deliver the messages that a transaction sent to forwarding entities."""
    for buffered in sends:
        if buffered.entity.settings.forward_to is not None:
            Transactions.deliver(namespace.rules.transactions, buffered)


class _DeliverOthers(Transactions):
    @only_where
    def deliver(self, buffered: BufferedSend) -> bool:
        return buffered.entity.settings.forward_to is None


@mutant("FWD-33", also=(_DeliverOthers,))
@run(*PAIR, BEGIN, BUFFERED, TAKE)
class ForwardedBeforeCommit(Transactions):
    """Messages sent to a source in a transaction are forwarded before the commit."""

    def send(self, entity: Entity, messages: tuple[v.Message, ...], name: str) -> Answer:
        transaction = self.running(name)
        before = len(transaction.sends)
        answer = super().send(entity, messages, name)
        _forward_now(self.rules.namespace, transaction.sends[before:])
        return answer


@mutant("FWD-33", deep=True)
@run(*PAIR, BEGIN, BUFFERED, ROLL_BACK, TAKE)
class ForwardedThoughRolledBack(Transactions):
    """Messages sent to a source in a transaction are forwarded after its rollback."""

    @beforehand
    def roll_back(self, command: v.RollBackTransaction) -> None:
        _forward_now(self.rules.namespace, self.running(command.transaction).sends)


@mutant("FWD-34", (*SESSIONS_END, BEGIN, BUFFERED))
class SessionsOfDestinationRequired(Transactions):
    """In a transaction, a message needs the SessionId that its destination requires."""

    @refuses("FWD-34")
    def key_of(self, entity: Entity, message: v.Message) -> bool:
        required = destination_of(self.rules.namespace, entity).settings.requires_session
        return required and message.session_id is None


def _go_on_as_before(
    namespace: Namespace, entity: Entity, command: v.UpdateQueue, *, begins: bool
) -> None:
    """Apply an update without its destination, if it starts (or ends) forwarding."""
    before = entity.settings.forward_to
    Management.apply_update(namespace.rules.management, entity, command)
    if command.forward_to is not None and bool(command.forward_to) is begins:
        entity.settings = attrs.evolve(entity.settings, forward_to=before)


@mutant("FWD-05", (END, create(), redirect("end"), send("m1"), TAKE_SOURCE, TAKE))
class ForwardingNotBegunByUpdate(Management):
    """An update that starts forwarding is reported, but the queue keeps its messages."""

    def apply_update(self, entity: Entity, command: v.UpdateQueue) -> None:
        _go_on_as_before(self.rules.namespace, entity, command, begins=True)


@mutant("FWD-05", (*PAIR, redirect(""), send("m1"), TAKE_SOURCE))
class ForwardingNotEndedByUpdate(Management):
    """A source still forwards after an update that ends forwarding."""

    def apply_update(self, entity: Entity, command: v.UpdateQueue) -> None:
        _go_on_as_before(self.rules.namespace, entity, command, begins=False)


@mutant("FWD-22", (*DOWN_AT_END, source(), KEYED, TAKE), deep=True)
class KeyDoesNotWaitAtDestination(Forwarding):
    """A forwarded message whose partition is down goes to another partition."""

    def place(self, destination: Entity, message: v.Message, key: Key | None) -> int | None:
        down = destination.base.down
        place = super().place(destination, message, key)
        up = (number for number in range(len(destination.partitions)) if number not in down)
        return next(up, place) if place in down else place


@mutant("FWD-35", (*DEAD_LETTERED, receive(queue=DEAD)))
class DeadLettersNotForwarded(Forwarding):
    """Dead letters are never forwarded, whatever the settings say."""

    def forward_dead_letter(
        self, source: Entity, message: v.Message, partition: int, transit: InTransit
    ) -> None:
        self.rules.messages.enqueue(source, message, partition, transit)


@mutant("FWD-35", (*DEAD_LETTERED, TAKE))
class ReasonLostWithDeadLetters(Forwarding):
    """A dead letter arrives at its destination with another reason."""

    @with_other("transit")
    def forward_dead_letter(self, transit: InTransit) -> InTransit:
        return transit._replace(reason=f"forwarded: {transit.reason}")


@mutant("FWD-36", (*DEAD_LETTERED, receive(queue=DEAD)))
class DeadLettersCopied(Forwarding):
    """A dead letter is forwarded, and can still be received from its dead-letter queue."""

    @afterwards
    def forward_dead_letter(self, source: Entity, *rest: Any) -> None:
        keep(self.rules.namespace, source, *rest)


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


@mutant("FWD-19", (*PAIR, SHUT, send("m1"), ARRIVED))
class DisabledDestinationIsGivenMessages(Forwarding):
    """A message is forwarded although its destination is disabled."""

    def deliver(self, source: Entity, message: v.Message, onward: InTransit) -> str | None:
        destination = self.namespace.entities.get(source.settings.forward_to or "")
        if destination is None:
            return super().deliver(source, message, onward)
        status = destination.status
        self.namespace.journal.touch(destination)
        destination.status = v.EntityStatus.ACTIVE
        reason = super().deliver(source, message, onward)
        destination.status = status
        return reason


@mutant("FWD-19", (*PAIR, SHUT, send("m1"), STUCK), literal=True)
class LostBeforeDisabledDestination(Forwarding):
    """A message is lost if its destination is disabled."""

    @only_where
    def keep(self, reason: str) -> bool:
        return reason != "DestinationDisabled"


@mutant("FWD-20", DELETED, literal=True)
class LostWithItsDestination(Forwarding):
    """A message is lost if its destination was deleted."""

    @only_where
    def keep(self, reason: str) -> bool:
        return reason != "DestinationNotFound"


@mutant(
    "FWD-21",
    (*FULL, STUCK),
    literal=True,
    by_step="the judge cannot try all that follows if a full queue may take one message more",
)
class LostBeforeFullDestination(Forwarding):
    """A message is lost if its destination is full."""

    @only_where
    def keep(self, reason: str) -> bool:
        return reason != "DestinationFull"


@mutant("FWD-23", DUE, literal=True)
class DueInOutageNotForwarded(Forwarding):
    """A message that becomes due at a source in an outage is never forwarded."""

    @only_where
    def forward(self, source: Entity, partition: int) -> bool:
        return partition not in source.base.down


@mutant("FWD-32", (*LETTER, STUCK))
class DeadLettersAmongTransfers(DeadLetters):
    """A message dead-lettered on request is also among the transfer dead letters."""

    @afterwards
    def dead_letter(self, queued: QueuedMessage, reason: str) -> None:
        message = queued.message
        transit = DIRECT._replace(reason=reason)
        transfers = queued.entity.transfers
        if transfers is not None:
            self.rules.messages.enqueue(transfers, message, queued.partition, transit)


@mutant("FWD-32", (*LETTER, v.GetQueue(queue=QUEUE)))
class DeadLettersCountedAsTransfers(Management):
    """Dead letters are counted as transfer dead letters."""

    @tells("description")
    def get_queue(self, usual: v.QueueDescription, command: v.GetQueue) -> v.QueueDescription:
        dlq = self.namespace.entities[command.queue].dead_letters
        dead = 0 if dlq is None else len(dlq.messages)
        return attrs.evolve(usual, transfer_dead_letters=(usual.transfer_dead_letters or 0) + dead)
