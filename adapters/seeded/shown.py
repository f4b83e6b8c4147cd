"""For every fault the shortest run in which it shows, by the fault's id."""

from collections.abc import Mapping
from typing import Final

from busproof.adapters.seeded import (
    shown_added,
    shown_quotas,
    shown_topic_management,
    shown_topics,
    shown_transfers,
)
from busproof.mutants.runs import Run

__all__ = ["READINGS", "SHOWN"]

SHOWN: Final[dict[str, Run]] = {
    **shown_topics.SHOWN,
    **shown_added.SHOWN,
    **shown_transfers.SHOWN,
    **shown_topic_management.SHOWN,
    **shown_quotas.SHOWN,
}
"""In the order of the faults."""

READINGS: Final[Mapping[str, Mapping[str, str]]] = {
    **shown_topic_management.READINGS,
    **shown_quotas.READINGS,
}
"""The readings, other than the default ones, under which the judge alone sees a fault."""
