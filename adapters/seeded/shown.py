"""For every fault the shortest run in which it shows, by the fault's id."""

from collections.abc import Mapping
from typing import Final

from busproof.adapters.seeded import (
    shown_actions,
    shown_added,
    shown_batches,
    shown_dead,
    shown_deferral,
    shown_duplicates,
    shown_filters,
    shown_forwarding,
    shown_life,
    shown_locks,
    shown_numbering,
    shown_partitions,
    shown_quotas,
    shown_scheduling,
    shown_sessions,
    shown_settlements,
    shown_time_to_live,
    shown_topic_management,
    shown_topics,
    shown_transactions,
    shown_transfers,
)
from busproof.mutants.runs import Run

__all__ = ["READINGS", "SHOWN"]

SHOWN: Final[dict[str, Run]] = {
    **shown_transactions.SHOWN,
    **shown_life.SHOWN,
    **shown_sessions.SHOWN,
    **shown_settlements.SHOWN,
    **shown_dead.SHOWN,
    **shown_locks.SHOWN,
    **shown_deferral.SHOWN,
    **shown_topics.SHOWN,
    **shown_filters.SHOWN,
    **shown_actions.SHOWN,
    **shown_added.SHOWN,
    **shown_batches.SHOWN,
    **shown_forwarding.SHOWN,
    **shown_transfers.SHOWN,
    **shown_scheduling.SHOWN,
    **shown_duplicates.SHOWN,
    **shown_topic_management.SHOWN,
    **shown_numbering.SHOWN,
    **shown_partitions.SHOWN,
    **shown_time_to_live.SHOWN,
    **shown_quotas.SHOWN,
}
"""In the order of the faults."""

READINGS: Final[Mapping[str, Mapping[str, str]]] = {
    **shown_topic_management.READINGS,
    **shown_quotas.READINGS,
    **shown_time_to_live.READINGS,
}
"""The readings, other than the default ones, under which the judge alone sees a fault."""
