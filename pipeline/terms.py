"""What a history was held to, as far as a rule's query depends on it."""

import attrs

from busproof.history.records import Header
from busproof.spec import Catalogue
from busproof.vocabulary.profile import Profile, profile_for
from busproof.vocabulary.values import Clock

__all__ = ["Held"]


@attrs.frozen(kw_only=True)
class Held:
    """The terms of a history.

    Attributes:
        profile: edition, tier, readings and partitions.
        virtual: whether the recorded order is the true one.
        slack: how much earlier or later than announced a timer may fire, in microseconds.
        capabilities: what the adapter declared.
    """

    profile: Profile
    virtual: bool = True
    slack: int = 0
    capabilities: frozenset[str] = frozenset()

    @classmethod
    def of(cls, catalogue: Catalogue, header: Header) -> "Held":
        """The terms that a header states, readings filled in.

        Raises:
            UsageError: it names an edition, ambiguity or reading that does not exist.
        """
        recorded = header.profile
        profile = profile_for(
            catalogue,
            edition=recorded.edition,
            tier=recorded.tier.value,
            readings=dict(recorded.readings),
            partitions=recorded.partitions,
        )
        return cls(
            profile=profile,
            virtual=header.clock is Clock.VIRTUAL,
            slack=header.slack,
            capabilities=frozenset(header.capabilities),
        )

    def reads(self, ambiguity: str) -> str:
        """The reading that is taken of an ambiguity."""
        return self.profile.readings.get(ambiguity, "")

    @property
    def names_partitions(self) -> bool:
        """Whether a partition can be read from a sequence number (SEQUENCE-EXPOSES)."""
        return self.profile.numbers_name_partitions

    @property
    def unique_numbers(self) -> bool:
        """Whether a sequence number names one message of the whole entity (SEQUENCE-UNIQUE)."""
        return self.reads("SEQUENCE-UNIQUE") != "per-partition"

    @property
    def library(self) -> bool:
        """Whether a client library sets a MessageId that the sender left out."""
        return "client-library" in self.capabilities
