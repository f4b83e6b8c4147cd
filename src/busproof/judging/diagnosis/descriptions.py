"""Fields of a description that differ from the model's, and the rules on each."""

from collections.abc import Iterator
from typing import Any, Final

import attrs

from busproof import vocabulary as v
from busproof.judging.diagnosis.conditions import rules_if
from busproof.judging.diagnosis.scene import Scene

__all__ = ["wrongly_described"]

OF_FIELDS: Final[dict[str, tuple[v.RuleId, ...]]] = {
    "requires_session": ("MGMT-13", "MGMT-11"),
    "duplicate_detection": ("MGMT-14", "MGMT-11"),
    "lock_duration": ("MGMT-11",),
    "max_delivery_count": ("MGMT-11",),
    "time_to_live": ("MGMT-11",),
    "duplicate_window": ("MGMT-11",),
    "message_count": ("MGMT-20",),
    "size": ("SIZE-13", "MGMT-20"),
    "availability": ("MGMT-21", "MGMT-22"),
    "transfer_dead_letters": ("FWD-32",),
    "subscription_count": ("TOPIC-24",),
}
"""Field of a description to the rules on it."""


CHANGEABLE: Final = ("lock_duration", "max_delivery_count", "time_to_live")
"""Settings that an update can change."""


def wrongly_described(scene: Scene) -> Iterator[v.RuleId]:
    """Yield the rules that are broken by the first wrong field of a description."""
    outcome: Any = scene.event.outcome
    told = outcome.description
    own: list[Any] = [
        answer.outcome.description
        for answer in scene.answers
        if isinstance(answer.outcome, v.Described | v.TopicDescribed)
    ]
    for field in attrs.fields(type(told)):
        name = field.name
        value = getattr(told, name)
        if value is None or name in ("queue", "topic"):
            continue
        if all(getattr(one, name) != value for one in own):
            yield from _of_field(scene, name, value)
    yield "MGMT-11"


def _of_field(scene: Scene, name: str, value: Any) -> Iterator[v.RuleId]:
    updates = [
        event
        for event in scene.asked(v.UpdateQueue, v.UpdateTopic)
        if getattr(event.command, name, None) is not None
    ]
    refused = [event for event in updates if isinstance(event.outcome, v.Refused)]
    changed = scene.asked(v.UpdateQueue, v.UpdateTopic)
    premium = scene.namespace.profile.tier is v.Tier.PREMIUM
    if name == "partitioned":
        yield from _of_partitioning(scene, refused=bool(refused), premium=premium)
    if name == "max_size":
        yield from _of_size(scene, value, premium=premium)
    if name == "message_count":
        scheduled = scene.entity is not None and scene.entity.scheduled
        readings = scene.namespace.profile.readings.get("SCHEDULED-COUNT")
        yield from rules_if(
            (scheduled and readings == "counted", "MGMT-29"),
            (scheduled and readings == "left-out", "MGMT-30"),
        )
    if name == "availability":
        full = [
            event
            for event in scene.before
            if getattr(event.outcome, "error", None) is v.Error.QUOTA_EXCEEDED
        ]
        limited = value is v.Availability.LIMITED
        yield from rules_if((full, "SIZE-11"), (limited, "MGMT-22"), (not limited, "MGMT-21"))
        return
    if name in ("requires_session", "duplicate_detection") and not updates:
        yield "MGMT-11"
    yield from rules_if(
        (refused and name in ("lock_duration", "max_delivery_count"), "MGMT-19"),
        (changed and name in CHANGEABLE, "MGMT-12", "MGMT-17"),
    )
    yield from OF_FIELDS.get(name, ())


def _of_partitioning(scene: Scene, *, refused: bool, premium: bool) -> Iterator[v.RuleId]:
    entity = scene.entity
    partitioned = entity is not None and entity.settings.partitioned
    again = scene.created_twice(scene.path) or scene.asked(v.DeleteQueue, v.DeleteTopic)
    whole = scene.namespace.profile.is_partitioned
    restored = scene.asked(v.RestoreQueue)
    yield from rules_if(
        (whole, "PREM-14"),
        (premium and not whole and restored and again, "PREM-06"),
        (premium and not whole and restored, "PREM-04"),
        (refused or scene.asked(v.UpdateQueue, v.UpdateTopic), "MGMT-04"),
        (again, "MGMT-05"),
        (premium and not whole, "PREM-01"),
        (partitioned, "MGMT-01"),
        (not partitioned, "MGMT-03"),
    )


def _of_size(scene: Scene, told: int, *, premium: bool) -> Iterator[v.RuleId]:
    """SIZE-01 to SIZE-06, PREM-07 to PREM-10: yield the rules on the size of an entity."""
    entity = scene.entity
    if entity is None:
        return
    created = [
        event.command
        for event in scene.done(v.CreateQueue, v.CreateTopic)
        if scene.path in (getattr(event.command, "queue", ""), getattr(event.command, "topic", ""))
    ]
    wanted = getattr(created[-1], "max_size", None) if created else None
    partitions = len(entity.partitions)
    partitioned = entity.settings.partitioned
    whole = entity.settings.max_size
    odd = wanted is not None and wanted != whole
    multiplied = told == (wanted or 1) * partitions or told % max(wanted or 1, 1) == 0
    updates = scene.asked(v.UpdateQueue, v.UpdateTopic)
    resized = [e for e in updates if getattr(e.command, "max_size", None) is not None]
    yield from rules_if(
        (resized, "SIZE-16"),
        (premium and wanted is None, "PREM-09"),
        (premium and odd, "PREM-08"),
        (premium and told > (wanted or 1) and multiplied, "PREM-10"),
        (premium, "PREM-07", "PREM-08", "PREM-10"),
        (not premium and wanted is None and told not in (whole, 1), "SIZE-03"),
        (not premium and odd, "SIZE-02"),
        (not premium and partitioned and told in (whole, wanted or 1), "SIZE-04"),
        (not premium and not partitioned and told > whole, "SIZE-06"),
        (not premium and wanted is not None, "SIZE-01"),
        (True, "SIZE-04", "SIZE-05", "SIZE-06", "SIZE-02", "SIZE-03", "SIZE-01"),
    )
