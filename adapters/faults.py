"""The seeded faults: buses that break one rule each, for the suite to be tested by."""

from difflib import get_close_matches
from typing import Final

from busproof.adapters.base import Adapter
from busproof.adapters.seeded import (
    faults_actions,
    faults_added,
    faults_batches,
    faults_copies,
    faults_dead,
    faults_deferral,
    faults_duplicates,
    faults_filters,
    faults_forwarding,
    faults_keys,
    faults_life,
    faults_limits,
    faults_locks,
    faults_management,
    faults_numbering,
    faults_order,
    faults_partitions,
    faults_peeks,
    faults_placing,
    faults_premium,
    faults_quotas,
    faults_scheduling,
    faults_sessions,
    faults_settlements,
    faults_sizes,
    faults_statuses,
    faults_subscriptions,
    faults_time_to_live,
    faults_topic_management,
    faults_topics,
    faults_transactions,
    faults_transfers,
)
from busproof.adapters.seeded.bus import AssigningBus, SeededBus
from busproof.adapters.seeded.fault import Fault
from busproof.errors import UsageError

__all__ = ["FAULTS", "AssigningBus", "Fault", "SeededBus", "fault", "make"]

FAULTS: Final[tuple[Fault, ...]] = (
    *faults_keys.FAULTS,
    *faults_order.FAULTS,
    *faults_copies.FAULTS,
    *faults_placing.FAULTS,
    *faults_transactions.FAULTS,
    *faults_life.FAULTS,
    *faults_sessions.FAULTS,
    *faults_settlements.FAULTS,
    *faults_dead.FAULTS,
    *faults_locks.FAULTS,
    *faults_deferral.FAULTS,
    *faults_topics.FAULTS,
    *faults_filters.FAULTS,
    *faults_actions.FAULTS,
    *faults_added.FAULTS,
    *faults_batches.FAULTS,
    *faults_forwarding.FAULTS,
    *faults_transfers.FAULTS,
    *faults_scheduling.FAULTS,
    *faults_duplicates.FAULTS,
    *faults_management.FAULTS,
    *faults_statuses.FAULTS,
    *faults_topic_management.FAULTS,
    *faults_subscriptions.FAULTS,
    *faults_numbering.FAULTS,
    *faults_partitions.FAULTS,
    *faults_peeks.FAULTS,
    *faults_time_to_live.FAULTS,
    *faults_sizes.FAULTS,
    *faults_limits.FAULTS,
    *faults_quotas.FAULTS,
    *faults_premium.FAULTS,
)
"""Every fault, by the family of its rule."""

_BY_ID: Final = {each.id: each for each in FAULTS}


def fault(fault_id: str) -> Fault:
    """The fault with this id.

    Raises:
        UsageError: there is none.
    """
    if fault_id in _BY_ID:
        return _BY_ID[fault_id]
    close = get_close_matches(fault_id.lower(), _BY_ID, cutoff=0.5)
    hint = f"nearest: {', '.join(close)}" if close else "busproof rules ID names those of a rule"
    raise UsageError(f"there is no fault {fault_id!r}; {hint}")


def make(fault_id: str) -> Adapter:
    """A new adapter with this fault.

    Raises:
        UsageError: there is no such fault.
    """
    return fault(fault_id).bus()
