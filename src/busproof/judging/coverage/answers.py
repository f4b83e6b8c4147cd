"""What each answer implies that is no refusal, request by request."""

from collections.abc import Callable
from typing import Any, Final

from busproof import vocabulary as v
from busproof.judging.coverage import (
    batches,
    dead_letters,
    deferral,
    expiry,
    filters,
    forwarding,
    keys,
    limits,
    locks,
    management,
    messages,
    partitions,
    quotas,
    scheduling,
    sessions,
    sizes,
    topics,
    transactions,
)
from busproof.judging.coverage.notes import Coverage
from busproof.model.state import QueuedMessage

__all__ = ["ANSWERS"]

See = Callable[[Coverage, Any], None]


def _of_send(coverage: Coverage, command: v.Send) -> None:
    entity = coverage.entity
    if entity is None:
        return
    message = command.message
    limits.of_sent(coverage, message)
    if command.transaction is not None:
        transactions.of_sent(coverage, entity)
    else:
        keys.of_sent(coverage, entity, message, command.timeout)
        sizes.of_sent(coverage, entity, message)
        coverage.show_if((entity.subscriptions == (), "TOPIC-04"))
    coverage.show_if((not entity.status.gives, "MGMT-28"))


def _of_send_batch(coverage: Coverage, command: v.SendBatch) -> None:
    entity = coverage.entity
    if entity is None:
        return
    if command.transaction is not None:
        transactions.of_sent(coverage, entity)
    else:
        for message in command.messages:
            keys.of_sent(coverage, entity, message, command.timeout)
    batches.of_sent(coverage, entity, command)


def _of_schedule(coverage: Coverage, command: v.Schedule) -> None:
    if coverage.entity is not None:
        limits.of_sent(coverage, command.message)
        scheduling.of_scheduled(coverage, coverage.entity, command.message)


def _of_cancellation(coverage: Coverage, _: v.CancelScheduled) -> None:
    """SCHED-03: show that what was scheduled can be cancelled by its number."""
    coverage.show("SCHED-03")


def _of_receive(coverage: Coverage, command: v.Receive | v.ReceiveBatch) -> None:
    entity = coverage.entity
    outcome = coverage.event.outcome
    if entity is None:
        return
    # Only for an entity with partitions may front ends cache what no session holds.
    cacheable = entity.settings.partitioned and not entity.settings.requires_session
    if cacheable:
        messages.note_receive(coverage, entity)
    if isinstance(outcome, v.Empty):
        _of_empty(coverage, command)
    for queued, view in zip(coverage.given, coverage.views, strict=False):
        _of_delivery(coverage, queued, view)
    if isinstance(command, v.ReceiveBatch) and coverage.views:
        batches.of_received(coverage, command)
    if coverage.views:
        sizes.of_delivery(coverage, entity)
        coverage.show_if((not entity.status.takes, "MGMT-28"))
    if cacheable:
        coverage.at(entity).receives += 1


def _of_delivery(coverage: Coverage, queued: QueuedMessage, view: v.MessageView) -> None:
    one = messages.delivery_of(coverage, queued, view)
    for see in DELIVERIES:
        see(coverage, one)


DELIVERIES: Final = (
    keys.of_delivery,
    messages.of_delivery,
    partitions.of_delivery,
    dead_letters.of_delivery,
    locks.of_delivery,
    sessions.of_delivery,
    expiry.of_delivery,
    scheduling.of_delivery,
    forwarding.of_delivery,
    topics.of_delivery,
)
"""What each family says of a delivery, in this order."""


def _of_empty(coverage: Coverage, command: v.Receive | v.ReceiveBatch) -> None:
    entity = coverage.entity
    if entity is None:
        return
    if entity.subscriptions is not None:
        coverage.show("TOPIC-05")
        return
    if entity.settings.forward_to is not None:
        forwarding.of_empty(coverage, entity)
        return
    messages.of_empty(coverage, entity)
    partitions.of_empty(coverage, entity)
    scheduling.of_empty(coverage, entity, command.session_id)
    expiry.of_empty(coverage, entity, command.session_id)
    dead_letters.of_empty(coverage, entity)
    if not messages.is_cached_elsewhere(coverage, entity):
        filters.of_empty(coverage, entity)
    before = coverage.at(entity).before
    coverage.show_if((before, "MGMT-15"), (before and entity.settings.partitioned, "MGMT-17"))


def _of_deferred(coverage: Coverage, command: v.ReceiveDeferred) -> None:
    for queued, view in zip(coverage.given, coverage.views, strict=False):
        deferral.of_delivery(coverage, command, queued, view)
        messages.of_number(coverage, queued, view)
    deferral.of_given(coverage, command)


def _of_peek(coverage: Coverage, command: v.Peek) -> None:
    partitions.of_peek(coverage, command, coverage.views)
    entity = coverage.entity
    if entity is not None:
        coverage.show_if((coverage.at(entity).expired, "TTL-09"))


def _of_settlement(coverage: Coverage, command: v.Settlement) -> None:
    locks.of_settled(coverage, command)


def _of_settle_batch(coverage: Coverage, command: v.SettleBatch) -> None:
    locks.of_settled(coverage, command)
    if coverage.entity is not None:
        locks.of_several(coverage, coverage.entity, command.lock_tokens, "LOCK-14")


