"""Dispatch of each command to the functions for its answers and for a missing answer."""

from typing import assert_never

from busproof import vocabulary as v
from busproof.oracle.forwarding.forwarding_setup import given_by_source
from busproof.oracle.management import (
    queue_creation,
    subscription_rules,
    test_controls,
    topic_creation,
    updates_and_deletions,
)
from busproof.oracle.management.descriptions import get_entity
from busproof.oracle.management.lists import list_entities
from busproof.oracle.management.statuses import as_permitted
from busproof.oracle.management.topics import misaddressed
from busproof.oracle.management.unanswered_creations import lost_creation
from busproof.oracle.messages import (
    deferral,
    locks,
    receiving,
    scheduling,
    sending,
    session_states,
    sessions,
)
from busproof.oracle.messages.peeking import peek
from busproof.oracle.several import batches, deletions, several_locks
from busproof.oracle.sizes.message_limits import held_to_limits
from busproof.oracle.state import Namespace, Queue
from busproof.oracle.transactions import transactional_settlements, transactions
from busproof.oracle.transition import UNOBSERVED, Observation, Transitions
from busproof.oracle.unjudged import LOOKING, stop_judging


def dispatched(
    namespace: Namespace, command: v.Command, connection: str, observed: Observation
) -> Transitions:
    """Return every transition that the documents allow for this command."""
    queue = namespace.queues.get(v.concerned(command) or "")
    answers = _whatever_its_status(namespace, queue, command, connection, observed)
    return answers if queue is None else as_permitted(namespace, queue, command, answers)


def _whatever_its_status(
    namespace: Namespace,
    queue: Queue | None,
    command: v.Command,
    connection: str,
    observed: Observation,
) -> Transitions:
    """Return the transitions that are allowed if no status of the entity forbids the command."""
    # Some commands never fit the kind of entity, such as a receive from a topic, so nothing else
    # about them matters.
    if queue is not None and (wrong := misaddressed(namespace, queue, command, observed)):
        return iter(wrong)
    if queue is not None and queue.settings.forward_to is not None:
        # A source hands its messages on, so most commands have no other answer there.
        at_source = tuple(given_by_source(namespace, queue, command, connection, observed))
        if at_source:
            return iter(at_source)
    match command:
        case v.Send():
            return held_to_limits(namespace, command, sending.send(namespace, command, observed))
        case v.SendBatch():
            return batches.send_batch(namespace, command, observed)
        case v.Schedule():
            return held_to_limits(
                namespace, command, scheduling.schedule(namespace, command, observed)
            )
        case v.CancelScheduled():
            return scheduling.cancel(namespace, command)
        case v.Receive():
            return receiving.receive(namespace, command, connection, observed)
        case v.ReceiveBatch():
            return batches.receive_batch(namespace, command, connection, observed)
        case v.Complete() | v.Abandon() | v.DeadLetter() | v.Defer():
            return transactional_settlements.settle(namespace, command)
        case v.SettleBatch():
            return several_locks.settle_batch(namespace, command)
        case v.ReceiveDeferred():
            return deferral.receive_deferred(namespace, command, connection, observed)
        case v.RenewLock():
            return locks.renew_lock(namespace, command, observed)
        case v.RenewLocks():
            return several_locks.renew_locks(namespace, command, observed)
        case v.DeleteBatch():
            return deletions.delete_batch(namespace, command, observed)
        case v.Peek():
            return peek(namespace, command, observed)
        case v.AcceptSession():
            return sessions.accept_session(namespace, command, connection)
        case v.CloseSession():
            return sessions.close_session(namespace, command, connection)
        case v.AcceptNextSession():
            return sessions.accept_next(namespace, command, connection, observed)
        case v.RenewSessionLock():
            return sessions.renew(namespace, command, connection, observed)
        case v.SetSessionState():
            return session_states.set_state(namespace, command, connection)
        case v.GetSessionState():
            return session_states.get_state(namespace, command, connection, observed)
        case v.ListSessions():
            return session_states.list_sessions(namespace, command, observed)
        case v.BeginTransaction():
            return transactions.begin(namespace, command)
        case v.CommitTransaction():
            return transactions.commit(namespace, command, observed)
        case v.RollBackTransaction():
            return transactions.roll_back(namespace, command)
        case v.CreateQueue():
            return queue_creation.create_queue(namespace, command)
        case v.RestoreQueue():
            return queue_creation.restore_queue(namespace, command)
        case v.GetQueue(queue=name) | v.GetTopic(topic=name):
            return get_entity(namespace, name, observed)
        case v.ListQueues() | v.ListTopics() | v.ListSubscriptions():
            return list_entities(namespace, command, observed)
        case v.UpdateQueue():
            return updates_and_deletions.update_queue(namespace, command)
        case v.DeleteQueue(queue=name) | v.DeleteTopic(topic=name):
            return updates_and_deletions.delete(namespace, name)
        case v.CreateTopic():
            return topic_creation.create_topic(namespace, command)
        case v.UpdateTopic():
            return updates_and_deletions.update_topic(namespace, command)
        case v.CreateSubscription():
            return topic_creation.create_subscription(namespace, command)
        case v.AddRule() | v.RemoveRule():
            return subscription_rules.change_rule(namespace, command)
        case v.ListRules():
            return subscription_rules.list_rules(namespace, command, observed)
        case v.TakePartitionDown() | v.BringPartitionUp():
            return test_controls.switch_partition(namespace, command)
        case v.AdvanceClock():
            return test_controls.advance_clock(namespace, command)
        case _:
            assert_never(command)


