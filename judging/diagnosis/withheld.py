"""Rules that are broken by giving nothing where a message has to be given."""

from collections.abc import Iterator

from busproof import vocabulary as v
from busproof.judging.diagnosis.conditions import rules_if
from busproof.judging.diagnosis.origins import of_its_last_change
from busproof.judging.diagnosis.scene import Scene
from busproof.model.state import Entity
from busproof.model.values import EntityKind

__all__ = ["of_circumstances", "withheld"]


def withheld(scene: Scene) -> Iterator[v.RuleId]:
    """Yield the rules that are broken by an empty answer."""
    match scene.event.command:
        case v.ReceiveDeferred():
            yield "DEFER-03" if scene.is_refused_anyway else "DEFER-02"
        case v.AcceptNextSession():
            yield from ("SESS-06", "SESS-07")
        case _:
            yield from _not_received(scene)
    yield from scene.rules_of_answers


def _not_received(scene: Scene) -> Iterator[v.RuleId]:
    entity = scene.entity
    if entity is None:
        return
    circumstances = tuple(of_circumstances(scene, entity))
    given = scene.given()
    fresh = [record for record in given if len(scene.lives.of(record)) < 2]
    for record in given:
        if record in fresh:
            yield from circumstances
        yield from of_its_last_change(scene, record)
    yield from circumstances
    in_session = entity.settings.requires_session
    yield from rules_if(
        (in_session and scene.event.command, "SESS-05"),
        (isinstance(scene.event.command, v.ReceiveBatch), "FEAT-07", "BATCH-12"),
        (entity.kind is EntityKind.SUBSCRIPTION and entity.settings.partitioned, "TOPIC-09"),
        (entity.settings.partitioned, "LIFE-09"),
        (True, "LIFE-01"),
    )


def of_circumstances(scene: Scene, entity: Entity) -> Iterator[v.RuleId]:
    """Yield the rules by which something that happened elsewhere does not matter."""
    namespace = scene.namespace
    base = entity.base.path
    downs = scene.asked(v.TakePartitionDown)
    own = [event for event in downs if v.owner_of(v.concerned(event.command) or "") == base]
    refused = [e for e in scene.before if isinstance(e.outcome, v.Refused)]
    full = [e for e in refused if getattr(e.outcome, "error", None) is v.Error.QUOTA_EXCEEDED]
    yield from rules_if(
        (scene.statuses_of(entity.path), "MGMT-27"),
        (scene.created_twice(entity.path), "MGMT-09"),
        (scene.asked(v.RestoreQueue, path=entity.path), "PREM-03"),
        (full, "SIZE-11"),
        (own and not entity.base.down, "PART-04"),
        (own and entity.base.down, "PART-02"),
        (downs and not own, "PART-05"),
        (scene.asked(v.Peek, path=entity.path), "LIFE-07"),
        (namespace.profile.is_partitioned, "PREM-12"),
    )
