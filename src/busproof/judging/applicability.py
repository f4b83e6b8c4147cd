"""Applicability: which rules a run can show, and why it cannot show the others."""

from collections.abc import Collection, Iterable, Mapping

import attrs

from busproof import vocabulary as v
from busproof.history.records import Header, Oracle
from busproof.spec import Catalogue, Rule

__all__ = ["Terms", "auto_oracle", "profile_of"]


def auto_oracle(capabilities: Collection[str]) -> Oracle:
    """Return the strict oracle if the adapter can identify partitions, otherwise the client one."""
    reveals_partitions = "witness" in capabilities or "outages" in capabilities
    return Oracle.STRICT if reveals_partitions else Oracle.CLIENT


def profile_of(catalogue: Catalogue, header: Header) -> v.Profile:
    """Return the profile in a history's header, with the rules that are not in force filled in.

    Raises:
        UsageError: the history names an edition, ambiguity or reading that does not exist.
    """
    recorded = header.profile
    return v.profile_for(
        catalogue,
        edition=recorded.edition,
        tier=recorded.tier.value,
        readings=_within_reach(catalogue, recorded.readings),
        partitions=recorded.partitions,
        namespace_partitions=recorded.namespace_partitions,
        messaging_units=recorded.messaging_units,
    )


def _within_reach(catalogue: Catalogue, readings: Mapping[str, str]) -> dict[str, str]:
    """Return the readings without those that no run can tell from the default.

    A history names the defaults of the day on which it was recorded, and one that is on record only
    may be another one today.
    """
    return {
        name: reading
        for name, reading in readings.items()
        if reading in catalogue.ambiguity(name).choices
        or reading not in catalogue.ambiguity(name).readings
    }


@attrs.frozen(kw_only=True)
class Terms:
    """The terms of judging a run: the rules, the profile, the capabilities and the oracle."""

    catalogue: Catalogue
    profile: v.Profile
    capabilities: frozenset[str]
    oracle: Oracle

    @classmethod
    def of(
        cls, catalogue: Catalogue, header: Header, profile: v.Profile, oracle: Oracle
    ) -> "Terms":
        """Return the terms that a recorded history is judged by."""
        return cls(
            catalogue=catalogue,
            profile=profile,
            capabilities=frozenset(header.capabilities),
            oracle=oracle,
        )

    def inapplicable(self, rule: Rule, *, any_reading: bool = False) -> str:
        """Return why this run can neither show nor break the rule; empty if it can do either.

        Args:
            rule: the rule.
            any_reading: whether to ignore that a reading may exclude the rule.
        """
        profile = self.profile
        if profile.kind not in rule.tiers:
            return f"tier: {profile.kind} is not one of {', '.join(rule.tiers)}"
        if rule.id in profile.silent:
            return f"edition: {profile.edition} says nothing of it"
        if unmet := rule.unmet(self.capabilities):
            return f"capability: {', '.join(need.replace('|', ' or ') for need in unmet)}"
        excluded = "" if any_reading else self._read_otherwise(rule)
        return excluded or self._why_kept_away(rule) or self._why_unjudged(rule)

    def exclude(self, rules: Iterable[v.RuleId], *, any_reading: bool = False) -> str:
        """Return why a scenario about these rules does not apply; empty if it does.

        Args:
            rules: the ids of the rules.
            any_reading: as for `inapplicable`.
        """
        causes = (
            self.inapplicable(self.catalogue.rule(rule), any_reading=any_reading) for rule in rules
        )
        return next(filter(None, causes), "")

    def _read_otherwise(self, rule: Rule) -> str:
        for condition in rule.unless:
            ambiguity, _, reading = condition.partition("=")
            if reading and self.profile.readings.get(ambiguity) == reading:
                return f"reading: {condition}"
        return ""

    def _why_kept_away(self, rule: Rule) -> str:
        for condition in rule.unless:
            if "=" not in condition and condition in self.capabilities:
                return f"capability: {condition} is declared, which keeps it from arising"
        return ""

    def _why_unjudged(self, rule: Rule) -> str:
        if self.oracle.value in rule.oracles:
            return ""
        return f"oracle: only {' or '.join(rule.oracles)} can judge it"