def lost(namespace: Namespace, command: v.Command, connection: str) -> tuple[Namespace, ...]:
    """Return the states after an unanswered request, which may take effect now, later or never."""
    if isinstance(command, v.Creation):
        # Its answer is unknown, so every answer that is possible now may have been the one.
        return lost_creation(
            namespace, command, dispatched(namespace, command, connection, UNOBSERVED)
        )
    return (_lost(namespace, command, connection),)


def _lost(namespace: Namespace, command: v.Operation, connection: str) -> Namespace:
    if isinstance(command, LOOKING):
        return namespace
    match command:
        case v.Send():
            return sending.lost_send(namespace, command)
        case v.SendBatch():
            return batches.lost_send_batch(namespace, command)
        case v.Schedule():
            return scheduling.lost_schedule(namespace, command)
        case v.CancelScheduled():
            return scheduling.lost_cancel(namespace, command)
        case v.Receive():
            return receiving.lost_receive(namespace, command, connection)
        case v.ReceiveBatch():
            return batches.lost_receive_batch(namespace, command, connection)
        case v.Complete() | v.Abandon() | v.DeadLetter() | v.Defer():
            return transactional_settlements.lost_settle(namespace, command)
        case v.SettleBatch() | v.RenewLocks():
            return several_locks.without_answer(namespace, command)
        case v.ReceiveDeferred():
            return deferral.lost_receive_deferred(namespace, command)
        case v.RenewLock():
            return locks.lost_renew_lock(namespace, command)
        case v.DeleteBatch():
            return deletions.lost_delete_batch(namespace, command)
        case v.AcceptSession() | v.AcceptNextSession() | v.RenewSessionLock() | v.CloseSession():
            return sessions.without_answer(namespace, command, connection)
        case v.SetSessionState():
            return session_states.lost_set_state(namespace, command)
        case v.BeginTransaction():
            return transactions.lost_begin(namespace, command)
        case v.CommitTransaction():
            return transactions.lost_commit(namespace, command)
        case v.RollBackTransaction():
            return transactions.lost_roll_back(namespace, command)
        case v.UpdateQueue():
            return updates_and_deletions.lost_update(namespace, command)
        case v.DeleteQueue(queue=name) | v.DeleteTopic(topic=name):
            # The entity, or a later one of its name, may be deleted at any time.
            return stop_judging(namespace, name)
        case v.AddRule() | v.RemoveRule():
            return subscription_rules.lost_change(namespace, command)
        case v.UpdateTopic():
            return updates_and_deletions.lost_update_topic(namespace, command)
        case v.TakePartitionDown() | v.BringPartitionUp():
            return test_controls.lost_outage(namespace, command)
        case v.AdvanceClock():
            return test_controls.lost_advance(namespace, command)
        case _:
            assert_never(command)
