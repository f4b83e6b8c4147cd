"""Mutants of TTL: how long messages live, and what happens when they expire."""

from typing import Any, Final

from busproof import vocabulary as v
from busproof.model.dead_letters import DeadLetters
from busproof.model.expiry import Expiry
from busproof.model.life_cycle import Action, State
from busproof.model.locks import Locks
from busproof.model.rules import Namespace
from busproof.model.scheduling import Scheduling
from busproof.model.state import Entity, QueuedMessage, ScheduledMessage
from busproof.mutants.entities import is_subscription
from busproof.mutants.mutant import memory, mutant, run
from busproof.mutants.runs import (
    DEAD,
    QUEUE,
    Run,
    abandon,
    complete,
    create,
    dead_letter,
    defer,
    down,
    home,
    receive,
    schedule,
    send,
    up,
    wait,
)
from busproof.mutants.wrappers import alters, beforehand, only_where, refuses, with_other

SHORT: Final = 5 * v.MICROSECONDS
LONG: Final = 60 * v.MICROSECONDS
EXPIRES_AT: Final = "expiry.expires_at"


LETTERS: Final = create(dead_letter_expired=True)
REASON: Final = "TTLExpiredException"
ACCEPT: Final = v.AcceptSession(queue=QUEUE, session_id="a")
SUBSCRIPTION: Final[Run] = (
    v.CreateTopic(topic="t"),
    v.CreateSubscription(topic="t", subscription="s", time_to_live=SHORT),
)
SUBSCRIBED: Final = "t/subscriptions/s"


def mortal(life: int = SHORT, **properties: Any) -> v.Send:
    """Send a message with a time to live."""
    return send("m1", time_to_live=life, **properties)


KEPT: Final[Run] = (create(), mortal(), receive(), wait(6))
DIES: Final[Run] = (create(), mortal(), wait(6), receive())
FOUND_DEAD: Final[Run] = (LETTERS, mortal(), wait(6), receive(queue=DEAD))
IN_SESSION: Final[Run] = (
    *(create(requires_session=True), mortal(session_id="a"), ACCEPT, wait(6), receive("a")),
)
GIVEN_BACK: Final[Run] = (create(), mortal(LONG), receive(), abandon(0), receive())
SUBSCRIBED_DIES: Final = (*SUBSCRIPTION, send("m1", queue="t"), wait(6), receive(queue=SUBSCRIBED))
SHORT_QUEUE: Final[Run] = (create(time_to_live=SHORT), mortal(LONG), wait(6), receive())
EXPIRED: Final[Run] = (LETTERS, mortal(), wait(6), receive(), receive(queue=DEAD))
DEFERRED: Final[Run] = (LETTERS, mortal(), receive(), defer(0), wait(6), receive(queue=DEAD))
SCHEDULED: Final[Run] = (create(), schedule("m1", 9, time_to_live=SHORT), wait(10), receive())
IN_OUTAGE: Final[Run] = (
    *(create(), mortal(partition_key="a"), down(home("a")), wait(6), up(home("a")), receive()),
)


@mutant("TTL-01", DIES)
class ExpiredGiven(Expiry):
    """A message is received although its time to live is over."""

    def end(self, queued: QueuedMessage) -> None:
        pass


@mutant("TTL-01", IN_SESSION, deep=True)
class ExpiredGivenInSession(Expiry):
    """The holder of a session is given a message whose time to live is over."""

    @only_where
    def end(self, queued: QueuedMessage) -> bool:
        return queued.session is None


def _sooner(namespace: Namespace, expires_at: int | None) -> int | None:
    """Return the moment at half of the remaining time; `None` if there is no end."""
    return None if expires_at is None else namespace.now + (expires_at - namespace.now) // 2


@mutant("TTL-02", (create(), mortal(LONG), wait(40), receive()))
class DiesEarly(Expiry):
    """A message is dropped when half its time to live is over."""

    @alters
    def expires_at(self, usual: int | None) -> int | None:
        return _sooner(self.rules.namespace, usual)


@mutant("TTL-02", GIVEN_BACK, deep=True)
class DiesWithItsLock(Locks):
    """A message with a time to live is dropped when its lock ends."""

    @beforehand
    def release(self, queued: QueuedMessage) -> None:
        if queued.expires_at is not None:
            self.namespace.journal.touch(queued)
            queued.expires_at = self.namespace.now


@mutant("TTL-02", (LETTERS, mortal(LONG), wait(40), receive(queue=DEAD)))
class DeadLetteredEarly(Expiry):
    """A message is dead-lettered as expired when half its time to live is over."""

    @alters
    def expires_at(self, usual: int | None, entity: Entity) -> int | None:
        return (
            _sooner(self.rules.namespace, usual) if entity.settings.dead_letter_expired else usual
        )


def _lives(namespace: Namespace, entity: Entity, life: int | None) -> int | None:
    """Return when a message with this time to live expires; a dead letter never does."""
    return None if life is None or entity.owner is not entity else namespace.now + life


@mutant("TTL-03", (create(time_to_live=SHORT), send("m1"), wait(6), receive()))
class EntityLifetimeIgnored(Expiry):
    """A message without a time to live never expires, whatever its entity's settings say."""

    @alters
    def expires_at(self, usual: int | None, message: v.Message) -> int | None:
        return None if message.time_to_live is None else usual


@mutant("TTL-03", SUBSCRIBED_DIES, deep=True)
class SubscriptionLifetimeIgnored(Expiry):
    """A copy without a time to live never expires, whatever its subscription's settings say."""

    @alters
    def expires_at(self, usual: int | None, entity: Entity, message: v.Message) -> int | None:
        ignored = is_subscription(entity)
        return _lives(self.rules.namespace, entity, message.time_to_live) if ignored else usual


