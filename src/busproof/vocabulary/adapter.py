"""The interface of adapters, which translate between the vocabulary and an implementation.

Programs import it from `busproof.adapters.base`.
"""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import attrs

from busproof.vocabulary.capabilities import Capability
from busproof.vocabulary.commands import Command
from busproof.vocabulary.observability import Observability, observability_from
from busproof.vocabulary.outcomes import Outcome, Witness
from busproof.vocabulary.profile import Profile
from busproof.vocabulary.values import Clock

__all__ = ["Adapter", "Declaration", "Hearing", "Implementation", "Observed"]


@attrs.frozen(kw_only=True)
class Implementation:
    """An implementation under test; `url` and `contact` are those of its maintainers."""

    name: str
    version: str = ""
    language: str = ""
    commit: str = ""
    url: str = ""
    contact: str = ""


@attrs.frozen(kw_only=True)
class Declaration:
    """The declaration of an adapter about its implementation.

    Attributes:
        implementation: the implementation under test.
        capabilities: what it can do.
        clock: whether time is virtual or real.
        slack: how much earlier or later than announced a timer may fire, in microseconds.
        several: whether a run may make several adapters, in processes of their own, that share
            nothing and answer alike. Answers that depend on chance, or on what an adapter was
            asked before `start`, would differ with the number of processes.
    """

    implementation: Implementation
    capabilities: frozenset[Capability]
    clock: Clock = Clock.VIRTUAL
    slack: int = attrs.field(default=0, validator=attrs.validators.ge(0))
    several: bool = False

    @property
    def observability(self) -> Observability:
        """Return what can be observed of the implementation, by clock, slack and capabilities."""
        return observability_from(self.clock, self.slack, self.capabilities)


@attrs.frozen
class Observed:
    """The outcome of a command, and the choice of the bus that was observed with it, if any."""

    outcome: Outcome
    witness: Witness | None = None


@runtime_checkable
class Hearing(Protocol):
    """An adapter that answers many commands at once faster than one by one."""

    def hear(self, commands: Sequence[Command], connection: str) -> None:
        """Prefetch the answers to commands that will probably follow on a connection."""


class Adapter(Protocol):
    """An adapter for one implementation under test; its methods raise only `AdapterError`."""

    @property
    def declaration(self) -> Declaration:
        """The capabilities and the clock of the implementation; available before `start`."""

    def start(self, profile: Profile) -> None:
        """Begin with an empty namespace of this profile at time 0, whatever came before."""

    def do(self, command: Command, connection: str) -> Observed:
        """Execute a command over the named connection, and return the observed outcome."""

    def stop(self) -> None:
        """End the implementation and free its resources; may be called twice."""
