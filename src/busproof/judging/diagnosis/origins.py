"""How a message came to be where it is, and the rules that brought it there."""

from collections.abc import Iterator
from typing import Final

from busproof import vocabulary as v
from busproof.judging.diagnosis.conditions import rules_if
from busproof.judging.diagnosis.filters import rules_of_filters
from busproof.judging.diagnosis.scene import Scene
from busproof.judging.replay.bindings import Numbered
from busproof.judging.replay.evidence import base_path
from busproof.model.duplicates import LONGEST_WINDOW, SHORTEST_WINDOW
from busproof.model.life_cycle import State
from busproof.model.state import Entity, QueuedMessage
from busproof.model.values import EntityKind

__all__ = [
    "copies_sent",
    "of_forwarding",
    "of_its_last_change",
    "of_origin",
    "topic_of",
]

OF_REASONS: Final[dict[str | None, tuple[v.RuleId, ...]]] = {
    "TTLExpiredException": ("TTL-07", "TTL-02"),
    "MaxDeliveryCountExceeded": ("DLQ-02",),
    "DestinationNotFound": ("FWD-20",),
    "DestinationDisabled": ("FWD-19",),
    "DestinationFull": ("FWD-21",),
    "SessionIdMissing": ("FWD-27",),
    "MaxTransferHopCountExceeded": ("FWD-18", "FWD-17"),
}
"""Reason of a dead letter to the rule that made it one; any other is a receiver's (DLQ-05)."""

OF_LAST_REQUEST: Final[dict[type[v.Command], tuple[v.RuleId, ...]]] = {
    v.Abandon: ("LIFE-04",),
    v.SettleBatch: ("LOCK-14", "LIFE-04"),
    v.AdvanceClock: ("LIFE-05",),
    v.CloseSession: ("SESS-08", "SESS-09"),
    v.CommitTransaction: ("LOCK-11", "LIFE-04"),
    v.RollBackTransaction: ("LOCK-12",),
}
"""Request at which a message was released to the rule by which it can be received again."""

OF_REMOVALS: Final[dict[type[v.Command], tuple[v.RuleId, ...]]] = {
    v.Complete: ("LIFE-03",),
    v.Receive: ("LIFE-03",),
    v.ReceiveBatch: ("LIFE-03", "BATCH-12"),
    v.ReceiveDeferred: ("DEFER-07", "DEFER-03", "LIFE-03"),
    v.DeadLetter: ("DLQ-14", "DLQ-05"),
    v.SettleBatch: ("LOCK-14", "LIFE-03"),
    v.DeleteBatch: ("BATCH-15", "LIFE-03"),
    v.CommitTransaction: ("LOCK-11", "LIFE-03"),
    v.CancelScheduled: ("SCHED-04",),
    v.DeleteQueue: ("MGMT-15",),
    v.DeleteTopic: ("TOPIC-22", "MGMT-15"),
    v.Abandon: ("DLQ-02", "DLQ-14"),
}
"""Request at which a message left its entity to the rule by which it is gone."""


def topic_of(entity: Entity | None) -> Entity | None:
    """Return the topic of a subscription; `None` for any other entity."""
    if entity is None or entity.kind is not EntityKind.SUBSCRIPTION:
        return None
    return entity.base


def copies_sent(scene: Scene, message_id: str | None) -> list[tuple[v.Event, v.Message]]:
    """Return the earlier sends of messages with a MessageId, each with the message."""
    return [] if message_id is None else scene.sends_under(message_id)


def of_forwarding(scene: Scene, record: Numbered) -> Iterator[v.RuleId]:
    """FWD-01 to FWD-06, FWD-26: yield the rules by which a message was forwarded, if it was."""
    entity = record.entity
    sends = scene.sends_of(record.message.body)
    sources = {v.concerned(event.command) or "" for event, _ in sends}
    if not sources or base_path(entity.path) in sources:
        return
    hops = scene.hops_to(entity.path)
    source = scene.namespace.entities.get(hops[0]) if hops else None
    if source is None:
        return
    if source.kind is EntityKind.DEAD_LETTERS:
        yield "FWD-35"
        return
    if entity.settings.requires_session:
        yield "FWD-26"
    if len(hops) > 2:
        yield "FWD-16"
    if source.kind is EntityKind.SUBSCRIPTION:
        yield "FWD-30"
    yield OF_PAIRS[source.settings.partitioned, entity.settings.partitioned]
    yield "FWD-04"


