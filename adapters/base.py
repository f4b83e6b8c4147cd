"""Interface of adapters, which translate between the vocabulary and one implementation."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import attrs

from busproof import vocabulary as v

__all__ = ["Adapter", "Declaration", "Hearing", "Implementation", "Observed"]


@attrs.frozen(kw_only=True)
class Implementation:
    """Implementation under test; `url` and `contact` are those of its maintainers."""

    name: str
    version: str = ""
    language: str = ""
    commit: str = ""
    url: str = ""
    contact: str = ""


@attrs.frozen(kw_only=True)
class Declaration:
    """Declaration of an adapter about its implementation; `slack` is in microseconds."""

    implementation: Implementation
    capabilities: frozenset[v.Capability]
    clock: v.Clock = v.Clock.VIRTUAL
    slack: int = attrs.field(default=0, validator=attrs.validators.ge(0))

    @property
    def observability(self) -> v.Observability:
        """Observability of this implementation, from its clock, slack and capabilities."""
        return v.observability_from(self.clock, self.slack, self.capabilities)


@attrs.frozen
class Observed:
    """Outcome of one command, and the choice of the bus that was observed with it."""

    outcome: v.Outcome
    witness: v.Witness | None = None


@runtime_checkable
class Hearing(Protocol):
    """Implementation that answers many commands at once faster than one by one."""

    def hear(self, commands: Sequence[v.Command], connection: str) -> None:
        """Prefetch answers to commands expected next over a connection; others may come instead."""


class Adapter(Protocol):
    """Translation for one implementation under test; methods raise nothing but `AdapterError`."""

    @property
    def declaration(self) -> Declaration:
        """Capabilities and clock of the implementation; known before `start`."""

    def start(self, profile: v.Profile) -> None:
        """Forget everything and begin with an empty namespace of this profile, at time 0."""

    def do(self, command: v.Command, connection: str) -> Observed:
        """Execute one command over the named connection and return the observed outcome."""

    def stop(self) -> None:
        """End the implementation and free its resources; safe to call twice."""
