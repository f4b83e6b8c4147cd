"""Mutants of TTL: how long messages live, and what happens when they expire."""

from typing import Any, Final

from busproof import vocabulary as v
from busproof.model.life_cycle import Action, State
from busproof.model.rules import Namespace
from busproof.model.state import Entity, QueuedMessage, ScheduledMessage
from busproof.mutants.entities import is_subscription
from busproof.mutants.mutant import beside, memory, mutant, run
from busproof.mutants.own_rules import RULES
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


@mutant("TTL-01", "expiry.end", DIES)
def expired_given() -> None:
    """A message is received although its time to live is over."""


@mutant("TTL-01", "expiry.end", IN_SESSION, only_where, deep=True)
def expired_given_in_session(queued: QueuedMessage) -> bool:
    """The holder of a session is given a message whose time to live is over."""
    return queued.session is None


def _sooner(namespace: Namespace, expires_at: int | None) -> int | None:
    """Return the moment at half of the remaining time; `None` if there is no end."""
    return None if expires_at is None else namespace.now + (expires_at - namespace.now) // 2


@mutant("TTL-02", EXPIRES_AT, (create(), mortal(LONG), wait(40), receive()), alters)
def dies_early(usual: int | None, namespace: Namespace) -> int | None:
    """A message is dropped when half its time to live is over."""
    return _sooner(namespace, usual)


@mutant("TTL-02", "locks.release", GIVEN_BACK, beforehand, deep=True)
def dies_with_its_lock(namespace: Namespace, queued: QueuedMessage) -> None:
    """A message with a time to live is dropped when its lock ends."""
    if queued.expires_at is not None:
        namespace.journal.touch(queued)
        queued.expires_at = namespace.now


@mutant("TTL-02", EXPIRES_AT, (LETTERS, mortal(LONG), wait(40), receive(queue=DEAD)), alters)
def dead_lettered_early(usual: int | None, namespace: Namespace, entity: Entity) -> int | None:
    """A message is dead-lettered as expired when half its time to live is over."""
    return _sooner(namespace, usual) if entity.settings.dead_letter_expired else usual


def _lives(namespace: Namespace, entity: Entity, life: int | None) -> int | None:
    """Return when a message with this time to live expires; a dead letter never does."""
    return None if life is None or entity.owner is not entity else namespace.now + life


@mutant("TTL-03", EXPIRES_AT, (create(time_to_live=SHORT), send("m1"), wait(6), receive()), alters)
def entity_lifetime_ignored(usual: int | None, message: v.Message) -> int | None:
    """A message without a time to live never expires, whatever its entity's settings say."""
    return None if message.time_to_live is None else usual


@mutant("TTL-03", EXPIRES_AT, SUBSCRIBED_DIES, alters, deep=True)
def subscription_lifetime_ignored(
    usual: int | None, namespace: Namespace, entity: Entity, message: v.Message
) -> int | None:
    """A copy without a time to live never expires, whatever its subscription's settings say."""
    ignored = is_subscription(entity)
    return _lives(namespace, entity, message.time_to_live) if ignored else usual


@mutant("TTL-04", EXPIRES_AT, SHORT_QUEUE, alters)
def longer_lifetime_wins(
    usual: int | None, namespace: Namespace, entity: Entity, message: v.Message
) -> int | None:
    """A message can have a longer time to live than its entity permits."""
    life = message.time_to_live
    return usual if life is None else _lives(namespace, entity, life)


@mutant("TTL-04", EXPIRES_AT, (create(time_to_live=LONG), mortal(), wait(6), receive()), alters)
def shorter_lifetime_ignored(usual: int | None, namespace: Namespace, entity: Entity) -> int | None:
    """A message has the time to live of its entity, even if its own is shorter."""
    life = entity.settings.time_to_live
    return usual if life is None else _lives(namespace, entity, life)


def _is_expired(namespace: Namespace, queued: QueuedMessage) -> bool:
    return queued.expires_at is not None and queued.expires_at <= namespace.now


@mutant("TTL-05", "locks.apply", (*KEPT, complete(0)), refuses("LIFE-06", v.Error.LOCK_LOST))
def expired_not_settled(namespace: Namespace, queued: QueuedMessage, action: Action) -> bool:
    """A message that expires while it is locked cannot be completed any more."""
    return action is Action.COMPLETE and _is_expired(namespace, queued)


