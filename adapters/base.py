"""What an adapter is: a translation between the vocabulary and one implementation."""

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
    """Who is judged; `url` and `contact` are of those who answer for it."""

    name: str
    version: str = ""
    language: str = ""
    commit: str = ""
    url: str = ""
    contact: str = ""


@attrs.frozen(kw_only=True)
class Declaration:
    """What an adapter says of its implementation; `slack` is in microseconds."""

    implementation: Implementation
    capabilities: frozenset[Capability]
    clock: Clock = Clock.VIRTUAL
    slack: int = attrs.field(default=0, validator=attrs.validators.ge(0))

    @property
    def observability(self) -> Observability:
        """What this declaration lets the model take as seen."""
        return observability_from(self.clock, self.slack, self.capabilities)


@attrs.frozen
class Observed:
    """What came of one command, and the choice of the bus that was seen with it."""

    outcome: Outcome
    witness: Witness | None = None


@runtime_checkable
class Hearing(Protocol):
    """An implementation that takes long for each question, and less for many at once."""

    def hear(self, commands: Sequence[Command], connection: str) -> None:
        """Hear what is asked next over a connection, in this order; something else may be."""


class Adapter(Protocol):
    """One implementation under test; every method may raise `AdapterError`, and only that."""

    @property
    def declaration(self) -> Declaration:
        """What the implementation can do; known before `start`."""

    def start(self, profile: Profile) -> None:
        """Forget everything and begin with an empty namespace of this profile, at time 0."""

    def do(self, command: Command, connection: str) -> Observed:
        """Ask one command over the named connection and tell what came of it."""

    def stop(self) -> None:
        """End the implementation and free what it holds; safe to call twice."""
