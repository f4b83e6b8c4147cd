"""The scenarios of `busproof client`, by subject."""

from typing import Final

from busproof.clients.scenario import Scenario
from busproof.clients.scenarios import failing, sending

__all__ = ["SCENARIOS"]

SCENARIOS: Final[tuple[Scenario, ...]] = (*sending.SCENARIOS, *failing.SCENARIOS)
"""All scenarios, those that need no faults first."""
