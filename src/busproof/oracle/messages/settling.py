"""Settlement of a message by the holder of its lock, while the lock lasts."""

from typing import Final, assert_never

from immutables import Map

from busproof import vocabulary as v
from busproof.oracle.coverage.settlements import of_settlement
from busproof.oracle.evolve import evolve
from busproof.oracle.messages.dead_letters import moved
from busproof.oracle.messages.deliveries import counts_deferral
from busproof.oracle.messages.message_store import doubted, remove, unlock
from busproof.oracle.messages.releasing import give_back
from busproof.oracle.messages.stopped_clocks import lock_is_over
from busproof.oracle.queued_messages import Stored
from busproof.oracle.state import NEVER, Namespace, Queue, with_queue
from busproof.oracle.transition import Rules, Transition, Transitions, done, refusal
from busproof.oracle.unjudged import stop_judging
from busproof.oracle.window import Window

RULES_OF_LOST_LOCKS: Final[dict[type[v.Settlement], Rules]] = {
    v.Complete: ("LIFE-06",),
    v.Abandon: ("LIFE-06",),
    v.DeadLetter: ("LOCK-06", "DLQ-14"),
    v.Defer: ("LOCK-06",),
}


def settle_at_once(namespace: Namespace, command: v.Settlement) -> Transitions:
    """LIFE-06, LOCK-06, DLQ-14: settle the message now, or refuse because its lock was lost."""
    queue, token = namespace.queues[command.queue], command.lock_token
    dead = v.is_dead_letter_queue(command.queue)
    if dead and isinstance(command, v.DeadLetter):
        yield from _dead_letter_again(namespace, command)
        return
    stored = locked(queue, token)
    # A settlement is right as long as the lock may last: only the bus knows when it ended.
    if stored is not None and not has_ended(namespace, queue, stored):
        left = evolve(queue, settlements=queue.settlements + 1)
        after = _settled(namespace, left, stored, command)
        yield done(after, *of_settlement(namespace, queue, stored, command))
    yield from lost_lock(namespace, queue, stored, token, *RULES_OF_LOST_LOCKS[type(command)])
    yield from of_lost_answer(namespace, queue, token, v.Done())
    if dead and isinstance(command, v.Defer):
        # The documents do not say whether dead letters can be deferred.
        yield refusal(namespace, v.Error.INVALID_OPERATION, any_error=True)


def _dead_letter_again(namespace: Namespace, command: v.DeadLetter) -> Transitions:
    """DLQ-10: refuse to dead-letter a message that is a dead letter already."""
    transfers = command.queue.endswith(v.TRANSFERS)
    rules = () if transfers else ("DLQ-10",)
    yield refusal(namespace, v.Error.INVALID_OPERATION, *rules, any_error=True)
    queue = namespace.queues[command.queue]
    token = command.lock_token
    stored = locked(queue, token)
    may_be_held = stored is not None and not has_ended(namespace, queue, stored)
    if transfers and (may_be_held or is_of_lost_answer(queue, token)):
        # The documents do not say where such a message of the transfer dead-letter queue goes.
        yield done(stop_judging(namespace, v.owner_of(command.queue)))


def _settled(
    namespace: Namespace, queue: Queue, stored: Stored, command: v.Settlement
) -> Namespace:
    """LIFE-03, LIFE-04, DLQ-05, DEFER-01: return the state after the settlement."""
    # Each settlement ends the lock, and only an abandoned message can be received as before.
    match command:
        case v.Complete():
            return with_queue(namespace, remove(queue, stored))
        case v.Abandon():
            return give_back(namespace, queue, stored, namespace.now, "LIFE-04")
        case v.DeadLetter():
            return moved(namespace, queue, stored, command.reason, "DLQ-05", certain=True)
        case v.Defer():
            return with_queue(namespace, _set_aside(namespace, queue, stored))
        case _:
            assert_never(command)


def _set_aside(namespace: Namespace, queue: Queue, stored: Stored) -> Queue:
    """Return the queue with the message deferred: only a receive by its number finds it."""
    number = stored.sequence_number
    # An unanswered receive may have named this number, and may take the message from now on.
    unanswered_deferred = bool(queue.unanswered_deferred) and (
        number is None or number in queue.unanswered_deferred
    )
    aside = evolve(
        stored,
        lock=None,
        deferred=True,
        uncounted=stored.uncounted + counts_deferral(namespace) + unanswered_deferred,
        certain=not unanswered_deferred,
    )
    deferred = _numbered_as_deferred(queue, stored)
    return unlock(evolve(queue, deferred=deferred, latest_deferred=stored.number), stored, aside)


def _numbered_as_deferred(queue: Queue, stored: Stored) -> Map[int, int]:
    """Return the numbers of messages that were ever deferred, with this message's added."""
    number = stored.sequence_number
    return queue.deferred if number is None else queue.deferred.set(number, stored.number)


