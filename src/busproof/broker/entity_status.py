"""Statuses that disable entities for senders, for receivers, or for both.

The model has the status too, for forwarding and for the copies of topics. Clients are refused here,
before a command reaches the model.
"""

from collections.abc import Mapping
from typing import Final

from busproof import vocabulary as v
from busproof.broker.amqp.refusals import Refusal, refuse_disabled
from busproof.broker.names import belongs_to
from busproof.model.state import Entity
from busproof.model.values import EntityKind

__all__ = ["STATUSES", "Statuses", "status_of"]

STATUSES: Final[Mapping[str, v.EntityStatus]] = {
    "Active": v.EntityStatus.ACTIVE,
    "Disabled": v.EntityStatus.DISABLED,
    "SendDisabled": v.EntityStatus.SEND_DISABLED,
    "ReceiveDisabled": v.EntityStatus.RECEIVE_DISABLED,
}
"""Statuses of entities, by their names in requests of clients."""


def status_of(entity: Entity, text: str) -> v.EntityStatus | None:
    """Return the status for the model; `None` if it has no effect on this entity (ROLE-STATUS)."""
    status = STATUSES[text]
    # Clients cannot receive from a topic.
    if entity.kind is EntityKind.TOPIC and status is v.EntityStatus.RECEIVE_DISABLED:
        return None
    # Clients cannot send to a subscription, and it still gets the copies of its topic.
    if entity.kind is EntityKind.SUBSCRIPTION and status is v.EntityStatus.SEND_DISABLED:
        return None
    return status


class Statuses:
    """The statuses that clients have set."""

    def __init__(self) -> None:
        self._said: dict[str, str] = {}

    def say(self, path: str, status: str) -> None:
        """Set the status of an entity to one of `STATUSES`."""
        self._said[path] = status

    @property
    def said(self) -> Mapping[str, str]:
        """The statuses by path of the entity."""
        return self._said

    def forget(self, path: str) -> None:
        """Remove the statuses of a deleted entity and of its subscriptions."""
        for name in [known for known in self._said if belongs_to(known, path)]:
            del self._said[name]

    def refusal(self, right: str, path: str) -> Refusal | None:
        """Return the refusal if an entity is disabled for this right; `None` if it is enabled."""
        text = self._said.get(path)
        if text is None:
            return None
        status = STATUSES[text]
        permitted = {"Send": status.takes, "Listen": status.gives}
        return None if permitted.get(right, True) else refuse_disabled(path, text)

    def check(self, right: str, path: str) -> None:
        """Check that an entity is enabled for this right.

        Raises:
            Refusal: the entity is disabled.
        """
        if (refusal := self.refusal(right, path)) is not None:
            raise refusal
