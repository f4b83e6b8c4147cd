"""Dispatch of each command to the functions for its answers and for a missing answer."""

from collections.abc import Iterator
from typing import assert_never

from busproof import vocabulary as v
from busproof.oracle.forwarding.forwarding_setup import given_by_source
from busproof.oracle.management.descriptions import get_entity
from busproof.oracle.management.lists import list_entities
from busproof.oracle.management.queue_creation import create_queue, restore_queue
from busproof.oracle.management.statuses import as_permitted
from busproof.oracle.management.subscription_rules import change_rule, list_rules, lost_change
from busproof.oracle.management.test_controls import (
    advance_clock,
    bring_up,
    lost_advance,
    lost_outage,
    take_down,
)
from busproof.oracle.management.topic_creation import create_subscription, create_topic
from busproof.oracle.management.topics import misaddressed
from busproof.oracle.management.unanswered_creations import lost_creation
from busproof.oracle.management.updates_and_deletions import (
    delete,
    lost_update,
    lost_update_topic,
    update_queue,
    update_topic,
)
from busproof.oracle.messages.deferral import lost_receive_deferred, receive_deferred
from busproof.oracle.messages.locks import lost_renew_lock, renew_lock
from busproof.oracle.messages.peeking import peek
from busproof.oracle.messages.receiving import lost_receive, receive
from busproof.oracle.messages.scheduling import cancel, lost_cancel, lost_schedule, schedule
from busproof.oracle.messages.sending import lost_send, send
from busproof.oracle.messages.session_states import (
    get_state,
    list_sessions,
    lost_set_state,
    set_state,
)
from busproof.oracle.messages.sessions import (
    accept_next,
    accept_session,
    close_session,
    lost_accept,
    lost_accept_next,
    lost_close,
    lost_renew,
    renew,
)
from busproof.oracle.several.batches import (
    lost_receive_batch,
    lost_send_batch,
    receive_batch,
    send_batch,
)
from busproof.oracle.several.deletions import delete_batch, lost_delete_batch
from busproof.oracle.several.several_locks import (
    lost_renew_locks,
    lost_settle_batch,
    renew_locks,
    settle_batch,
)
from busproof.oracle.sizes.message_limits import held_to_limits
from busproof.oracle.state import Namespace, Queue
from busproof.oracle.transactions.transactional_settlements import lost_settle, settle
from busproof.oracle.transactions.transactions import (
    begin,
    commit,
    lost_begin,
    lost_commit,
    lost_roll_back,
    roll_back,
)
from busproof.oracle.transition import UNOBSERVED, Observation, Transition
from busproof.oracle.unjudged import LOOKING, stop_judging

__all__ = ["dispatched", "lost"]


def dispatched(
    namespace: Namespace, command: v.Command, connection: str, seen: Observation
) -> Iterator[Transition]:
    """Return every transition of the command that the documents allow."""
    queue = namespace.queues.get(v.concerned(command) or "")
    found = _whatever_its_status(namespace, queue, command, connection, seen)
    return found if queue is None else as_permitted(namespace, queue, command, found)