@mutant("TTL-04", SHORT_QUEUE)
class LongerLifetimeWins(Expiry):
    """A message can have a longer time to live than its entity permits."""

    @alters
    def expires_at(self, usual: int | None, entity: Entity, message: v.Message) -> int | None:
        life = message.time_to_live
        return usual if life is None else _lives(self.rules.namespace, entity, life)


@mutant("TTL-04", (create(time_to_live=LONG), mortal(), wait(6), receive()))
class ShorterLifetimeIgnored(Expiry):
    """A message has the time to live of its entity, even if its own is shorter."""

    @alters
    def expires_at(self, usual: int | None, entity: Entity) -> int | None:
        life = entity.settings.time_to_live
        return usual if life is None else _lives(self.rules.namespace, entity, life)


def _is_expired(namespace: Namespace, queued: QueuedMessage) -> bool:
    return queued.expires_at is not None and queued.expires_at <= namespace.now


@mutant("TTL-05", (*KEPT, complete(0)))
class ExpiredNotSettled(Locks):
    """A message that expires while it is locked cannot be completed any more."""

    @refuses("LIFE-06", v.Error.LOCK_LOST)
    def apply(self, queued: QueuedMessage, action: Action) -> bool:
        return action is Action.COMPLETE and _is_expired(self.rules.namespace, queued)


@mutant("TTL-05", deep=True)
@run(*KEPT, dead_letter(0))
class ExpiredNotDeadLetteredByHand(Locks):
    """A message that expires while it is locked cannot be dead-lettered any more."""

    @refuses("LIFE-06", v.Error.LOCK_LOST)
    def apply(self, queued: QueuedMessage, action: Action) -> bool:
        return action is Action.DEAD_LETTER and _is_expired(self.rules.namespace, queued)


def _grow_young(namespace: Namespace, queued: QueuedMessage) -> None:
    """Let a message that has expired live forever."""
    if _is_expired(namespace, queued):
        namespace.journal.touch(queued)
        queued.expires_at = None


@mutant("TTL-06", (*KEPT, abandon(0), receive()))
class ExpiredComesBack(Locks):
    """A message that expires while it is locked is delivered again after it is abandoned."""

    @beforehand
    def release(self, queued: QueuedMessage, action: Action) -> None:
        if action is Action.ABANDON:
            _grow_young(self.rules.namespace, queued)


@mutant("TTL-06", (*KEPT, wait(60), receive()), deep=True)
class ExpiredComesBackByItself(Locks):
    """A message that expires while it is locked is delivered again after its lock has expired."""

    @beforehand
    def release(self, queued: QueuedMessage, action: Action) -> None:
        if action is Action.LOCK_ENDS:
            _grow_young(self.rules.namespace, queued)


@mutant("TTL-07", EXPIRED, literal=True)
class ExpiredIsDropped(Expiry):
    """An expired message is dropped, although its entity dead-letters expired messages."""

    def expire(self, queued: QueuedMessage) -> None:
        self.rules.messages.consume(queued, Action.EXPIRE)


@mutant("TTL-07", FOUND_DEAD)
class ExpiredForAnotherReason(DeadLetters):
    """An expired message is dead-lettered with the reason of the delivery limit."""

    @with_other("reason")
    def dead_letter(self, reason: str) -> str:
        return "MaxDeliveryCountExceeded" if reason == REASON else reason


@mutant("TTL-08", (create(), mortal(), wait(6), receive(queue=DEAD)))
class ExpiredIsDeadLettered(Expiry):
    """An expired message becomes a dead letter, although its entity drops expired messages."""

    def expire(self, queued: QueuedMessage) -> None:
        self.rules.dead_letters.dead_letter(queued, REASON)


@mutant("TTL-10", DEFERRED)
class DeferredExpires(Expiry):
    """A deferred message is dead-lettered when its time to live is over."""

    def end(self, queued: QueuedMessage) -> None:
        if queued.state is State.DEFERRED and queued.entity.messages.get(queued.number) is queued:
            self.rules.dead_letters.dead_letter(queued, REASON)
        else:
            super().end(queued)


class _NoteBegin(Scheduling):
    @beforehand
    def plan(self, scheduled: ScheduledMessage) -> None:
        memory(self.rules.namespace, dict[ScheduledMessage, int])[scheduled] = self.namespace.now


@mutant("TTL-12", SCHEDULED, also=(_NoteBegin,), literal=True)
class ScheduledAges(Scheduling):
    """The time to live of a scheduled message begins when the message is scheduled."""

    @beforehand
    def activate(self, scheduled: ScheduledMessage) -> None:
        own = scheduled.message.time_to_live
        lives = scheduled.entity.settings.time_to_live
        life = min((limit for limit in (own, lives) if limit is not None), default=None)
        begun = memory(self.rules.namespace, dict[ScheduledMessage, int])[scheduled]
        there = scheduled.entity.scheduled.get(scheduled.number) is scheduled
        if life is not None and there and begun + life <= self.namespace.now:
            self.drop(scheduled, Action.CANCEL)


@mutant("TTL-13", readings={"OUTAGE-CLOCK": "runs"}, deep=True)
@run(*IN_OUTAGE)
class OutageStopsTheClock(Expiry):
    """The time to live of a message stands still while its partition is down."""

    @only_where
    def end(self, queued: QueuedMessage) -> bool:
        is_down = queued.partition in queued.entity.base.down
        if is_down:
            self.namespace.journal.touch(queued)
            queued.expires_at = None
        return not is_down
