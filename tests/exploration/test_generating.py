"""The exploration asks every command that there is, and none that was not declared."""

from typing import get_args

import attrs
import pytest
from exploring import explored

from busproof import vocabulary as v
from busproof.adapters.model import ModelAdapter
from busproof.exploration.machine import scope_of, terms_of
from busproof.exploration.state import Scope
from busproof.exploration.strategies.table import generators
from busproof.judging.required_capabilities import needs
from busproof.spec import load

EVERYTHING = Scope(capabilities=frozenset(v.Capability))
SOME = [
    {"peek-lock"},
    {"sessions", "peek"},
    {"sessions", "peek-lock", "outages"},
    {"transactions", "duplicate-detection"},
    set(),
    {"filters", "forwarding", "management", "peek-lock", "regular-queues", "topics"},
]


class Limited(ModelAdapter):
    """A bus that declares less than it can do."""

    def __init__(self, capabilities: set[str]) -> None:
        super().__init__()
        self._capabilities = frozenset(v.Capability(each) for each in capabilities)

    @property
    def declaration(self) -> v.Declaration:
        return attrs.evolve(super().declaration, capabilities=self._capabilities)


def test_every_command_has_a_row_in_the_table() -> None:
    """Whoever adds a command adds its row."""
    assert set(get_args(v.Command)) == {row.kind for row in generators(EVERYTHING)}


def test_every_command_is_asked() -> None:
    """A row that never comes to anything would hide a command."""
    events = explored(ModelAdapter(), seed=0, sequences=60).events
    asked = {type(event.command) for event in events}
    assert set(get_args(v.Command)) - {v.RestoreQueue} == asked  # asked for in Premium


@pytest.mark.parametrize("capabilities", SOME, ids=lambda some: "+".join(sorted(some)) or "none")
def test_nothing_is_asked_that_was_not_declared(capabilities: set[str]) -> None:
    """Whatever else the bus could do."""
    events = explored(Limited(capabilities), sequences=20).events
    assert len(events) > 50
    assert set() == {
        need for event in events for need in needs(event.command) if need not in capabilities
    }


def test_no_transaction_is_asked_of_a_tier_without_rules_of_them() -> None:
    """The catalogue says which rules a tier has."""
    profile = v.profile_for(load(), tier=v.Tier.BASIC)
    scope = scope_of(ModelAdapter(), terms_of(ModelAdapter(), profile))
    assert v.Capability.TRANSACTIONS not in scope.capabilities
    assert v.Capability.OUTAGES in scope.capabilities


def test_premium_is_asked_for_no_partitioned_queue() -> None:
    """It need not have any."""
    found = explored(ModelAdapter(), profile=v.profile_for(load(), tier="premium"), sequences=12)
    created = [e.command for e in found.events if isinstance(e.command, v.CreateQueue)]
    assert created
    assert not any(each.partitioned for each in created)


def test_premium_without_regular_queues_is_not_explored() -> None:
    """There is nothing that could be asked."""
    bus = Limited({"peek-lock"})
    found = explored(bus, profile=v.profile_for(load(), tier="premium"))
    assert [] == found.records
    assert "not-applicable" == found.ended.verdict.value
