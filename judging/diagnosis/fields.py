"""Fields of a message that differ from what the model gives, and the rules on each."""

from collections.abc import Iterator
from typing import Final

from busproof import vocabulary as v
from busproof.judging.diagnosis.conditions import rules_if
from busproof.judging.diagnosis.origins import of_forwarding
from busproof.judging.diagnosis.scene import Scene
from busproof.judging.replay.agreement import CARRIED, is_same_text
from busproof.judging.replay.evidence import base_path
from busproof.model.life_cycle import State
from busproof.model.state import QueuedMessage
from busproof.model.values import EntityKind

__all__ = ["wrong_fields"]

DEFAULT_LOCK: Final = 60 * v.MICROSECONDS
LONGEST_LOCK: Final = 300 * v.MICROSECONDS
KEYS: Final = ("session_id", "partition_key", "message_id")
RULE_OF_KEY: Final = {"session_id": "KEY-04", "partition_key": "KEY-07", "message_id": "KEY-10"}


def wrong_fields(scene: Scene, record: QueuedMessage, view: v.MessageView) -> Iterator[v.RuleId]:
    """Yield the rules that are broken by the fields of a message that is otherwise right."""
    yield from _of_content(scene, record, view)
    yield from _of_number(scene, record, view)
    yield from _of_reason(scene, record, view)
    yield from _of_count(scene, record, view)
    yield from _of_lock(scene, record, view)
    yield from _of_state(record, view)


def _of_content(scene: Scene, record: QueuedMessage, view: v.MessageView) -> Iterator[v.RuleId]:
    sent = record.message
    changed = [
        name
        for name in ("body", *KEYS, *CARRIED)
        if not is_same_text(getattr(sent, name), getattr(view, name))
    ]
    if sent.session_id is not None and view.partition_key == sent.session_id:
        changed = [name for name in changed if name != "partition_key"]
    properties = not v.same_properties(sent.properties, view.properties)
    if scene.assigns_ids and sent.message_id is None:
        changed = [name for name in changed if name != "message_id"]
        if not view.message_id:
            yield "KEY-13"
    if not changed and not properties:
        return
    entity = record.entity
    acting = [rule for rule in entity.rules if rule.action is not None]
    forwarded = base_path(entity.path) not in {
        v.concerned(event.command) for event, _ in scene.sends_of(sent.body)
    }
    named = properties and ("RuleName" in sent.properties) != ("RuleName" in view.properties)
    premium = scene.namespace.profile.tier is v.Tier.PREMIUM
    batch = any(isinstance(e.command, v.SendBatch) for e, _ in scene.sends_of(sent.body))
    yield from rules_if(
        (entity.kind is EntityKind.DEAD_LETTERS, "DLQ-06"),
        (premium and "partition_key" in changed, "PREM-12"),
        (premium and "session_id" in changed, "PREM-11"),
        (batch, "BATCH-01"),
        (named, "FILTER-23"),
        (acting, "FILTER-21", "FILTER-29", "FILTER-24", "FILTER-22"),
        (entity.kind is EntityKind.SUBSCRIPTION and scene.asked(v.AddRule), "FILTER-24"),
        (forwarded and set(changed) & set(KEYS), "FWD-07"),
    )
    yield from () if set(changed) & set(KEYS) else of_forwarding(scene, record)
    yield "LIFE-01"


def _of_number(scene: Scene, record: QueuedMessage, view: v.MessageView) -> Iterator[v.RuleId]:
    number, bindings = view.sequence_number, scene.bindings
    if number is None:
        return
    entity = record.entity
    known = bindings.number_or_limits(record)
    if known == number:
        return
    other = bindings.named(entity, number)
    if isinstance(known, int):
        deferred = any(one.after is State.DEFERRED for one in scene.lives.of(record))
        moved = known >> v.SEQUENCE_BITS != number >> v.SEQUENCE_BITS
        copy = entity.kind is EntityKind.SUBSCRIPTION
        yield from rules_if(
            (deferred, "DEFER-08"), (copy and moved, "TOPIC-08"), (True, "SEQ-04", "LIFE-12")
        )
        return
    if other is not None and other is not record:
        yield "SEQ-03"
        return
    scheduled = [
        one
        for one in scene.like(record.message.body, entity)
        if one is not record and bindings.number_or_limits(one) == number
    ]
    if scheduled:
        yield "SCHED-06"
        return
    if not bindings.fits(record, number):
        yield from _of_place(scene, record)
        return
    if isinstance(known, tuple) and not known[0] < number < known[1]:
        committed = [
            e
            for e, _ in scene.sends_of(record.message.body)
            if getattr(e.command, "transaction", None)
        ]
        yield from rules_if(
            (committed, "SEQ-07"),
            (not entity.settings.partitioned, "SEQ-05"),
            (True, "SEQ-01"),
        )