OF_PAIRS: Final[dict[tuple[bool, bool], v.RuleId]] = {
    (True, False): "FWD-01",
    (False, True): "FWD-02",
    (True, True): "FWD-03",
    (False, False): "FWD-06",
}
"""Whether source and destination are partitioned to the rule of this pair."""


def of_origin(scene: Scene, record: QueuedMessage) -> Iterator[v.RuleId]:
    """Yield the rules by which a message is there that nobody has received yet."""
    entity = record.entity
    message = record.message
    if entity.kind in (EntityKind.DEAD_LETTERS, EntityKind.TRANSFERS):
        given = any(
            one.after is State.GONE
            for other in dead_ones(scene, entity, record)
            for one in scene.lives.of(other)
        )
        yield from rules_if((given or scene.own_outages, "DLQ-12"))
        yield from OF_REASONS.get(record.reason, ("DLQ-05",))
        yield from ("DLQ-12", "DLQ-07", "DLQ-09", "DLQ-08")
        return
    sends = scene.sends_of(message.body)
    if sends:
        yield from of_request(scene, record, sends[-1][0].command)
    yield from of_forwarding(scene, record)
    yield from of_detection(scene, record)
    if entity.settings.time_to_live or message.time_to_live or scene.lifetimes_changed():
        yield from of_lifetime(scene, record)
    if topic_of(entity) is not None:
        yield from of_copies(scene, entity, message)


def dead_ones(scene: Scene, entity: Entity, besides: QueuedMessage) -> list[Numbered]:
    """Return the other messages that are or were in a dead-letter queue."""
    everything = scene.lives.everything()
    return [one for one in everything if one.entity is entity and one is not besides]


def of_request(scene: Scene, record: QueuedMessage, sent: v.Command) -> tuple[v.RuleId, ...]:
    """Return the rules by which the request that sent a message brought it."""
    entity = record.entity
    message = record.message
    scheduled = isinstance(sent, v.Schedule)
    batch = isinstance(sent, v.SendBatch)
    inside = getattr(sent, "transaction", None) is not None
    mortal = message.time_to_live is not None or entity.settings.time_to_live is not None
    regular = not entity.settings.partitioned
    return rules_if(
        (scheduled and mortal, "TTL-12"),
        (isinstance(sent, v.Schedule) and sent.delay <= 0, "SCHED-14"),
        (scheduled and scene.asked(v.CancelScheduled), "SCHED-05"),
        (scheduled and scene.asked(v.TakePartitionDown), "SCHED-11"),
        (scheduled, "SCHED-02"),
        (inside and batch, "BATCH-08"),
        (inside and topic_of(entity) is not None, "TOPIC-15"),
        (inside and entity.settings.requires_session and regular, "SESS-26"),
        (inside, "TXN-12"),
        (batch and not inside and entity.base.settings.duplicate_detection, "BATCH-09"),
        (batch and not inside, "BATCH-01"),
    )


def of_detection(scene: Scene, record: Numbered) -> Iterator[v.RuleId]:
    """DUP-01, DUP-04, DUP-08, DUP-10, DUP-13: yield why a message is no copy of another."""
    entity = record.entity
    message = record.message
    others = [one for one in copies_sent(scene, message.message_id) if one[1] is not message]
    if not entity.base.settings.duplicate_detection:
        if others and message.message_id is not None:
            yield "KEY-12"
        return
    if message.message_id is None:
        yield "DUP-04"
        return
    here = [event for event, _ in others if v.concerned(event.command) == entity.base.path]
    rolled_back = {
        event.command.transaction
        for event in scene.asked(v.RollBackTransaction)
        if isinstance(event.command, v.RollBackTransaction)
    }
    yield from rules_if(
        (has_odd_window(scene, entity.base), "DUP-03"),
        (any(isinstance(event.outcome, v.Refused) for event in here), "DUP-08"),
        (any(getattr(e.command, "transaction", None) in rolled_back for e in here), "DUP-10"),
        (others and not here, "DUP-13"),
        (scene.asked(v.DeleteQueue, v.DeleteTopic), "MGMT-15"),
        (here, "DUP-01"),
        (True, "DUP-04"),
    )


