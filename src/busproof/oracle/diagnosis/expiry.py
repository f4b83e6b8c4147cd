"""Diagnosis of events that break rules on the time to live (TTL)."""

from collections.abc import Iterator

from busproof import vocabulary as v
from busproof.oracle.messages.expiry import (
    EXPIRED,
    has_died,
    is_mortal,
    may_be_given,
    may_have_died,
)
from busproof.oracle.messages.settling import locked
from busproof.oracle.queued_messages import Stored
from busproof.oracle.state import Namespace, Queue


def blamed_for_age(namespace: Namespace, queue: Queue, event: v.Event) -> tuple[v.RuleId, ...]:
    """Return the rules on expiry that the event breaks; none if no message's age matters."""
    match event.command, event.outcome:
        case v.Receive(queue=name), v.Received(message=view) if v.is_dead_letter_queue(name):
            return tuple(_wrongly_dead(namespace, queue, (view,)))
        case v.Peek(queue=name), v.Peeked(messages=views) if v.is_dead_letter_queue(name):
            return tuple(_wrongly_dead(namespace, queue, views))
        case v.Receive(), v.Received(message=view):
            return tuple(_given_too_late(namespace, queue, view))
        # An empty answer is a violation only if a message is surely there. One with a time to live
        # may have been removed too early, so the rules on its length come into question.
        case v.Receive(session_id=session_id), v.Empty():
            return tuple(_withheld(queue, session_id))
        # A message that is locked when its time passes stays for its receiver, who can still settle
        # it.
        case v.Complete() | v.DeadLetter() | v.Defer() as command, v.Refused():
            stored = locked(queue, command.lock_token)
            return ("TTL-05",) if stored is not None and has_died(namespace, stored) else ()
        case _:
            return ()


def _given_too_late(namespace: Namespace, queue: Queue, view: v.MessageView) -> Iterator[v.RuleId]:
    """TTL-01, TTL-03, TTL-04, TTL-06, TTL-13: yield the rules that a late delivery breaks."""
    for stored in queue.with_body(view.body):
        dies = stored.dies
        # If its age permits the delivery, the event is wrong for another reason.
        if dies is None or may_be_given(namespace, queue, stored):
            continue
        if stored.deliveries and stored.available_at > dies.latest:
            yield "TTL-06"
        if queue.recovered & stored.where:
            yield "TTL-13"
        yield from _of_lengths(queue, stored)
        yield "TTL-01"


def _of_lengths(queue: Queue, stored: Stored) -> Iterator[v.RuleId]:
    """TTL-03, TTL-04, MGMT-12: yield the rules on the time to live that may have been ignored."""
    own, most = stored.message.time_to_live, queue.settings.time_to_live
    # The bus may have applied an entity's old time to live after an update.
    if queue.managed.lifetimes_changed_at >= 0:
        yield "MGMT-12"
    if own is None:
        yield "TTL-03"
    elif most not in (None, own):
        yield "TTL-04"


def _withheld(queue: Queue, session_id: str | None) -> Iterator[v.RuleId]:
    """TTL-02 to TTL-04, MGMT-12: yield the rules broken by withholding a message."""
    updated = queue.managed.lifetimes_changed_at >= 0
    for stored in queue.messages.values():
        # A message that is locked or deferred was rightly not given.
        if not stored.available or session_id not in (None, stored.message.session_id):
            continue
        if updated:
            yield "MGMT-12"
        if is_mortal(stored):
            yield "TTL-02"
            yield from _of_lengths(queue, stored)


def _wrongly_dead(
    namespace: Namespace, dead: Queue, views: tuple[v.MessageView, ...]
) -> Iterator[v.RuleId]:
    """TTL-02, TTL-07, TTL-08, TTL-10: yield the rules broken by dead-lettering for a wrong age."""
    owner = namespace.queues[v.owner_of(dead.settings.queue)]
    for view in views:
        for stored in owner.with_body(view.body):
            # A message that is rightly among the dead letters, for whatever reason, shows nothing
            # about ages.
            if not is_mortal(stored) or any(dead.with_body(view.body)):
                continue
            if not may_have_died(namespace, stored):
                # With another reason than expiry, the message was not dead-lettered for its age.
                if view.dead_letter_reason in (None, EXPIRED):
                    yield "TTL-02"
            elif not owner.settings.dead_letter_expired:
                yield "TTL-08"
            elif stored.deferred:
                yield "TTL-10"
            else:
                yield "TTL-07"
