"""Which entities are disabled: for who sends, for who receives, or for both.

The model is told as well, for the sake of what is forwarded to them and of copies; a client that is
kept away never gets to it.
"""

from collections.abc import Mapping
from typing import Final

from busproof.broker.amqp.refusals import Refusal, disabled
from busproof.model.state import Entity
from busproof.model.values import EntityKind
from busproof.vocabulary.entity_settings import EntityStatus

__all__ = ["STATUSES", "Statuses", "status_of"]

STATUSES: Final[Mapping[str, EntityStatus]] = {
    "Active": EntityStatus.ACTIVE,
    "Disabled": EntityStatus.DISABLED,
    "SendDisabled": EntityStatus.SEND_DISABLED,
    "ReceiveDisabled": EntityStatus.RECEIVE_DISABLED,
}
"""What an entity's status may be, as clients call it."""


def status_of(entity: Entity, said: str) -> EntityStatus | None:
    """What the model is told of a status; nothing of one that would mean nothing (ROLE-STATUS)."""
    status = STATUSES[said]
    if entity.kind is EntityKind.TOPIC and status is EntityStatus.RECEIVE_DISABLED:
        return None
    if entity.kind is EntityKind.SUBSCRIPTION and status is EntityStatus.SEND_DISABLED:
        return None
    return status


class Statuses:
    """The status of each entity that was given one."""

    def __init__(self) -> None:
        self._said: dict[str, str] = {}

    def say(self, path: str, status: str) -> None:
        """Give an entity a status, which is one of `STATUSES`."""
        self._said[path] = status

    @property
    def said(self) -> Mapping[str, str]:
        """Each entity that was given one, and which."""
        return self._said

    def forget(self, path: str) -> None:
        """Forget an entity that is gone, and all beneath it."""
        for name in [each for each in self._said if each == path or each.startswith(f"{path}/")]:
            del self._said[name]

    def refusal(self, right: str, path: str) -> Refusal | None:
        """What a client is told who sends to an entity, or receives from it, that is disabled."""
        said = self._said.get(path, "Active")
        status = STATUSES[said]
        permitted = {"Send": status.takes, "Listen": status.gives}
        return None if permitted.get(right, True) else disabled(path, said)

    def check(self, right: str, path: str) -> None:
        """Insist that an entity is not disabled.

        Raises:
            Refusal: it is.
        """
        if (refusal := self.refusal(right, path)) is not None:
            raise refusal
