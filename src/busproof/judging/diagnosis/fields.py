"""Fields of a message that differ from what the model gives, and the rules on each."""

from collections.abc import Iterator, Mapping
from typing import Final

from immutables import Map

from busproof import vocabulary as v
from busproof.filters.parser import Outside, parsed_action
from busproof.judging.diagnosis.conditions import rules_if
from busproof.judging.diagnosis.origins import of_forwarding
from busproof.judging.diagnosis.scene import Scene
from busproof.judging.replay.agreement import CARRIED, is_same_text
from busproof.judging.replay.evidence import base_path
from busproof.model.life_cycle import State
from busproof.model.state import Entity, QueuedMessage
from busproof.model.values import EntityKind

__all__ = ["misplaced", "wrong_fields"]

RULE_NAME: Final = "RuleName"
DEFAULT_LOCK: Final = 60 * v.MICROSECONDS
LONGEST_LOCK: Final = 300 * v.MICROSECONDS
KEYS: Final = ("session_id", "partition_key", "message_id")
RULE_OF_KEY: Final = {"SessionId": "KEY-04", "PartitionKey": "KEY-07", "MessageId": "KEY-10"}


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
    named = properties and v.same_properties(unnamed(sent.properties), unnamed(view.properties))
    premium = scene.namespace.profile.tier is v.Tier.PREMIUM
    batch = any(isinstance(e.command, v.SendBatch) for e, _ in scene.sends_of(sent.body))
    yield from rules_if(
        (entity.kind is EntityKind.DEAD_LETTERS, "DLQ-06"),
        (premium and "partition_key" in changed, "PREM-12"),
        (premium and "session_id" in changed, "PREM-11"),
        (batch, "BATCH-01"),
        (named, "FILTER-23"),
        (any(map(has_several_statements, acting)), "FILTER-29"),
        (acting, "FILTER-21", "FILTER-29", "FILTER-24", "FILTER-22"),
        (entity.kind is EntityKind.SUBSCRIPTION and scene.asked(v.AddRule), "FILTER-24"),
        (forwarded and set(changed) & set(KEYS), "FWD-07"),
    )
    yield from () if set(changed) & set(KEYS) else of_forwarding(scene, record)
    yield "LIFE-01"


def _of_number(scene: Scene, record: QueuedMessage, view: v.MessageView) -> Iterator[v.RuleId]:
    number = view.sequence_number
    bindings = scene.bindings
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
        yield from _of_place(scene, record, number)
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


def _of_place(scene: Scene, record: QueuedMessage, number: int) -> Iterator[v.RuleId]:
    """Yield the rules on the partition of a message, which its number names."""
    place = number >> v.SEQUENCE_BITS
    key = scene.namespace.rules.keys.effective_key(record.entity, record.message)
    sends = scene.sends_of(record.message.body)
    witness = sends[-1][0].witness if sends else None
    # Where the send has shown its partition, the message is there and its number is wrong.
    is_known = witness is not None and witness.partition == record.partition
    if place < len(record.entity.partitions):
        yield from rules_if((key is None or is_known, "LIFE-12", "KEY-01"))
    yield from misplaced(scene, record.entity, record.message, place)
    yield from ("LIFE-12", "KEY-01")


def misplaced(scene: Scene, entity: Entity, message: v.Message, place: int) -> Iterator[v.RuleId]:
    """Yield the rules that are broken by a message in this partition.

    What was sent before comes first: a key that has moved says more than a key.
    """
    premium = scene.namespace.profile.is_partitioned
    if place >= len(entity.partitions):
        yield "PREM-16" if premium else "SIZE-05"
    sends = scene.sends_of(message.body)
    command = sends[-1][0].command if sends else scene.event.command
    key = scene.namespace.rules.keys.effective_key(entity, message)
    base = entity.base
    forwarded = bool(sends) and base_path(entity.path) not in {
        v.concerned(event.command) for event, _ in sends
    }
    inside = getattr(command, "transaction", None)
    together = [
        event
        for event in scene.asked(v.Send, v.SendBatch)
        if inside is not None and getattr(event.command, "transaction", None) == inside
    ]
    of_topic = base.kind is EntityKind.TOPIC
    regular = not entity.settings.partitioned
    if key is None:
        yield from rules_if(
            (regular, "MGMT-03"),
            (scene.own_outages, "KEY-15"),
            (message.message_id is not None, "KEY-12"),
            (True, "KEY-14", "KEY-01"),
        )
        return
    alone = {message.session_id, message.partition_key, message.message_id} <= {key.value, None}
    earlier = scene.uses_of_key(base.path, key.value)
    yield from rules_if(
        (scene.asked(v.RestoreQueue, path=base.path), "PREM-03"),
        (forwarded and base.down, "FWD-22"),
        (forwarded, "FWD-08", "FWD-11"),
        (isinstance(command, v.SendBatch), "BATCH-04"),
        (isinstance(command, v.Schedule), "SCHED-09"),
        (inside and len(together) > (1 if sends else 0), "TXN-10"),
        (inside, "TXN-05", "TXN-10"),
        (of_topic, "TOPIC-07"),
        (entity.kind is EntityKind.SUBSCRIPTION, "TOPIC-08"),
        (scene.own_outages, "KEY-20"),
        (key.source == "SessionId" and alone and earlier, "KEY-05"),
        (
            key.source == "PartitionKey" and message.message_id is not None and detects(base),
            "KEY-24",
        ),
        (key.source == "PartitionKey" and alone and earlier, "KEY-02"),
    )
    yield RULE_OF_KEY.get(key.source, "KEY-10")
    yield from ("KEY-02", "KEY-20")


def detects(entity: Entity) -> bool:
    """Return whether an entity detects duplicates."""
    return entity.settings.duplicate_detection


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


def unnamed(properties: Mapping[str, v.PropertyValue]) -> Map[str, v.PropertyValue]:
    """Return properties without the name of the rule that made the copy."""
    return Map({name: value for name, value in properties.items() if name != RULE_NAME})


def has_several_statements(rule: v.SubscriptionRule) -> bool:
    """FILTER-29: return whether an action changes more than one thing."""
    statements = parsed_action(rule.action or "")
    return not isinstance(statements, Outside) and len(statements) > 1
