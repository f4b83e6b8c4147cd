"""Rules that are broken by refusing a request that has to be served."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from busproof import vocabulary as v
from busproof.judging.diagnosis.conditions import rules_if
from busproof.judging.diagnosis.filters import rules_of_sql
from busproof.judging.diagnosis.scene import Scene, tokens_of
from busproof.judging.replay.evidence import views_of
from busproof.model.life_cycle import State
from busproof.model.state import QueuedMessage
from busproof.model.values import EntityKind

__all__ = ["wrongly_refused"]

FULL: Final = v.Error.QUOTA_EXCEEDED
DISABLED: Final = v.Error.ENTITY_DISABLED
SHORT_TIMEOUT: Final = 15 * v.MICROSECONDS
LONG_ID: Final = 100
LONG_NAME: Final = 200
LONG_SHORT_NAME: Final = 40
LARGE: Final = 100_000
LARGE_STATE: Final = 1_000
MANY: Final = 10
MANY_ENTITIES: Final = 90
"""From which lengths, sizes and numbers on a refusal is charged to a limit."""


def wrongly_refused(scene: Scene) -> Iterator[v.RuleId]:
    """Yield the rules that are broken by a refusal where the model serves the request."""
    entity = scene.entity
    restored = entity is not None and scene.asked(v.RestoreQueue, path=entity.path)
    dead = entity is not None and entity.owner is not entity
    base = None if entity is None else entity.base
    closed = base is not None and base is not entity and scene.statuses_of(base.path)
    yield from rules_if(
        (closed, "TOPIC-26"),
        (_error(scene) is DISABLED, "MGMT-28"),
        (
            restored,
            "PREM-04" if isinstance(scene.event.command, v.GetQueue | v.DeleteQueue) else "PREM-03",
        ),
    )
    yield from OF_REQUESTS.get(type(scene.event.command), of_use)(scene)
    yield from rules_if((dead, "DLQ-08", "DLQ-07"))
    yield from scene.rules_of_answers


def _error(scene: Scene) -> v.Error | None:
    return getattr(scene.event.outcome, "error", None)


def of_use(scene: Scene) -> tuple[v.RuleId, ...]:
    """Return the rules by which an entity can be used."""
    entity = scene.entity
    partitioned = entity is not None and entity.settings.partitioned
    rule = OF_PARTITIONED.get(type(scene.event.command))
    expired = scene.namespace.profile.tier is v.Tier.PREMIUM
    return rules_if(
        (scene.was_full, "SIZE-11"),
        (scene.own_outages and isinstance(scene.event.command, OF_SESSIONS), "SESS-24"),
        (scene.other_outages, "PART-05"),
        (partitioned and not scene.own_outages and not expired and rule, rule or ""),
    )


OF_SESSIONS: Final = (
    v.AcceptSession,
    v.AcceptNextSession,
    v.RenewSessionLock,
    v.SetSessionState,
    v.GetSessionState,
)

OF_PARTITIONED: Final[dict[type[v.Command], v.RuleId]] = {
    v.SendBatch: "FEAT-06",
    v.ReceiveBatch: "FEAT-07",
    v.ReceiveDeferred: "FEAT-08",
    v.Peek: "FEAT-09",
    v.RenewLock: "FEAT-10",
    v.Schedule: "FEAT-11",
    v.CancelScheduled: "FEAT-12",
    v.RenewSessionLock: "FEAT-13",
    v.SetSessionState: "FEAT-14",
    v.GetSessionState: "FEAT-15",
    v.ListSessions: "FEAT-16",
}
"""Request to the rule that promises it on a partitioned entity."""


def of_send(scene: Scene) -> Iterator[v.RuleId]:
    """Yield the rules by which a message has to be accepted."""
    entity = scene.entity
    command = scene.event.command
    if entity is None or not isinstance(command, v.Send):
        return
    message = command.message
    error = _error(scene)
    yield from of_limits(scene, message)
    if command.transaction is not None:
        yield from of_send_in_transaction(scene, command)
        return
    key = scene.namespace.rules.keys.effective_key(entity, message)
    topic = entity.kind is EntityKind.TOPIC
    premium = scene.namespace.profile.tier is v.Tier.PREMIUM
    both = message.session_id is not None and message.session_id == message.partition_key
    yield from rules_if(
        (error is FULL and scene.asked(v.Receive), "SIZE-12"),
        (error is FULL and key is not None and scene.was_full, "SIZE-08", "SIZE-07"),
        (error is FULL and key is not None, "SIZE-07"),
        (error is FULL and entity.settings.partitioned, "SIZE-04"),
        (error is FULL, "SIZE-06"),
        (scene.was_full, "SIZE-11"),
        (both, "KEY-09"),
        (topic and scene.deleted_subscriptions(entity.path), "TOPIC-23"),
        (scene.own_outages and topic and key is None, "TOPIC-11"),
        (scene.own_outages and key is None, "KEY-15"),
        (topic and key is not None and _was_in_another_outage(scene, message), "TOPIC-07"),
        (scene.own_outages, "PART-02"),
        (scene.other_outages, "PART-05"),
        (topic and not scene.own_outages, "TOPIC-04"),
        (premium and message.partition_key, "PREM-12"),
        (key is None and command.timeout <= SHORT_TIMEOUT, "KEY-25"),
        (entity.settings.partitioned and key is None, "FEAT-05"),
        (message.message_id is not None, "KEY-12"),
    )


def _was_in_another_outage(scene: Scene, message: v.Message) -> bool:
    """Return whether an outage that is over refused a message with the same key."""
    keys = message.session_id, message.partition_key
    outages = scene.asked(v.BringPartitionUp)
    return bool(scene.own_outages and outages) and any(
        isinstance(one.outcome, v.Refused)
        and keys == (one.command.message.session_id, one.command.message.partition_key)
        for one in scene.asked(v.Send)
        if isinstance(one.command, v.Send)
    )


def of_limits(scene: Scene, message: v.Message) -> tuple[v.RuleId, ...]:
    """LIMIT-01, LIMIT-03, LIMIT-07, LIMIT-09, LIMIT-11: return the limits that a message keeps."""
    premium = scene.namespace.profile.tier is v.Tier.PREMIUM
    large = (message.size or 0) >= LARGE and _error(scene) is not FULL
    own = message.session_id is not None and message.session_id == message.partition_key
    return rules_if(
        (large, "LIMIT-03" if premium else "LIMIT-01"),
        (len(message.message_id or "") >= LONG_ID, "LIMIT-07"),
        (len(message.session_id or "") >= LONG_ID, "LIMIT-09"),
        (len(message.partition_key or "") >= LONG_ID and not own, "LIMIT-11"),
    )


def of_send_in_transaction(scene: Scene, command: v.Send) -> tuple[v.RuleId, ...]:
    """Return the rules by which a transaction has to take a message."""
    entity = scene.entity
    message = command.message
    regular = entity is not None and not entity.settings.partitioned
    others = [
        event
        for event in scene.done(v.Send)
        if getattr(event.command, "transaction", None) is not None
    ]
    return rules_if(
        (len(others) >= MANY, "LIMIT-15"),
        (entity is not None and entity.settings.forward_to, "FWD-34"),
        (scene.namespace.profile.tier is v.Tier.PREMIUM, "PREM-13"),
        (regular and message.session_id and others, "TXN-09"),
        (regular, "TXN-14"),
        (others, "TXN-02"),
        (message.partition_key is not None and message.session_id is None, "TXN-01", "TXN-11"),
        (True, "TXN-01"),
    )


def of_settlement(scene: Scene) -> tuple[v.RuleId, ...]:
    """Return the rules by which a lock has to be usable."""
    entity, path, command = scene.entity, scene.path, scene.event.command
    partitioned = entity is not None and entity.settings.partitioned
    record = next(filter(None, map(scene.holding, tokens_of(command))), None)
    expires_at = None if record is None else record.expires_at
    expired = expires_at is not None and expires_at <= scene.namespace.now
    if record is None:
        return ("LIFE-06",)
    since = scene.since(record)
    enlisted = scene.enlisted(record)
    renewed = scene.asked_under(record, v.RenewLock, v.RenewLocks)
    together = scene.asked_under(record, v.SettleBatch)

    def were_asked(*kinds: type[v.Command]) -> bool:
        here = (event for event in since if v.concerned(event.command) == path)
        return any(isinstance(event.command, kinds) for event in here)

    return rules_if(
        (expired, "TTL-05"),
        (isinstance(command, v.SettleBatch), "LOCK-14"),
        (isinstance(command, v.RenewLocks), "LOCK-18"),
        (were_asked(v.DeleteBatch), "BATCH-16"),
        (scene.rolled_back(enlisted), "LOCK-12"),
        (enlisted, "LOCK-11"),
        (together, "LOCK-16", "LOCK-14"),
        (record.session is not None and were_asked(v.RenewSessionLock), "SESS-14"),
        (any(isinstance(event.command, v.RenewLocks) for event in renewed), "LOCK-18"),
        (was_received_with_others(scene, record), "BATCH-14"),
        (renewed, "LOCK-04"),
        (were_asked(*SETTLING), "LOCK-10"),
        (were_asked(v.UpdateQueue), "LOCK-01"),
        (isinstance(command, v.RenewLock) and partitioned, "FEAT-10"),
        (partitioned, "PART-12"),
        (True, "LIFE-06", "LOCK-10", "LOCK-04", "LOCK-01", "LOCK-02"),
    )


SETTLING: Final = (v.Complete, v.Abandon, v.DeadLetter, v.Defer, v.RenewLock, v.SettleBatch)


def was_received_with_others(scene: Scene, record: QueuedMessage) -> bool:
    """BATCH-14: return whether a message was received together with others."""
    return any(
        isinstance(event.command, v.ReceiveBatch)
        and len(views_of(event.outcome)) > 1
        and record.message.body in {view.body for view in views_of(event.outcome)}
        for event in scene.asked(v.ReceiveBatch, path=record.entity.path)
    )


def of_creation(scene: Scene) -> Iterator[v.RuleId]:
    """Yield the rules by which an entity has to be created."""
    command: Any = scene.event.command
    topic = isinstance(command, v.CreateTopic)
    path: str = v.created_path(command)
    premium = scene.namespace.profile.tier is v.Tier.PREMIUM
    whole = scene.namespace.profile.is_partitioned
    refused = [e for e in scene.refused(type(command)) if e.command == command]
    version = getattr(command, "api_version", None)
    sized = getattr(command, "max_size", None) is not None
    sessions = getattr(command, "requires_session", False)
    counted = _error(scene) is FULL or len(scene.asked(type(command))) >= MANY_ENTITIES
    again = scene.done(v.DeleteTopic if topic else v.DeleteQueue)
    if counted:
        yield from of_quotas(scene, command)
    yield from rules_if(
        (refused and not counted, "MGMT-19"),
        (len(path) > LONG_NAME and not isinstance(command, v.CreateSubscription), "LIMIT-17"),
        (version and version.startswith("2013-10"), "MGMT-06"),
        (version and not version.startswith("2013-10"), "MGMT-07"),
        (sized and premium, "PREM-07"),
        (sized and not premium, "SIZE-01"),
        (again and topic, "TOPIC-22"),
        (again, "MGMT-15", "MGMT-05"),
        (premium and sessions, "PREM-11"),
        (whole, "PREM-14"),
        (premium and not whole, "PREM-01"),
        (getattr(command, "partitioned", None), "MGMT-02"),
        (not getattr(command, "partitioned", None), "MGMT-03"),
        (getattr(command, "forward_to", None), "FWD-04"),
    )


def of_quotas(scene: Scene, command: Any) -> tuple[v.RuleId, ...]:
    """QUOTA-01 to QUOTA-15: return the rules by which there is room for one entity more."""
    topic = isinstance(command, v.CreateTopic)
    partitioned = getattr(command, "partitioned", None)
    readings = scene.namespace.profile.readings
    premium = scene.namespace.profile.tier is v.Tier.PREMIUM
    freed = scene.done(v.DeleteQueue, v.DeleteTopic) or scene.refused(v.CreateQueue, v.CreateTopic)
    created = scene.done(v.CreateQueue, v.CreateTopic)
    regular = [event for event in created if not getattr(event.command, "partitioned", None)]
    # Without partitioned entities it cannot be how they are counted.
    weighed = partitioned or len(regular) < len(created)
    reading = readings.get("QUOTA-PREMIUM")
    return rules_if(
        (premium and reading == "counting", "QUOTA-12"),
        (premium and reading == "quota", "QUOTA-13"),
        (premium, "QUOTA-14"),
        (partitioned and freed, "QUOTA-05"),
        (partitioned and regular, "QUOTA-06"),
        (partitioned and topic, "QUOTA-03"),
        (partitioned, "QUOTA-01"),
        (not partitioned, "QUOTA-06"),
        (weighed, "QUOTA-09"),
        (True, "QUOTA-07"),
    )


def of_subscription(scene: Scene) -> tuple[v.RuleId, ...]:
    """TOPIC-01, TOPIC-17: return the rules by which a subscription has to be created."""
    name = getattr(scene.event.command, "subscription", "")
    return rules_if(
        (len(name) > LONG_SHORT_NAME, "TOPIC-17"),
        (scene.refused(v.CreateSubscription), "MGMT-19"),
        (scene.done(v.DeleteTopic), "TOPIC-22"),
        (scene.done(v.DeleteQueue), "MGMT-15"),
        (True, "TOPIC-01"),
    )


def of_change(scene: Scene) -> tuple[v.RuleId, ...]:
    """MGMT-12, MGMT-15, MGMT-19: return the rules by which a change has to be made."""
    command = scene.event.command
    deletes = isinstance(command, v.DeleteQueue | v.DeleteTopic)
    return rules_if(
        (scene.refused(type(command)), "MGMT-19"),
        (isinstance(command, v.DeleteTopic), "TOPIC-22"),
        (deletes, "MGMT-15"),
        (getattr(command, "max_size", None) is not None, "SIZE-16"),
        (not deletes, "MGMT-12"),
    )


def of_new_rule(scene: Scene) -> Iterator[v.RuleId]:
    """FEAT-01, FILTER-07, FILTER-26, FILTER-32: yield the rules by which a rule is accepted."""
    command = scene.event.command
    entity = scene.entity
    if not isinstance(command, v.AddRule):
        return
    partitioned = entity is not None and entity.settings.partitioned
    inside = command.transaction is not None
    yield from rules_if(
        (inside and not partitioned, "FEAT-18"),
        (len(command.rule) > LONG_SHORT_NAME, "FILTER-26"),
    )
    if isinstance(command.filter, v.SqlFilter):
        yield "FILTER-32"
        yield from rules_of_sql(command.filter.expression)
    yield from rules_if((command.action is not None, "FILTER-21"), (partitioned, "FEAT-01"))


def of_removed_rule(scene: Scene) -> tuple[v.RuleId, ...]:
    """FEAT-02, FEAT-18: return the rules by which a rule can be removed."""
    entity = scene.entity
    inside = getattr(scene.event.command, "transaction", None) is not None
    partitioned = entity is not None and entity.settings.partitioned
    return rules_if((inside and not partitioned, "FEAT-18"), (partitioned, "FEAT-02"))


def of_accepting(scene: Scene) -> tuple[v.RuleId, ...]:
    """SESS-03, SESS-11, SESS-24: return the rules by which a session can be accepted."""
    held = scene.done(v.AcceptSession, v.AcceptNextSession, path=scene.path)
    closed = scene.done(v.CloseSession, path=scene.path)
    waited = held and scene.asked(v.AdvanceClock) and not closed
    return rules_if(
        (scene.own_outages, "SESS-24"),
        (closed, "SESS-08"),
        (waited, "SESS-11"),
        (held and not waited and not closed, "SESS-04"),
        (True, "SESS-03", "SESS-11", "LIFE-10"),
    )


def of_state(scene: Scene) -> Iterator[v.RuleId]:
    """LIMIT-19, SESS-19: yield the rules by which a state can be set or got."""
    large = len(getattr(scene.event.command, "state", None) or "") >= LARGE_STATE
    yield from rules_if((large, "LIMIT-19"), (scene.own_outages, "SESS-19"))
    yield from of_use(scene)


def of_peek(scene: Scene) -> Iterator[v.RuleId]:
    """PART-29, MGMT-28: yield the rules by which a peek is answered."""
    entity = scene.entity
    disabled = entity is not None and entity.status is not v.EntityStatus.ACTIVE
    yield from rules_if(
        (entity is not None and entity.base.down, "PART-29"),
        (disabled, "MGMT-28"),
        (getattr(scene.event.command, "session_id", None), "SESS-23"),
    )
    yield from of_use(scene)


def of_schedule(scene: Scene) -> Iterator[v.RuleId]:
    """SCHED-14, FEAT-11: yield the rules by which a message can be scheduled."""
    command = scene.event.command
    if isinstance(command, v.Schedule):
        yield from of_limits(scene, command.message)
        yield from rules_if((command.delay <= 0, "SCHED-14"))
        yield from of_use(scene)


def of_cancelling(scene: Scene) -> Iterator[v.RuleId]:
    """SCHED-03, FEAT-12: yield the rules by which a scheduled message can be cancelled."""
    entity = scene.entity
    command = scene.event.command
    if entity is None or not isinstance(command, v.CancelScheduled):
        return
    record = scene.bindings.named(entity, command.sequence_number)
    first = record is not None and record.partition == 0
    yield from rules_if((first, "SCHED-03"))
    yield from of_use(scene)
    yield "SCHED-03"


def of_deferred(scene: Scene) -> Iterator[v.RuleId]:
    """DEFER-02, DEFER-06, DEFER-13: yield the rules by which a deferred message can be received."""
    entity = scene.entity
    command = scene.event.command
    if entity is None or not isinstance(command, v.ReceiveDeferred):
        return
    records = [scene.bindings.named(entity, number) for number in command.sequence_numbers]
    lives = [scene.lives.of(record) for record in records if record is not None]
    again = any(one.before is State.DEFERRED_LOCKED for life in lives for one in life)
    elsewhere = any(record is not None and record.partition for record in records)
    yield from rules_if(
        (scene.own_outages, "DEFER-13"),
        (again, "DEFER-06"),
        (len(records) > 1, "DEFER-11"),
        (elsewhere and not again, "FEAT-08"),
        (True, "DEFER-02"),
    )


def of_batch(scene: Scene) -> Iterator[v.RuleId]:
    """BATCH-06, FEAT-06: yield the rules by which a batch has to be accepted."""
    entity = scene.entity
    command = scene.event.command
    if entity is None or not isinstance(command, v.SendBatch):
        return
    keys = {(one.session_id, one.partition_key) for one in command.messages}
    regular = not entity.settings.partitioned
    whole = scene.namespace.profile.is_partitioned
    yield from rules_if(
        (regular and len(keys) > 1, "BATCH-06"),
        (whole, "PREM-17"),
        (scene.own_outages, "PART-02"),
        (not regular, "FEAT-06", "BATCH-04"),
    )


OF_REQUESTS: Final[dict[type[v.Command], Callable[[Scene], Iterable[v.RuleId]]]] = {
    **dict.fromkeys((v.Complete, v.Abandon, v.DeadLetter, v.Defer), of_settlement),
    **dict.fromkeys((v.RenewLock, v.RenewLocks, v.SettleBatch), of_settlement),
    **dict.fromkeys((v.CreateQueue, v.CreateTopic), of_creation),
    **dict.fromkeys((v.UpdateQueue, v.UpdateTopic, v.DeleteQueue, v.DeleteTopic), of_change),
    **dict.fromkeys((v.SetSessionState, v.GetSessionState), of_state),
    v.AcceptSession: of_accepting,
    v.AddRule: of_new_rule,
    v.CancelScheduled: of_cancelling,
    v.CreateSubscription: of_subscription,
    v.Peek: of_peek,
    v.ReceiveDeferred: of_deferred,
    v.RemoveRule: of_removed_rule,
    v.Schedule: of_schedule,
    v.Send: of_send,
    v.SendBatch: of_batch,
}
"""Request to what finds the rules by which it has to be served."""