@mutant("TTL-05", "locks.apply", how=refuses("LIFE-06", v.Error.LOCK_LOST), deep=True)
@run(*KEPT, dead_letter(0))
def expired_not_dead_lettered_by_hand(
    namespace: Namespace, queued: QueuedMessage, action: Action
) -> bool:
    """A message that expires while it is locked cannot be dead-lettered any more."""
    return action is Action.DEAD_LETTER and _is_expired(namespace, queued)


def _grow_young(namespace: Namespace, queued: QueuedMessage) -> None:
    """Let a message that has expired live forever."""
    if _is_expired(namespace, queued):
        namespace.journal.touch(queued)
        queued.expires_at = None


@mutant("TTL-06", "locks.release", (*KEPT, abandon(0), receive()), beforehand)
def expired_comes_back(namespace: Namespace, queued: QueuedMessage, action: Action) -> None:
    """A message that expires while it is locked is delivered again after it is abandoned."""
    if action is Action.ABANDON:
        _grow_young(namespace, queued)


@mutant("TTL-06", "locks.release", (*KEPT, wait(60), receive()), beforehand, deep=True)
def expired_comes_back_by_itself(
    namespace: Namespace, queued: QueuedMessage, action: Action
) -> None:
    """A message that expires while it is locked is delivered again after its lock has expired."""
    if action is Action.LOCK_ENDS:
        _grow_young(namespace, queued)


@mutant("TTL-07", "expiry.expire", EXPIRED, literal=True)
def expired_is_dropped(namespace: Namespace, queued: QueuedMessage) -> None:
    """An expired message is dropped, although its entity dead-letters expired messages."""
    RULES.messages.consume(namespace, queued, Action.EXPIRE)


@mutant("TTL-07", "dead_letters.dead_letter", FOUND_DEAD, with_other("reason"))
def expired_for_another_reason(reason: str) -> str:
    """An expired message is dead-lettered with the reason of the delivery limit."""
    return "MaxDeliveryCountExceeded" if reason == REASON else reason


@mutant("TTL-08", "expiry.expire", (create(), mortal(), wait(6), receive(queue=DEAD)))
def expired_is_dead_lettered(namespace: Namespace, queued: QueuedMessage) -> None:
    """An expired message becomes a dead letter, although its entity drops expired messages."""
    RULES.dead_letters.dead_letter(namespace, queued, REASON)


@mutant("TTL-10", "expiry.end", DEFERRED)
def deferred_expires(namespace: Namespace, queued: QueuedMessage) -> None:
    """A deferred message is dead-lettered when its time to live is over."""
    if queued.state is State.DEFERRED and queued.entity.messages.get(queued.number) is queued:
        RULES.dead_letters.dead_letter(namespace, queued, REASON)
    else:
        RULES.expiry.end(namespace, queued)


@beside("scheduling.plan", beforehand)
def _note_begin(namespace: Namespace, scheduled: ScheduledMessage) -> None:
    memory(namespace, dict[ScheduledMessage, int])[scheduled] = namespace.now


@mutant("TTL-12", "scheduling.activate", SCHEDULED, beforehand, also=_note_begin, literal=True)
def scheduled_ages(namespace: Namespace, scheduled: ScheduledMessage) -> None:
    """The time to live of a scheduled message begins when the message is scheduled."""
    own, lives = scheduled.message.time_to_live, scheduled.entity.settings.time_to_live
    life = min((limit for limit in (own, lives) if limit is not None), default=None)
    begun = memory(namespace, dict[ScheduledMessage, int])[scheduled]
    there = scheduled.entity.scheduled.get(scheduled.number) is scheduled
    if life is not None and there and begun + life <= namespace.now:
        RULES.scheduling.drop(namespace, scheduled, Action.CANCEL)


@mutant("TTL-13", "expiry.end", how=only_where, readings={"OUTAGE-CLOCK": "runs"}, deep=True)
@run(*IN_OUTAGE)
def outage_stops_the_clock(namespace: Namespace, queued: QueuedMessage) -> bool:
    """The time to live of a message stands still while its partition is down."""
    is_down = queued.partition in queued.entity.base.down
    if is_down:
        namespace.journal.touch(queued)
        queued.expires_at = None
    return not is_down
