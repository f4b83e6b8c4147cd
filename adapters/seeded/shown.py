"""For every fault the shortest run in which it shows, by the fault's id."""

from collections.abc import Mapping
from typing import Final

from busproof.adapters.seeded import (
    shown_actions,
    shown_added,
    shown_batches,
    shown_dead,
    shown_duplicates,
    shown_filters,
    shown_forwarding,
    shown_limits,
    shown_management,
    shown_partitions,
    shown_premium,
    shown_quotas,
    shown_sizes,
    shown_statuses,
    shown_time_to_live,
    shown_topic_management,
    shown_topics,
    shown_transfers,
)
from busproof.mutants.runs import Run

__all__ = ["READINGS", "SHOWN"]

SHOWN: Final[dict[str, Run]] = {
    **shown_dead.SHOWN,
    **shown_topics.SHOWN,
    **shown_filters.SHOWN,
    **shown_actions.SHOWN,
    **shown_added.SHOWN,
    **shown_batches.SHOWN,
    **shown_forwarding.SHOWN,
    **shown_transfers.SHOWN,
    **shown_duplicates.SHOWN,
    **shown_management.SHOWN,
    **shown_statuses.SHOWN,
    **shown_topic_management.SHOWN,
    **shown_partitions.SHOWN,
    **shown_time_to_live.SHOWN,
    **shown_sizes.SHOWN,
    **shown_limits.SHOWN,
    **shown_quotas.SHOWN,
    **shown_premium.SHOWN,
}
"""In the order of the faults."""

READINGS: Final[Mapping[str, Mapping[str, str]]] = {
    **shown_management.READINGS,
    **shown_topic_management.READINGS,
    **shown_sizes.READINGS,
    **shown_quotas.READINGS,
    **shown_time_to_live.READINGS,
}
"""The readings, other than the default ones, under which the judge alone sees a fault."""
