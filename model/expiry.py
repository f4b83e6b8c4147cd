"""TTL: messages that have outlived their time to live.

A message lives as long as it says itself, and no longer than its entity lets it, from when it
arrives. One that is locked when its time has passed can still be settled; it expires when it comes
back. A deferred message does not expire. What expires is dropped, or dead-lettered where the entity
says so. How soon that happens is not said: here it happens at once.
"""

from collections.abc import Callable

import attrs

from busproof import vocabulary as v
from busproof.model.life_cycle import ACTIVE, Action
from busproof.model.state import Entity, Namespace, QueuedMessage, is_there
from busproof.model.values import InTransit

__all__ = ["Expiry"]

REASON = "TTLExpiredException"


def expires_at(
    namespace: Namespace, entity: Entity, message: v.Message, transit: InTransit
) -> int | None:
    """TTL-03, TTL-04, DLQ-09: when a message expires that arrives now; a dead letter never does."""
    own, lives = message.time_to_live, entity.settings.time_to_live
    if entity.owner is not entity or (own is None and lives is None and transit.lifetime is None):
        return None
    since = namespace.now if transit.since is None else transit.since
    return since + min(life for life in (own, lives, transit.lifetime) if life is not None)


def end(namespace: Namespace, queued: QueuedMessage) -> None:
    """TTL-01, TTL-02, TTL-05, TTL-10: let a message expire that nobody has locked or deferred."""
    if queued.state is ACTIVE and is_there(queued):
        namespace.rules.expiry.expire(namespace, queued)


def expire(namespace: Namespace, queued: QueuedMessage) -> None:
    """TTL-07, TTL-08: dead-letter an expired message where that is asked, else drop it."""
    if queued.entity.settings.dead_letter_expired:
        namespace.rules.dead_letters.dead_letter(namespace, queued, REASON)
    else:
        namespace.rules.messages.consume(namespace, queued, Action.EXPIRE)


@attrs.frozen
class Expiry:
    """The rules of this family."""

    expires_at: Callable[[Namespace, Entity, v.Message, InTransit], int | None] = expires_at
    end: Callable[[Namespace, QueuedMessage], None] = end
    expire: Callable[[Namespace, QueuedMessage], None] = expire
