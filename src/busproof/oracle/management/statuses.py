"""Entities that are disabled for sending, for receiving or for both (MGMT-26 to MGMT-28).

Their messages stay. The documents do not say which other requests they refuse, nor what happens to
scheduled messages and transactions, so entities that have any of these are no longer judged.
"""

from collections.abc import Iterator
from typing import Final

import attrs

from busproof import vocabulary as v
from busproof.oracle.changes import with_doubt, with_managed
from busproof.oracle.forwarding.forward_retries import tried_again
from busproof.oracle.schedule import perhaps_gone
from busproof.oracle.state import (
    Namespace,
    Queue,
    Subscription,
    Topic,
    feeding,
    is_unsure,
    with_queue,
)
from busproof.oracle.transition import Transition, refusal
from busproof.oracle.unjudged import is_joined, stop_judging

_SENDING: Final = v.Send | v.SendBatch | v.Schedule
_RECEIVING: Final = v.Receive | v.ReceiveBatch
_OF_SENDERS: Final = _SENDING | v.CancelScheduled
_MANAGING: Final = (v.Creation | v.GetQueue | v.UpdateQueue | v.DeleteQueue | v.TopicManagement) | (
    v.TakePartitionDown | v.BringPartitionUp
)
"""Requests that an entity answers in any status."""


def as_permitted(
    namespace: Namespace, queue: Queue, command: v.Command, answers: Iterator[Transition]
) -> Iterator[Transition]:
    """Return the answers that the entity's status allows.

    Args:
        namespace: the state before the request.
        queue: the entity that the request is about.
        command: the request.
        answers: the answers that an active entity could give.
    """
    # A dead-letter queue has no status of its own.
    owner = namespace.queues[v.owner_of(queue.settings.queue)]
    if owner.managed.status is v.EntityStatus.ACTIVE or isinstance(command, _MANAGING):
        return answers
    return _as_disabled(namespace, queue, owner, command, answers)


def _as_disabled(
    namespace: Namespace,
    queue: Queue,
    owner: Queue,
    command: v.Command,
    answers: Iterator[Transition],
) -> Iterator[Transition]:
    status = owner.managed.status
    # Cancelling belongs to senders, because it takes back what one of them sent.
    forbidden = not (status.takes if isinstance(command, _OF_SENDERS) else status.gives)
    if forbidden and isinstance(command, _SENDING):
        yield from _only_refused(namespace, "MGMT-26", answers)
    # Whether the dead letters of a disabled entity can be received is open.
    elif forbidden and isinstance(command, _RECEIVING) and owner is queue:
        yield from _only_refused(namespace, "MGMT-27", answers)
    elif forbidden:
        # The documents do not say whether other requests are refused, or what a commit then does.
        for answer in answers:
            # A refusal may have another reason, but shows nothing where it may be for the status.
            if not isinstance(answer.outcome, v.Refused):
                yield attrs.evolve(answer, next=with_doubt(answer.next, command))
        left = with_doubt(namespace, command)
        yield refusal(left, v.Error.ENTITY_DISABLED, any_error=True)
    else:
        yield from _permitted(command, answers)


def _only_refused(
    namespace: Namespace, rule: v.RuleId, answers: Iterator[Transition]
) -> Iterator[Transition]:
    """MGMT-26, MGMT-27: yield only refusals, for the status or for another reason."""
    yield refusal(namespace, v.Error.ENTITY_DISABLED, rule)
    # The documents do not say which of several reasons is named, so any other refusal is right,
    # too.
    yield from (answer for answer in answers if isinstance(answer.outcome, v.Refused))


def _permitted(command: v.Command, answers: Iterator[Transition]) -> Iterator[Transition]:
    """MGMT-28: yield the answers, and credit the rule with those that the status permits."""
    for answer in answers:
        # Other requests do not show the status: the documents promise sending and receiving only.
        shows = isinstance(command, v.Send | v.SendBatch | _RECEIVING)
        works = shows and isinstance(answer.outcome, v.Done | v.Received | v.ReceivedSeveral)
        yield attrs.evolve(answer, rules=("MGMT-28", *answer.rules)) if works else answer


def with_status(namespace: Namespace, command: v.UpdateQueue, *, surely: bool) -> Namespace:
    """MGMT-26 to MGMT-28: return the namespace after an update of the entity's status.

    Args:
        namespace: the state after all other changes of the update.
        command: the update.
        surely: whether it is in force now, and no unanswered update may still change it.
    """
    queue = namespace.queues[command.queue]
    before, status = queue.managed.status, command.status or queue.managed.status
    if status is before:
        return namespace
    # Later violations may come from the change of status, even when the entity is active again.
    namespace = with_managed(namespace, queue, status=status, suspended=True)
    if not (surely and _is_simple(namespace, queue, status)):
        return stop_judging(namespace, command.queue)
    if len(queue.calendar.entries):
        namespace = _with_schedule_open(namespace, command.queue)
    # Messages that forwarding could not deliver to the disabled entity are tried again now
    # (FWD-19).
    if status.takes and not before.takes:
        return tried_again(namespace, command.queue)
    return namespace


def _is_simple(namespace: Namespace, queue: Queue, status: v.EntityStatus) -> bool:
    """Return whether the documents define the effects of disabling this entity.

    They do not if it has forwarding or requests in a transaction, nor if it has scheduled messages,
    except for a queue that gives its messages all the time: what becomes of them is then open, and
    of nothing else.
    """
    name = queue.settings.queue
    sources = {name}
    gives = queue.role is None and queue.managed.status.gives and status.gives
    scheduled = 0 if gives else len(queue.calendar.entries)
    if isinstance(queue.role, Subscription):
        sources.add(queue.role.topic)
        scheduled += len(namespace.queues[queue.role.topic].calendar.entries)
    waits = any(
        transaction is not None and any(v.owner_of(name) in sources for name in transaction.queues)
        for transaction in namespace.transactions.values()
    )
    # Whether a disabled entity goes on forwarding is open.
    onward = v.destinations(queue.settings) or any(feeding(namespace, name))
    linked = isinstance(queue.role, Topic) and is_joined(namespace, name)
    return not (waits or onward or linked or scheduled or is_unsure(queue))


def _with_schedule_open(namespace: Namespace, name: str) -> Namespace:
    """Return the namespace in which each scheduled message of a queue may come, or never does."""
    queue = namespace.queues[name]
    calendar = queue.calendar
    for waiting in queue.calendar.entries.values():
        calendar = perhaps_gone(calendar, waiting)
    return with_queue(namespace, attrs.evolve(queue, calendar=calendar))
