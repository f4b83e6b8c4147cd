"""TTL: messages that outlive their time to live.

A message lives as long as its own time to live and its entity's both permit, from its arrival on.
If its time ends while it is locked, it can still be settled; otherwise it expires when it is
released. A deferred message does not expire. An expired message is dropped or, if the entity's
settings say so, dead-lettered. The documents do not say how soon; this model does it at once.
"""

from busproof import vocabulary as v
from busproof.model.family import Family
from busproof.model.life_cycle import ACTIVE, Action
from busproof.model.state import Entity, QueuedMessage
from busproof.model.values import InTransit

__all__ = ["Expiry"]

REASON = "TTLExpiredException"


class Expiry(Family):
    """The rules of TTL."""

    def expires_at(self, entity: Entity, message: v.Message, transit: InTransit) -> int | None:
        """TTL-03, TTL-04, DLQ-09: return when a message that arrives now expires; `None` if never.

        A dead letter never expires.
        """
        own, lives = message.time_to_live, entity.settings.time_to_live
        if entity.owner is not entity or (
            own is None and lives is None and transit.lifetime is None
        ):
            return None
        since = self.namespace.now if transit.since is None else transit.since
        return since + min(life for life in (own, lives, transit.lifetime) if life is not None)

    def end(self, queued: QueuedMessage) -> None:
        """TTL-01, TTL-02, TTL-05, TTL-10: expire a message unless it is locked or deferred."""
        if queued.state is ACTIVE and queued.is_there:
            self.expire(queued)

    def has_ended(self, queued: QueuedMessage) -> bool:
        """TTL-10: return whether a deferred message has outlived its time to live."""
        return queued.expires_at is not None and self.namespace.has_passed(queued.expires_at)

    def expire(self, queued: QueuedMessage) -> None:
        """TTL-07, TTL-08: dead-letter an expired message, or drop it, as its entity says."""
        if queued.entity.settings.dead_letter_expired:
            self.rules.dead_letters.dead_letter(queued, REASON)
        else:
            self.rules.messages.consume(queued, Action.EXPIRE)
