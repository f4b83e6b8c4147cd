"""Settings of entities that have a few named values."""

from enum import StrEnum

__all__ = ["Availability", "EntityStatus"]


class Availability(StrEnum):
    """Availability of an entity's partitions, as a description reports it."""

    AVAILABLE = "available"
    LIMITED = "limited"


class EntityStatus(StrEnum):
    """Status of an entity: enabled, or disabled for sending, receiving or both."""

    ACTIVE = "active"
    DISABLED = "disabled"
    SEND_DISABLED = "send-disabled"
    RECEIVE_DISABLED = "receive-disabled"

    @property
    def takes(self) -> bool:
        """Whether messages can be sent or forwarded to an entity with this status."""
        return self in (EntityStatus.ACTIVE, EntityStatus.RECEIVE_DISABLED)

    @property
    def gives(self) -> bool:
        """Whether messages can be received from an entity with this status."""
        return self in (EntityStatus.ACTIVE, EntityStatus.SEND_DISABLED)
