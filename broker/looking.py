"""What somebody sees who looks at a broker: its entities, their partitions, sessions and locks.

Nothing here goes through the messages, so that whoever looks again and again delays nobody.
"""

import base64
import hashlib
from importlib import resources
from itertools import islice
from string import Template
from typing import Any, Final

from busproof.broker.hub import Hub
from busproof.oracle.sizes import MOST_GB, told_size
from busproof.oracle.state import Namespace, Queue, Subscription, Topic, partition_count
from busproof.oracle.stored import Tally
from busproof.vocabulary.paths import dead_letter_queues_of

__all__ = ["MOST_LISTED", "entity_told", "kind_of", "overview", "page"]

MOST_LISTED: Final = 50
"""How many sessions, and how many locks, of an entity are told one by one."""
NOTHING: Final = Tally()


def overview(hub: Hub, *, may_disturb: bool) -> dict[str, Any]:
    """All that the page shows, as JSON; moments are milliseconds since 1970.

    Args:
        hub: the broker's inside.
        may_disturb: whether who looks may take partitions down.
    """
    bus = hub.bus
    namespace = bus.namespace
    profile = namespace.profile
    return {
        "tier": profile.tier.value,
        "edition": profile.edition,
        "clock": bus.clock.value,
        "now": bus.epoch_ms(bus.now),
        "connections": len(hub.connections),
        "may_disturb": may_disturb,
        "entities": [_listed(hub, name) for name in bus.names()],
    }


def _listed(hub: Hub, name: str) -> dict[str, Any]:
    queue = hub.bus.namespace.queues[name]
    some = {"some_sessions": _sessions(hub, queue), "some_locks": _locks(hub, queue)}
    return entity_told(hub, name) | some


def entity_told(hub: Hub, name: str) -> dict[str, Any]:
    """What is told of an entity as a whole, and of each of its partitions."""
    namespace = hub.bus.namespace
    queue = namespace.queues[name]
    graves = (namespace.queues.get(each) for each in dead_letter_queues_of(name))
    return {
        "name": name,
        "kind": kind_of(queue),
        "partitioned": bool(queue.settings.partitioned),
        "status": queue.managed.status.value,
        "requires_session": queue.settings.requires_session,
        "forward_to": queue.settings.forward_to,
        "partitions": _partitions(namespace, queue),
        "messages": len(queue.messages),
        "locked": len(queue.locks),
        "scheduled": len(queue.calendar.entries),
        "dead_letters": sum(len(each.messages) for each in graves if each is not None),
        "sessions": len(queue.sessions),
    }


def kind_of(queue: Queue) -> str:
    """What it is: a queue, a topic or a subscription."""
    if isinstance(queue.role, Topic):
        return "topic"
    return "subscription" if isinstance(queue.role, Subscription) else "queue"


def _partitions(namespace: Namespace, queue: Queue) -> list[dict[str, Any]]:
    count = partition_count(namespace, queue.settings)
    size = told_size(namespace, queue.settings)
    most = None if size is None else size * MOST_GB // count
    return [
        {
            "ready": queue.tallies.get(1 << number, NOTHING).total,
            "bytes": queue.room.held.get(1 << number, 0),
            "most": most,
            "down": bool(queue.outages.down >> number & 1),
        }
        for number in range(count)
    ]


def _sessions(hub: Hub, queue: Queue) -> list[dict[str, Any]]:
    return [
        {"id": name, "until": hub.bus.epoch_ms(held.expiry.earliest), "messages": len(held.taken)}
        for name, held in islice(queue.sessions.items(), MOST_LISTED)
    ]


def _locks(hub: Hub, queue: Queue) -> list[dict[str, Any]]:
    stored = (queue.messages.get(number) for number in queue.locks.values())
    locked = ((each, each.lock) for each in stored if each is not None)
    return [
        {
            "number": each.sequence_number,
            "session": lock.session_id,
            "deliveries": each.deliveries,
            "until": hub.bus.epoch_ms(lock.expiry.earliest),
        }
        for each, lock in islice(locked, MOST_LISTED)
        if lock is not None
    ]


def page() -> tuple[bytes, str]:
    """The page, and the policy that it is shown under: nothing but its own style and script."""
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