def _whatever_its_status(
    namespace: Namespace,
    queue: Queue | None,
    command: v.Command,
    connection: str,
    seen: Observation,
) -> Iterator[Transition]:
    """Return the allowed transitions if the entity is not disabled."""
    if queue is not None and (wrong := tuple(misaddressed(namespace, queue, command))):
        return iter(wrong)
    if queue is not None:
        at_source = tuple(given_by_source(namespace, queue, command, connection, seen))
        if at_source:
            return iter(at_source)
    match command:
        case v.Send():
            return held_to_limits(namespace, command, send(namespace, command, seen))
        case v.SendBatch():
            return send_batch(namespace, command, seen)
        case v.Schedule():
            return held_to_limits(namespace, command, schedule(namespace, command, seen))
        case v.CancelScheduled():
            return cancel(namespace, command)
        case v.Receive():
            return receive(namespace, command, connection, seen)
        case v.ReceiveBatch():
            return receive_batch(namespace, command, connection, seen)
        case v.Complete() | v.Abandon() | v.DeadLetter() | v.Defer():
            return settle(namespace, command)
        case v.SettleBatch():
            return settle_batch(namespace, command)
        case v.ReceiveDeferred():
            return receive_deferred(namespace, command, connection, seen)
        case v.RenewLock():
            return renew_lock(namespace, command, seen)
        case v.RenewLocks():
            return renew_locks(namespace, command, seen)
        case v.DeleteBatch():
            return delete_batch(namespace, command, seen)
        case v.Peek():
            return peek(namespace, command, seen)
        case v.AcceptSession():
            return accept_session(namespace, command, connection)
        case v.CloseSession():
            return close_session(namespace, command, connection)
        case v.AcceptNextSession():
            return accept_next(namespace, command, connection, seen)
        case v.RenewSessionLock():
            return renew(namespace, command, connection, seen)
        case v.SetSessionState():
            return set_state(namespace, command, connection)
        case v.GetSessionState():
            return get_state(namespace, command, connection, seen)
        case v.ListSessions():
            return list_sessions(namespace, command, seen)
        case v.BeginTransaction():
            return begin(namespace, command)
        case v.CommitTransaction():
            return commit(namespace, command, seen)
        case v.RollBackTransaction():
            return roll_back(namespace, command)
        case v.CreateQueue():
            return create_queue(namespace, command)
        case v.RestoreQueue():
            return restore_queue(namespace, command)
        case v.GetQueue(queue=name) | v.GetTopic(topic=name):
            return get_entity(namespace, name, seen)
        case v.ListQueues() | v.ListTopics() | v.ListSubscriptions():
            return list_entities(namespace, command, seen)
        case v.UpdateQueue():
            return update_queue(namespace, command)
        case v.DeleteQueue(queue=name) | v.DeleteTopic(topic=name):
            return delete(namespace, name)
        case v.CreateTopic():
            return create_topic(namespace, command)
        case v.UpdateTopic():
            return update_topic(namespace, command)
        case v.CreateSubscription():
            return create_subscription(namespace, command)
        case v.AddRule() | v.RemoveRule():
            return change_rule(namespace, command)
        case v.ListRules():
            return list_rules(namespace, command, seen)
        case v.TakePartitionDown():
            return take_down(namespace, command)
        case v.BringPartitionUp():
            return bring_up(namespace, command)
        case v.AdvanceClock():
            return advance_clock(namespace, command)
        case _:
            assert_never(command)


def lost(namespace: Namespace, command: v.Command, connection: str) -> tuple[Namespace, ...]:
    """Return the states after a request without an answer, which may or may not take effect."""
    if isinstance(command, v.Creation):
        return lost_creation(
            namespace, command, dispatched(namespace, command, connection, UNOBSERVED)
        )
    return (_lost(namespace, command, connection),)


def _lost(namespace: Namespace, command: v.Operation, connection: str) -> Namespace:
    if isinstance(command, LOOKING):
        return namespace
    match command:
        case v.Send():
            return lost_send(namespace, command)
        case v.SendBatch():
            return lost_send_batch(namespace, command)
        case v.Schedule():
            return lost_schedule(namespace, command)
        case v.CancelScheduled():
            return lost_cancel(namespace, command)
        case v.Receive():
            return lost_receive(namespace, command, connection)
        case v.ReceiveBatch():
            return lost_receive_batch(namespace, command, connection)
        case v.Complete() | v.Abandon() | v.DeadLetter() | v.Defer():
            return lost_settle(namespace, command)
        case v.SettleBatch():
            return lost_settle_batch(namespace, command)
        case v.ReceiveDeferred():
            return lost_receive_deferred(namespace, command)
        case v.RenewLock():
            return lost_renew_lock(namespace, command)
        case v.RenewLocks():
            return lost_renew_locks(namespace, command)
        case v.DeleteBatch():
            return lost_delete_batch(namespace, command)
        case v.AcceptSession():
            return lost_accept(namespace, command, connection)
        case v.CloseSession():
            return lost_close(namespace, command)
        case v.AcceptNextSession():
            return lost_accept_next(namespace, command, connection)
        case v.RenewSessionLock():
            return lost_renew(namespace, command)
        case v.SetSessionState():
            return lost_set_state(namespace, command)
        case v.BeginTransaction():
            return lost_begin(namespace, command)
        case v.CommitTransaction():
            return lost_commit(namespace, command)
        case v.RollBackTransaction():
            return lost_roll_back(namespace, command)
        case v.UpdateQueue():
            return lost_update(namespace, command)
        case v.DeleteQueue(queue=name) | v.DeleteTopic(topic=name):
            # The entity, or a later one of its name, may be deleted at any time.
            return stop_judging(namespace, name)
        case v.AddRule() | v.RemoveRule():
            return lost_change(namespace, command)
        case v.UpdateTopic():
            return lost_update_topic(namespace, command)
        case v.TakePartitionDown() | v.BringPartitionUp():
            return lost_outage(namespace, command)
        case v.AdvanceClock():
            return lost_advance(namespace, command)
        case _:
            assert_never(command)
