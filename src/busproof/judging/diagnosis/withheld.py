"""Rules that are broken by giving nothing where a message has to be given."""

from collections.abc import Iterator
from typing import Final

from busproof import vocabulary as v
from busproof.judging.diagnosis.conditions import rules_if
from busproof.judging.diagnosis.origins import of_its_last_change
from busproof.judging.diagnosis.scene import Scene, tokens_of
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
    rules = [of_its_last_change(scene, record) for record in given]
    # Why something is no copy says more than that an outage is over.
    if any(set(OF_NO_COPY) & set(some) for some in rules):
        yield from (some[0] for some in rules if some)
    yield from circumstances
    for some in rules:
        yield from some
    in_session = entity.settings.requires_session
    settled = (tokens_of(event.command) for event in scene.done(v.SettleBatch, path=entity.path))
    # What a request released for several partitions has to come from each of them.
    released = [tokens for tokens in settled if any(scene.holding(one) in given for one in tokens)]
    yield from rules_if(
        (any(map(scene.of_several_partitions, released)), "LOCK-16"),
        (released, "LOCK-14"),
        (in_session and scene.event.command, "SESS-05"),
        (isinstance(scene.event.command, v.ReceiveBatch), "FEAT-07", "BATCH-12"),
        (entity.kind is EntityKind.SUBSCRIPTION and entity.settings.partitioned, "TOPIC-09"),
        (True, "LIFE-09", "PART-09", "PART-25", "LIFE-01"),
    )


OF_NO_COPY: Final = ("DUP-01", "DUP-08", "DUP-10", "DUP-13")


def of_circumstances(scene: Scene, entity: Entity) -> Iterator[v.RuleId]:
    """Yield the rules by which something that happened elsewhere does not matter."""
    down = bool(entity.base.down)
    path = entity.path
    partitioned = entity.settings.partitioned
    received = scene.done(v.Receive, path=path)
    own = [event for event in received if event.connection == scene.event.connection]
    subscription = entity.kind is EntityKind.SUBSCRIPTION
    waited = scene.asked(v.AdvanceClock)
    if entity.owner is not entity:
        return
    yield from rules_if(
        (_since(scene, v.CancelScheduled), "SCHED-05"),
        (_has_changed_forwarding(scene, path), "FWD-05"),
        (subscription and scene.statuses_of(path), "TOPIC-25"),
        (scene.statuses_of(path), "MGMT-27"),
        (subscription and scene.statuses_of(entity.base.path), "TOPIC-26"),
        (partitioned and len(own) < len(received) and waited, "LIFE-13"),
        (scene.created_twice(entity.path), "MGMT-09"),
        (scene.asked(v.RestoreQueue, path=entity.path), "PREM-03"),
        (scene.is_full, "SIZE-11"),
        (not down and any(map(scene.outlasted, scene.given())), "PART-04"),
        (scene.own_outages and down, "PART-02"),
        (scene.other_outages, "PART-05"),
        (_since(scene, v.DeleteBatch), "BATCH-15", "BATCH-17"),
        (any(map(scene.was_peeked, scene.given())), "LIFE-07"),
    )


def _since(scene: Scene, kind: type[v.Command]) -> bool:
    """Return whether such a request came since the last change of a message that is withheld."""
    return any(
        isinstance(event.command, kind) and v.concerned(event.command) == scene.path
        for record in scene.given()
        for event in scene.since(record)
    )


def _has_changed_forwarding(scene: Scene, path: str) -> bool:
    """Return whether an update has changed where an entity forwards to."""
    updates = scene.done(v.UpdateQueue, path=path)
    return any(getattr(event.command, "forward_to", None) is not None for event in updates)
