"""The status page: entities with their partitions, sessions and locks.

Messages are never scanned, so that frequent refreshes delay no client.
"""

import base64
import hashlib
from importlib import resources
from itertools import islice
from string import Template
from typing import Any, Final

from busproof.broker.core import Hub
from busproof.broker.observability.message_counts import Tally
from busproof.model.state import Entity, QueuedMessage

__all__ = ["MOST_LISTED", "entity_told", "kind_of", "overview", "page"]

MOST_LISTED: Final = 50
"""Maximum number of sessions, and of locks, to list for an entity."""


MOST_SHOWN: Final = 1_500
"""Maximum number of entities on the page, so that other clients do not wait for long."""


def overview(hub: Hub, *, may_disturb: bool) -> dict[str, Any]:
    """Return the data of the page for JSON, with times in milliseconds since 1970.

    Args:
        hub: the broker's core.
        may_disturb: whether the viewer may take down partitions.
    """
    bus = hub.bus
    namespace = bus.namespace
    profile = namespace.profile
    return {
        "tier": profile.tier.value,
        "namespace_partitions": profile.namespace_partitions,
        "edition": profile.edition,
        "clock": bus.clock.value,
        "now": bus.epoch_ms(bus.now),
        "connections": len(hub.connections),
        "may_disturb": may_disturb,
        "entities": [_list_entity(hub, name) for name in bus.names()[:MOST_SHOWN]],
    }


def _list_entity(hub: Hub, name: str) -> dict[str, Any]:
    tally = hub.tallies.of(hub.bus.namespace.entities[name])
    some = {"some_sessions": _sessions(hub, tally), "some_locks": _locks(hub, tally)}
    return entity_told(hub, name) | some


def entity_told(hub: Hub, name: str) -> dict[str, Any]:
    """Return the data of an entity and of its partitions."""
    entity = hub.bus.namespace.entities[name]
    tally = hub.tallies.of(entity)
    beneath = (entity.dead_letters, entity.transfers)
    return {
        "name": name,
        "kind": kind_of(entity),
        "partitioned": entity.settings.partitioned,
        "status": entity.status.value,
        "requires_session": entity.settings.requires_session,
        "forward_to": entity.settings.forward_to,
        "partitions": _partitions(entity, tally),
        "messages": len(entity.messages),
        "locked": len(tally.locked),
        "scheduled": len(entity.scheduled),
        "dead_letters": sum(len(child.messages) for child in beneath if child is not None),
        "sessions": len(tally.sessions),
    }


def kind_of(entity: Entity) -> str:
    """Return the kind of an entity: queue, topic or subscription."""
    return entity.kind.value


def _partitions(entity: Entity, tally: Tally) -> list[dict[str, Any]]:
    return [
        {
            "ready": partition.messages - len(aside),
            "bytes": partition.bytes,
            "most": entity.capacity,
            "down": partition.number in entity.base.down,
            "locked": locked,
        }
        for partition, aside, locked in zip(
            entity.partitions, tally.aside, tally.locks, strict=True
        )
    ]


def _sessions(hub: Hub, tally: Tally) -> list[dict[str, Any]]:
    return [
        {
            "id": session.name,
            "until": hub.bus.epoch_ms(session.locked_until),
            "messages": len(session.locked),
        }
        for session in islice(tally.sessions, MOST_LISTED)
    ]


def _locks(hub: Hub, tally: Tally) -> list[dict[str, Any]]:
    return [
        {
            "number": queued.number,
            "session": None if queued.session is None else queued.session.name,
            "deliveries": queued.failed,
            "until": hub.bus.epoch_ms(_until(queued)),
        }
        for queued in islice(tally.locked, MOST_LISTED)
    ]


def _until(queued: QueuedMessage) -> int:
    return queued.locked_until if queued.session is None else queued.session.locked_until


def page() -> tuple[bytes, str]:
    """Return the page, and a content security policy that permits only its own style and script."""
    style, script = _file("page.css"), _file("page.js")
    whole = Template(_file("page.html")).substitute(style=style, script=script)
    policy = (
        f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; "
        "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'"
    )
    return whole.encode(), policy


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _file(name: str) -> str:
    return resources.files("busproof.broker").joinpath("web", name).read_text(encoding="utf-8")
