"""Whether a description of an entity may be the recorded one.

Counts and availability may be those of a while ago (GET-LAG), unless nothing has changed for two
minutes. Some settings are not said to be described in one way: the size of an entity that
no document sizes, and a time to live without end.
"""

from typing import Any, Final

import attrs

from busproof import vocabulary as v
from busproof.judging.replay.bindings import Bindings
from busproof.judging.replay.evidence import Evidence
from busproof.model.rules import Namespace
from busproof.model.state import Entity

__all__ = ["Descriptions"]

OF_TOPIC: Final = ("partitioned", "duplicate_detection", "duplicate_window", "max_size", "size")
"""Settings that belong to a topic and not to its subscription, and to no dead-letter queue."""


class Descriptions:
    """Comparison of the model's descriptions with the recorded ones.

    Args:
        namespace: the model's namespace.
        bindings: what was noted of its entities.
        evidence: facts about the whole history.

    Attributes:
        is_settled: whether nothing has changed for so long that a description has to be right.
    """

    def __init__(self, namespace: Namespace, bindings: Bindings, evidence: Evidence) -> None:
        self._namespace = namespace
        self._bindings = bindings
        self._evidence = evidence
        self.is_settled = False
        self._reading = namespace.profile.readings.get("GET-LAG")

    @property
    def _may_lag(self) -> bool:
        """GET-LAG: return whether a description may be that of a while ago."""
        return self._reading != "at-once" and not (self.is_settled and self._reading == "bounded")

    def agree(self, told: Any, own: Any) -> bool:
        """MGMT-11, MGMT-20 to MGMT-23, TOPIC-24: return whether a description may be the recorded.

        Args:
            told: the recorded description.
            own: the model's.
        """
        name = "queue" if isinstance(told, v.QueueDescription) else "topic"
        path = getattr(own, name)
        if getattr(told, name).lower() != path.lower():
            return False
        entity = self._namespace.entities[path]
        is_part = entity.base is not entity
        for field in attrs.fields(type(told)):
            value = getattr(told, field.name)
            expected = getattr(own, field.name)
            if value is None or value == expected or field.name == name:
                continue
            if is_part and field.name in OF_TOPIC:
                continue
            if not self._may_be(entity, field.name, value, expected):
                return False
        return True

    def _may_be(self, entity: Entity, name: str, value: Any, own: Any) -> bool:
        """Return whether a description may tell something else than the model's."""
        least, most = 0, -1
        # While a partition is down, what was counted before may be told for any time.
        may_lag = self._may_lag or (self._reading != "at-once" and bool(entity.base.down))
        match name:
            case "time_to_live":
                # The documents do not say how a description shows an unlimited time to live.
                return own is None
            case "max_size":
                return self._may_be_size(entity, value)
            case "availability":
                return self._may_lag and self._bindings.was_disturbed(entity.base)
            case "size" if may_lag or not self._evidence.sizes_are_known:
                least = 0 if may_lag else own
                most = value
            case "message_count" if may_lag or entity.settings.forward_to:
                most = arrivals(entity)
            case "transfer_dead_letters" if entity.transfers is not None:
                most = arrivals(entity.transfers)
            case "subscription_count" if may_lag:
                most = self._bindings.subscriptions_made(entity)
        return bool(least <= value <= most)

    def _may_be_size(self, entity: Entity, value: int) -> bool:
        """SIZE-04: return whether another size may be described: of one partition, or of all."""
        if self._is_size_told(entity):
            return False
        profile = self._namespace.profile
        # Of Basic, and of what Premium still has from before, the documents say nothing.
        silent = profile.tier is v.Tier.BASIC or (profile.is_premium and not profile.is_partitioned)
        if silent or not entity.settings.partitioned:
            return True
        size = entity.settings.max_size
        return value in (size, size * profile.partitions)

    def _is_size_told(self, entity: Entity) -> bool:
        """SIZE-04, SIZE-06, PREM-10: return whether the documents say which size is described."""
        profile = self._namespace.profile
        partitioned = entity.settings.partitioned
        match profile.tier:
            case v.Tier.BASIC:
                return profile.readings.get("BASIC-SIZES") == "like-standard"
            case v.Tier.PREMIUM:
                return "PREM-08" not in profile.silent and not partitioned
        silent = {"SIZE-02", "SIZE-04"} if partitioned else {"SIZE-02"}
        return silent.isdisjoint(profile.silent)


def arrivals(entity: Entity) -> int:
    """Return how many messages have ever arrived at an entity, or were scheduled there."""
    return sum(partition.arrivals for partition in entity.partitions)