def has_odd_window(scene: Scene, entity: Entity) -> bool:
    """DUP-03: return whether a request named a duplicate window that no entity may have.

    A bus that accepts one may take the nearest instead, as the model does.
    """
    return any(
        isinstance(event.command, v.CreateQueue | v.CreateTopic)
        and v.created_path(event.command) == entity.path
        and not SHORTEST_WINDOW <= event.command.duplicate_window <= LONGEST_WINDOW
        for event in scene.history
    )


def of_lifetime(scene: Scene, record: Numbered) -> Iterator[v.RuleId]:
    """TTL-03, TTL-04, MGMT-12: yield the rules on how long a message lives."""
    own = record.message.time_to_live
    most = record.entity.settings.time_to_live
    yield from rules_if(
        (scene.lifetimes_changed(), "MGMT-12"),
        (own is None, "TTL-03"),
        (own is not None and most not in (None, own), "TTL-04"),
        (True, "TTL-02"),
    )


def of_copies(scene: Scene, subscription: Entity, message: v.Message) -> Iterator[v.RuleId]:
    """Yield the rules by which a subscription has a copy of a message."""
    topic = subscription.base
    path = subscription.path
    others = [one for one in topic.subscriptions or () if one is not subscription]
    touched = any(
        scene.lives.of(one)[1:] for one in scene.like(message.body) if one.entity in others
    )
    received = any(
        one.entity is subscription and one.partition and len(scene.lives.of(one)) > 1
        for one in scene.lives.everything()
    )
    keyless = scene.namespace.rules.keys.effective_key(topic, message) is None
    changes = scene.rule_changes(path)
    yield from rules_if(
        (scene.done(v.DeleteTopic), "MGMT-15", "TOPIC-22"),
        (scene.deleted_subscriptions(topic.path), "TOPIC-23"),
        (scene.statuses_of(path), "TOPIC-25"),
        (scene.statuses_of(topic.path), "TOPIC-26"),
        (scene.created_twice(path), "MGMT-09"),
        (scene.own_outages and keyless, "TOPIC-11"),
        (any(one.settings.requires_session for one in topic.subscriptions or ()), "TOPIC-13"),
        (touched and not changes, "TOPIC-02"),
        (others and not changes, "TOPIC-01"),
        (received and not changes, "TOPIC-09"),
        (not changes, "TOPIC-01"),
    )
    yield from rules_of_filters(scene, subscription, message)
    yield from rules_if((touched, "TOPIC-02"), (True, "TOPIC-01"))


def of_its_last_change(scene: Scene, record: QueuedMessage) -> tuple[v.RuleId, ...]:
    """Return the rules by which a message that was received can be received again."""
    changes = scene.lives.of(record)
    if record.cached_by is not None:
        changes = changes[:-1]  # nobody has received it yet
    if not changes or changes[-1].before is None:
        return tuple(of_origin(scene, record))
    last = changes[-1]
    cause = scene.cause(record, last)
    entity = record.entity
    session = record.session
    most = entity.owner.settings.max_delivery_count
    dead = entity.dead_letters is None
    return (
        *rules_if(
            (record.expires_at is not None, *of_lifetime(scene, record)),
            (scene.refused(*SETTLEMENTS, path=entity.path), "LOCK-08"),
            (session is not None and cause is v.Abandon, "SESS-15"),
            (session is not None and cause is v.AdvanceClock, "SESS-11"),
            (dead and record.failed >= most, "DLQ-09"),
            (dead, "DLQ-07", "DLQ-09"),
            (record.failed >= most - 1 or most > 10, "DLQ-03"),
            (record.failed >= 9, "DLQ-04"),
        ),
        *OF_LAST_REQUEST.get(cause, ()),
    )


SETTLEMENTS: Final = (v.Complete, v.Abandon, v.DeadLetter, v.Defer)
