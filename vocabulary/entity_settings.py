"""Settings of entities that are neither a number nor a name."""

from enum import StrEnum

__all__ = ["Availability", "EntityStatus"]


class Availability(StrEnum):
    """What an entity's description says of its partitions: all can be reached, or not."""

    AVAILABLE = "available"
    LIMITED = "limited"


class EntityStatus(StrEnum):
    """Whether an entity can be sent to and received from, or one of them, or none."""

    ACTIVE = "active"
    DISABLED = "disabled"
    SEND_DISABLED = "send-disabled"
    RECEIVE_DISABLED = "receive-disabled"

    @property
    def takes(self) -> bool:
        """Whether messages can be sent or forwarded to it."""
        return self in (EntityStatus.ACTIVE, EntityStatus.RECEIVE_DISABLED)

    @property
    def gives(self) -> bool:
        """Whether messages can be received from it."""
        return self in (EntityStatus.ACTIVE, EntityStatus.SEND_DISABLED)
