"""Rules that are broken by refusing a request that has to be served."""

from collections.abc import Iterator
from typing import Final

from busproof import vocabulary as v
from busproof.judging.diagnosis.conditions import rules_if
from busproof.judging.diagnosis.scene import Scene
from busproof.model.values import EntityKind

__all__ = ["wrongly_refused"]

FULL: Final = v.Error.QUOTA_EXCEEDED
DISABLED: Final = v.Error.ENTITY_DISABLED


def wrongly_refused(scene: Scene) -> Iterator[v.RuleId]:
    """Yield the rules that are broken by a refusal."""
    command, outcome = scene.event.command, scene.event.outcome
    error = outcome.error if isinstance(outcome, v.Refused) else None
    entity = scene.entity
    if error is DISABLED:
        yield "MGMT-28"
    if entity is not None and scene.namespace.profile.tier is v.Tier.PREMIUM:
        yield from rules_if((scene.asked(v.RestoreQueue, path=entity.path), "PREM-03"))
    match command:
        case v.Send():
            yield from _send(scene, command, error)
        case v.Complete() | v.Abandon() | v.DeadLetter() | v.Defer() | v.RenewLock():
            yield from _settlement(scene)
    yield from scene.rules_of_answers


def _send(scene: Scene, command: v.Send, error: v.Error | None) -> Iterator[v.RuleId]:
    entity, message = scene.entity, command.message
    if entity is None:
        return
    key = scene.namespace.rules.keys.effective_key(entity, message)
    downs = scene.asked(v.TakePartitionDown)
    own = [event for event in downs if v.owner_of(v.concerned(event.command) or "") == entity.path]
    topic = entity.kind is EntityKind.TOPIC
    premium = scene.namespace.profile.tier is v.Tier.PREMIUM
    refused = [e for e in scene.before if getattr(e.outcome, "error", None) is FULL]
    both = message.session_id is not None and message.session_id == message.partition_key
    if command.transaction is not None:
        others = [e for e in scene.asked(v.Send) if getattr(e.command, "transaction", None)]
        yield from rules_if(
            (len(others) > 10, "LIMIT-15"),
            (entity.settings.forward_to, "FWD-34"),
            (premium, "PREM-13"),
            (not entity.settings.partitioned and message.session_id and others, "TXN-09"),
            (not entity.settings.partitioned, "TXN-14"),
            (key is not None and others, "TXN-02"),
            (message.partition_key and not message.session_id, "TXN-11"),
            (True, "TXN-01"),
        )
        return
    yield from rules_if(
        (error is FULL and refused and key is not None, "SIZE-08"),
        (error is FULL and scene.asked(v.Receive), "SIZE-12"),
        (error is FULL and entity.settings.partitioned, "SIZE-04"),
        (error is FULL, "SIZE-06"),
        (both, "KEY-09"),
        (topic and scene.deleted_subscriptions(entity.path), "TOPIC-23"),
        (own and topic and key is None, "TOPIC-11"),
        (own and key is None, "KEY-15"),
        (own, "PART-02"),
        (downs and not own, "PART-05"),
        (topic and not downs, "TOPIC-04"),
        (premium and message.partition_key, "PREM-12"),
        (key is None and command.timeout <= 15 * v.MICROSECONDS, "KEY-25"),
        (entity.settings.partitioned and key is None, "FEAT-05"),
        (message.message_id is not None, "KEY-12"),
    )


def _settlement(scene: Scene) -> Iterator[v.RuleId]:
    """Yield the rules by which a lock has to be usable."""
    entity = scene.entity
    renewed = [
        e
        for e in scene.asked(v.RenewLock, v.RenewLocks, path=scene.path)
        if not isinstance(e.outcome, v.Refused)
    ]
    others = scene.asked(v.Complete, v.Abandon, v.DeadLetter, v.Defer, path=scene.path)
    batches = scene.asked(v.SettleBatch, path=scene.path)
    premature = scene.asked(v.UpdateQueue, path=scene.path)
    yield from rules_if(
        (scene.asked(v.DeleteBatch), "BATCH-16"),
        (scene.asked(v.RollBackTransaction), "LOCK-12"),
        (scene.asked(v.BeginTransaction), "LOCK-11"),
        (batches, "LOCK-16", "LOCK-14"),
        (scene.asked(v.RenewSessionLock), "SESS-14"),
        (scene.asked(v.RenewLocks), "LOCK-18"),
        (scene.asked(v.ReceiveBatch), "BATCH-14"),
        (renewed and len(scene.asked(v.Receive)) > 1, "LOCK-10"),
        (renewed, "LOCK-04"),
        (others, "LOCK-10"),
        (premature, "LOCK-01"),
        (entity is not None and entity.settings.partitioned, "PART-12"),
        (True, "LIFE-06", "LOCK-10", "LOCK-01"),
    )