def locked(queue: Queue, token: str) -> Stored | None:
    """Return the message that may still be locked with this token, if any."""
    number = queue.locks.get(token)
    stored = None if number is None else queue.messages.get(number)
    if stored is None or stored.lock is None or stored.lock.token != token:
        return None
    return stored


def has_ended(namespace: Namespace, queue: Queue, stored: Stored) -> bool:
    """Return whether the message's lock has surely ended."""
    lock = stored.lock
    return lock is None or lock_is_over(namespace, queue, lock.expiry.latest)


def lost_lock(
    namespace: Namespace, queue: Queue, stored: Stored | None, token: str, *rules: v.RuleId
) -> Transitions:
    """LIFE-06, LOCK-05 to LOCK-07: refuse because the lock is lost, or may be."""
    lock = None if stored is None else stored.lock
    if stored is None or lock is None or has_ended(namespace, queue, stored):
        queue, older = _resisting(queue, token)
        after = with_queue(namespace, queue)
        free = not _is_error_named(namespace, queue, token)
        yield refusal(after, v.Error.LOCK_LOST, *rules, *older, any_error=free)
    # The lock may have expired, or an unanswered settlement may have ended it.
    elif lock.expiry.earliest <= namespace.now.latest or not stored.certain:
        yield refusal(namespace, v.Error.LOCK_LOST, any_error=True)
    elif queue.outages.may_hit(stored.where):
        yield refusal(namespace, v.Error.UNAVAILABLE, "LIFE-11", any_error=True)


def _is_error_named(namespace: Namespace, queue: Queue, token: str) -> bool:
    """Return whether the refusal for a lost lock has to have the error for lost locks.

    The documents name no error for a lock that was never given. In a session the error may be the
    session lock's, in an outage the outage's (ERROR-PRECEDENCE), and on a queue that forwards the
    one for its receivers; a client library may refuse before it sends the request.
    """
    known = token in queue.tokens and not namespace.observability.assigns_message_ids
    settings = queue.settings
    plain = not settings.requires_session and settings.forward_to is None
    return known and plain and not queue.outages.any


def is_of_lost_answer(queue: Queue, token: str) -> bool:
    """Return whether the lock may be from a receive whose answer was lost.

    The answer may have reached the client after it had given up waiting.
    """
    return token not in queue.tokens and bool(queue.receivers.lost or queue.unanswered_deferred)


def of_lost_answer(
    namespace: Namespace, queue: Queue, token: str, outcome: v.Outcome
) -> Transitions:
    """Yield the success of a request under a lock whose receive was never answered.

    It is not known which message was settled, so its entity is no longer judged.
    """
    if is_of_lost_answer(queue, token):
        left = stop_judging(namespace, v.owner_of(queue.settings.queue))
        yield Transition(outcome=outcome, next=left)


def _resisting(queue: Queue, token: str) -> tuple[Queue, Rules]:
    """LOCK-07, LOCK-08: return the queue and the rules after a request with a lost lock."""
    number = queue.tokens.get(token)
    stored = None if number is None else queue.messages.get(number)
    if stored is None or not stored.certain:
        # The message is there, so it is locked by another receiver, or has to be delivered again.
        return queue, ()
    if stored.lock is not None:
        return queue, ("LOCK-07",)
    again = evolve(stored, resisted=True)
    return evolve(queue, messages=queue.messages.set(stored.number, again)), ()


def perhaps_settled(namespace: Namespace, command: v.Settlement) -> Namespace:
    """Return the namespace in which a settlement has taken effect, still may, or never does.

    An abandoned message exists in any case; only its lock may have ended.
    """
    queue = namespace.queues[command.queue]
    stored = locked(queue, command.lock_token)
    if stored is None or stored.lock is None:
        return namespace
    # The lock may have ended at any time since the request, or not at all.
    may_have_ended = evolve(stored.lock, expiry=Window(-NEVER, stored.lock.expiry.latest))
    # It may be gone, so no other message has to wait for it.
    unsure = evolve(stored, certain=False, line=None)
    match command:
        case v.Complete():
            pass
        case v.Abandon():
            unsure = evolve(stored, lock=may_have_ended, expected=None)
        case v.DeadLetter():
            unsure = evolve(unsure, leaving=(*stored.leaving, command.reason))
        case v.Defer():
            queue = evolve(queue, deferred=_numbered_as_deferred(queue, stored))
            # A deferred message that is deferred again stays deferred, whatever becomes of the
            # request.
            again = bool(stored.deferred)
            unsure = evolve(
                unsure,
                lock=may_have_ended if again else stored.lock,
                deferred=again or None,
                uncounted=stored.uncounted + 1,
            )
        case _:
            assert_never(command)
    return with_queue(namespace, doubted(queue, stored, unsure))