def _of_place(scene: Scene, record: QueuedMessage) -> Iterator[v.RuleId]:
    """Yield the rules on the partition of a message, which its number names."""
    entity = record.entity
    key = scene.namespace.rules.keys.effective_key(entity, record.message)
    sends = scene.sends_of(record.message.body)
    forwarded = base_path(entity.path) not in {v.concerned(event.command) for event, _ in sends}
    if key is None:
        yield from ("LIFE-12", "KEY-01")
        return
    known = [
        one
        for one in entity.messages.values()
        if one is not record and one.partition == record.partition
    ]
    command = sends[-1][0].command if sends else None
    yield from rules_if(
        (forwarded and entity.base.down, "FWD-22"),
        (forwarded, "FWD-08", "FWD-11"),
        (isinstance(command, v.SendBatch), "BATCH-04"),
        (isinstance(command, v.Schedule), "SCHED-09"),
        (getattr(command, "transaction", None), "TXN-10", "TXN-05"),
        (entity.kind is EntityKind.SUBSCRIPTION, "TOPIC-07", "TOPIC-08"),
        (key.source == "SessionId" and known, "KEY-05"),
    )
    yield {"SessionId": "KEY-04", "PartitionKey": "KEY-07"}.get(key.source, "KEY-10")
    yield from ("KEY-02", "LIFE-12", "KEY-01")


def _of_reason(scene: Scene, record: QueuedMessage, view: v.MessageView) -> Iterator[v.RuleId]:
    if record.reason is None or is_same_text(record.reason, view.dead_letter_reason):
        return
    yield from of_forwarding(scene, record)
    yield from rules_if(
        (record.reason == "MaxDeliveryCountExceeded", "DLQ-02"),
        (record.reason == "TTLExpiredException", "TTL-07"),
        (True, "DLQ-05"),
    )


def _of_count(scene: Scene, record: QueuedMessage, view: v.MessageView) -> Iterator[v.RuleId]:
    if view.delivery_count is None or view.delivery_count == record.failed + 1:
        return
    last = scene.lives.of(record)[-1:]
    cause = scene.cause(record, last[0]) if last and last[0].before is not None else None
    in_session = record.session is not None
    yield from rules_if(
        (cause is v.CloseSession, "SESS-09"),
        (in_session and cause in (v.AdvanceClock, v.AcceptSession), "SESS-10"),
        (scene.asked(v.RollBackTransaction), "LOCK-12"),
        (True, "DLQ-01"),
    )


def _of_lock(scene: Scene, record: QueuedMessage, view: v.MessageView) -> Iterator[v.RuleId]:
    entity = record.entity
    token = view.lock_token
    command = scene.event.command
    locks = getattr(command, "mode", None) is v.ReceiveMode.PEEK_LOCK
    if token is not None and not scene.bindings.model_token(entity.path, token).startswith(
        "unknown"
    ):
        yield from ("LOCK-07", "BATCH-14")
    if view.locked_until is None or not locks:
        return
    until = scene.namespace.now + entity.settings.lock_duration
    if record.session is not None:
        if view.locked_until != record.session.locked_until:
            yield from ("SESS-14", "LOCK-01")
        return
    if view.locked_until == until:
        return
    updated = scene.asked(v.UpdateQueue, path=entity.path)
    refused = [event for event in updated if isinstance(event.outcome, v.Refused)]
    duration = entity.settings.lock_duration
    yield from rules_if(
        (refused, "MGMT-19"),
        (updated, "MGMT-12"),
        (updated and entity.settings.partitioned, "MGMT-17"),
        (duration == DEFAULT_LOCK, "LOCK-02"),
        (duration == LONGEST_LOCK, "LOCK-03"),
        (True, "LOCK-01"),
    )


def _of_state(record: QueuedMessage, view: v.MessageView) -> Iterator[v.RuleId]:
    if view.state is None:
        return
    deferred = record.state in (State.DEFERRED, State.DEFERRED_LOCKED)
    if deferred is not (view.state is v.MessageState.DEFERRED):
        yield "DEFER-09"