def _of_renewed(coverage: Coverage, command: v.RenewLocks) -> None:
    if coverage.entity is not None:
        locks.of_several(coverage, coverage.entity, command.lock_tokens, "LOCK-18")


def _of_accept(coverage: Coverage, command: v.AcceptSession) -> None:
    if coverage.entity is not None:
        sessions.of_accepted(coverage, coverage.entity, command.session_id)


def _of_accept_next(coverage: Coverage, _: v.AcceptNextSession) -> None:
    if coverage.entity is not None and isinstance(coverage.event.outcome, v.Empty):
        sessions.of_none_accepted(coverage, coverage.entity)


def _of_state(coverage: Coverage, command: v.GetSessionState) -> None:
    outcome = coverage.event.outcome
    if coverage.entity is not None and isinstance(outcome, v.SessionState):
        sessions.of_got_state(coverage, coverage.entity, command.session_id, outcome.state)


def _of_set_state(coverage: Coverage, command: v.SetSessionState) -> None:
    limits.of_state(coverage, command.state)


def _of_deleted(coverage: Coverage, command: v.DeleteBatch) -> None:
    outcome = coverage.event.outcome
    if coverage.entity is not None and isinstance(outcome, v.Deleted):
        batches.of_deleted(coverage, coverage.entity, command, outcome.count)


def _of_commit(coverage: Coverage, _: v.CommitTransaction) -> None:
    transactions.of_committed(coverage)


def _of_rollback(coverage: Coverage, _: v.RollBackTransaction) -> None:
    transactions.of_rolled_back(coverage)


def _of_creation(coverage: Coverage, command: v.CreateQueue | v.CreateTopic) -> None:
    name = command.queue if isinstance(command, v.CreateQueue) else command.topic
    entity = coverage.namespace.entities[name]
    limits.of_name(coverage, name)
    management.of_created(coverage, command)
    management.of_repeated(coverage, name, entity)
    quotas.of_created(coverage, entity)


def _of_subscription(coverage: Coverage, command: v.CreateSubscription) -> None:
    limits.of_short_name(coverage, command.subscription, "TOPIC-17")


def _of_change(coverage: Coverage, command: v.Command) -> None:
    entity = coverage.entity
    path = coverage.path
    if path is None or entity is None:
        return
    management.of_repeated(coverage, path, entity)
    restored = coverage.at(entity).restored and not entity.base.down
    coverage.show_if(
        (restored and isinstance(command, v.DeleteQueue), "PREM-04"),
        (restored and isinstance(command, v.UpdateQueue), "PREM-05"),
    )


def _of_description(coverage: Coverage, _: v.GetQueue | v.GetTopic) -> None:
    outcome = coverage.event.outcome
    if coverage.entity is not None and isinstance(outcome, v.Described | v.TopicDescribed):
        management.of_described(coverage, coverage.entity, outcome.description)


def _of_subscriptions(coverage: Coverage, command: v.ListSubscriptions) -> None:
    coverage.show_if((command.topic in coverage.gone, "TOPIC-22"))


def _of_rule(coverage: Coverage, command: v.AddRule | v.RemoveRule) -> None:
    path = v.subscription_path(command.topic, command.subscription)
    subscription = coverage.namespace.entities[path]
    if command.transaction is not None:
        supported = coverage.namespace.profile.readings.get("REGULAR-RULES") == "supported"
        regular = not subscription.settings.partitioned
        coverage.show_if((regular, "FEAT-18" if supported else "FEAT-04"))
        return
    limits.of_short_name(coverage, command.rule, "FILTER-26")
    if isinstance(command, v.AddRule):
        filters.of_added(coverage, subscription, command)
    else:
        coverage.show_if((subscription.settings.partitioned, "FEAT-02"))


ANSWERS: Final[dict[type[v.Command], See]] = {
    v.Send: _of_send,
    v.SendBatch: _of_send_batch,
    v.Schedule: _of_schedule,
    v.CancelScheduled: _of_cancellation,
    v.Receive: _of_receive,
    v.ReceiveBatch: _of_receive,
    v.ReceiveDeferred: _of_deferred,
    v.Peek: _of_peek,
    v.Complete: _of_settlement,
    v.Abandon: _of_settlement,
    v.DeadLetter: _of_settlement,
    v.Defer: _of_settlement,
    v.SettleBatch: _of_settle_batch,
    v.RenewLocks: _of_renewed,
    v.AcceptSession: _of_accept,
    v.AcceptNextSession: _of_accept_next,
    v.GetSessionState: _of_state,
    v.SetSessionState: _of_set_state,
    v.DeleteBatch: _of_deleted,
    v.CommitTransaction: _of_commit,
    v.RollBackTransaction: _of_rollback,
    v.CreateQueue: _of_creation,
    v.CreateTopic: _of_creation,
    v.CreateSubscription: _of_subscription,
    v.UpdateQueue: _of_change,
    v.UpdateTopic: _of_change,
    v.DeleteQueue: _of_change,
    v.DeleteTopic: _of_change,
    v.GetQueue: _of_description,
    v.GetTopic: _of_description,
    v.ListSubscriptions: _of_subscriptions,
    v.AddRule: _of_rule,
    v.RemoveRule: _of_rule,
}
"""Request to what its answer shows unless it is a refusal."""
