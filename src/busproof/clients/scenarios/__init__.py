"""The scenarios of `busproof client`, by subject."""

from typing import Final

from busproof.clients.scenario import Scenario
from busproof.clients.scenarios import connecting, failing, receiving, sending, transactions, web

__all__ = ["SCENARIOS"]

SCENARIOS: Final[tuple[Scenario, ...]] = (
    *sending.SCENARIOS,
    *receiving.SCENARIOS,
    *failing.SCENARIOS,
    *connecting.SCENARIOS,
    *transactions.SCENARIOS,
    *web.SCENARIOS,
)
"""All scenarios, those that need no faults first."""
