"""Updates and deletions of entities of any kind, including settings that no command has."""

from collections.abc import Mapping
from typing import Any

import attrs

from busproof import vocabulary as v
from busproof.broker.bus import Bus
from busproof.broker.direct_actions import change, check_change
from busproof.model import Answer
from busproof.model.values import EntityKind, Refusal

__all__ = ["manage_entity", "update_entity"]


def manage_entity(bus: Bus, command: v.UpdateQueue | v.DeleteQueue) -> Answer:
    """Update or delete an entity of any kind by the command for its kind."""
    if getattr(bus.entity(command.queue), "kind", None) is not EntityKind.TOPIC:
        return bus.ask(command, "administration")
    if isinstance(command, v.DeleteQueue):
        return bus.ask(v.DeleteTopic(topic=command.queue), "administration")
    changed = v.UpdateTopic(
        topic=command.queue,
        partitioned=command.partitioned,
        duplicate_detection=command.duplicate_detection,
        time_to_live=command.time_to_live,
        status=command.status,
        max_size=command.max_size,
    )
    return bus.ask(changed, "administration")


def update_entity(bus: Bus, command: v.UpdateQueue, more: Mapping[str, Any]) -> Answer:
    """Update an entity by a command and by `more` settings that the command does not have."""
    entity = bus.entity(command.queue)
    if entity is None or not more or not bus.is_trusted:
        return manage_entity(bus, command)
    try:
        check_change(bus.namespace, entity, attrs.evolve(entity.settings, **more))
    except Refusal as refusal:
        return Answer(v.Refused(error=refusal.error), rules=refusal.rules)
    answer = manage_entity(bus, command)
    if answer.refused is None:
        after = attrs.evolve(entity.settings, **more)
        bus.act(lambda namespace: change(namespace, entity, after))
    return answer
